#include "model/tidy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "redoubt/error.h"

namespace redoubt {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// 400 rows of five outcomes: more than are looked at together.
ModelArrays many_rows() {
  constexpr int rows = 400, outcomes = 5;
  ModelArrays a;
  a.states = 50;
  a.row_outcomes = {0};
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < outcomes; ++i) {
      a.next.push_back((r % 10) + i * 10);
      a.probability.push_back(i == r % outcomes ? 0.4 : 0.15);
    }
    a.row_outcomes.push_back((r + 1) * outcomes);
    a.action.push_back(r % 8);
  }
  for (int s = 0; s <= a.states; ++s) a.state_rows.push_back(s * 8);
  return a;
}

Model from_views(ModelArrays a) {
  const std::vector<State> next = std::exchange(a.next, {});
  const std::vector<double> probability = std::exchange(a.probability, {});
  return Model(std::move(a), {next, probability});
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
  ModelArrays a = many_rows();
  const auto i = *rc::gen::inRange<std::size_t>(0, a.next.size());
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      a.next[i] = *rc::gen::element<State>(-1, a.states, a.states - 1, 0, a.next[i] - 10);
      break;
    case 1:
      a.probability[i] =
          *rc::gen::element(nan, infinity, 1.5, 0.15 + 1e-10, 0.15 + 1e-6, 0.15 + 3e-17);
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
      RC_ASSERT(k == m.outcome_begin(r) || m.arrays().next[k - 1] < next);
      RC_ASSERT(m.arrays().probability[k] > 0);
      sum += m.arrays().probability[k];
    }
    RC_ASSERT(std::abs(sum - 1) <= 1e-14);
  }
}

TEST(Tidy, TheUsualModelIs) {
  const ModelArrays a = many_rows();
  EXPECT_TRUE(is_tidy(a));
  EXPECT_EQ(from_views(a).arrays(), a);  // not a bit is changed
}

TEST(Tidy, RowsWithoutOutcomesAreNot) {
  ModelArrays a = many_rows();
  a.row_outcomes[100] = a.row_outcomes[101];
  EXPECT_FALSE(is_tidy(a));
}

}  // namespace
}  // namespace redoubt
