#include "numerics/simplex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "numerics/small_lp.h"

namespace redoubt::internal {
namespace {

struct Program {
  std::vector<double> objective;
  std::vector<std::vector<double>> rows;
  std::vector<double> limits;
};

Simplex solved(const Program& program) {
  Simplex simplex;
  simplex.begin(static_cast<int>(program.objective.size()), static_cast<int>(program.rows.size()));
  for (std::size_t j = 0; j < program.objective.size(); ++j)
    simplex.objective(static_cast<int>(j)) = program.objective[j];
  for (std::size_t i = 0; i < program.rows.size(); ++i) {
    simplex.limit(static_cast<int>(i)) = program.limits[i];
    for (std::size_t j = 0; j < program.objective.size(); ++j)
      simplex.entry(static_cast<int>(i), static_cast<int>(j)) = program.rows[i][j];
  }
  simplex.solve();
  return simplex;
}

// Both sides are feasible and worth the same: so both are optimal.
void expect_optimal(const Program& program) {
  const Simplex simplex = solved(program);
  const int variables = static_cast<int>(program.objective.size());
  const int rows = static_cast<int>(program.rows.size());
  double value = 0, worth = 0;
  for (int j = 0; j < variables; ++j) {
    EXPECT_GE(simplex.value(j), 0);
    value += program.objective[j] * simplex.value(j);
    double priced = 0;
    for (int i = 0; i < rows; ++i) priced += simplex.price(i) * program.rows[i][j];
    EXPECT_GE(priced, program.objective[j] - 1e-9);
  }
  for (int i = 0; i < rows; ++i) {
    EXPECT_GE(simplex.price(i), 0);
    worth += simplex.price(i) * program.limits[i];
    double used = 0;
    for (int j = 0; j < variables; ++j) used += program.rows[i][j] * simplex.value(j);
    EXPECT_LE(used, program.limits[i] + 1e-9);
  }
  EXPECT_NEAR(value, worth, 1e-9);
}

TEST(Simplex, ByHand) {
  // 3 x + 2 y with x + y <= 4, x + 3 y <= 6, x <= 3.
  const Simplex simplex = solved({{3, 2}, {{1, 1}, {1, 3}, {1, 0}}, {4, 6, 3}});
  EXPECT_NEAR(simplex.value(0), 3, 1e-12);
  EXPECT_NEAR(simplex.value(1), 1, 1e-12);
  EXPECT_NEAR(simplex.price(0), 2, 1e-12);
  EXPECT_EQ(simplex.price(1), 0);
  EXPECT_NEAR(simplex.price(2), 1, 1e-12);
}

TEST(Simplex, NothingToGainAndNoRows) {
  const Simplex none = solved({{-1, 0}, {{1, 1}}, {1}});
  EXPECT_EQ(none.value(0), 0);
  EXPECT_EQ(none.price(0), 0);
}

// Beale's example goes round in circles without a rule against it.
TEST(Simplex, EndsWhereManyRowsAreTight) {
  expect_optimal({{0.75, -150, 0.02, -6},
                  {{0.25, -60, -0.04, 9}, {0.5, -90, -0.02, 3}, {0, 0, 1, 0}},
                  {0, 0, 1}});
}

// The value of a matrix game: rows of ties, of equal columns, of few different numbers.
TEST(Simplex, MatrixGamesHaveTheirValue) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const int columns = 1 + static_cast<int>(random() % 12),
              cuts = 1 + static_cast<int>(random() % 20);
    const bool coarse = trial % 3 == 0;
    Program program;
    program.objective.assign(1 + columns, 0.0);
    program.objective[0] = 1;
    std::vector<std::vector<double>> worth(cuts);
    for (auto& row : worth) {
      std::vector<double> entries = {1};
      for (int c = 0; c < columns; ++c) {
        row.push_back(coarse ? static_cast<double>(random() % 3) / 2 : uniform(random));
        entries.push_back(-1 - row.back());
      }
      program.rows.push_back(entries);
      program.limits.push_back(0);
    }
    program.rows.emplace_back(1 + columns, 1.0);
    program.rows.back()[0] = 0;
    program.limits.push_back(1);
    expect_optimal(program);
    // The least shortfall below a level that nothing reaches says what the game is worth.
    const std::vector<double> nothing(columns, 0.0), level(cuts, 2.0);
    const ConstrainedMix mix = best_constrained_mix({nothing, {worth.begin(), worth.end()}, level});
    EXPECT_NEAR(solved(program).value(0), 1 + 2.0 - mix.shortfall, 1e-9);
  }
}

}  // namespace
}  // namespace redoubt::internal
