#include "solvers/frontier/search/memoryless_bracket.h"

#include <algorithm>
#include <cmath>

#include "evaluation/evaluation.h"
#include "numerics/infinity.h"
#include "numerics/small_lp.h"
#include "policy/mixture.h"
#include "solvers/column_generation/weighted_sum.h"

namespace redoubt::internal {
namespace {

constexpr double kWidest = 3;        // of the logarithm of a price, to each side
constexpr double kLeastGain = 1e-9;  // that makes another policy of one, in units of the spreads

// Golden sections towards a minimum between two arguments.
template <class Function>
void minimise(double low, double high, int sections, Function at) {
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = at(left), at_right = at(right);
  for (int n = 0; n < sections; ++n) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = at(left);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = at(right);
    }
  }
}

}  // namespace

MemorylessBracket::MemorylessBracket(const Problem& problem, double tolerance,
                                     const Extremes& extremes, double bound, Workers& workers,
                                     BestPolicy& best)
    : problem_(problem),
      extremes_(extremes),
      workers_(workers),
      best_(best),
      bound_(bound),
      tolerance_{tolerance, extremes.most(0, problem.start()) - extremes.least[0]} {
  for (std::size_t j = 0; j < extremes.channels.size(); ++j) {
    policies_.push_back(extremes.best[j].policy);
    totals_.push_back(extremes.totals[j]);
    row_evaluations_ += extremes.best[j].row_evaluations;
  }
}

bool MemorylessBracket::run() {
  constexpr int kMost = 60;
  for (int round = 0; round < kMost; ++round) {
    const Mixture mix = best_mix();
    if (mix.reachable && bound_ - mix.value <= tolerance_.allowed(mix.value, bound_)) break;
    const double beyond = try_prices(mix.prices);
    if (!mix.reachable && beyond < -kReached) return false;
    if (!is_new(mix.prices)) break;
  }
  return true;
}

// One price after the other. (Against a nature that fixes its kernels the bound would be a convex
// function of the prices; here it is nearly one.)
void MemorylessBracket::lower_bound() {
  const Mixture mix = best_mix();
  if (!mix.reachable) return;
  Prices prices = mix.prices;
  double least = kInfinity;
  const int sweeps = constraints() == 1 ? 1 : 2, sections = constraints() == 1 ? 14 : 5;
  double width = kWidest;
  for (int sweep = 0; sweep < sweeps; ++sweep, width /= 3) {
    for (std::size_t c = 1; c < prices.size(); ++c) {
      if (prices[c] <= 0) continue;
      const double middle = std::log(prices[c]);
      Prices tried = prices;
      minimise(middle - width, middle + width, sections, [&](double log_price) {
        tried[c] = std::exp(log_price);
        const double found = try_prices(tried);
        if (found < least) least = found, prices[c] = tried[c];
        return found;
      });
    }
  }
}

void MemorylessBracket::offer_mixture() {
  const Mixture mix = best_mix();
  if (!mix.reachable) return;
  std::vector<Policy> some;
  std::vector<double> weights;
  for (std::size_t n = 0; n < mix.weight.size(); ++n) {
    if (mix.weight[n] <= 0) continue;
    some.push_back(policies_[n]);
    weights.push_back(mix.weight[n]);
  }
  Policy policy = some.size() == 1 ? some.front() : mixture_of(problem_, some, weights);
  Evaluation evaluation = evaluate(problem_, policy, workers_).evaluation;
  best_.offer({std::move(policy), std::move(evaluation), {}, "a mixture of memoryless policies"});
}

void MemorylessBracket::add(const Policy& policy) {
  EvaluationPass pass = evaluate(problem_, policy, workers_);
  std::vector<double>& totals = totals_.emplace_back();
  totals.push_back(pass.evaluation.reward.worst);
  for (std::size_t c = 0; c < constraints(); ++c)
    totals.push_back(extremes_.channels[c + 1].sign * pass.evaluation.constraints[c].worst);
  policies_.push_back(policy);
  row_evaluations_ += pass.row_evaluations;
  best_.offer({policy, std::move(pass.evaluation), {}, "a memoryless one"});
}

std::vector<double> MemorylessBracket::prices() const {
  const Mixture mix = best_mix();
  std::vector<double> prices;
  for (std::size_t c = 0; mix.reachable && c < constraints(); ++c)
    prices.push_back(mix.prices[c + 1] * extremes_.spread[0] / extremes_.spread[c + 1]);
  return prices;
}

double MemorylessBracket::scaled(std::size_t n, std::size_t j) const {
  const double required = j > 0 ? extremes_.required[j - 1] : 0;
  return (totals_[n][j] - required) / extremes_.spread[j];
}

MemorylessBracket::Mixture MemorylessBracket::best_mix() const {
  std::vector<std::vector<double>> values(totals_.front().size());
  for (std::size_t n = 0; n < totals_.size(); ++n) {
    for (std::size_t j = 0; j < values.size(); ++j) values[j].push_back(scaled(n, j));
  }
  const std::vector<double> threshold(constraints(), 0.0);
  ConstrainedMix found =
      best_constrained_mix({values[0], {values.begin() + 1, values.end()}, threshold});
  Mixture mix;
  mix.reachable = found.shortfall <= kReached;
  mix.prices = mix.reachable ? std::move(found.price) : std::move(found.witness);
  mix.prices.insert(mix.prices.begin(), mix.reachable ? 1.0 : 0.0);
  for (std::size_t n = 0; n < found.weight.size(); ++n)
    mix.value += found.weight[n] * totals_[n][0];
  mix.weight = std::move(found.weight);
  return mix;
}

// Adds the robust policy of the weighted sum, and what the bound gains by it. Returns what no
// policy exceeds of that sum, less what the constraints require.
double MemorylessBracket::try_prices(const Prices& prices) {
  workers_.check_together();
  std::vector<double> weights(prices.size());
  for (std::size_t j = 0; j < prices.size(); ++j) weights[j] = prices[j] / extremes_.spread[j];
  const ValueIteration found =
      value_iteration(weighted_sum(problem_, extremes_.channels, weights), Channel{}, workers_);
  double most = found.at(problem_.start()) + found.error;
  for (std::size_t c = 0; c < constraints(); ++c) most -= weights[c + 1] * extremes_.required[c];
  if (weights[0] > 0) bound_ = std::min(bound_, most / weights[0]);
  row_evaluations_ += found.row_evaluations;
  add(found.policy);
  ++tried_;
  return most;
}

// Whether the last policy is better than all others at these prices.
bool MemorylessBracket::is_new(const Prices& prices) const {
  const auto along = [&](std::size_t n) {
    double sum = 0;
    for (std::size_t j = 0; j < prices.size(); ++j) sum += prices[j] * scaled(n, j);
    return sum;
  };
  const std::size_t last = totals_.size() - 1;
  for (std::size_t n = 0; n < last; ++n) {
    if (along(n) >= along(last) - kLeastGain) return false;
  }
  return true;
}

}  // namespace redoubt::internal
