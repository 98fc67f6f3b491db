#include "model/validate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "redoubt/error.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows of five outcomes or, every other one, of four: with `equal`, all have five. More than are
// looked at together and, with many states, more than one thread does.
ModelArrays many_rows(State states = 50, bool equal = true) {
  constexpr int outcomes = 5;
  const int rows = 8 * states;
  ModelArrays a;
  a.states = states;
  a.row_outcomes = {0};
  std::vector<double> cost;
  for (int r = 0; r < rows; ++r) {
    const bool four = !equal && r % 2 == 1;
    for (int i = 0; i < outcomes - four; ++i) {
      a.next.push_back((r % 10) + i * 10);
      a.probability.push_back(four ? 0.25 : i == r % outcomes ? 0.4 : 0.15);
    }
    a.row_outcomes.push_back(static_cast<std::int64_t>(a.next.size()));
    a.action.push_back(r % 8);
    a.reward.push_back(r);
    cost.push_back(-r);
  }
  a.signals.push_back({"cost", cost, {}});
  for (int s = 0; s <= a.states; ++s) a.state_rows.push_back(s * 8);
  return a;
}

// Everything that may live elsewhere does, and offsets have 32 bits, as scipy makes them.
Model from_views(ModelArrays a) {
  const ModelArrays given = a;
  const std::vector<std::int32_t> offsets(a.row_outcomes.begin(), a.row_outcomes.end());
  ModelViews views{std::span(offsets), given.next, given.probability, given.reward, {}};
  for (const Signal& signal : given.signals) views.signals.emplace_back(signal.row);
  for (Signal& signal : a.signals) signal.row = {};
  a.row_outcomes = {};
  a.next = {};
  a.probability = a.reward = {};
  return Model(std::move(a), views);
}

bool is_tidy(ModelArrays a) {
  ModelViews views{
      std::span<const std::int64_t>(a.row_outcomes), a.next, a.probability, a.reward, {}};
  for (const Signal& signal : a.signals) views.signals.emplace_back(signal.row);
  return copy_and_check(a, views);
}

struct Built {
  std::optional<Model> model;
  std::string error;
};

template <class Make>
Built build(Make make) {
  try {
    return {make(), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

// One thing is not as it should be, somewhere: whichever way the model is built, the error is the
// same, or what is built keeps every rule.
RC_GTEST_PROP(Tidy, OneDefectAmongManyOutcomesIsFound, ()) {
  // 4,000 states have 160,000 outcomes, which two threads look at.
  ModelArrays a = many_rows(*rc::gen::element(50, 50, 50, 4000));
  const auto i = *rc::gen::inRange<std::size_t>(0, a.next.size());
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      a.next[i] = *rc::gen::element<State>(-1, a.states, a.states - 1, 0, a.next[i] - 10);
      break;
    case 1:
      a.probability[i] =
          *rc::gen::element(nan, infinity, 1.5, 0.15 + 1e-10, 0.15 + 1e-6, 0.15 + 3e-17);
      break;
    case 2:
      (i % 2 == 0 ? a.reward : a.signals[0].row)[i / 5] =
          *rc::gen::element(nan, infinity, -infinity);
      break;
    case 3:
      a.action[i / 5] = *rc::gen::element(-1, 0, 3, 7, std::numeric_limits<std::int32_t>::max());
      break;
    case 4:
      a.row_outcomes[i / 5 + 1] += *rc::gen::element(-6, -5, -1, 1, 5, 6);
      break;
    default:  // the row still sums to one
      a.probability[i % 5 == 4 ? i - 1 : i + 1] += a.probability[i];
      a.probability[i] = *rc::gen::element(0.0, -0.0, -1e-18);
  }
  const Built built = build([&] { return Model(a); });
  const Built copied = build([&] { return from_views(a); });
  RC_ASSERT(copied.error == built.error);
  RC_ASSERT(copied.model == built.model);
  if (!built.model) return;
  const Model& m = *built.model;
  for (Row r = 0; r < m.rows(); ++r) {
    double sum = 0;
    for (auto k = m.outcome_begin(r); k < m.outcome_end(r); ++k) {
      const State next = m.arrays().next[k];
      RC_ASSERT(next >= 0 && next < m.states());
      const bool in_order = k == m.outcome_begin(r) || m.arrays().next[k - 1] < next;
      RC_ASSERT(in_order);  // RC_ASSERT evaluates both sides of an ||
      RC_ASSERT(m.arrays().probability[k] > 0);
      sum += m.arrays().probability[k];
    }
    RC_ASSERT(std::abs(sum - 1) <= 1e-14);
  }
}

TEST(Tidy, TheUsualModelIs) {
  for (const State states : {50, 4000}) {
    for (const bool equal : {true, false}) {
      const ModelArrays a = many_rows(states, equal);
      EXPECT_TRUE(is_tidy(a));
      EXPECT_EQ(from_views(a).arrays(), a);  // not a bit is changed
    }
  }
}

TEST(Tidy, RowsWithoutOutcomesAreNot) {
  for (const std::size_t row : {0, 100, 399}) {
    ModelArrays a = many_rows();
    a.row_outcomes[row == 399 ? row : row + 1] = a.row_outcomes[row == 399 ? row + 1 : row];
    EXPECT_FALSE(is_tidy(a));
  }
}

// What cleaning is to do, outcome by outcome.
TEST(Tidy, OutcomesInAnyOrderAreSortedMergedAndDropped) {
  std::mt19937 random(7);
  ModelArrays a = many_rows(400);
  a.row_outcomes = {0};
  a.next.clear(), a.probability.clear();
  std::vector<std::map<State, double>> expected;
  for (std::size_t row = 0; row < a.action.size(); ++row) {
    const int outcomes = row % 50 == 0 ? 60 : 1 + static_cast<int>(random() % 20);
    std::map<State, double> mass;
    for (int i = 0; i < outcomes; ++i) {  // in steps of 1/1024, so that the order of sums is free
      a.next.push_back(static_cast<State>(random() % 30));
      a.probability.push_back(i % 7 == 3 ? 0 : 16.0 / 1024);
    }
    const auto first = a.row_outcomes.back(), end = static_cast<std::int64_t>(a.next.size());
    double sum = 0;
    for (auto i = first; i < end; ++i) sum += a.probability[i];
    a.probability.back() += 1 - sum;
    for (auto i = first; i < end; ++i)
      if (a.probability[i] > 0) mass[a.next[i]] += a.probability[i];
    expected.push_back(mass);
    a.row_outcomes.push_back(end);
  }
  const Model m(a);
  ASSERT_EQ(m, from_views(a));
  for (Row r = 0; r < m.rows(); ++r) {
    std::map<State, double> found;
    for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i) {
      EXPECT_TRUE(found.empty() || found.rbegin()->first < m.arrays().next[i]);
      found[m.arrays().next[i]] = m.arrays().probability[i];
    }
    EXPECT_EQ(found, expected[r]);
  }
}

}  // namespace
}  // namespace redoubt
