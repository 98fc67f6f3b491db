#include "redoubt/frontier.h"

#include <algorithm>
#include <cmath>

#include "model/memory.h"
#include "model/require.h"
#include "numerics/small_lp.h"
#include "redoubt/chance.h"
#include "redoubt/checkpoint.h"
#include "redoubt/evaluate.h"
#include "solvers/chance.h"
#include "solvers/frontier/search.h"
#include "solvers/frontier/static_bound.h"

namespace redoubt {
namespace {

void check(const Problem& problem, const FrontierOptions& options) {
  require(!std::holds_alternative<Tilt>(problem.uncertainty()),
          "set tilt with method frontier: a tilt is not a set of distributions, so there is no "
          "worst case to bound");
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  require(options.most_directions >= 2, "most_directions = {}, must be at least 2",
          options.most_directions);
}

Solution search(const Problem& problem, const FrontierOptions& options,
                const Execution& execution) {
  try {
    return FrontierSearch(problem, options, execution).run();
  } catch (const Stopped&) {  // before the search began
    Stopwatch watch(execution);
    Workers workers(execution, &watch);
    Solution solution;
    solution.method = "frontier";
    return stopped(problem, std::move(solution), watch, workers);
  }
}

void add_static_bound(const Problem& problem, const FrontierOptions& options,
                      const Execution& execution, Solution& solution) {
  if (solution.status == Status::infeasible) return;
  if (std::holds_alternative<Nominal>(problem.uncertainty())) {
    solution.reward.static_bound = solution.reward.bound;
    return;
  }
  const StaticBound found = find_static_bound(problem, options.tolerance, execution);
  solution.reward.static_bound = found.reward;
  if (!found.stopped) return;
  solution.unfinished = true;
  solution.notes.emplace_back(
      found.reward ? "stopped while static_bound was sought: it holds, but is not at its tolerance"
                   : "stopped before there was a static_bound");
}

// Of what the curve says of a constraint: more of a probability is always better.
double sign_of(const Problem& problem, std::size_t constraint) {
  if (problem.constraints()[constraint].probability) return 1;
  return channel_of(problem, static_cast<int>(constraint)).sign;
}

}  // namespace

Solution frontier(const Problem& problem, const FrontierOptions& options,
                  const Execution& execution) {
  check(problem, options);
  if (has_chance_constraints(problem)) {
    return solve_augmented(problem, execution, options.tolerance,
                           [&](const Problem& expected, const Execution& run) {
                             return frontier(expected, options, run);
                           });
  }
  announce(plan_frontier(problem, options), execution);
  const Stopwatch watch(execution);
  Solution solution = search(problem, options, execution);
  Execution rest = execution;
  rest.time_limit = std::max(0.0, execution.time_limit - watch.seconds());
  if (!solution.unfinished) add_static_bound(problem, options, rest, solution);
  solution.seconds = watch.seconds();
  return solution;
}

void certify(const Problem& problem, Solution& solution, const FrontierOptions& options,
             const Execution& execution) {
  const Solution exact = frontier(problem, options, execution);
  solution.reward.bound = exact.reward.bound;
  solution.reward.static_bound = exact.reward.static_bound;
  for (std::size_t c = 0; c < solution.constraints.size(); ++c) {
    solution.constraints[c].best_achievable = exact.constraints[c].best_achievable;
  }
  if (exact.status == Status::infeasible) {
    solution.notes.emplace_back("proved: no policy can satisfy the constraints");
    return;
  }
  if (exact.unfinished) {
    solution.unfinished = true;
    solution.notes.emplace_back("stopped while bounds were sought: those that were found hold");
  }
  const auto gap = solution.gap();
  const double scale =
      std::max(std::abs(solution.reward.worst), std::abs(solution.reward.bound.value_or(0)));
  if (solution.status == Status::feasible && gap && *gap <= options.tolerance * scale)
    solution.status = Status::certified;
}

Policy policy_at(const Problem& problem, const Solution& solution,
                 const std::vector<double>& bounds) {
  const auto constraints = problem.constraints().size();
  require(solution.method == "frontier" && !solution.curve.empty(),
          "method '{}' has no trade-off curve to choose from", solution.method);
  require(bounds.size() == constraints, "{} bounds, must be one for each of the {} constraints",
          bounds.size(), constraints);
  std::vector<double> reward, required;
  std::vector<std::vector<double>> utility(constraints);
  for (std::size_t c = 0; c < constraints; ++c) required.push_back(sign_of(problem, c) * bounds[c]);
  for (const CurvePoint& point : solution.curve) {
    reward.push_back(point.reward);
    for (std::size_t c = 0; c < constraints; ++c) {
      utility[c].push_back(sign_of(problem, c) * point.constraints[c]);
    }
  }
  MixUnderConstraints mix{reward, {utility.begin(), utility.end()}, required};
  const ConstrainedMix found = best_constrained_mix(mix);
  require(found.shortfall <= kSatisfied, "the curve misses these bounds by {:g}, must reach them",
          found.shortfall);
  Policy policy = solution.policy;
  policy.start_begin = {0};
  policy.start_moves.clear();
  for (std::size_t i = 0; i < policy.start_states.size(); ++i) {
    for (std::size_t n = 0; n < found.weight.size(); ++n) {
      if (found.weight[n] > 0)
        policy.start_moves.push_back({solution.curve[n].memory, found.weight[n]});
    }
    policy.start_begin.push_back(static_cast<std::int64_t>(policy.start_moves.size()));
  }
  return policy;
}

}  // namespace redoubt
