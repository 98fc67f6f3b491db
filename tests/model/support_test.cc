#include "model/support.h"

#include <gtest/gtest.h>

#include <random>

#include "model/end_components.h"
#include "model/set_traits.h"
#include "redoubt/worst_case.h"

namespace redoubt {
using namespace internal;
namespace {

// One row from state 0 to itself and others.
Model row_model(const std::vector<double>& p, const std::vector<double>& lower,
                const std::vector<double>& upper) {
  const auto states = static_cast<State>(p.size());
  ModelBuilder builder(states, {});
  ModelBuilder::RowData row;
  for (State s = 0; s < states; ++s) {
    ModelBuilder::Outcome to{.next = s, .probability = p[s]};
    if (!lower.empty()) to.lower = lower[s], to.upper = upper[s];
    row.outcomes.push_back(to);
  }
  builder.add(0, 0, 0, row);
  return builder.build();
}

// Nature can stay within states exactly where it can put all of its mass there, as the kernels say.
TEST(Support, IsWhatTheWorstCasesSay) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  int can = 0, cannot = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int count = 2 + trial % 4;
    std::vector<double> p(count), lower, upper;
    double sum = 0;
    for (double& x : p) sum += x = 0.05 + unit(random);
    for (double& x : p) x /= sum;
    const double radius = unit(random) < 0.3 ? 0.02 : unit(random);
    const std::vector<Uncertainty> sets = {TV{radius, Reach::support},
                                           TV{radius, Reach::anywhere},
                                           Chi2{2 * radius},
                                           KL{radius},
                                           Nominal{},
                                           Interval{},
                                           Composed{Composed::Ball::tv, radius, Reach::support},
                                           Composed{Composed::Ball::tv, radius, Reach::anywhere},
                                           Composed{Composed::Ball::chi2, radius},
                                           Composed{Composed::Ball::kl, radius}};
    const Uncertainty& set = sets[trial % sets.size()];
    if (needs_bounds(set)) {
      for (const double x : p) {
        lower.push_back(unit(random) < 0.5 ? 0 : 0.5 * x);
        upper.push_back(std::min(1.0, x + unit(random) * 0.6));
      }
    }
    const Model model = row_model(p, lower, upper);
    const Support support(model, set);
    for (unsigned subset = 1; subset < (1U << count); ++subset) {
      const auto inside = [&](State s) { return (subset >> s & 1U) != 0; };
      std::vector<double> values(count);
      for (State s = 0; s < count; ++s) values[s] = inside(s) ? -1 : 0;
      const double mass =
          -worst_case(set, {.probability = p, .lower = lower, .upper = upper}, values).value[0];
      if (mass > 1 - 1e-9 && mass < 1 - 1e-13) continue;  // too close to tell
      EXPECT_EQ(support.may_stay(0, inside), mass >= 1 - 1e-13)
          << name(set) << " radius " << radius << " mass " << mass;
      EXPECT_EQ(support.must_meet(0, [&](State s) { return !inside(s); }),
                !support.may_stay(0, inside));
      ++(mass >= 1 - 1e-13 ? can : cannot);
    }
  }
  EXPECT_GT(can, 1000);
  EXPECT_GT(cannot, 1000);
}

// Two states that lead to each other, and a way out of the second with probability one tenth.
Model pair_with_a_way_out() {
  ModelBuilder builder(3, {});
  builder.add(0, 0, 0, {.outcomes = {{.next = 1, .probability = 1}}});
  builder.add(0, 1, 0,
              {.outcomes = {{.next = 0, .probability = 0.9}, {.next = 2, .probability = 0.1}}});
  return builder.build();
}

TEST(EndComponents, DependOnWhatNatureMayLeaveOut) {
  const Model model = pair_with_a_way_out();
  const std::vector<char> all(model.rows(), 1);
  const auto found = [&](const Uncertainty& set) {
    return end_components(model, Support(model, set), Keep::by_some_kernel, all).states;
  };
  const std::vector<std::vector<State>> both = {{0, 1}}, none;
  EXPECT_EQ(found(Nominal{}), none);
  EXPECT_EQ(found(TV{0.09, Reach::support}), none);
  EXPECT_EQ(found(TV{0.1, Reach::support}), both);
  EXPECT_EQ(found(KL{0.105}), none);
  EXPECT_EQ(found(KL{0.106}), both);
  EXPECT_EQ(found(Chi2{0.111}), none);
  EXPECT_EQ(found(Chi2{0.112}), both);
}

TEST(SureReach, NeedsAWayThatNatureCannotTake) {
  const Model model = pair_with_a_way_out();
  const std::vector<char> goal = {0, 0, 1};
  const Uncertainty small = KL{0.1}, large = KL{0.2};
  EXPECT_EQ(sure_reach(model, Support(model, small), goal).sure, (std::vector<char>{1, 1, 1}));
  EXPECT_EQ(sure_reach(model, Support(model, large), goal).sure, (std::vector<char>{0, 0, 1}));
}

// Whether there is an end component, as all of them say.
TEST(EndComponents, AreThereWhereOneIsFound) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  int some = 0, none = 0;
  for (int trial = 0; trial < 500; ++trial) {
    constexpr State kStates = 6;
    ModelBuilder builder(kStates, {});
    for (State s = 0; s < kStates; ++s) {
      for (int a = 0; a < 2; ++a) {
        const double p = 0.05 + 0.9 * unit(random);
        ModelBuilder::RowData row;
        row.outcomes = {{.next = static_cast<State>(random() % kStates), .probability = p},
                        {.next = static_cast<State>(random() % kStates), .probability = 1 - p}};
        if (s + 1 < kStates) builder.add(0, s, a, row);
      }
    }
    const Model model = builder.build();
    const std::vector<Uncertainty> sets = {Nominal{}, TV{0.3, Reach::support},
                                           TV{0.3, Reach::anywhere}, KL{0.3}};
    const Support support(model, sets[trial % sets.size()]);
    std::vector<char> use(model.rows());
    for (char& used : use) used = unit(random) < 0.4;
    const bool found = !end_components(model, support, Keep::by_some_kernel, use).states.empty();
    EXPECT_EQ(has_end_component(model, support, use), found) << trial;
    ++(found ? some : none);
  }
  EXPECT_GT(some, 50);
  EXPECT_GT(none, 50);
}

}  // namespace
}  // namespace redoubt
