#include "solvers/column_generation/column_generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/small_lp.h"
#include "solvers/column_generation/weighted_shortest_path.h"
#include "solvers/frontier/sets/trade_offs.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {
namespace {

// Of the tolerance: what the mixture may leave open, and what an infinite horizon may.
constexpr double kForMixture = 0.1, kForTail = 0.01;
// In units of each channel's scale: what rounding may take from a requirement, and by how much a
// policy must be better to count as another one.
constexpr double kMissed = 1e-9, kBetter = 1e-11;
// Of the scales: where the whole curve is close enough, and the most policies on it.
constexpr double kCurve = 1e-3;
constexpr std::size_t kMostOnCurve = 64;

class ColumnGeneration {
 public:
  ColumnGeneration(const Problem& problem, const ColumnGenerationOptions& options, Workers& workers,
                   Stopwatch& watch)
      : problem_(problem),
        options_(options),
        workers_(workers),
        watch_(watch),
        channels_(channels_of(problem)),
        best_response_(problem, channels_, workers, watch) {
    for (std::size_t c = 0; c < problem.constraints().size(); ++c)
      required_.push_back(channels_[c + 1].sign * problem.constraints()[c].bound);
  }

  NominalOptimum run(SolverCheckpoint* checkpoint) {
    try {
      search(checkpoint);
    } catch (const Stopped&) {
      found_.end = NominalOptimum::End::stopped;
    }
    found_.row_evaluations = best_response_.row_evaluations();
    return std::move(found_);
  }

 private:
  using End = NominalOptimum::End;
  // Whoever stays loses for ever: what is best at weights of zero is only nearly known.
  bool needs_weights() const { return problem_.improper() && !problem_.traps(); }
  std::size_t constraints() const { return required_.size(); }
  // Of a column, in units of the scales: the reward from that of the first column on, utilities
  // from what is required of them on.
  double scaled(const Column& column, std::size_t channel) const {
    const double origin = channel == 0 ? found_.columns.front().totals[0] : required_[channel - 1];
    return (column.totals[channel] - origin) / scales_[channel];
  }

  void search(SolverCheckpoint* checkpoint) {
    if (!begin()) return;
    const auto state = [&](Archive& archive) { visit(archive); };
    if (checkpoint) checkpoint->restore(state);
    while (step()) {
      if (checkpoint) checkpoint->offer(state);
    }
    if (found_.end == End::converged && options_.whole_curve && constraints() == 1) follow_curve();
  }

  // The policy that is best for the reward and, for each constraint that it breaks, the one that is
  // best for that. False when that is the answer.
  bool begin() {
    std::vector<double> weights(channels_.size(), 0.0);
    weights[0] = 1;
    scales_.assign(channels_.size(), 1.0);
    const double most = bound_on_reward(add(weights, 0));
    const std::vector<double> first = found_.columns.front().totals;
    const double least =
        problem_.improper()  // some policies have nothing that is least
            ? most - std::abs(first[0])
            : value_iteration(problem_, Channel{}, workers_, true).at(problem_.start());
    found_.tolerance = {options_.tolerance, most - least};
    found_.best.resize(constraints());
    scales_[0] = scale_of(most - least, first[0]);
    found_.bound = most;
    found_.mixture = {1.0};
    found_.reachable = true;
    for (std::size_t c = 0; c < constraints(); ++c) {
      scales_[c + 1] = scale_of(first[c + 1] - required_[c], required_[c]);
      if (first[c + 1] >= required_[c]) continue;
      weights.assign(channels_.size(), 0.0);
      weights[c + 1] = 1;
      const double found = add(weights, 0), best = most_of(weights, found);
      if (std::isfinite(best)) found_.best[c] = best;
      scales_[c + 1] = scale_of(found_.columns.back().totals[c + 1] - first[c + 1], required_[c]);
      found_.reachable = false;
      if (best >= required_[c] - kMissed * std::max(scales_[c + 1], std::abs(required_[c])))
        continue;
      found_.end = End::infeasible;
      found_.mixture.assign(found_.columns.size(), 0.0);
      found_.mixture.back() = 1;
      return false;
    }
    record();
    return !found_.reachable || options_.whole_curve;
  }

  static double scale_of(double spread, double size) {
    if (std::abs(spread) > 1e-12 * std::abs(size)) return std::abs(spread);
    return size != 0 ? std::abs(size) : 1;
  }

  // By weak duality, of a column that was just added and of what no policy has more of: no policy
  // that meets the requirements has more reward.
  double bound_on_reward(double most) const {
    const std::vector<double>& weights = found_.columns.back().weights;
    for (std::size_t c = 0; c < constraints(); ++c) most -= weights[c + 1] * required_[c];
    return most / weights[0];
  }
  // Proves what is out of reach, where `found` is for weights that are only nearly these.
  double most_of(const std::vector<double>& weights, double found) {
    return needs_weights() ? most_of_weighted(problem_, channels_, weights, workers_) : found;
  }

  // Adds the policy that is best for these weights. Returns what no policy exceeds.
  double add(const std::vector<double>& weights, double tolerance) {
    WeightedValueIteration::Best best = best_response_.find(weights, tolerance);
    if (!options_.keep_policies) best.policy = {};
    found_.columns.push_back(
        {std::move(best.weights), std::move(best.totals), std::move(best.policy)});
    return best.bound;
  }

  ConstrainedMix best_mix() const {
    std::vector<std::vector<double>> values(channels_.size());
    for (const Column& column : found_.columns) {
      for (std::size_t j = 0; j < channels_.size(); ++j) values[j].push_back(scaled(column, j));
    }
    const std::vector<double> threshold(constraints(), -given_up_);
    return best_constrained_mix({values[0], {values.begin() + 1, values.end()}, threshold});
  }

  // One more column. False at the end.
  bool step() {
    const ConstrainedMix mix = best_mix();
    found_.mixture = mix.weight;
    found_.reachable = mix.shortfall <= 1e-13;
    const double known = value_of(mix);
    if (found_.reachable && *found_.bound - known <= allowed(known)) return false;
    std::vector<double> prices = found_.reachable ? mix.price : mix.witness;
    prices.insert(prices.begin(), found_.reachable ? 1.0 : 0.0);
    const bool better = try_prices(prices);
    record();
    if (better) return true;
    if (found_.reachable) return false;
    // No policy comes nearer: the requirements are out of reach, or by rounding only.
    if (mix.shortfall > kMissed) {
      if (proves_infeasible(prices)) found_.end = End::infeasible;
      return false;
    }
    given_up_ += mix.shortfall;
    return true;
  }

  // Where policies are only nearly the best ones for their prices, these must prove it themselves.
  bool proves_infeasible(const std::vector<double>& prices) {
    if (!problem_.improper()) return true;
    std::vector<double> weights(prices.size());
    double required = 0;
    for (std::size_t j = 1; j < prices.size(); ++j) {
      weights[j] = prices[j] / scales_[j];
      required += weights[j] * required_[j - 1];
    }
    const double most = problem_.traps() ? best_response_.find(weights, 0).bound
                                         : most_of_weighted(problem_, channels_, weights, workers_);
    return most < required - kMissed;
  }

  double value_of(const ConstrainedMix& mix) const {
    double value = 0;
    for (std::size_t n = 0; n < mix.weight.size(); ++n)
      value += mix.weight[n] * found_.columns[n].totals[0];
    return value;
  }

  double allowed(double known) const {
    if (!std::isfinite(*found_.bound)) return 0;
    return kForMixture * found_.tolerance.allowed(known, *found_.bound);
  }

  // The best policy at these prices, in units of the scales. False when it is known already.
  bool try_prices(const std::vector<double>& prices) {
    std::vector<double> weights(prices.size());
    for (std::size_t j = 0; j < prices.size(); ++j) weights[j] = prices[j] / scales_[j];
    const double size = *std::max_element(prices.begin(), prices.end());
    const double open = prices[0] > 0 ? kForTail / kForMixture * allowed(*found_.bound) / scales_[0]
                                      : 0.1 * kMissed * size;
    const double most = add(weights, open);
    if (prices[0] > 0) found_.bound = std::min(*found_.bound, bound_on_reward(most));
    const auto along = [&](const Column& column) {
      double sum = 0;
      for (std::size_t j = 0; j < prices.size(); ++j) sum += prices[j] * scaled(column, j);
      return sum;
    };
    double known = -std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n + 1 < found_.columns.size(); ++n)
      known = std::max(known, along(found_.columns[n]));
    if (along(found_.columns.back()) > known + kBetter * size) return true;
    found_.columns.pop_back();
    return false;
  }

  // Tries the price of every edge of the curve until no policy lies beyond any of them.
  void follow_curve() {
    std::vector<double> tried;
    for (bool more = true; more && found_.columns.size() < kMostOnCurve;) {
      more = false;
      std::vector<double> reward, utility;
      for (const Column& column : found_.columns) {
        reward.push_back(scaled(column, 0));
        utility.push_back(scaled(column, 1));
      }
      for (const double price : curve_of(reward, utility).price) {
        if (std::find(tried.begin(), tried.end(), price) != tried.end()) continue;
        tried.push_back(price);
        more |= try_prices({1.0, price});
      }
    }
    found_.mixture = best_mix().weight;
  }

  void visit(Archive& archive) {
    std::vector<std::vector<double>> weights, totals;
    for (const Column& column : found_.columns) {
      weights.push_back(column.weights);
      totals.push_back(column.totals);
    }
    archive.visit("weights", weights);
    archive.visit("totals", totals);
    found_.columns.resize(weights.size());
    for (std::size_t n = 0; n < weights.size(); ++n) {
      Column& column = found_.columns[n];
      column.weights = weights[n];
      column.totals = totals[n];
      if (!options_.keep_policies) continue;
      if (column.policy.states == 0) column.policy = found_.columns.front().policy;
      archive.visit_stages(fmt::format("policy{}", n).c_str(), column.policy, nullptr);
    }
    archive.visit("bound", *found_.bound);
    archive.visit("given_up", given_up_);
    archive.visit("trace", found_.trace);
    archive.visit_sum("row_evaluations", best_response_.own_evaluations());
  }

  void record() {
    Trace& trace = found_.trace;
    trace.iteration.push_back(static_cast<double>(trace.iteration.size()) + 1);
    trace.row_evaluations.push_back(best_response_.row_evaluations());
    trace.seconds.push_back(watch_.seconds());
    trace.reward.push_back(value_of(best_mix()));
    trace.bound.push_back(*found_.bound);
  }

  const Problem& problem_;
  ColumnGenerationOptions options_;
  Workers& workers_;
  Stopwatch& watch_;
  std::vector<Channel> channels_;
  WeightedValueIteration best_response_;
  std::vector<double> required_;  // of each constraint, as a utility
  std::vector<double> scales_;    // of each channel
  double given_up_ = 0;  // of every requirement, in units of the scales: what rounding took
  NominalOptimum found_;
};

}  // namespace

NominalOptimum generate_columns(const Problem& problem, const ColumnGenerationOptions& options,
                                Workers& workers, Stopwatch& watch, SolverCheckpoint* checkpoint) {
  return ColumnGeneration(problem, options, workers, watch).run(checkpoint);
}

}  // namespace redoubt::internal
