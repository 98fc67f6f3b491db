#include "solvers/value_iteration/value_iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bellman/steps.h"
#include "evaluation/stationary.h"
#include "model/set_traits.h"
#include "parallel/collectives.h"
#include "parallel/exchange.h"
#include "policy/stage_builder.h"
#include "solvers/finish.h"
#include "solvers/value_iteration/best_mixtures.h"
#include "solvers/value_iteration/best_rows.h"
#include "solvers/value_iteration/changed_states.h"
#include "support/array_memory.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Everything that one solve needs to sweep: best rows, and the rows of a policy.
class Sweeps {
 public:
  Sweeps(const Problem& problem, Channel channel, Workers& workers, bool least)
      : problem_(problem),
        channel_(channel),
        workers_(workers),
        exchange_(problem.model(), workers.ranks()),
        best_(problem, channel, workers, exchange_, least),
        taken_sweep_(problem, workers, exchange_),
        stationary_(taken_sweep_),
        compact_(all_ranks(workers.ranks(), problem.model().most_actions() <= 256)),
        decides_(problem.model().most_actions() > 1) {
    if (shares_radius(problem) && !least) mixtures_.emplace(problem, channel, workers, exchange_);
  }

  // `change`: see BestRows.
  Residual step(const std::vector<double>& next, std::vector<double>& values,
                const Residual* change) {
    if (mixtures_) return mixtures_->step(0, next, values, mixed_);
    return best_.step(0, next, values, actions_, change);
  }
  Policy::Stage decisions() const {
    return mixtures_ ? mixed_ : compact_ ? compact_stage() : pure_stage(actions_);
  }

  // One stage of a finite horizon. `later`: the decisions of the step before it, if there was one.
  void step(int stage, const std::vector<double>& next, std::vector<double>& values,
            const Policy::Stage* later, Policy::Stage& taken) {
    if (mixtures_) {
      mixtures_->step(stage, next, values, taken);
      return;
    }
    last_ = best_.step(stage, next, values, actions_, last_ ? &*last_ : nullptr);
    if (later != nullptr && best_.new_actions() == 0)
      taken = *later;  // which is the same memory
    else
      taken = decisions();
  }

  State changed() const { return best_.changed(); }

  // The same where the last step has changed few values, which are replaced. `later` has the
  // decisions of that step.
  void step_on(ChangedStates& changed, std::vector<double>& values, const Policy::Stage& later,
               Policy::Stage& decisions) {
    const std::span<const State> states = changed.affected();
    if (changed.list() != copied_) {
      copied_ = changed.list();
      best_.copy_of(copied_ != 0 ? states : std::span<const State>{});
    }
    some_values_.resize(states.size());
    some_actions_.resize(states.size());
    best_.step_of(states, values, some_values_.data(), some_actions_.data());
    last_.reset();
    bool same = true;
    for (std::size_t i = 0; decides_ && i < states.size(); ++i) {
      same &= actions_[states[i]] == some_actions_[i];
      actions_[states[i]] = some_actions_[i];
    }
    changed.update(some_values_, values);
    decisions = later;  // which is the same memory
    if (same) return;
    if (!compact_) {
      decisions = pure_stage(actions_);
      return;
    }
    MixedChoice* mixed = decisions.mixed.edit().data();
    for (std::size_t i = 0; i < states.size(); ++i)
      mixed[states[i]].safe = static_cast<std::uint8_t>(some_actions_[i]);
  }

  // Brings the values closer to those of a policy that follows the actions of the last step for
  // ever.
  void follow(std::vector<double>& values, double width) {
    if (mixtures_)
      find_taken_rows(problem_.model(), 0, mixed_, taken_);
    else
      take_rows(problem_.model(), actions_, taken_);
    stationary_.improve(taken_, channel_, values, [&](int, double) { return width; });
  }
  // The share of states in which the last step took another action than the one before. All ranks
  // ask together.
  double share_of_new_actions() const {
    if (mixtures_) return 1;  // weights change at every step
    return sum_over_ranks(ranks(), static_cast<double>(best_.new_actions())) /
           problem_.model().all_states();
  }
  void set_actions(const Policy::Stage& stage) {
    if (mixtures_) {
      mixed_ = stage;
      return;
    }
    actions_.assign(problem_.model().own_states(), -1);
    for_each_taken_row(problem_.model(), 0, stage, [&](State place, Row row, double) {
      actions_[place] = static_cast<std::int32_t>(
          row - problem_.model().row_begin(0, problem_.model().own(place)));
    });
  }

  Workers& workers() const { return workers_; }
  Exchange& exchange() { return exchange_; }
  Communicator& ranks() const { return exchange_.ranks(); }
  // Where the rows of a state share a radius, the best of them is none that can be taken alone.
  bool exact() const { return !shares_radius(problem_) && exact_before_ != 0 && best_.exact(); }
  double unit() const { return best_.unit(); }
  double row_evaluations() const { return sum_over_ranks(ranks(), own_evaluations()); }

  // What a checkpoint keeps: the values of this rank's states. Once they are read, other ranks' are
  // missing.
  void visit(Archive& archive, std::vector<double>& values) {
    const Model& model = problem_.model();
    archive.visit_states("values", 1, [&](State own) { return values.data() + model.own(own); });
    double evaluations = own_evaluations();
    archive.visit_sum("row_evaluations", evaluations);
    evaluations_before_ += evaluations - own_evaluations();
  }
  void visit_exact(Archive& archive) {
    std::int64_t exact = this->exact();
    archive.visit("exact", exact);
    exact_before_ = exact;
  }
  void take_from_others(std::vector<double>& values) { exchange_.update({values.data()}); }

 private:
  double own_evaluations() const {
    return evaluations_before_ + best_.evaluations() + taken_sweep_.evaluations() +
           (mixtures_ ? mixtures_->evaluations() : 0);
  }

  // Four bytes for a state, where a byte can tell its actions apart.
  Policy::Stage compact_stage() const {
    std::vector<MixedChoice> mixed;
    mixed.reserve(actions_.size());
    for (const std::int32_t action : actions_)
      mixed.push_back({.safe = static_cast<std::uint8_t>(std::max(0, action))});
    Policy::Stage stage;
    stage.mixed = std::move(mixed);
    return stage;
  }

  const Problem& problem_;
  Channel channel_;
  Workers& workers_;
  Exchange exchange_;
  BestRows best_;
  std::optional<BestMixtures> mixtures_;  // in its place where the rows of a state share a radius
  TakenSweep taken_sweep_;
  StationaryValues stationary_;
  bool compact_;
  bool decides_;         // there is a state with more than one action
  Policy::Stage mixed_;  // the decisions of the last step, where they mix
  std::vector<std::int32_t> actions_, some_actions_;
  std::optional<Residual> last_;  // of a finite horizon: how far the last step moved all values
  std::vector<double> some_values_;
  int copied_ = 0;  // the list of changed states whose rows are copied
  TakenRows taken_;
  double evaluations_before_ = 0;  // in the run that this one continues
  std::int64_t exact_before_ = 1;
};

constexpr double kMostTotal = 1e300;  // so that sums and differences of totals are numbers

// Between two sweeps.
void report_progress(Workers& workers, SolverCheckpoint* solve, double done) {
  if (!solve) return workers.check_together();
  if (solve->watch().stop(done)) throw Stopped("stopped before there was an answer");
}

void run_finite(const Problem& problem, Sweeps& sweeps, SolverCheckpoint* solve,
                ValueIteration& result) {
  std::int64_t stage = problem.horizon();
  const auto horizon = static_cast<double>(stage);
  std::vector<double>& next = result.values;
  resize_with_large_pages(next, problem.model().states());
  std::fill(next.begin(), next.end(), 0.0);
  result.policy.stages.resize(stage);
  const auto state = [&](Archive& archive) {
    archive.visit("stage", stage);
    archive.visit_stages("policy", result.policy, nullptr);
    sweeps.visit(archive, next);
    sweeps.visit_exact(archive);
  };
  if (solve && solve->restore(state)) sweeps.take_from_others(next);
  std::vector<double> values;
  ChangedStates changed(problem);
  while (stage > 0) {
    report_progress(sweeps.workers(), solve, 1 - static_cast<double>(stage) / horizon);
    const auto h = static_cast<int>(stage - 1);
    Policy::Stage& decisions = result.policy.stages[h];
    if (changed.few()) {
      sweeps.step_on(changed, next, result.policy.stages[stage], decisions);
    } else {
      sweeps.step(h, next, values,
                  stage < problem.horizon() ? &result.policy.stages[stage] : nullptr, decisions);
      changed.compare(next, values, sweeps.changed());
      next.swap(values);
    }
    stage = h;
    if (solve) solve->offer(state);
  }
  result.sweeps = problem.horizon();
  result.evaluated = sweeps.exact();
}

// Modified policy iteration: a sweep over all rows finds the best of them, and sweeps over these
// alone bring the values most of the way to where another choice may be better. Whatever the values
// are, a sweep over all rows brackets the answer.
class InfiniteHorizon {
 public:
  InfiniteHorizon(const Problem& problem, Sweeps& sweeps, double tolerance, ValueIteration& result)
      : problem_(problem),
        sweeps_(sweeps),
        tolerance_(tolerance),
        discount_(problem.discount()),
        monotone_(!std::holds_alternative<Tilt>(problem.uncertainty())),
        result_(result) {}

  void run(SolverCheckpoint* solve) {
    resize_with_large_pages(result_.values, problem_.model().states());
    std::fill(result_.values.begin(), result_.values.end(), 0.0);
    result_.policy.stages.resize(1);
    const auto state = [&](Archive& archive) { visit(archive); };
    if (solve && solve->restore(state)) {
      sweeps_.take_from_others(result_.values);
      sweeps_.set_actions(result_.policy.stages[0]);
    }
    const int expected = stages_until_negligible(problem_, 1e-13, sweeps_.workers());
    while (!done() && result_.sweeps < 10 * std::int64_t{expected}) {
      report_progress(sweeps_.workers(), solve,
                      std::min(0.99, static_cast<double>(result_.sweeps) / expected));
      if (result_.sweeps > 0 && helps()) sweeps_.follow(result_.values, width_to_follow());
      last_width_ = width();
      const auto change = change_since_last_sweep();
      residual_ = sweeps_.step(result_.values, better_, change ? &*change : nullptr);
      result_.values.swap(better_);
      new_actions_ = sweeps_.share_of_new_actions();
      ++result_.sweeps;
      if (width() < kProgress * best_width_) best_width_ = width(), best_sweep_ = result_.sweeps;
      if (solve) solve->offer(state);
    }
    result_.policy.stages[0] = sweeps_.decisions();
    if (!monotone_) return;
    const Bracket found = bracket(residual_, discount_);
    shift_states(problem_.model(), sweeps_.exchange(), found.middle(), result_.values);
    result_.error = found.width() / 2;
    result_.scale = scale(residual_, found);
  }

 private:
  static constexpr double kShare = 0.1;     // of the bracket, that following the policy leaves
  static constexpr double kProgress = 0.9;  // a bracket that is narrower
  static constexpr int kPatience = 30;      // sweeps without progress

  void visit(Archive& archive) {
    archive.visit("sweeps", result_.sweeps);
    archive.visit("low", residual_.low);
    archive.visit("high", residual_.high);
    archive.visit("least", residual_.least);
    archive.visit("most", residual_.most);
    archive.visit("last_width", last_width_);
    archive.visit("best_width", best_width_);
    archive.visit("best_sweep", best_sweep_);
    archive.visit("new_actions", new_actions_);
    if (result_.sweeps > 0) result_.policy.stages[0] = sweeps_.decisions();
    archive.visit_stages("policy", result_.policy, nullptr);
    sweeps_.visit(archive, result_.values);
  }

  double width() const { return bracket(residual_, discount_).width(); }

  // How far the values are from those that the last sweep was made of.
  std::optional<Residual> change_since_last_sweep() const {
    if (better_.empty()) return {};
    Residual change;
    change.add(better_.data(), result_.values.data(), problem_.model().states());
    add_over_ranks(sweeps_.ranks(), change);
    return change;
  }

  // That ends the search.
  double wanted_width() const {
    const Bracket found = bracket(residual_, discount_);
    const double start = std::abs(result_.at(problem_.start()) + found.middle());
    return tolerance_ / 2 * std::max(start, 1e-3 * scale(residual_, found));
  }

  // The fewer actions a sweep over all rows has changed, the longer the policy is worth following;
  // one that has changed none, all the way.
  double width_to_follow() const {
    return std::max(wanted_width(), std::min(kShare, new_actions_) * width());
  }

  // Plain sweeps converge without fail. They have the last word should following policies not
  // help.
  bool helps() const { return monotone_ && result_.sweeps - best_sweep_ < kPatience; }

  bool done() const {
    if (result_.sweeps == 0) return false;
    if (!residual_.numbers) return true;  // nor will be: there is no bound
    if (!monotone_) {
      const double rest = discount_ / (1 - discount_);
      const double change = std::max(std::abs(residual_.low), std::abs(residual_.high));
      const double size = std::max(std::abs(residual_.least), std::abs(residual_.most));
      return change * rest <= 1e-12 * size;
    }
    const Bracket found = bracket(residual_, discount_);
    return found.width() <= wanted_width() ||
           as_narrow_as_rounding(discount_, found.width(), last_width_, scale(residual_, found));
  }

  const Problem& problem_;
  Sweeps& sweeps_;
  double tolerance_;
  double discount_;
  bool monotone_;
  ValueIteration& result_;
  std::vector<double> better_;
  Residual residual_;
  double last_width_ = std::numeric_limits<double>::infinity();
  double best_width_ = std::numeric_limits<double>::infinity();
  std::int64_t best_sweep_ = 0;
  double new_actions_ = 1;  // share of states in which the last sweep found another action
};

}  // namespace

double ValueIteration::at(const Start& start) const {
  double sum = 0;
  for (std::size_t i = 0; i < start.states.size(); ++i)
    sum += start.probability[i] * values[start.states[i]];
  return sum;
}

ValueIteration internal::value_iteration(const Problem& problem, Channel channel, Workers& workers,
                                         bool least, SolverCheckpoint* solve, double tolerance) {
  if (problem.undiscounted()) {
    require(!least || !problem.improper() || problem.traps(),
            "the least total of a policy that never ends is without bound");
    return shortest_path(problem, channel, workers, least);
  }
  Sweeps sweeps(problem, channel, workers, least);
  const double decisions = problem.infinite() ? 1 / (1 - problem.discount()) : problem.horizon();
  require(sweeps.unit() * decisions <= kMostTotal,
          "a value of size {} for {} decisions, must be at most {} in all", sweeps.unit(),
          decisions, kMostTotal);
  ValueIteration result;
  result.policy.states = problem.model().own_states();
  result.policy.repeats_last = problem.infinite();
  if (problem.infinite()) {
    InfiniteHorizon(problem, sweeps, tolerance, result).run(solve);
  } else {
    run_finite(problem, sweeps, solve, result);
  }
  result.row_evaluations = sweeps.row_evaluations();
  return result;
}

double internal::reward_spread(const Problem& problem, Workers& workers) {
  return value_iteration(problem, Channel{}, workers).at(problem.start()) -
         value_iteration(problem, Channel{}, workers, true).at(problem.start());
}

}  // namespace redoubt
