#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "redoubt/worst_case.h"
#include "solvers/frontier/games/curve_game.h"
#include "solvers/frontier/games/kl_game.h"
#include "solvers/frontier/games/level_game.h"
#include "solvers/frontier/sets/next_stage_layout.h"

// The games of one row against a search over all promises, on rows with two outcomes.
namespace redoubt {
using namespace internal;
namespace {

constexpr double kProbability = 0.3;  // of the first outcome
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// State 0 leads to states 1 and 2, of which only their trade-off sets matter.
Problem one_row(const Uncertainty& set) {
  ModelBuilder builder(3, {"utility"});
  const bool interval = std::holds_alternative<Interval>(set);
  const auto outcome = [&](State next, double p) {
    ModelBuilder::Outcome out{next, p};
    if (interval) out.lower = std::max(0.0, p - 0.2), out.upper = std::min(1.0, p + 0.2);
    return out;
  };
  builder.add(0, 0, 0,
              {.reward = 0.5,
               .signals = {0.25},
               .outcomes = {outcome(1, kProbability), outcome(2, 1 - kProbability)}});
  Terms terms;
  terms.horizon = 1;
  terms.constraints = {at_least("utility", 0)};
  terms.uncertainty = set;
  return Problem(builder.build(), terms);
}

struct Next {
  TradeOffs table;
  std::vector<Curve> curves;

  // Each place guarantees the hull of a few random points, and nothing beyond it.
  explicit Next(unsigned seed, int places = 3)
      : table(Directions::of_prices({0, 0.3, 1, 2, 8}), places), curves(places) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    const Directions& directions = table.directions();
    for (int place = 1; place < places; ++place) {
      std::vector<std::pair<double, double>> points(1 + random() % 5);
      for (auto& [reward, utility] : points) reward = uniform(random), utility = uniform(random);
      for (int k = 0; k < directions.size(); ++k) {
        double most = -kInfinity;
        for (const auto& [reward, utility] : points) {
          const double along = directions.weight(k, 0) * reward + directions.weight(k, 1) * utility;
          if (along <= most) continue;
          most = along;
          table.points(place, 0)[k] = reward, table.points(place, 1)[k] = utility;
        }
        table.bounds(place)[k] = most;
      }
    }
    for (int place = 0; place < places; ++place) curves[place] = curve_of(table, place);
  }
};

double worst(const Problem& problem, double first, double second) {
  const std::vector<double> p = {kProbability, 1 - kProbability}, values = {first, second};
  const auto& lower = problem.model().arrays().lower;
  const auto& upper = problem.model().arrays().upper;
  return worst_case(problem.uncertainty(), {.probability = p, .lower = lower, .upper = upper},
                    values)
      .value[0];
}

// What a direction is worth when both places promise these shares of the way along their curves.
double worth(const Problem& problem, const Next& next, const double* d, double share1,
             double share2) {
  double value[2][2];
  for (int place = 1; place < 3; ++place) {
    const Curve& curve = next.curves[place];
    const double share = place == 1 ? share1 : share2;
    const double utility =
        curve.utility.front() + share * (curve.utility.back() - curve.utility.front());
    std::vector<MemoryMove> moves;
    mix_for_utility(curve, utility, moves);
    for (int j = 0; j < 2; ++j) {
      value[place - 1][j] = 0;
      for (const MemoryMove& move : moves)
        value[place - 1][j] += move.weight * next.table.points(place, j)[move.memory];
    }
  }
  return d[0] * (0.5 + worst(problem, value[0][0], value[1][0])) +
         d[1] * (0.25 + worst(problem, value[0][1], value[1][1]));
}

// The worth is concave in the promises, so a search that closes in on the best of a grid finds it.
double best_worth(const Problem& problem, const Next& next, const double* d) {
  double best = -kInfinity, at[2] = {0.5, 0.5};
  for (double width = 0.5; width > 1e-7; width *= 0.4) {
    const double around[2] = {at[0], at[1]};
    for (int i = -6; i <= 6; ++i) {
      for (int j = -6; j <= 6; ++j) {
        const double x = std::clamp(around[0] + width * i / 6, 0.0, 1.0);
        const double y = std::clamp(around[1] + width * j / 6, 0.0, 1.0);
        const double value = worth(problem, next, d, x, y);
        if (value > best) best = value, at[0] = x, at[1] = y;
      }
    }
  }
  return best;
}

struct Played {
  std::vector<GameEnd> ends;
  std::vector<double> weights;  // [signal][lane]
  int lanes = 0;
};

// All directions of the next stage at once, with many rounds, from where `known` leaves off. Rows
// that are not worth more than `beat` do not matter.
Played play(const Problem& problem, const Next& next, RowWarmStarts& known,
            const std::vector<double>& beat, double accuracy = 1e-4) {
  const Directions& directions = next.table.directions();
  Played played;
  played.lanes = directions.size();
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < directions.size(); ++k) played.weights.push_back(directions.weight(k, j));
  }
  played.ends.resize(played.lanes);
  std::vector<std::int64_t> places;
  for (std::int64_t place = 1; place < next.table.places(); ++place) places.push_back(place);
  const std::vector<double> tolerance(played.lanes, accuracy);
  const NextStageLayout ahead = lay_out_next_stage(next.table, next.curves, directions);
  const RowGame game{.row = 0,
                     .places = places,
                     .next = &next.table,
                     .curves = &next.curves,
                     .ahead = &ahead,
                     .weights = played.weights,
                     .tolerance = tolerance,
                     .beat = beat,
                     .rounds = 2000};
  const std::vector<Channel> channels = channels_of(problem);
  known.warm_starts.resize(played.lanes);
  std::vector<int> numbers(played.lanes);
  for (int k = 0; k < played.lanes; ++k) numbers[k] = k;
  if (std::holds_alternative<KL>(problem.uncertainty())) {
    KlGame(problem, channels).solve(game, numbers, {&known, nullptr}, played.ends);
  } else if (LevelGame::plays(problem.uncertainty())) {
    LevelGame(problem, channels).solve(game, numbers, {&known, nullptr}, played.ends);
  } else {
    CurveGame(problem, channels).solve(game, numbers, {&known, nullptr}, played.ends);
  }
  return played;
}

void expect_bracket(const Problem& problem, const Next& next, const Played& played) {
  for (int k = 0; k < played.lanes; ++k) {
    const double d[2] = {played.weights[k], played.weights[played.lanes + k]};
    const double best = best_worth(problem, next, d);
    EXPECT_LE(played.ends[k].value, best + 1e-6) << "direction " << k;
    EXPECT_GE(played.ends[k].bound, best - 1e-9) << "direction " << k;
    // Points are found; bounds also depend on which prices are listed.
    EXPECT_GE(played.ends[k].value, best - 2e-3) << "direction " << k;
  }
}

class Games : public ::testing::TestWithParam<Uncertainty> {};

TEST_P(Games, BracketTheBestPromises) {
  const Problem problem = one_row(GetParam());
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const Next next(seed);
    RowWarmStarts known;
    const std::vector<double> all(next.table.directions().size(), -kInfinity);
    expect_bracket(problem, next, play(problem, next, known, all));
    expect_bracket(problem, next, play(problem, next, known, all));  // from where they ended
  }
}

// The kernels that a game ended with bound the next one, and are inside the set although they are
// kept in few digits.
TEST_P(Games, RowsThatDoNotMatterAreBoundedByTheKernelsOfBefore) {
  const Problem problem = one_row(GetParam());
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const Next next(seed);
    RowWarmStarts known;
    std::vector<double> beat(next.table.directions().size(), -kInfinity);
    const Played first = play(problem, next, known, beat);
    for (std::size_t k = 0; k < beat.size(); ++k) beat[k] = first.ends[k].bound + 0.1;
    const Played again = play(problem, next, known, beat);
    for (int k = 0; k < again.lanes; ++k) {
      const double d[2] = {again.weights[k], again.weights[again.lanes + k]};
      EXPECT_EQ(again.ends[k].value, -kInfinity) << "direction " << k;
      EXPECT_LE(again.ends[k].bound, beat[k]) << "direction " << k;
      EXPECT_GE(again.ends[k].bound, best_worth(problem, next, d) - 1e-9) << "direction " << k;
    }
  }
}

// Any number of outcomes, some of them alike. A game that ends without a gap proves itself: its
// points guarantee what its kernels leave of all points. Both sides are looked at again, the points
// by the public worst case, the kernels by the definition of the set.
class ExactGames : public ::testing::TestWithParam<Uncertainty> {};

Problem wide_row(const Uncertainty& set, int outcomes, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.05, 1);
  ModelBuilder builder(outcomes + 1, {"utility"});
  std::vector<double> p(outcomes);
  double total = 0;
  for (double& each : p) total += each = random() % 3 ? uniform(random) : 0.5;
  std::vector<ModelBuilder::Outcome> row;
  for (int i = 0; i < outcomes; ++i) {
    ModelBuilder::Outcome out{i + 1, p[i] / total};
    if (std::holds_alternative<Interval>(set)) {
      out.lower = std::max(0.0, out.probability - 0.1 * uniform(random));
      out.upper = std::min(1.0, out.probability + 0.1 * uniform(random));
    }
    row.push_back(out);
  }
  builder.add(0, 0, 0, {.reward = 0.5, .signals = {0.25}, .outcomes = row});
  Terms terms;
  terms.horizon = 1;
  terms.constraints = {at_least("utility", 0)};
  terms.uncertainty = set;
  return Problem(builder.build(), terms);
}

// How far a kernel is outside of the set.
double outside(const Problem& problem, const std::vector<double>& kernel) {
  const auto& arrays = problem.model().arrays();
  double sum = 0, distance = 0, beyond = 0;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const double p = arrays.probability[i], by = kernel[i] - p;
    sum += kernel[i];
    beyond = std::max(beyond, -kernel[i]);
    if (const auto* tv = std::get_if<TV>(&problem.uncertainty())) {
      distance += 0.5 * std::abs(by);
      if (i + 1 == kernel.size()) beyond = std::max(beyond, distance - tv->radius.of(0));
    } else if (const auto* chi2 = std::get_if<Chi2>(&problem.uncertainty())) {
      distance += by * by / p;
      if (i + 1 == kernel.size()) beyond = std::max(beyond, distance - chi2->radius.of(0));
    } else {
      beyond = std::max({beyond, arrays.lower[i] - kernel[i], kernel[i] - arrays.upper[i]});
    }
  }
  return std::max(beyond, std::abs(sum - 1));
}

TEST_P(ExactGames, EndWhereNeitherSideCanDoBetter) {
  std::mt19937 random(7);
  int settled = 0, played = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const int outcomes = 2 + static_cast<int>(random() % 8);
    const Problem problem = wide_row(GetParam(), outcomes, random);
    const Next next(seed, outcomes + 1);
    RowWarmStarts known;
    const std::vector<double> all(next.table.directions().size(), -kInfinity);
    const Played game = play(problem, next, known, all, 1e-6);
    for (int k = 0; k < game.lanes; ++k) {
      const GameEnd& end = game.ends[k];
      const double d[2] = {game.weights[k], game.weights[game.lanes + k]};
      double value = 0.5 * d[0] + 0.25 * d[1], most = value;
      std::vector<double> values[2], kernel[2];
      for (int i = 0; i < outcomes; ++i) {
        const Curve& curve = next.curves[i + 1];
        int near = 0;
        const CurveMix mix = mix_along(curve, end.promises[i].utility, near);
        values[0].push_back(average(mix, curve.reward));
        values[1].push_back(average(mix, curve.utility));
        double best = -kInfinity;
        for (int j = 0; j < 2; ++j) kernel[j].push_back(end.kernel[2 * i + j]);
        for (int c = 0; c < curve.corners(); ++c)
          best = std::max(
              best, d[0] * kernel[0][i] * curve.reward[c] + d[1] * kernel[1][i] * curve.utility[c]);
        most += best;
      }
      const auto& arrays = problem.model().arrays();
      for (int j = 0; j < 2; ++j) {
        EXPECT_LE(outside(problem, kernel[j]), 1e-9);
        value += d[j] * worst_case(problem.uncertainty(),
                                   {.probability = arrays.probability,
                                    .lower = arrays.lower,
                                    .upper = arrays.upper},
                                   values[j])
                            .value[0];
      }
      EXPECT_NEAR(end.value, value, 1e-7);  // promises are kept by mixes in single precision
      EXPECT_NEAR(end.gap, most - value, 1e-7);
      EXPECT_GE(end.bound, value - 1e-7);
      settled += end.gap <= 1e-6;
      ++played;
    }
  }
  EXPECT_GE(settled, 0.98 * played) << settled << " of " << played;
}

std::string name_of(const ::testing::TestParamInfo<Uncertainty>& info) {
  return std::string(SetKind::all()[info.param.index()].name) + "_" + std::to_string(info.index);
}
std::string name_by_number(const ::testing::TestParamInfo<Uncertainty>& info) {
  return "set_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Sets, ExactGames,
                         ::testing::Values(Uncertainty(TV{0.05, Reach::support}),
                                           Uncertainty(TV{0.4, Reach::support}),
                                           Uncertainty(Chi2{0.05}), Uncertainty(Chi2{0.5}),
                                           Uncertainty(Interval{})),
                         name_by_number);
INSTANTIATE_TEST_SUITE_P(Sets, Games,
                         ::testing::Values(Uncertainty(KL{0.05}), Uncertainty(KL{1.0}),
                                           Uncertainty(KL{1e-7}),
                                           Uncertainty(TV{1e-6, Reach::support}),
                                           Uncertainty(Chi2{0.2}),
                                           Uncertainty(TV{0.15, Reach::support}),
                                           Uncertainty(Interval{}), Uncertainty(Nominal{})),
                         name_of);

}  // namespace
}  // namespace redoubt
