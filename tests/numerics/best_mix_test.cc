#include "numerics/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sets/row.h"
#include "support/patience.h"
#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::pick;
using testing::uniform;

struct Instance {
  int actions, lanes;
  std::vector<std::vector<double>> reward, utility;  // [action][padded lane]
  std::vector<double> threshold;
  bool fall_back_to_utility = false;
};

struct Solved {
  std::vector<MixedChoice> choice;
  std::vector<double> reward, utility;
  std::vector<unsigned char> feasible;
};

Solved solve(MixFunction function, const Instance& instance) {
  std::vector<const double*> reward, utility;
  for (int a = 0; a < instance.actions; ++a) {
    reward.push_back(instance.reward[a].data());
    utility.push_back(instance.utility[a].data());
  }
  const int padded = padded_lanes(instance.lanes);
  Solved s{std::vector<MixedChoice>(instance.lanes), std::vector<double>(padded),
           std::vector<double>(padded), std::vector<unsigned char>(instance.lanes)};
  function({instance.actions, instance.lanes, reward.data(), utility.data(),
            instance.threshold.data(), instance.fall_back_to_utility},
           {s.choice.data(), s.reward.data(), s.utility.data(), s.feasible.data()});
  return s;
}

// Points on a coarse grid have ties and collinear triples; thresholds hit them exactly.
Instance random_instance(std::mt19937_64& random, int most_actions) {
  Instance x;
  x.actions = 1 + pick(random, most_actions);
  x.lanes = 1 + pick(random, 20);
  const int padded = padded_lanes(x.lanes);
  const int kind = pick(random, 4);
  const auto draw = [&] {
    switch (kind) {
      case 0:
        return uniform(random, -1, 1);
      case 1:
        return pick(random, 4) / 4.0;
      case 2:
        return 1e6 + uniform(random);
      default:
        return pick(random, 2) * 1e3 + pick(random, 3);
    }
  };
  for (int a = 0; a < x.actions; ++a) {
    x.reward.emplace_back(padded);
    x.utility.emplace_back(padded);
    for (int lane = 0; lane < padded; ++lane) {
      x.reward[a][lane] = draw();
      x.utility[a][lane] = kind == 1 && pick(random, 2) ? 1 - x.reward[a][lane] : draw();
    }
  }
  for (int lane = 0; lane < padded; ++lane) {
    const double at = x.utility[pick(random, x.actions)][lane];
    x.threshold.push_back(pick(random, 3) == 0 ? at : draw());
  }
  x.fall_back_to_utility = pick(random, 2) == 0;
  return x;
}

constexpr long double kNone = -INFINITY;

// Every action and every pair, in long double.
long double best_reward(const Instance& x, int lane) {
  const long double t = x.threshold[lane];
  long double best = kNone;
  for (int a = 0; a < x.actions; ++a)
    for (int b = 0; b < x.actions; ++b) {
      const long double ua = x.utility[a][lane], ub = x.utility[b][lane];
      if (ua < t) continue;
      best = std::max(best, static_cast<long double>(x.reward[a][lane]));
      if (ub >= t) continue;
      const long double weight = (t - ub) / (ua - ub);
      best = std::max(best, weight * x.reward[a][lane] + (1 - weight) * x.reward[b][lane]);
    }
  return best;
}

double extreme(const std::vector<std::vector<double>>& values, int lane) {
  double best = values[0][lane];
  for (const auto& action : values) best = std::max(best, action[lane]);
  return best;
}

void check(const Instance& x, const Solved& s) {
  for (int lane = 0; lane < x.lanes; ++lane) {
    const MixedChoice c = s.choice[lane];
    ASSERT_LT(c.safe, x.actions);
    ASSERT_LT(c.other, x.actions);
    const double q = c.safe_probability();
    double scale = 1e-300, spread = 0;
    for (const auto& action : x.reward) {
      scale = std::max(scale, std::abs(action[lane]));
      spread = std::max(spread, std::abs(action[lane] - x.reward[0][lane]));
    }
    EXPECT_NEAR(s.reward[lane], q * x.reward[c.safe][lane] + (1 - q) * x.reward[c.other][lane],
                4e-16 * scale);
    const double most_utility = extreme(x.utility, lane);
    ASSERT_EQ(s.feasible[lane] != 0, most_utility >= x.threshold[lane]);
    if (!s.feasible[lane]) {
      EXPECT_EQ(c.weight, 65535);
      if (x.fall_back_to_utility)
        EXPECT_EQ(s.utility[lane], most_utility);
      else
        EXPECT_EQ(s.reward[lane], extreme(x.reward, lane));
      continue;
    }
    EXPECT_GE(s.utility[lane], x.threshold[lane]);  // exactly, after the weight was rounded
    const double best = static_cast<double>(best_reward(x, lane));
    EXPECT_LE(s.reward[lane], best + 4e-16 * scale);
    // Rounding the weight costs at most two parts in 65535 of the difference between the two
    // actions,
    EXPECT_GE(s.reward[lane], best - 4.0 / 65535 * spread - 4e-16 * scale);
    // and the two actions are the right ones: at the threshold, their exact mix is the optimum.
    if (c.weight < 65535) {
      const long double safe = x.utility[c.safe][lane], other = x.utility[c.other][lane];
      const long double weight = (x.threshold[lane] - other) / (safe - other);
      const long double exact =
          weight * x.reward[c.safe][lane] + (1 - weight) * x.reward[c.other][lane];
      EXPECT_GE(exact, best - 1e-15 * scale);
    }
  }
}

TEST(BestMix, AgreesWithEveryPairInLongDouble) {
  for (const InstructionSet instructions : instruction_sets()) {
    const MixFunctions& functions = mix_functions(instructions);
    std::mt19937_64 random(7);
    int problems = 0;
    while (problems < testing::cases(80000)) {
      const Instance instance = random_instance(random, 20);
      check(instance, solve(functions.by_pairs, instance));
      check(instance, solve(functions.by_bridge, instance));
      ASSERT_FALSE(HasFailure()) << "on " << name(instructions) << " after " << problems;
      problems += instance.lanes;
    }
  }
}

// Before rounding of the weight the two ways find the same optimum, to rounding.
TEST(BestMix, BridgeAndPairsAgree) {
  std::mt19937_64 random(8);
  const MixFunctions& functions = mix_functions(best_instruction_set());
  for (int n = 0; n < 2000; ++n) {
    const Instance x = random_instance(random, 20);
    const Solved pairs = solve(functions.by_pairs, x), bridge = solve(functions.by_bridge, x);
    for (int lane = 0; lane < x.lanes; ++lane) {
      const double spread = extreme(x.reward, lane) + 1;
      EXPECT_NEAR(pairs.reward[lane], bridge.reward[lane], 2.0 / 65535 * spread);
    }
  }
}

TEST(BestMix, TakesTheRichestActionWhenItIsSafe) {
  const Instance x{
      3,
      1,
      {std::vector<double>(8, 5), std::vector<double>(8, 5), std::vector<double>(8, 1)},
      {std::vector<double>(8, 2), std::vector<double>(8, 3), std::vector<double>(8, 9)},
      std::vector<double>(8, 1)};
  const Solved s = solve(mix_functions(best_instruction_set()).by_bridge, x);
  EXPECT_EQ(s.choice[0], (MixedChoice{1, 1, 65535}));  // equal reward: the higher utility wins
}

TEST(BestMix, MixesHalfAndHalf) {
  const Instance x{2,
                   1,
                   {std::vector<double>(8, 1), std::vector<double>(8, 0)},
                   {std::vector<double>(8, 0), std::vector<double>(8, 1)},
                   std::vector<double>(8, 0.5)};
  const Solved s = solve(mix_functions(best_instruction_set()).by_pairs, x);
  EXPECT_EQ(s.choice[0], (MixedChoice{1, 0, 32768}));  // rounded towards the safe action
  EXPECT_GE(s.utility[0], 0.5);
}

TEST(BestMix, HandlesTheMostActions) {
  std::mt19937_64 random(9);
  Instance x = random_instance(random, 1);
  x.actions = 256;
  x.reward.clear();
  x.utility.clear();
  const int padded = padded_lanes(x.lanes);
  for (int a = 0; a < x.actions; ++a) {
    const double angle = 1.57 * a / 255;  // all on the hull
    x.reward.emplace_back(padded, std::cos(angle));
    x.utility.emplace_back(padded, std::sin(angle));
  }
  for (int lane = 0; lane < padded; ++lane) x.threshold[lane] = uniform(random);
  check(x, solve(mix_functions(best_instruction_set()).by_bridge, x));
}

}  // namespace
}  // namespace redoubt
