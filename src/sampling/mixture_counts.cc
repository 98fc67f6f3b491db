#include "sampling/mixture_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sampling/feature_rows.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

using Weights = std::vector<MixtureCounts::Weight>;

Weights weights_of(const Model& features, Row row) {
  Weights weights;
  for (auto i = features.outcome_begin(row); i < features.outcome_end(row); ++i)
    weights.push_back(
        {features.arrays().next[i] - features.ordinary(), features.arrays().probability[i]});
  if (weights.size() == 1) weights[0].weight = 1;  // all of them alike, whatever their rounding
  return weights;
}

void check_sizes(const Model& rows, const Model& features) {
  require(rows.ordinary() == features.ordinary(),
          "samples of {} states, features of {}, must be "
          "equally many",
          rows.ordinary(), features.ordinary());
  require(rows.factors() == 0 || rows.factors() == features.factors(),
          "samples of {} factors, features of {}, must be equally many", rows.factors(),
          features.factors());
  require(features.stages() == 1 || features.stages() == rows.stages(),
          "samples of {} stages, features of {}, must be equally many or features of one",
          rows.stages(), features.stages());
}

// A number for everybody who is joined with somebody.
class Joined {
 public:
  explicit Joined(State count) : up_(count) { std::iota(up_.begin(), up_.end(), 0); }
  int find(int one) const {
    while (up_[one] != one) one = up_[one];
    return one;
  }
  void join(int one, int other) {
    one = find(one), other = find(other);
    up_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<int> up_;
};

// One step of expectation maximisation: every draw counts for the factors of its mixture as they
// are likely to have made it. Returns the largest change.
double climb(const std::vector<MixtureCounts>& mixtures,
             std::vector<std::vector<double>>& factors) {
  std::vector<std::vector<double>> share(factors.size(),
                                         std::vector<double>(factors[0].size(), 0.0));
  for (const MixtureCounts& mixture : mixtures) {
    for (const auto& [next, count] : mixture.counts) {
      double all = 0;
      for (const auto& [factor, weight] : mixture.weights) all += weight * factors[factor][next];
      for (const auto& [factor, weight] : mixture.weights)
        share[factor][next] += static_cast<double>(count) * weight * factors[factor][next] / all;
    }
  }
  double change = 0;
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const double mass = std::accumulate(share[k].begin(), share[k].end(), 0.0);
    if (mass == 0) continue;  // nobody speaks of it
    for (std::size_t s = 0; s < share[k].size(); ++s) {
      change = std::max(change, std::abs(share[k][s] / mass - factors[k][s]));
      factors[k][s] = share[k][s] / mass;
    }
  }
  return change;
}

}  // namespace

std::vector<std::vector<MixtureCounts>> pool(const Estimate& rows, const Model& features) {
  require_features(features);
  const Model& from = rows.model;
  check_sizes(from, features);
  std::vector<std::map<Weights, MixtureCounts>> pooled(features.stages());
  for (int stage = 0; stage < from.stages(); ++stage) {
    const int own = features.stages() == 1 ? 0 : stage;
    for (State s = 0; s < from.states(); ++s) {
      for (Row row = from.row_begin(stage, s); row < from.row_end(stage, s); ++row) {
        if (rows.visits[row] == 0) continue;
        const Weights weights =
            s >= from.ordinary()
                ? Weights{{s - from.ordinary(), 1.0}}
                : weights_of(features, feature_row(features, own, s, from.arrays().action[row]));
        MixtureCounts& mixture = pooled[own][weights];
        mixture.weights = weights;
        mixture.draws += rows.visits[row];
        for (auto i = from.outcome_begin(row); i < from.outcome_end(row); ++i)
          if (rows.counts[i] > 0) mixture.counts[from.arrays().next[i]] += rows.counts[i];
      }
    }
  }
  std::vector<std::vector<MixtureCounts>> stages;
  for (auto& of_stage : pooled) {
    auto& mixtures = stages.emplace_back();
    for (auto& [weights, mixture] : of_stage) mixtures.push_back(std::move(mixture));
  }
  return stages;
}

State rank_of(const std::vector<MixtureCounts>& mixtures, State factors) {
  constexpr double kZero = 1e-9;
  std::vector<std::vector<double>> basis;  // each with a pivot of its own, which the others lack
  std::vector<State> pivots;
  for (const MixtureCounts& mixture : mixtures) {
    std::vector<double> rest(factors, 0.0);
    for (const auto& [factor, weight] : mixture.weights) rest[factor] = weight;
    for (std::size_t b = 0; b < basis.size(); ++b) {
      const double times = rest[pivots[b]];
      for (State k = 0; k < factors; ++k) rest[k] -= times * basis[b][k];
    }
    const auto largest = std::max_element(
        rest.begin(), rest.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (std::abs(*largest) <= kZero) continue;
    const double scale = *largest;
    const auto pivot = static_cast<State>(largest - rest.begin());
    for (double& entry : rest) entry /= scale;
    for (auto& one : basis) {
      const double times = one[pivot];
      for (State k = 0; k < factors; ++k) one[k] -= times * rest[k];
    }
    basis.push_back(std::move(rest));
    pivots.push_back(pivot);
  }
  return static_cast<State>(basis.size());
}

std::vector<std::vector<double>> most_likely_factors(const std::vector<MixtureCounts>& mixtures,
                                                     State factors, State states) {
  constexpr double kSettled = 1e-10;
  constexpr int kMostSteps = 10000;
  std::vector<std::vector<double>> found(factors, std::vector<double>(states, 1.0 / states));
  for (int step = 0; step < kMostSteps; ++step)
    if (climb(mixtures, found) <= kSettled) break;
  return found;
}

std::vector<int> blocks_of(const std::vector<MixtureCounts>& mixtures, State factors) {
  Joined joined(factors);
  for (const MixtureCounts& mixture : mixtures)
    for (const auto& [factor, weight] : mixture.weights)
      joined.join(mixture.weights[0].factor, factor);
  std::vector<int> number(factors, -1), block(factors);
  int blocks = 0;
  for (State k = 0; k < factors; ++k) {
    int& one = number[joined.find(k)];
    if (one < 0) one = blocks++;
    block[k] = one;
  }
  return block;
}

}  // namespace redoubt::internal
