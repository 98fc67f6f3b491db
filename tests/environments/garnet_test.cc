#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "redoubt/environments.h"

namespace redoubt {
namespace {

// FNV-1a over the numbers to ten digits: the last bits of exp and log belong to the C library.
std::uint64_t fingerprint(const Model& model) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  };
  const ModelArrays& a = model.arrays();
  for (const State next : a.next) add(fmt::format("{};", next));
  for (const double p : a.probability) add(fmt::format("{:.9e};", p));
  for (const double r : a.reward) add(fmt::format("{:.9e};", r));
  for (const double c : a.signals[0].row) add(fmt::format("{:.9e};", c));
  return hash;
}

// These fingerprints were also computed from docs/environments.md alone, by a second implementation
// in Python.
TEST(Garnet, SeedsMeanTheSameModelForever) {
  EXPECT_EQ(fingerprint(make("garnet").model()), 4366703592150346580u);
  EXPECT_EQ(fingerprint(make("garnet(seed=1)").model()), 2281011700953477093u);
  EXPECT_EQ(fingerprint(make("garnet(states=50,actions=3,successors=4,seed=7)").model()),
            12784872886302940425u);
}

TEST(Garnet, DenseRowsReachEveryState) {
  const Model model = make("garnet").model();
  EXPECT_EQ(model.states(), 10);
  EXPECT_EQ(model.rows(), 50);
  EXPECT_EQ(model.outcomes(), 500);
}

// The recipe of the literature makes most rows nearly deterministic; a small spread does not.
TEST(Garnet, SpreadDecidesHowEvenRowsAre) {
  const auto median_of_largest = [](const char* id) {
    const Model model = make(id).model();
    std::vector<double> largest;
    for (Row row = 0; row < model.rows(); ++row) {
      const double* p = model.arrays().probability.data();
      largest.push_back(
          *std::max_element(p + model.outcome_begin(row), p + model.outcome_end(row)));
    }
    std::nth_element(largest.begin(), largest.begin() + largest.size() / 2, largest.end());
    return largest[largest.size() / 2];
  };
  EXPECT_GT(median_of_largest("garnet(states=30)"), 0.95);
  EXPECT_LT(median_of_largest("garnet(states=30,spread=1)"), 0.25);
  const Model even = make("garnet(spread=0)").model();
  for (const double p : even.arrays().probability) EXPECT_NEAR(p, 0.1, 1e-15);
}

TEST(Garnet, SparseRowsHaveDistinctSuccessors) {
  const Model model = make("garnet(states=20,actions=3,successors=5,seed=2)").model();
  std::set<State> reached;
  for (Row row = 0; row < model.rows(); ++row) {
    std::set<State> next(model.arrays().next.begin() + model.outcome_begin(row),
                         model.arrays().next.begin() + model.outcome_end(row));
    EXPECT_EQ(next.size(), 5u);
    reached.insert(next.begin(), next.end());
  }
  EXPECT_EQ(reached.size(), 20u);
}

// Mean 5 and variance 100/12 + 100/3 of a normal whose mean and deviation are uniform in [0, 10).
TEST(Garnet, ValuesFollowTheDocumentedLaw) {
  const Model model = make("garnet(states=2000,actions=5,successors=1)").model();
  for (const auto* values : {&model.arrays().reward, &model.arrays().signals[0].row}) {
    double mean = 0, square = 0;
    for (const double v : *values) {
      mean += v / values->size();
      square += v * v / values->size();
    }
    const double variance = 100 / 12.0 + 100 / 3.0;
    EXPECT_NEAR(mean, 5, 5 * std::sqrt(variance / values->size()));
    EXPECT_NEAR(square - mean * mean, variance, 3);
  }
}

TEST(Garnet, EachRowHasItsOwnStream) {
  const Model small = make("garnet(states=10,actions=5,successors=1)").model();
  const Model large = make("garnet(states=20,actions=5,successors=1)").model();
  for (Row row = 0; row < small.rows(); ++row)
    EXPECT_EQ(small.value(-1, row), large.value(-1, row));
}

}  // namespace
}  // namespace redoubt
