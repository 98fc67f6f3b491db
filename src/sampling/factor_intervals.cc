#include "sampling/factor_intervals.h"

#include <algorithm>
#include <numeric>

#include "sampling/confidence_sequence.h"
#include "sampling/mixture_region.h"

namespace redoubt::internal {
namespace {

using Coins = std::vector<MixtureRegion::Coin>;
using Counts = std::map<State, std::int64_t>;

double count_of(const Counts& counts, State state) {
  const auto found = counts.find(state);
  return found == counts.end() ? 0.0 : static_cast<double>(found->second);
}

// Factors that mixtures join.
struct Block {
  std::vector<State> factors;
  std::vector<const MixtureCounts*> mixtures;
  double draws = 0;
};

std::vector<Block> split(const std::vector<MixtureCounts>& mixtures, State factors) {
  const std::vector<int> number = blocks_of(mixtures, factors);
  std::vector<Block> blocks(1 + *std::max_element(number.begin(), number.end()));
  for (State k = 0; k < factors; ++k) blocks[number[k]].factors.push_back(k);
  for (const MixtureCounts& mixture : mixtures) {
    Block& block = blocks[number[mixture.weights[0].factor]];
    block.mixtures.push_back(&mixture);
    block.draws += static_cast<double>(mixture.draws);
  }
  return blocks;
}

// As flips of coins: heads where the draw came to the state.
Coins coins_of(const Block& block, State state) {
  Coins coins;
  for (const MixtureCounts* mixture : block.mixtures) {
    MixtureRegion::Coin& coin = coins.emplace_back();
    coin.weights.assign(block.factors.size(), 0.0);
    for (const auto& [factor, weight] : mixture->weights)
      coin.weights[std::lower_bound(block.factors.begin(), block.factors.end(), factor) -
                   block.factors.begin()] = weight;
    coin.heads = count_of(mixture->counts, state);
    coin.tails = static_cast<double>(mixture->draws) - coin.heads;
  }
  return coins;
}

// The factor alone makes its draws.
std::vector<Range> coin_intervals(const Block& block, std::size_t states, double evidence) {
  std::vector<Range> intervals(states);
  for (std::size_t s = 0; s < states && !block.mixtures.empty(); ++s) {
    const MixtureCounts& drawn = *block.mixtures[0];
    const auto found = drawn.counts.find(static_cast<State>(s));
    intervals[s] =
        coin_interval(found == drawn.counts.end() ? 0 : found->second, drawn.draws, evidence);
  }
  return intervals;
}

// Where the likelihood is large, but not at an end.
std::vector<double> centre_of(const Block& block, std::size_t state,
                              const std::vector<std::vector<double>>& likely) {
  const double least = 0.5 / (block.draws + 1);
  std::vector<double> centre;
  for (const State k : block.factors)
    centre.push_back(std::clamp(likely[k][state], least, 1 - least));
  return centre;
}

void add_region(const Block& block, const std::vector<std::vector<double>>& likely, double evidence,
                FactorIntervals& intervals) {
  std::vector<Range> never;  // of a state that nobody came to: all of them are alike
  for (std::size_t s = 0; s < likely[0].size(); ++s) {
    Coins coins = coins_of(block, static_cast<State>(s));
    const bool seen = std::any_of(coins.begin(), coins.end(), [](auto& c) { return c.heads > 0; });
    if (seen || never.empty()) {
      std::vector<double> centre = centre_of(block, s, likely);
      if (!seen) std::fill(centre.begin(), centre.end(), 0.5 / (block.draws + 1));
      const MixtureRegion region(std::move(coins), std::move(centre), evidence);
      std::vector<Range> found;
      for (std::size_t i = 0; i < block.factors.size(); ++i) found.push_back(region.interval(i));
      if (!seen) never = found;
      for (std::size_t i = 0; i < found.size(); ++i) intervals[block.factors[i]][s] = found[i];
    } else {
      for (std::size_t i = 0; i < never.size(); ++i) intervals[block.factors[i]][s] = never[i];
    }
  }
}

}  // namespace

FactorIntervals factor_intervals(const std::vector<MixtureCounts>& mixtures,
                                 const std::vector<std::vector<double>>& likely, double evidence) {
  const std::size_t states = likely[0].size();
  FactorIntervals intervals(likely.size(), std::vector<Range>(states));
  for (const Block& block : split(mixtures, static_cast<State>(likely.size()))) {
    if (block.factors.size() == 1)
      intervals[block.factors[0]] = coin_intervals(block, states, evidence);
    else
      add_region(block, likely, evidence, intervals);
  }
  for (std::vector<Range>& row : intervals) row = within_simplex(row);
  return intervals;
}

// What is missing or too much is shared by the room that is left.
void keep_within(const std::vector<Range>& intervals, std::vector<double>& probability) {
  double left = 1, up = 0, down = 0;
  for (std::size_t i = 0; i < probability.size(); ++i) {
    probability[i] = std::clamp(probability[i], intervals[i].low, intervals[i].high);
    left -= probability[i];
    up += intervals[i].high - probability[i];
    down += probability[i] - intervals[i].low;
  }
  for (std::size_t i = 0; i < probability.size(); ++i) {
    if (left > 0 && up > 0)
      probability[i] += left * (intervals[i].high - probability[i]) / up;
    else if (left < 0 && down > 0)
      probability[i] += left * (probability[i] - intervals[i].low) / down;
  }
}

}  // namespace redoubt::internal
