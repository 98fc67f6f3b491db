// Rows that share factors, beside the same rows written out.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "redoubt/solve.h"
#include "topics.h"

namespace redoubt::bench {

namespace {

constexpr State kStates = 100'000;
constexpr int kFactors = 10, kSuccessors = 50, kHorizon = 4;

std::vector<double> distribution(std::mt19937_64& random, int count) {
  std::exponential_distribution<double> draw;
  std::vector<double> shares(count);
  for (double& share : shares) share = draw(random);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// One action in each state; every factor leads to states of its own, and every row mixes all
// factors.
struct Mixed {
  Mixed() {
    std::mt19937_64 random(1);
    for (int k = 0; k < kFactors; ++k) factors.push_back(distribution(random, kSuccessors));
    for (State s = 0; s < kStates; ++s) features.push_back(distribution(random, kFactors));
    std::uniform_real_distribution<double> draw;
    for (State s = 0; s < kStates; ++s) reward.push_back(draw(random));
  }
  static State successor(int factor, int i) {
    return static_cast<State>((static_cast<std::int64_t>(i) * kFactors + factor) * kStates /
                              (kFactors * kSuccessors));
  }
  std::vector<std::vector<double>> factors, features;
  std::vector<double> reward;
};

void add_row(ModelArrays& a) {
  a.action.push_back(0);
  a.row_outcomes.push_back(static_cast<std::int64_t>(a.next.size()));
  a.state_rows.push_back(static_cast<Row>(a.action.size()));
}

Problem posed(ModelArrays arrays) {
  return {Model(std::move(arrays)), {.horizon = kHorizon, .uncertainty = KL{0.05}}};
}

Problem factored(const Mixed& mixed) {
  ModelArrays a;
  a.states = kStates + kFactors;
  a.factors = kFactors;
  a.reward = mixed.reward;
  a.reward.resize(a.states, 0.0);
  a.state_rows.push_back(0);
  a.row_outcomes.push_back(0);
  for (State s = 0; s < kStates; ++s) {
    for (int k = 0; k < kFactors; ++k) {
      a.next.push_back(kStates + k);
      a.probability.push_back(mixed.features[s][k]);
    }
    add_row(a);
  }
  for (int k = 0; k < kFactors; ++k) {
    for (int i = 0; i < kSuccessors; ++i) {
      a.next.push_back(Mixed::successor(k, i));
      a.probability.push_back(mixed.factors[k][i]);
    }
    add_row(a);
  }
  return posed(std::move(a));
}

Problem written_out(const Mixed& mixed) {
  ModelArrays a;
  a.states = kStates;
  a.reward = mixed.reward;
  a.state_rows.push_back(0);
  a.row_outcomes.push_back(0);
  for (State s = 0; s < kStates; ++s) {
    for (int i = 0; i < kSuccessors; ++i) {
      for (int k = 0; k < kFactors; ++k) {
        a.next.push_back(Mixed::successor(k, i));
        a.probability.push_back(mixed.features[s][k] * mixed.factors[k][i]);
      }
    }
    add_row(a);
  }
  return posed(std::move(a));
}

// Of one solve, the least of several.
double processor_seconds(const Problem& problem, int times) {
  double least = std::numeric_limits<double>::infinity();
  for (int n = 0; n < times; ++n) {
    const std::clock_t begin = std::clock();
    benchmark::DoNotOptimize(robust(problem).reward.worst);
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace

void factors(Table& table) {
  table.add({fmt::format("rows written out by factors: robust, {} states, {} factors, {} "
                         "successors",
                         kStates, kFactors, kSuccessors),
             20, 60, Better::higher},
            [] {
              const Mixed mixed;
              const Problem rows = written_out(mixed), few = factored(mixed);
              const double slow = processor_seconds(rows, 2);
              return slow / processor_seconds(few, 9);
            });
}

}  // namespace redoubt::bench
