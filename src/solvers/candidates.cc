#include "solvers/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/evaluation.h"
#include "parallel/collectives.h"
#include "redoubt/chance.h"
#include "solvers/rcvi/rcvi.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {

double shortfall(const ConstraintResult& c) {
  if (c.satisfied) return 0;
  if (!is_known(c.worst)) return std::numeric_limits<double>::infinity();
  if (c.probability) return *c.probability - c.worst;
  return c.sense == Sense::at_least ? c.bound - c.worst : c.worst - c.bound;
}

void BestPolicy::offer(EvaluatedPolicy candidate) {
  if (!best_ || is_better(candidate.evaluation, best_->evaluation)) best_ = std::move(candidate);
}

bool BestPolicy::is_better(const Evaluation& one, const Evaluation& other) const {
  const auto violation = [&](const Evaluation& evaluation) {
    double largest = 0;
    for (std::size_t c = 0; c < evaluation.constraints.size(); ++c)
      largest = std::max(
          largest, shortfall(evaluation.constraints[c]) / (scales_.empty() ? 1.0 : scales_[c]));
    return largest;
  };
  if (one.satisfied() != other.satisfied()) return one.satisfied();
  const double mine = violation(one), others = violation(other);  // 0 where all is satisfied
  return mine != others ? mine < others : one.reward.worst > other.reward.worst;
}

EvaluatedPolicy best_for_one(const Problem& problem, int constraint, Policy policy,
                             Evaluation evaluation) {
  std::string origin = constraint < 0
                           ? "the one with the largest worst-case reward, constraints ignored"
                           : fmt::format("the one that is safest for the constraint on '{}'",
                                         problem.constraints()[constraint].signal);
  return {std::move(policy), std::move(evaluation), {}, std::move(origin)};
}

void offer_unevaluated(const Problem& problem, EvaluatedPolicy candidate, Workers& workers,
                       BestPolicy& evaluated) {
  if (has_chance_constraints(problem)) {
    candidate.evaluation = evaluate_expected(problem, candidate.policy, workers);
    evaluated.offer(candidate);
  }
  candidate.evaluation = evaluate(problem, candidate.policy, workers).evaluation;
  evaluated.offer(std::move(candidate));
}

void offer_best_for_one(const Problem& problem, Workers& workers, BestPolicy& evaluated) {
  std::vector<int> order = {-1};
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) order.push_back(c);
  if (order.size() > 1) std::swap(order[0], order[1]);
  for (const int constraint : order) {
    const Channel channel =
        constraint < 0 ? reward_channel(problem) : channel_of(problem, constraint);
    Policy policy =
        value_iteration(problem, channel, workers, problem.terms().helpful_nature).policy;
    offer_unevaluated(problem, best_for_one(problem, constraint, std::move(policy), {}), workers,
                      evaluated);
  }
}

namespace {

// For a part of the work that may take only a part of the time: says whether it was the caller who
// asked it to stop.
class PartOfTime {
 public:
  PartOfTime(const Execution& execution, double seconds) : whole_(execution) {
    part_.threads = execution.threads;
    part_.ranks = execution.ranks;
    part_.clock = execution.clock;
    part_.time_limit = seconds;
    part_.progress = [this](double) {
      told_ = told_ || (whole_.progress && !whole_.progress(0));
      return !told_;
    };
  }
  PartOfTime(const PartOfTime&) = delete;
  const Execution& execution() const { return part_; }
  // When this part was stopped, which every rank was.
  void pass_on() const {
    Communicator& ranks = whole_.ranks ? *whole_.ranks : one_process();
    if (any_rank(ranks, told_)) throw Stopped("stopped before there was an answer");
  }

 private:
  const Execution& whole_;
  Execution part_;
  bool told_ = false;
};

}  // namespace

BestPolicy candidates_in_time(const Problem& problem, const Execution& execution) {
  constexpr double kShare = 0.2;
  BestPolicy evaluated;
  if (!std::isfinite(execution.time_limit)) return evaluated;
  const PartOfTime part(execution, kShare * execution.time_limit);
  try {
    Stopwatch watch(part.execution());
    Workers workers(part.execution(), &watch);
    offer_best_for_one(problem, workers, evaluated);
  } catch (const Stopped&) {
    part.pass_on();
  }
  return evaluated;
}

std::optional<EvaluatedPolicy> quick_rcvi(const Problem& problem, const Execution& execution) {
  constexpr double kCells = 64;  // of all constraints together
  if (problem.constraints().empty()) return {};
  const auto axes = static_cast<double>(problem.constraints().size());
  const RcviOptions options = {
      .fallback = Fallback::utility,
      .budget_cells = std::max(2, static_cast<int>(std::pow(kCells, 1 / axes))),
      .rounding = Rounding::mixed,
      .tolerance = 1e-2};
  const std::vector<double> steps(problem.constraints().size(), 0.0);
  const PartOfTime part(execution, execution.time_limit);
  try {
    Stopwatch watch(part.execution());
    Workers workers(part.execution(), &watch);
    Solution found;
    solve_rcvi(problem, options, steps, part.execution(), watch, workers, found);
    Evaluation evaluation{.reward = {found.reward.worst, {}, {}},
                          .constraints = std::move(found.constraints),
                          .hopeless = found.hopeless};
    return EvaluatedPolicy{std::move(found.policy),
                           std::move(evaluation),
                           {},
                           "that of an rcvi on a coarse grid of budgets"};
  } catch (const Stopped&) {
    part.pass_on();
    return {};
  } catch (const Error&) {  // it needs more memory than there is
    return {};
  }
}

}  // namespace redoubt::internal
