#include "solvers/frontier/search/extremes.h"

#include <algorithm>
#include <cmath>

#include "evaluation/evaluation.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

// The largest difference in any state. A channel that no policy can change has its size instead.
double spread_of(const std::vector<double>& best, const std::vector<double>& least,
                 Communicator& ranks) {
  double spread = 0, size = 0;
  for (std::size_t s = 0; s < best.size(); ++s) {
    spread = std::max(spread, best[s] - least[s]);
    size = std::max({size, std::abs(best[s]), std::abs(least[s])});
  }
  spread = max_over_ranks(ranks, spread), size = max_over_ranks(ranks, size);
  if (spread > 1e-12 * size) return spread;
  return size > 0 ? size : 1;
}

std::vector<double> totals_of(const Problem& problem, const Evaluation& evaluation) {
  std::vector<double> totals = {evaluation.reward.worst};
  for (std::size_t c = 0; c < evaluation.constraints.size(); ++c)
    totals.push_back(channel_of(problem, static_cast<int>(c)).sign *
                     evaluation.constraints[c].worst);
  return totals;
}

}  // namespace

Extremes find_extremes(const Problem& problem, Workers& workers, BestPolicy& evaluated) {
  Extremes found;
  found.channels = channels_of(problem);
  for (std::size_t c = 0; c < problem.constraints().size(); ++c)
    found.required.push_back(found.channels[c + 1].sign * problem.constraints()[c].bound);
  for (const Channel& channel : found.channels) {
    found.best.push_back(value_iteration(problem, channel, workers));
    const Policy& policy = found.best.back().policy;
    const Evaluation evaluation = evaluate(problem, policy, workers).evaluation;
    found.totals.push_back(totals_of(problem, evaluation));
    const int constraint = static_cast<int>(found.best.size()) - 2;
    evaluated.offer(best_for_one(problem, constraint, policy, evaluation));
    const ValueIteration least = value_iteration(problem, channel, workers, true);
    found.least.push_back(least.at(problem.start()));
    found.spread.push_back(spread_of(found.best.back().values, least.values, workers.ranks()));
  }
  evaluated.set_scales({found.spread.begin() + 1, found.spread.end()});
  return found;
}

Extremes extremes_of(const Extremes& all, const Constraints& asked) {
  std::vector<std::size_t> channels = {0};
  for (const std::size_t c : asked) channels.push_back(c + 1);
  Extremes some;
  for (const std::size_t j : channels) {
    some.channels.push_back(all.channels[j]);
    if (j > 0) some.required.push_back(all.required[j - 1]);
    some.best.push_back(all.best[j]);
    some.least.push_back(all.least[j]);
    some.spread.push_back(all.spread[j]);
    std::vector<double>& totals = some.totals.emplace_back();
    for (const std::size_t i : channels) totals.push_back(all.totals[j][i]);
  }
  return some;
}

double Extremes::exchange_rate(std::size_t i, std::size_t j) const {
  const double given = totals[i][i] - totals[j][i], got = totals[j][j] - totals[i][j];
  if (given > 1e-9 * spread[i] && got > 1e-9 * spread[j]) return given / got;
  return spread[i] / spread[j];
}

double Extremes::slack(std::size_t constraint) const {
  return 1e-9 * std::max(spread[constraint + 1], std::abs(required[constraint]));
}

}  // namespace redoubt::internal
