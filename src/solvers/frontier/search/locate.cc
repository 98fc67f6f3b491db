#include "solvers/frontier/search/locate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/small_lp.h"
#include "policy/mixture.h"
#include "solvers/frontier/search/lagrangian.h"

namespace redoubt::internal {
namespace {

// Each round looks at prices that differ by this factor; what the last one leaves open is how well
// a price is known. A policy with memory trades at another price, so closer is no better.
constexpr std::array<double, 3> kRatios = {3, 1.6, 1.2};
constexpr double kKnown = 0.2;     // deviation of the logarithm of a price at the start
constexpr double kFarthest = 1.5;  // deviation beyond which no grid is spread
constexpr double kLeastPrice =
    1e-2;  // of the exchange rate: where a constraint seems to cost nothing
constexpr double kOutOfReach = 10;      // times the exchange rate: where nothing meets them all yet
constexpr double kForRounding = 1e-11;  // of the scales: what rounding may take from a requirement

class PriceSearch {
 public:
  PriceSearch(const Problem& problem, const Extremes& extremes, Workers& workers,
              Exchange& exchange)
      : problem_(problem),
        extremes_(extremes),
        policies_(problem, extremes.channels, workers, exchange) {}

  Location run() {
    const std::size_t channels = extremes_.channels.size();
    std::vector<LagrangianPolicies::Weights> first(channels);
    for (std::size_t j = 0; j < channels; ++j) {
      first[j].assign(channels, 0.0);
      first[j][j] = 1;
    }
    for (std::size_t c = 0; c + 1 < channels; ++c) prices_.push_back(rate(c));
    for (const double ratio : kRatios) {
      std::vector<LagrangianPolicies::Weights> lanes = around(ratio);
      lanes.insert(lanes.end(), first.begin(), first.end());
      first.clear();
      add(lanes);
      take_prices(best_mix());
    }
    return conclude();
  }

 private:
  double rate(std::size_t constraint) const { return extremes_.exchange_rate(0, constraint + 1); }

  // One constraint: eight prices in a row. Several: each of them up and down, and all together.
  std::vector<LagrangianPolicies::Weights> around(double ratio) const {
    const std::size_t constraints = prices_.size();
    std::vector<LagrangianPolicies::Weights> lanes;
    const auto at = [&](auto exponent_of) {
      LagrangianPolicies::Weights weights = {1.0};
      for (std::size_t c = 0; c < constraints; ++c)
        weights.push_back(prices_[c] * std::pow(ratio, exponent_of(c)));
      lanes.push_back(std::move(weights));
    };
    if (constraints == 1) {
      for (int n = 0; n < 8; ++n) at([&](std::size_t) { return n - 3.5; });
      return lanes;
    }
    for (const double step : {0.0, -1.0, 1.0}) at([&](std::size_t) { return step; });
    for (std::size_t moved = 0; moved < constraints; ++moved) {
      for (const double step : {-2.0, -1.0, 1.0, 2.0})
        at([&](std::size_t c) { return c == moved ? step : 0.0; });
    }
    return lanes;
  }

  void add(const std::vector<LagrangianPolicies::Weights>& lanes) {
    LagrangianPolicies::Found found = policies_.find(lanes);
    weights_.insert(weights_.end(), lanes.begin(), lanes.end());
    totals_.insert(totals_.end(), found.totals.begin(), found.totals.end());
  }

  // In units of the spreads: the reward from that of the first policy on, utilities from what is
  // required of them on.
  ConstrainedMix best_mix() const {
    std::vector<std::vector<double>> values(extremes_.channels.size());
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double origin = j == 0 ? totals_.front()[0] : extremes_.required[j - 1];
      for (const std::vector<double>& totals : totals_)
        values[j].push_back((totals[j] - origin) / extremes_.spread[j]);
    }
    const std::vector<double> threshold(prices_.size(), kForRounding);
    return best_constrained_mix({values[0], {values.begin() + 1, values.end()}, threshold});
  }

  void take_prices(const ConstrainedMix& mix) {
    for (std::size_t c = 0; c < prices_.size(); ++c) {
      prices_[c] = mix.shortfall > 0 ? kOutOfReach * rate(c) * mix.witness[c]
                                     : mix.price[c] * extremes_.spread[0] / extremes_.spread[c + 1];
      prices_[c] = std::max(prices_[c], kLeastPrice * rate(c));
    }
  }

  // The policies of the mixture once more, to be kept; the one that is drawn most often first.
  Location conclude() {
    const ConstrainedMix mix = best_mix();
    std::vector<std::size_t> drawn;
    for (std::size_t n = 0; n < totals_.size(); ++n) {
      if (mix.weight[n] > 0) drawn.push_back(n);
    }
    std::stable_sort(drawn.begin(), drawn.end(),
                     [&](auto a, auto b) { return mix.weight[a] > mix.weight[b]; });
    std::vector<LagrangianPolicies::Weights> lanes;
    std::vector<double> shares;
    for (const std::size_t n : drawn) {
      lanes.push_back(weights_[n]);
      shares.push_back(mix.weight[n]);
    }
    const LagrangianPolicies::Found found = policies_.find(lanes, true);
    Location location;
    location.prices = prices_;
    location.policy = found.policies.size() == 1 ? found.policies.front()
                                                 : mixture_of(problem_, found.policies, shares);
    std::vector<double> variance(prices_.size(), kKnown * kKnown);
    for (const std::vector<double>& step : found.spread) {
      std::vector<double>& deviation = location.deviation.emplace_back();
      for (std::size_t c = 0; c < prices_.size(); ++c) {
        deviation.push_back(std::min(kFarthest, std::sqrt(variance[c])));
        variance[c] += step[c];
      }
    }
    location.row_evaluations = policies_.evaluations();
    return location;
  }

  const Problem& problem_;
  const Extremes& extremes_;
  LagrangianPolicies policies_;
  std::vector<double> prices_;
  std::vector<LagrangianPolicies::Weights> weights_;  // of each policy that was looked at
  std::vector<std::vector<double>> totals_;
};

}  // namespace

Location locate(const Problem& problem, const Extremes& extremes, Workers& workers,
                Exchange& exchange) {
  return PriceSearch(problem, extremes, workers, exchange).run();
}

Location locate_around(std::vector<double> prices, const Extremes& extremes) {
  for (std::size_t c = 0; c < prices.size(); ++c)
    prices[c] = std::max(prices[c], kLeastPrice * extremes.exchange_rate(0, c + 1));
  Location location;
  location.deviation.emplace_back(prices.size(), kFarthest);
  location.prices = std::move(prices);
  return location;
}

}  // namespace redoubt::internal
