#include "solvers/frontier/search/answers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/mixture.h"
#include "solvers/column_generation/column_generation.h"
#include "solvers/finish.h"
#include "solvers/frontier/search/search.h"

namespace redoubt::internal {
namespace {

// The points [policy][channel] that no other point matches in all channels, from the most reward to
// the least; with one constraint, the corners of the curve through them. Those that must be kept
// are kept.
std::vector<std::size_t> on_curve(const std::vector<std::vector<double>>& points,
                                  const std::vector<double>& must_keep) {
  const auto matches = [&](std::size_t a, std::size_t b) {
    for (std::size_t j = 0; j < points[a].size(); ++j)
      if (points[a][j] < points[b][j]) return false;
    return true;
  };
  std::vector<std::size_t> kept;
  if (points.front().size() == 2) {
    std::vector<double> reward, utility;
    for (const auto& point : points) reward.push_back(point[0]), utility.push_back(point[1]);
    const Curve curve = curve_of(reward, utility);
    kept.assign(curve.point.begin(), curve.point.end());
  } else {
    for (std::size_t n = 0; n < points.size(); ++n) {
      bool matched = false;
      for (std::size_t other = 0; other < points.size() && !matched; ++other)
        matched = other != n && matches(other, n) && (other < n || !matches(n, other));
      if (!matched) kept.push_back(n);
    }
  }
  for (std::size_t n = 0; n < points.size(); ++n) {
    if (must_keep[n] > 0 && std::find(kept.begin(), kept.end(), n) == kept.end()) kept.push_back(n);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [&](auto a, auto b) { return points[a][0] > points[b][0]; });
  return kept;
}

// The policy that draws one of these, with its curve; `policy` gives them up.
template <class PolicyOf>
void set_mixture(const Problem& problem, const std::vector<std::vector<double>>& points,
                 const std::vector<double>& weights, PolicyOf policy, Solution& solution) {
  const std::vector<Channel> channels = channels_of(problem);
  const std::vector<std::size_t> kept = on_curve(points, weights);
  std::vector<Policy> policies;
  std::vector<double> drawn;
  for (const std::size_t n : kept) {
    CurvePoint corner{points[n][0], {}, static_cast<std::int32_t>(policies.size())};
    for (std::size_t c = 1; c < channels.size(); ++c)
      corner.constraints.push_back(channels[c].sign * points[n][c] + 0.0);
    solution.curve.push_back(std::move(corner));
    policies.push_back(policy(n));
    drawn.push_back(weights[n]);
  }
  solution.policy =
      policies.size() == 1 ? std::move(policies.front()) : mixture_of(problem, policies, drawn);
}

// The answer that follows the policy which is best for one channel.
Solution follow(std::size_t channel, const Problem& problem, const Extremes& extremes,
                const GapTolerance& tolerance, Stopwatch& watch, Workers& workers) {
  const std::size_t channels = extremes.channels.size();
  Solution solution;
  solution.method = "frontier";
  for (const ValueIteration& best : extremes.best) solution.row_evaluations += best.row_evaluations;
  std::vector<double> weights(channels, 0.0);
  weights[channel] = 1;
  set_mixture(
      problem, extremes.totals, weights, [&](std::size_t n) { return extremes.best[n].policy; },
      solution);
  // The values of an infinite horizon stop short of their limit.
  const double bound = std::max(extremes.most(0, problem.start()), extremes.totals[0][0]);
  solution.iterations = 1;
  solution.trace = {.iteration = {1},
                    .row_evaluations = {solution.row_evaluations},
                    .seconds = {watch.seconds()},
                    .reward = {extremes.totals[channel][0]},
                    .bound = {bound},
                    .constraints = {}};
  solution.reward.bound = bound;
  finish(problem, solution, workers, tolerance);
  solution.seconds = watch.seconds();
  for (std::size_t c = 0; c + 1 < channels; ++c)
    solution.constraints[c].best_achievable =
        extremes.channels[c + 1].sign * extremes.most(c + 1, problem.start()) + 0.0;
  return solution;
}

}  // namespace

Solution infeasible_answer(const Problem& problem, const Extremes& extremes, Stopwatch& watch,
                           Workers& workers) {
  // By how much the policy that is best for channel i misses the requirement of constraint c.
  const auto missed = [&](std::size_t i, std::size_t c) {
    return (extremes.required[c] - extremes.totals[i][c + 1]) / extremes.spread[c + 1];
  };
  std::size_t channel = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < extremes.required.size(); ++c) {
    double least = missed(0, c);
    for (std::size_t i = 1; i < extremes.channels.size(); ++i)
      least = std::min(least, missed(i, c));
    if (least > most) most = least, channel = c + 1;
  }
  Solution solution = follow(channel, problem, extremes, {}, watch, workers);
  solution.status = Status::infeasible;
  solution.reward.bound.reset();  // there is nothing to bound
  return solution;
}

std::optional<Solution> answer_at_once(const Problem& problem, const FrontierOptions& options,
                                       const Extremes& extremes, Stopwatch& watch,
                                       Workers& workers) {
  bool keeps = true;
  for (std::size_t c = 0; c < extremes.required.size(); ++c) {
    if (extremes.most(c + 1, problem.start()) < extremes.required[c] - extremes.slack(c))
      return infeasible_answer(problem, extremes, watch, workers);
    keeps = keeps && extremes.totals[0][c + 1] >= extremes.required[c];
  }
  if (!keeps || options.whole_curve) return std::nullopt;
  const double spread = extremes.most(0, problem.start()) - extremes.least[0];
  return follow(0, problem, extremes, {options.tolerance, spread}, watch, workers);
}

Solution solve_by_columns(const Problem& problem, const FrontierOptions& options,
                          const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  SolverCheckpoint checkpoint(execution, problem, method_text(options), watch);
  NominalOptimum found = generate_columns(
      problem, {.tolerance = options.tolerance, .whole_curve = options.whole_curve}, workers, watch,
      &checkpoint);
  Solution solution;
  solution.method = "frontier";
  solution.row_evaluations = found.row_evaluations;
  solution.iterations = static_cast<std::int64_t>(found.trace.iteration.size());
  solution.trace = std::move(found.trace);
  if (found.columns.empty()) return stopped(problem, std::move(solution), watch, workers);
  std::vector<std::vector<double>> points;
  for (const Column& column : found.columns) points.push_back(column.totals);
  found.mixture.resize(points.size(), 0.0);
  set_mixture(
      problem, points, found.mixture,
      [&](std::size_t n) { return std::move(found.columns[n].policy); }, solution);
  using End = NominalOptimum::End;
  if (found.end != End::infeasible && std::isfinite(*found.bound))
    solution.reward.bound = found.bound;
  if (std::holds_alternative<Nominal>(problem.uncertainty()))
    solution.reward.static_bound = solution.reward.bound;
  solution = found.end == End::stopped
                 ? stopped_with_policy(problem, std::move(solution), watch, workers)
                 : finished(problem, std::move(solution), watch, workers, found.tolerance);
  for (std::size_t c = 0; c < found.best.size(); ++c) {
    if (found.best[c])
      solution.constraints[c].best_achievable =
          channel_of(problem, static_cast<int>(c)).sign * *found.best[c] + 0.0;
  }
  if (found.end == End::infeasible) solution.status = Status::infeasible;
  return solution;
}

}  // namespace redoubt::internal
