#include "bellman/kernel_totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace redoubt::internal {
namespace {

struct Kernel {
  std::vector<Row> state_rows = {0};
  std::vector<std::int64_t> begin = {0};
  std::vector<State> next;
  std::vector<double> probability, earned;

  KernelRows rows() const { return {state_rows, begin, next, probability, earned}; }
  State states() const { return static_cast<State>(state_rows.size()) - 1; }
  void add(double value, const std::vector<std::pair<State, double>>& outcomes) {
    earned.push_back(value);
    for (const auto& [to, p] : outcomes) next.push_back(to), probability.push_back(p);
    begin.push_back(static_cast<std::int64_t>(next.size()));
  }
  void end_state() { state_rows.push_back(static_cast<Row>(earned.size())); }
};

// Every row ends with probability `ends` at least; `near`: how far a row leads.
Kernel random_kernel(State states, int near, double ends, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  Kernel kernel;
  for (State s = 0; s + 1 < states; ++s) {
    const int rows = 1 + static_cast<int>(random() % 3);
    for (int r = 0; r < rows; ++r) {
      std::vector<std::pair<State, double>> outcomes = {{states - 1, ends}};
      double left = 1 - ends;
      for (int k = 0; k < 3; ++k) {
        const auto far = static_cast<State>(random() % (2 * near + 1)) - near;
        const double p = k == 2 ? left : left * unit(random);
        outcomes.emplace_back(std::clamp<State>(s + far, 0, states - 2), p);
        left -= p;
      }
      kernel.add(2 * unit(random) - 1, outcomes);
    }
    kernel.end_state();
  }
  kernel.end_state();  // the last one is the end
  return kernel;
}

// Plain sweeps in long double.
std::vector<long double> reference(const Kernel& kernel, bool least, int sweeps) {
  std::vector<long double> values(kernel.states(), 0), better(values);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (State s = 0; s < kernel.states(); ++s) {
      bool any = false;
      for (Row row = kernel.state_rows[s]; row < kernel.state_rows[s + 1]; ++row) {
        long double sum = kernel.earned[row];
        for (auto k = kernel.begin[row]; k < kernel.begin[row + 1]; ++k)
          sum += kernel.probability[k] * values[kernel.next[k]];
        if (!any || (least ? sum < better[s] : sum > better[s])) better[s] = sum;
        any = true;
      }
    }
    values = better;
  }
  return values;
}

std::vector<double> solved(const Kernel& kernel, bool least, std::vector<std::int32_t>& actions) {
  Workers workers(1);
  std::vector<double> values(kernel.states(), 0.0);
  actions.assign(kernel.states(), 0);
  KernelTotals(kernel.rows(), {}, least, 1e-14, workers).solve(values, actions);
  return values;
}

TEST(KernelTotals, AreWhatPlainSweepsComeTo) {
  // A few states are eliminated, many are swept over, and some lead to themselves or no further.
  for (const State states : {2, 3, 8, 40, 400, 700}) {
    for (const double ends : {0.02, 0.3}) {
      for (const bool least : {false, true}) {
        const Kernel kernel = random_kernel(states, states, ends, states + (least ? 7 : 0));
        std::vector<std::int32_t> actions;
        const std::vector<double> values = solved(kernel, least, actions);
        const auto expected = reference(kernel, least, ends < 0.1 ? 3000 : 300);
        for (State s = 0; s < states; ++s) {
          EXPECT_NEAR(values[s], static_cast<double>(expected[s]), 1e-11) << states << ' ' << s;
          EXPECT_EQ(actions[s] < 0, s == states - 1);
        }
      }
    }
  }
}

TEST(KernelTotals, OfALongWalkThatHardlyEnds) {
  // A fair walk on 0..n ends at both ends: from i it takes i (n - i) steps.
  constexpr State kLast = 700;
  Kernel kernel;
  for (State s = 0; s <= kLast; ++s) {
    if (s > 0 && s < kLast) kernel.add(1, {{s - 1, 0.5}, {s + 1, 0.5}});
    kernel.end_state();
  }
  std::vector<std::int32_t> actions;
  const std::vector<double> values = solved(kernel, false, actions);
  for (State s = 0; s <= kLast; ++s)
    EXPECT_NEAR(values[s], static_cast<double>(s) * (kLast - s), 1e-5) << s;
}

TEST(KernelTotals, OfStatesThatHardlyEverLeave) {
  Kernel kernel;  // two that lead to each other and leave once in 10^9 steps, and one that does so
                  // alone
  kernel.add(1, {{1, 1 - 1e-9}, {3, 1e-9}});
  kernel.end_state();
  kernel.add(0, {{0, 1}});
  kernel.end_state();
  kernel.add(1, {{2, 1 - 1e-9}, {3, 1e-9}});
  kernel.end_state();
  kernel.end_state();
  std::vector<std::int32_t> actions;
  const std::vector<double> values = solved(kernel, false, actions);
  EXPECT_NEAR(values[0], 1e9, 1e-3);
  EXPECT_NEAR(values[1], 1e9, 1e-3);
  EXPECT_NEAR(values[2], 1e9, 1e-3);
}

// Waiting costs a little and never ends: the given actions, which do end, are improved upon.
TEST(KernelTotals, LeaveOutWhatNeverEnds) {
  for (const State states : {4, 600}) {
    Kernel kernel;
    for (State s = 0; s + 1 < states; ++s) {
      kernel.add(-0.001, {{s, 1}});                                      // waits
      kernel.add(-0.001, {{std::max<State>(0, s - 1), 1}});              // and goes back
      kernel.add(-3, {{s + 1, 0.5}, {std::max<State>(0, s - 1), 0.5}});  // ends, at length
      kernel.add(-1, {{s + 1, 0.9}, {s, 0.1}});                          // ends sooner
      kernel.end_state();
    }
    kernel.end_state();
    Workers workers(1);
    std::vector<double> values(states, 0.0);
    std::vector<std::int32_t> actions(states, 2);
    KernelTotals(kernel.rows(), {}, false, 1e-14, workers).solve(values, actions);
    for (State s = 0; s + 1 < states; ++s) {
      EXPECT_NEAR(values[s], -(states - 1 - s) / 0.9, 1e-9);
      EXPECT_EQ(actions[s], 3);
    }
    // Where the better row may not be used.
    std::vector<char> use(kernel.earned.size(), 1);
    for (std::size_t row = 3; row < use.size(); row += 4) use[row] = 0;
    actions.assign(states, 2);
    KernelTotals(kernel.rows(), use, false, 1e-14, workers).solve(values, actions);
    EXPECT_NEAR(values[states - 2], -3.0 * (2 * states - 2), 1e-6 * states * states);
    EXPECT_EQ(actions[states - 2], 2);
  }
}

}  // namespace
}  // namespace redoubt::internal
