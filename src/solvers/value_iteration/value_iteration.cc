#include "solvers/value_iteration/value_iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bellman/steps.h"
#include "evaluation/chance_value.h"
#include "evaluation/stationary.h"
#include "model/bytes.h"
#include "model/scope.h"
#include "parallel/collectives.h"
#include "parallel/exchange.h"
#include "parallel/memory_limit.h"
#include "policy/pure_stage.h"
#include "solvers/finish.h"
#include "solvers/value_iteration/best_mixtures.h"
#include "solvers/value_iteration/best_rows.h"
#include "solvers/value_iteration/shortest_path.h"
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
        compact_(all_ranks(workers.ranks(), problem.model().most_actions() <= 256)) {
    if (shares_radius(problem) && !least) mixtures_.emplace(problem, channel, workers, exchange_);
  }

  Residual step(int stage, const std::vector<double>& next, std::vector<double>& values,
                Policy::Stage& decisions) {
    if (mixtures_) return mixtures_->step(stage, next, values, decisions);
    const Residual residual = best_.step(stage, next, values, actions_);
    decisions = compact_ ? compact_stage() : pure_stage(actions_);
    return residual;
  }

  // Brings the values closer to those of a policy that follows the decisions for ever.
  void follow(const Policy::Stage& decisions, std::vector<double>& values, double width) {
    find_taken_rows(problem_.model(), 0, decisions, taken_);
    stationary_.improve(taken_, channel_, values, [&](double) { return width; });
  }

  Workers& workers() const { return workers_; }
  Exchange& exchange() { return exchange_; }
  Communicator& ranks() const { return exchange_.ranks(); }
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
  void take_from_others(std::vector<double>& values) { exchange_.update({values.data()}); }

 private:
  double own_evaluations() const {
    return evaluations_before_ + best_.evaluations() + taken_sweep_.evaluations() +
           (mixtures_ ? mixtures_->evaluations() : 0);
  }

  // Four bytes for a state, where a byte can tell its actions apart.
  Policy::Stage compact_stage() const {
    Policy::Stage stage;
    stage.mixed.resize(actions_.size());
    for (std::size_t i = 0; i < actions_.size(); ++i)
      stage.mixed[i].safe = static_cast<std::uint8_t>(std::max(0, actions_[i]));
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
  std::vector<std::int32_t> actions_;
  TakenRows taken_;
  double evaluations_before_ = 0;  // in the run that this one continues
};

// Between two sweeps.
void report(Workers& workers, SolverCheckpoint* solve, double done) {
  if (!solve) return workers.check_together();
  if (solve->watch().stop(done)) throw Stopped("stopped before there was an answer");
}

void run_finite(const Problem& problem, Sweeps& sweeps, SolverCheckpoint* solve,
                ValueIteration& result) {
  std::int64_t stage = problem.horizon();
  const auto horizon = static_cast<double>(stage);
  std::vector<double>& next = result.values;
  next.assign(problem.model().states(), 0.0);
  result.policy.stages.resize(stage);
  const auto state = [&](Archive& archive) {
    archive.visit("stage", stage);
    archive.visit_stages("policy", result.policy, nullptr);
    sweeps.visit(archive, next);
  };
  if (solve && solve->restore(state)) sweeps.take_from_others(next);
  std::vector<double> values;
  while (stage > 0) {
    report(sweeps.workers(), solve, 1 - static_cast<double>(stage) / horizon);
    const auto h = static_cast<int>(stage - 1);
    sweeps.step(h, next, values, result.policy.stages[h]);
    next.swap(values);
    stage = h;
    if (solve) solve->offer(state);
  }
  result.sweeps = problem.horizon();
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
        discount_(contraction(problem, sweeps.workers())),
        monotone_(!std::holds_alternative<Tilt>(problem.uncertainty())),
        result_(result) {}

  void run(SolverCheckpoint* solve) {
    result_.values.assign(problem_.model().states(), 0.0);
    result_.policy.stages.resize(1);
    const auto state = [&](Archive& archive) { visit(archive); };
    if (solve && solve->restore(state)) sweeps_.take_from_others(result_.values);
    const int expected = stages_until_negligible(problem_, 1e-13, sweeps_.workers());
    while (!done() && result_.sweeps < 10 * std::int64_t{expected}) {
      report(sweeps_.workers(), solve,
             std::min(0.99, static_cast<double>(result_.sweeps) / expected));
      if (result_.sweeps > 0 && helps())
        sweeps_.follow(result_.policy.stages[0], result_.values, kShare * width());
      last_width_ = width();
      residual_ = sweeps_.step(0, result_.values, better_, result_.policy.stages[0]);
      result_.values.swap(better_);
      ++result_.sweeps;
      if (width() < kProgress * best_width_) best_width_ = width(), best_sweep_ = result_.sweeps;
      if (solve) solve->offer(state);
    }
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
    archive.visit_stages("policy", result_.policy, nullptr);
    sweeps_.visit(archive, result_.values);
  }

  double width() const { return bracket(residual_, discount_).width(); }

  // Plain sweeps converge without fail. They have the last word should following policies not
  // help.
  bool helps() const { return monotone_ && result_.sweeps - best_sweep_ < kPatience; }

  bool done() const {
    if (result_.sweeps == 0) return false;
    if (!monotone_) {
      const double rest = discount_ / (1 - discount_);
      const double change = std::max(std::abs(residual_.low), std::abs(residual_.high));
      const double size = std::max(std::abs(residual_.least), std::abs(residual_.most));
      return change * rest <= 1e-12 * size;
    }
    const Bracket found = bracket(residual_, discount_);
    const double size = scale(residual_, found);
    const double start = std::abs(result_.at(problem_.start()) + found.middle());
    return found.width() <= tolerance_ / 2 * std::max(start, 1e-3 * size) ||
           as_narrow_as_rounding(discount_, found.width(), last_width_, size);
  }

  const Problem& problem_;
  Sweeps& sweeps_;
  double tolerance_;
  double discount_;  // or what has its place
  bool monotone_;
  ValueIteration& result_;
  std::vector<double> better_;
  Residual residual_;
  double last_width_ = std::numeric_limits<double>::infinity();
  double best_width_ = std::numeric_limits<double>::infinity();
  std::int64_t best_sweep_ = 0;
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
  if (problem.improper()) {
    require(!least, "the least total of a policy that never ends is without bound");
    return shortest_path(problem, channel, workers);
  }
  Sweeps sweeps(problem, channel, workers, least);
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

// Two layers to solve and, beside what is left of them, two to evaluate; the rows that a policy
// takes and, for an infinite horizon, nature's distributions for them; a decision of each state and
// stage.
MemoryPlan plan_robust(const Problem& problem) {
  const Model& model = problem.model();
  const bool infinite = problem.infinite();
  const double layers =
      (infinite ? 3 : 1) + 2 * (1.0 + static_cast<double>(problem.constraints().size()));
  const double outcomes = 1 + static_cast<double>(model.outcomes()) /
                                  std::max<double>(1, static_cast<double>(model.rows()));
  const double taken = (8 + 8 + 8) + (infinite ? 8 + 8 + 8 + (8 + 4) * outcomes : 0);
  const double decision = shares_radius(problem)        ? 8 + (4 + 8.0) * model.most_actions()
                          : model.most_actions() <= 256 ? 4
                                                        : 8 + 4 + 8;
  MemoryPlan plan;
  plan.model = bytes_of(model);
  plan.values = (8 * layers + taken) * model.own_states();
  // Of a state of another rank, besides, what sends and receives it: a number, an offset and a
  // value each way, for the search and again for the evaluation of its policy.
  const double exchanged = 2 * 2 * (4 + 8 + 8);
  plan.halo = (8 * layers + exchanged) * (model.states() - model.own_states());
  plan.policy = decision * (infinite ? 1 : problem.horizon()) * model.own_states();
  return plan;
}

namespace {

Problem without_nature(const Problem& problem) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  return problem.with(std::move(terms));
}

constexpr double kTolerance = 1e-8;  // of what robust and nominal find for an infinite horizon

Solution unconstrained(const Problem& problem, bool against_nature, const char* method,
                       const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const Problem model_to_solve = against_nature ? problem : without_nature(problem);
  const bool helpful = problem.terms().helpful_nature;
  require(!helpful || problem.constraints().empty(),
          "nature helpful with {} constraints, must be left out of what is solved for",
          problem.constraints().size());
  const Channel channel = reward_channel(problem);
  announce(plan_robust(problem), execution);
  Solution solution;
  solution.method = method;
  ValueIteration found;
  try {
    require_room_for_chance(problem, workers);
    SolverCheckpoint solve(execution, problem, method, watch);
    // What a helpful nature makes large is small in its sign, and the policy does the same.
    found = value_iteration(model_to_solve, channel, workers, helpful, &solve, kTolerance);
  } catch (const Stopped&) {
    return stopped(problem, std::move(solution), watch, workers);
  }
  solution.policy = std::move(found.policy);
  solution.row_evaluations = found.row_evaluations;
  solution.iterations = found.sweeps;
  // No policy earns more in the worst case than one that has nothing else to care for. Under a tilt
  // more later may be worth less now, so that a maximum taken stage by stage proves nothing.
  if (against_nature && !std::holds_alternative<Tilt>(problem.uncertainty()) &&
      std::isfinite(found.error))
    solution.reward.bound = channel.sign * found.at(problem.start()) + found.error;
  return finished(problem, std::move(solution), watch, workers, {kTolerance, found.scale});
}

}  // namespace

Solution robust(const Problem& problem, const Execution& execution) {
  return unconstrained(problem, true, "robust", execution);
}

Solution nominal(const Problem& problem, const Execution& execution) {
  return unconstrained(problem, false, "nominal", execution);
}

AchievableRange achievable_range(const Problem& problem, int constraint,
                                 const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  if (problem.constraints()[constraint].probability) {
    const AugmentedProblem augmented = augment_one(problem, constraint, workers);
    const AchievableRange change = achievable_range(augmented.problem, 0, watch.rest());
    const double kept = augmented.kept_at_start(0);
    const auto probability = [&](double value) { return std::clamp(kept + value, 0.0, 1.0); };
    return {probability(change.best), probability(change.worst)};  // whatever rounding makes of it
  }
  const Channel channel = channel_of(problem, constraint);
  const bool helpful = problem.terms().helpful_nature;
  const double best = value_iteration(problem, channel, workers, helpful).at(problem.start());
  const double worst = value_iteration(problem, channel, workers, !helpful).at(problem.start());
  return {channel.sign * best + 0.0, channel.sign * worst + 0.0};  // no -0
}

}  // namespace redoubt
