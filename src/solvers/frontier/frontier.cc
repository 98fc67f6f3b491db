#include "redoubt/frontier.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/set_traits.h"
#include "numerics/small_lp.h"
#include "parallel/memory_limit.h"
#include "redoubt/chance.h"
#include "redoubt/evaluate.h"
#include "solvers/chance.h"
#include "solvers/finish.h"
#include "solvers/frontier/enclosure.h"
#include "solvers/frontier/search/answers.h"
#include "solvers/frontier/search/memoryless_bracket.h"
#include "solvers/frontier/search/search.h"
#include "solvers/frontier/search/static_bound.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

void check(const Problem& problem, const FrontierOptions& options) {
  require(!std::holds_alternative<Tilt>(problem.uncertainty()),
          "set tilt with method frontier: a tilt is not a set of distributions, so there is no "
          "worst case to bound; method must be another one, such as rcvi");
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  require(options.least_gap >= 0, "least_gap = {}, must be at least 0", options.least_gap);
  require(options.most_directions == 0 || options.most_directions >= 2,
          "most_directions = {}, must be at least 2, or 0 for as many as the tolerance asks for",
          options.most_directions);
  require(options.memory_limit >= 0, "memory_limit = {}, must be at least 0", options.memory_limit);
}

// The bound of an answer is the least of all that are known.
void add_static_bound(const StaticBound& found, Solution& solution) {
  solution.reward.static_bound = found.reward;
  if (found.stopped) {
    solution.unfinished = true;
    solution.notes.emplace_back(
        found.reward
            ? "stopped while static_bound was sought: it holds, but is not at its tolerance"
            : "stopped before there was a static_bound");
  }
  if (!found.reward || !solution.reward.bound) return;
  solution.reward.bound = std::min(*solution.reward.bound, *found.reward);
}

Problem asking_for(const Problem& problem, const Constraints& asked) {
  Terms terms = problem.terms();
  terms.constraints.clear();
  for (const std::size_t c : asked) terms.constraints.push_back(problem.constraints()[c]);
  return problem.with(std::move(terms));
}

// A search that asks for some of the constraints has a state of its own.
Execution keeping_apart(Execution execution, const Problem& problem, const Constraints& asked) {
  if (!execution.checkpoint || asked.size() == problem.constraints().size()) return execution;
  execution.checkpoint =
      execution.checkpoint->part(fmt::format("constraints-{}", fmt::join(asked, "-")));
  return execution;
}

void set_best_achievable(const Problem& problem, const Extremes& extremes, Solution& solution) {
  for (std::size_t c = 0; c < extremes.required.size(); ++c)
    solution.constraints[c].best_achievable =
        extremes.channels[c + 1].sign * extremes.most(c + 1, problem.start()) + 0.0;
}

// What the answer of a search that asked for some of the constraints says of all of them.
void complete(const Problem& problem, const Extremes& extremes, const GapTolerance& tolerance,
              Workers& workers, Solution& solution) {
  const Status found = solution.status;
  EvaluationPass pass = evaluate(problem, solution.policy, workers);
  const Start& start = problem.start();
  for (CurvePoint& point : solution.curve) {
    point.constraints.assign(extremes.required.size(), 0.0);
    for (std::size_t i = 0; i < start.states.size(); ++i) {
      for (std::size_t c = 0; c < extremes.required.size(); ++c)
        point.constraints[c] +=
            extremes.channels[c + 1].sign * start.probability[i] *
            pass.at_first_stage(problem.model(), solution.policy, static_cast<int>(c) + 1,
                                start.states[i])[point.memory];
    }
  }
  judge(std::move(pass.evaluation), tolerance, solution);
  set_best_achievable(problem, extremes, solution);
  if (found == Status::infeasible) solution.status = found;
}

// The constraint that is missed most, in units of its spread; none when all of them hold.
std::optional<std::size_t> missed_most(const Extremes& extremes, const Solution& solution) {
  std::optional<std::size_t> found;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < extremes.required.size(); ++c) {
    const double worst = extremes.channels[c + 1].sign * solution.constraints[c].worst;
    const double missed = (extremes.required[c] - worst) / extremes.spread[c + 1];
    if (solution.constraints[c].satisfied || missed <= most) continue;
    most = missed;
    found = c;
  }
  return found;
}

// Those that the policy which is best for the reward breaks, if they had a price for memoryless
// policies.
Constraints first_asked(const FrontierOptions& options, const Extremes& extremes,
                        const Beginning& beginning) {
  Constraints broken, priced;
  for (std::size_t c = 0; c < extremes.required.size(); ++c) {
    if (!options.whole_curve && extremes.totals[0][c + 1] >= extremes.required[c]) continue;
    broken.push_back(c);
    if (!beginning.prices.empty() && beginning.prices[c] > 0) priced.push_back(c);
  }
  return priced.empty() || options.whole_curve ? broken : priced;
}

// Constraints that the answer keeps although nobody asked for them cost nothing: the search begins
// with some, and asks for another one only when the answer breaks it. A bound for fewer constraints
// is one for all of them.
Solution search(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
                const Beginning& beginning, const Stopwatch& watch, Workers& workers,
                BestPolicy& best) {
  Constraints asked = first_asked(options, extremes, beginning);
  const GapTolerance tolerance{
      options.tolerance, extremes.most(0, problem.start()) - extremes.least[0], options.least_gap};
  for (;;) {
    const Problem some = asking_for(problem, asked);
    const Extremes of_some = extremes_of(extremes, asked);
    const Execution run = keeping_apart(watch.rest(), problem, asked);
    Solution solution =
        FrontierSearch(some, options, of_some, beginning.about(asked), problem, best, run).run();
    if (solution.unfinished) {  // it is an answer for all constraints
      set_best_achievable(problem, extremes, solution);
      return solution;
    }
    if (asked.size() == extremes.required.size()) return solution;
    complete(problem, extremes, tolerance, workers, solution);
    const std::optional<std::size_t> missed = missed_most(extremes, solution);
    if (!missed || solution.status == Status::infeasible) return solution;
    asked.insert(std::upper_bound(asked.begin(), asked.end(), *missed), *missed);
  }
}

// What is known before any game. On a finite horizon with one constraint the search itself begins
// with memoryless policies. Throws Stopped.
std::optional<Beginning> begin(const Problem& problem, const FrontierOptions& options,
                               const Extremes& extremes, double& bound, Workers& workers,
                               BestPolicy& best) {
  Beginning beginning{bound, {}};
  if (problem.constraints().empty() || (!problem.infinite() && problem.constraints().size() == 1))
    return beginning;
  MemorylessBracket bracket(problem, options.tolerance, extremes, bound, workers, best);
  try {
    if (!bracket.run()) return std::nullopt;
    bracket.offer_mixture();
    if (problem.constraints().size() > 1) {
      bracket.lower_bound();
      bracket.offer_mixture();
    }
  } catch (const Stopped&) {
    bound = bracket.bound();
    throw;
  }
  beginning.bound = bracket.bound();
  beginning.prices = bracket.prices();
  return beginning;
}

// Somebody who sets a limit may have to be content with what there is by then. This takes a tenth
// of the time at most, and a few times what was spent so far. Throws Stopped.
void try_rcvi(const Problem& problem, const Stopwatch& watch, BestPolicy& best) {
  Execution run = watch.rest();
  if (!std::isfinite(run.time_limit)) return;
  run.time_limit = std::min(0.1 * run.time_limit, 5 * watch.seconds());
  if (auto found = quick_rcvi(problem, run)) best.offer(std::move(*found));
}

// First the questions that need no search; then a search that begins with what they left open.
// Throws Stopped; what was evaluated by then is in `best`, and no policy has more than `bound`.
Solution solve_robust(const Problem& problem, const FrontierOptions& options, Stopwatch& watch,
                      Workers& workers, BestPolicy& best, double& bound) {
  const Extremes extremes = find_extremes(problem, workers, best);
  std::optional<Solution> at_once = answer_at_once(problem, options, extremes, watch, workers);
  if (at_once && at_once->status == Status::infeasible) return *std::move(at_once);
  const bool factors = problem.given().model.factors() > 0;
  if (!at_once && !shares_radius(problem)) try_rcvi(problem, watch, best);
  const StaticBound fixed = find_static_bound(problem, options.tolerance, watch.rest());
  if (fixed.infeasible) return infeasible_answer(problem, extremes, watch, workers);
  bound = fixed.reward.value_or(bound);
  Solution solution;
  if (at_once) {
    solution = *std::move(at_once);
  } else if (factors) {
    solution = enclose(problem, options, extremes, bound, watch, workers, best);
    set_best_achievable(problem, extremes, solution);
  } else {
    const auto beginning = begin(problem, options, extremes, bound, workers, best);
    if (!beginning) return infeasible_answer(problem, extremes, watch, workers);
    solution = search(problem, options, extremes, *beginning, watch, workers, best);
  }
  if (solution.status != Status::infeasible) add_static_bound(fixed, solution);
  solution.seconds = watch.seconds();
  return solution;
}

// Of what the curve says of a constraint: more of a probability is always better.
double sign_of(const Problem& problem, std::size_t constraint) {
  if (problem.constraints()[constraint].probability) return 1;
  return channel_of(problem, static_cast<int>(constraint)).sign;
}

// What a constraint asks of its values there.
double own_bound(const Problem& problem, std::size_t constraint) {
  const Constraint& asked = problem.constraints()[constraint];
  return asked.probability.value_or(asked.bound);
}

// A solution may have been read for another problem.
void require_for_each(std::size_t constraints, std::size_t values) {
  require(values == constraints, "a curve over {} constraints, the problem has {}", values,
          constraints);
}

// The weights of the points of the curve that keep these bounds with the most reward.
std::vector<double> mix_at(const Problem& problem, const Solution& solution,
                           const std::vector<double>& bounds) {
  const auto constraints = problem.constraints().size();
  require(solution.method == "frontier" && !solution.curve.empty(),
          "method '{}' has no trade-off curve to choose from", solution.method);
  require(bounds.size() == constraints, "{} bounds, must be one for each of the {} constraints",
          bounds.size(), constraints);
  std::vector<double> reward, units;
  for (const CurvePoint& point : solution.curve) {
    require_for_each(constraints, point.constraints.size());
    reward.push_back(point.reward);
  }
  std::vector<std::vector<double>> beyond(constraints);  // the bounds, in units of each constraint
  for (std::size_t c = 0; c < constraints; ++c) {
    double unit = std::abs(bounds[c]);
    for (const CurvePoint& point : solution.curve)
      unit = std::max(unit, std::abs(point.constraints[c]));
    units.push_back(unit > 0 ? unit : 1);
    for (const CurvePoint& point : solution.curve)
      beyond[c].push_back(sign_of(problem, c) * (point.constraints[c] - bounds[c]) / units[c]);
  }
  const std::vector<double> nothing(constraints, 0.0);
  ConstrainedMix found = best_constrained_mix({reward, {beyond.begin(), beyond.end()}, nothing});
  for (std::size_t c = 0; c < constraints && found.shortfall > kSatisfied; ++c) {
    double reached = 0;
    for (std::size_t n = 0; n < reward.size(); ++n) reached += found.weight[n] * beyond[c][n];
    require(reached >= -kSatisfied, "the curve misses the bound {} of '{}' by {:g}, must reach it",
            bounds[c], problem.constraints()[c].signal, -reached * units[c]);
  }
  return std::move(found.weight);
}

}  // namespace

Solution frontier(const Problem& problem, const FrontierOptions& options,
                  const Execution& execution) {
  check(problem, options);
  const bool improper = problem.improper();
  if ((problem.undiscounted() && problem.constraints().empty()) || problem.terms().helpful_nature) {
    Solution solution = robust(problem, {}, execution);
    solution.method = "frontier";
    return solution;
  }
  if (has_chance_constraints(problem)) {
    const auto solve = [&](const Problem& expected, const Execution& run) {
      return frontier(expected, options, run);
    };
    return solve_augmented(problem, execution, options.tolerance,
                           {"frontier", solve, frontier_bytes_for_each_state(problem)});
  }
  announce(plan_frontier(problem, options), execution, options.memory_limit);
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  BestPolicy best;
  double bound = std::numeric_limits<double>::infinity();
  try {
    return std::holds_alternative<Nominal>(problem.uncertainty()) || improper
               ? solve_by_columns(problem, options, execution)
               : solve_robust(problem, options, watch, workers, best, bound);
  } catch (const Stopped&) {
    Solution solution;
    solution.method = "frontier";
    if (std::isfinite(bound)) solution.reward.bound = bound;
    return stopped(problem, std::move(solution), watch, workers, std::move(best));
  }
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
  if (solution.status != Status::feasible || !gap) return;
  Workers workers(execution);
  const GapTolerance tolerance{options.tolerance, reward_spread(problem, workers)};
  if (*gap <= tolerance.allowed(solution.reward.worst, *solution.reward.bound))
    solution.status = Status::certified;
}

Policy policy_at(const Problem& problem, const Solution& solution,
                 const std::vector<double>& bounds) {
  const std::vector<double> weight = mix_at(problem, solution, bounds);
  Policy policy = solution.policy;
  policy.start_begin = {0};
  policy.start_moves.clear();
  for (std::size_t i = 0; i < policy.start_states.size(); ++i) {
    for (std::size_t n = 0; n < weight.size(); ++n) {
      if (weight[n] > 0) policy.start_moves.push_back({solution.curve[n].memory, weight[n]});
    }
    policy.start_begin.push_back(static_cast<std::int64_t>(policy.start_moves.size()));
  }
  return policy;
}

RewardResult reward_at(const Problem& problem, const Solution& solution,
                       const std::vector<double>& bounds) {
  const std::vector<double> weight = mix_at(problem, solution, bounds);
  RewardResult reward;
  for (std::size_t n = 0; n < weight.size(); ++n)
    reward.worst += weight[n] * solution.curve[n].reward;
  // Bounds that ask at least as much as those of the problem leave no more than its own.
  bool as_strict = solution.reward.bound.has_value();
  for (std::size_t c = 0; c < bounds.size(); ++c)
    as_strict &= sign_of(problem, c) * (bounds[c] - own_bound(problem, c)) >= 0;
  if (as_strict) reward.bound = solution.reward.bound;
  return reward;
}

}  // namespace redoubt
