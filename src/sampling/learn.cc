#include "redoubt/learn.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "evaluation/satisfied.h"
#include "numerics/infinity.h"
#include "parallel/stopwatch.h"
#include "redoubt/solve.h"
#include "sampling/allocation.h"
#include "sampling/drawing.h"
#include "sampling/solved_sides.h"
#include "solvers/finish.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr double kShareOfSolver = 0.05;  // of epsilon or the gap
constexpr double kLeastTolerance = 1e-6, kLargestTolerance = 0.1;
// Of the samples, from one round to the next.
constexpr double kLeastGrowth = 1.1, kMostGrowth = 2, kMargin = 1.05;

void check(const LearnOptions& options, const Terms& terms) {
  require(options.epsilon > 0 && std::isfinite(options.epsilon),
          "epsilon = {}, must be positive and finite", options.epsilon);
  require(options.delta > 0 && options.delta < 1, "delta = {}, must be in (0, 1)", options.delta);
  require(options.first_samples >= 1, "first_samples = {}, must be at least 1",
          options.first_samples);
  require(options.most_samples >= 0, "most_samples = {}, must be at least 0", options.most_samples);
  require(terms.horizon || terms.discount < 1,
          "no horizon and discount {}, must have a horizon or a discount below 1", terms.discount);
  require(!terms.helpful_nature, "nature helpful, must be against the policy");
  composed(terms.uncertainty);  // an Error for sets that have no composed one
}

// The constraints of the policy that is sought: within epsilon of their bounds. Probabilities are
// asked for as they are: epsilon has the unit of a total.
Terms relaxed(Terms terms, double slack) {
  for (Constraint& c : terms.constraints)
    if (!c.probability) c.bound += c.sense == Sense::at_most ? slack : -slack;
  return terms;
}

// One run: rounds of drawing, solving from both sides, and choosing where to draw next.
class LearnRun {
 public:
  LearnRun(Simulator& simulator, const Terms& terms, const LearnOptions& options,
           const Execution& execution)
      : shape_(simulator.shape()),
        terms_(terms),
        options_(options),
        watch_(execution),
        drawing_(simulator, options, execution.threads),
        active_(find_active()),
        known_(drawing_.counts(), find_evidence()) {}

  Learned operator()() {
    std::vector<std::int64_t> to = first_round();
    for (bool more = true; more;) {
      try {
        drawing_.draw(to, watch_);
        solve();
      } catch (const Stopped&) {
        stopped_ = unfinished_ = true;
        if (rounds_.empty()) throw Stopped("learn was stopped before its first round was solved");
        break;
      }
      const LearnRound round = report();
      rounds_.push_back(round);
      if (certified() || infeasible()) break;
      stopped_ = watch_.stop(share_done());
      unfinished_ = stopped_ || (options_.round && !options_.round(round));
      more = !unfinished_ && next_round(to);
    }
    sharpen();
    if (options_.method && !infeasible()) choose_by_method();
    return answer();
  }

 private:
  // Rows whose outcomes are in doubt and that episodes can come to.
  std::vector<char> find_active() {
    const std::vector<char> reached = reachable_states(drawing_.counts(), terms_);
    std::vector<char> active(shape_.rows(), 0);
    for (std::size_t slot = 0; slot + 1 < shape_.state_rows.size(); ++slot)
      for (Row row = shape_.state_rows[slot]; row < shape_.state_rows[slot + 1]; ++row)
        active[row] = reached[slot % shape_.states] && shape_.asks(row) &&
                      drawing_.counts().outcomes(row).size() > 1;
    return active;
  }

  // Of each interval, such that all of them together fail with probability delta at most.
  double find_evidence() const {
    std::int64_t intervals = 1;
    for (Row row = 0; row < shape_.rows(); ++row)
      if (active_[row]) intervals += intervals_of_row(drawing_.counts().outcomes(row).size());
    return std::log(static_cast<double>(std::max<std::int64_t>(intervals - 1, 1)) / options_.delta);
  }

  std::vector<std::int64_t> first_round() const {
    std::vector<std::int64_t> to(shape_.rows(), 0);
    std::int64_t rows = 0;
    for (Row row = 0; row < shape_.rows(); ++row) {
      const auto& values = drawing_.counts().outcomes(row)[0].values;
      const bool unknown = values[0].known == RowCounts::Value::Known::nothing;
      to[row] = active_[row] ? options_.first_samples : unknown ? 1 : 0;
      rows += to[row] > 0;
    }
    require(options_.most_samples == 0 || options_.most_samples >= rows,
            "most_samples = {}, must be at least {}: one for each row", options_.most_samples,
            rows);
    const std::int64_t all = std::accumulate(to.begin(), to.end(), std::int64_t{0});
    if (options_.most_samples > 0 && all > options_.most_samples)
      for (std::int64_t& count : to) count = std::min(count, options_.most_samples / rows);
    return to;
  }

  std::int64_t samples() const {
    std::int64_t sum = 0;
    for (Row row = 0; row < shape_.rows(); ++row) sum += drawing_.counts().samples(row);
    return sum;
  }

  // Both searches may leave a twentieth of this gap open.
  FrontierOptions precision(double gap) const {
    if (!sides_ || !sides_->bound().reward.bound) return {.tolerance = kLargestTolerance};
    const double open = kShareOfSolver * gap, size = std::abs(*sides_->bound().reward.bound);
    const double tolerance = size > 0 ? open / size : 1.0;
    return {.tolerance = std::clamp(tolerance, kLeastTolerance, kLargestTolerance),
            .least_gap = open};
  }

  // The samples that are there, of those that would do.
  double share_done() const {
    if (!has_gap() || !feasible()) return 0;
    return std::min(1.0, std::pow(options_.epsilon / std::max(gap(), options_.epsilon), 2));
  }

  // Of a part of a round: it may be stopped, but what it says of its progress is of no use here.
  Execution part() const {
    Execution run = watch_.rest();
    run.planned = {};
    run.stages = nullptr;
    run.checkpoint = {};
    if (run.progress)
      run.progress = [tell = run.progress, done = share_done()](double) { return tell(done); };
    return run;
  }

  // A round whose gap is so wide that the next one is as large as may be only says where to draw:
  // no search.
  void solve() {
    known_.update();
    const Terms sought = relaxed(terms_, options_.strict ? 0 : options_.epsilon);
    SolvedSides sides(known_, sought, terms_, part());
    // The intervals hold in all rounds at once, and so do the bounds.
    if (sides_ && sides_->bound().reward.bound) sides.lower_bound_to(*sides_->bound().reward.bound);
    const double wide = options_.epsilon * std::sqrt(kMostGrowth / kMargin);
    const bool search = sides.open() && !sides.is_wider_than(wide, part());
    // A round has twice the samples of the one before at most, so it leaves half of the gap or
    // more.
    const double aim = !has_gap()  ? kInfinity
                       : searched_ ? std::max(options_.epsilon, gap() / 2)
                                   : options_.epsilon;
    if (search) sides.search(precision(aim), part());
    aimed_at_ = search ? aim : sides.open() ? kInfinity : 0;
    searched_ = search || !sides.open();
    sides_.emplace(std::move(sides));
    const bool near = search && has_gap() && gap() > options_.epsilon &&
                      gap() - sides_->left_open() <= options_.epsilon;
    if (near && feasible()) search_for(options_.epsilon, part());
  }

  void search_for(double gap, const Execution& execution) {
    sides_->search(precision(gap), execution);
    aimed_at_ = gap;
    searched_ = true;
  }

  // The bracket that is left when there are no more samples is solved as well as a small one.
  void sharpen() {
    if (!has_gap() || certified() || (searched_ && !feasible())) return;
    const double aim = std::max(options_.epsilon, gap());
    if (aimed_at_ <= 2 * aim) return;
    Execution run = part();
    if (stopped_ && !searched_) {  // there may be a policy that keeps the constraints
      run.time_limit = kSecondsToAnswer;
      run.progress = {};
    }
    try {
      search_for(aim, run);
      rounds_.back() = report();
    } catch (const Stopped&) {
      unfinished_ = true;
    }
  }

  // A run that was stopped keeps the policy of its last round.
  void choose_by_method() {
    Solution chosen;
    try {
      if (!unfinished_) chosen = options_.method(sides_->problem(), part());
    } catch (const Stopped&) {
      chosen.unfinished = true;
    }
    if (unfinished_ || chosen.unfinished) {
      unfinished_ = true;
      chosen = sides_->policy();
      chosen.notes.emplace_back("stopped before the method was done: the policy is frontier's");
    }
    sides_->set_policy(std::move(chosen));
  }

  bool infeasible() const { return sides_->bound().status == Status::infeasible; }
  bool feasible() const { return all_satisfied(sides_->policy().constraints); }
  bool has_gap() const { return sides_ && sides_->bound().reward.bound; }
  double gap() const { return *sides_->bound().reward.bound - sides_->policy().reward.worst; }
  bool certified() const {
    return feasible() && !infeasible() && has_gap() && gap() <= options_.epsilon;
  }

  LearnRound report() const {
    LearnRound round;
    round.samples = samples();
    round.worst = sides_->policy().reward.worst;
    if (!infeasible()) round.bound = sides_->bound().reward.bound.value_or(kUnknown);
    round.feasible = feasible();
    for (Row row = 0; row < shape_.rows(); ++row)
      if (round.most_drawn < 0 ||
          drawing_.counts().samples(row) > drawing_.counts().samples(round.most_drawn))
        round.most_drawn = row;
    return round;
  }

  // The width falls with the root of the samples: how many would do is known roughly.
  std::int64_t next_total() const {
    double growth = kMostGrowth;
    if (feasible() && has_gap())
      growth =
          std::clamp(kMargin * std::pow(gap() / options_.epsilon, 2), kLeastGrowth, kMostGrowth);
    const auto now = static_cast<double>(samples());
    const auto total = static_cast<std::int64_t>(std::ceil(growth * now));
    return options_.most_samples > 0 ? std::min(total, options_.most_samples) : total;
  }

  // False when no more samples are allowed, or would tell anything.
  bool next_round(std::vector<std::int64_t>& to) {
    std::vector<double> contribution(shape_.rows(), 0.0);
    if (options_.uniform) {
      for (Row row = 0; row < shape_.rows(); ++row) contribution[row] = active_[row];
    } else {
      contribution = sides_->contributions(drawing_.counts());
      for (Row row = 0; row < shape_.rows(); ++row)
        if (!active_[row]) contribution[row] = 0;
    }
    std::vector<std::int64_t> now = to;
    to = allocate(now, contribution, next_total());
    return to != now;
  }

  Learned answer() {
    Learned learned{sides_->policy(), asked_problem(), {}, rounds_, 0, 0};
    Solution& solution = learned.solution;
    solution.method = "learn";
    solution.reward.static_bound.reset();
    solution.reward.bound.reset();
    if (!infeasible()) solution.reward.bound = sides_->bound().reward.bound;
    for (std::size_t c = 0; c < solution.constraints.size(); ++c) {
      solution.constraints[c].bound = terms_.constraints[c].bound;
      solution.constraints[c].probability = terms_.constraints[c].probability;
      solution.constraints[c].best_achievable = best_achievable(c);
    }
    solution.status = infeasible()  ? Status::infeasible
                      : certified() ? Status::certified
                      : feasible()  ? Status::feasible
                                    : Status::stopped;
    solution.unfinished = unfinished_;
    solution.curve.clear();
    solution.trace = {};
    solution.iterations = static_cast<std::int64_t>(rounds_.size());
    solution.seconds = watch_.seconds();
    for (Row row = 0; row < shape_.rows(); ++row)
      learned.samples.push_back(drawing_.counts().samples(row));
    learned.queries = drawing_.queries;
    learned.reused = drawing_.reused;
    return learned;
  }

  // Of any policy, on the true model.
  double best_achievable(std::size_t constraint) const {
    const auto known = sides_->bound().constraints[constraint].best_achievable;
    return known ? *known
                 : achievable_range(sides_->upper().problem, static_cast<int>(constraint)).best;
  }

  // What is known, with the constraints as they were asked for.
  Problem asked_problem() const {
    Terms terms = pessimistic_terms(shape_, terms_);
    if (shape_.factors > 0) return {sides_->problem().given().model, std::move(terms)};
    return sides_->problem().with(std::move(terms));
  }

  const SimulatorShape& shape_;
  const Terms& terms_;
  const LearnOptions& options_;
  Stopwatch watch_;
  Drawing drawing_;
  std::vector<char> active_;
  KnownRows known_;
  std::optional<SolvedSides> sides_;  // of the last round that was solved
  bool searched_ = false;             // a search would not tell whether they are feasible
  double aimed_at_ = 0;               // the gap that they were searched for
  std::vector<LearnRound> rounds_;
  bool unfinished_ = false, stopped_ = false;  // by the caller, or as its time was up
};

}  // namespace

Learned learn(Simulator& simulator, const Terms& terms, const LearnOptions& options,
              const Execution& execution) {
  check(options, terms);
  simulator.shape().check();
  return LearnRun(simulator, terms, options, execution)();
}

}  // namespace redoubt
