#include "redoubt/advanced/product_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "support/expect_error.h"

namespace redoubt {
namespace {

using testing::error_of;
using Law = AxisNoise::Law;

// The probability that y + noise is in [from, to], of one axis.
double mass(const AxisNoise& noise, double y, double from, double to) {
  const auto below = [&](double x) {
    if (noise.law == Law::gaussian)
      return 0.5 * (1 + std::erf((x - y) / noise.scale / std::numbers::sqrt2));
    return std::clamp(((x - y) / noise.scale + 1) / 2, 0.0, 1.0);
  };
  return below(to) - below(from);
}

std::vector<double> lines(double low, double high, int cells) {
  std::vector<double> all;
  for (int i = 0; i <= cells; ++i) all.push_back(low + (high - low) * i / cells);
  return all;
}

// Two axes of 6 and 5 cells; the cell in one corner is a goal, which two more cells belong to. Some
// of the noise of the first axis may be added to the second.
Abstraction::Input plane(Law law, double width, double follows = 0) {
  Abstraction::Input input;
  if (follows != 0) input.follows = {0, 0, follows, 0};
  input.grid.lines = {lines(-3, 3, 6), lines(0, 5, 5)};
  input.noise = {{law, 0.7}, {law, 0.4}};
  for (int cell = 0; cell < 30; ++cell) {
    const bool goal = cell == 4 || cell == 3 || cell == 9;
    input.state_of_cell.push_back(goal ? 27 : static_cast<State>(input.open.size()));
    if (!goal) input.open.push_back(cell);
  }
  input.states = 29;
  input.outside = 28;
  input.actions = 2;
  for (const auto cell : input.open) {
    for (int a = 0; a < 2; ++a) {
      const double x = -2.5 + static_cast<double>(cell / 5),
                   y = 0.5 + static_cast<double>(cell % 5);
      const double to[] = {0.8 * x + (a == 0 ? 0.3 : -0.4), y + (a == 0 ? 0.25 : -0.6)};
      for (const double middle : to) {
        input.low.push_back(middle - width);
        input.high.push_back(middle + width);
      }
    }
  }
  return input;
}

// The members of an outcome, which is a state or a group.
std::vector<State> members(const Abstraction& rows, State next) {
  if (next < rows.states()) return {next};
  const Row row = rows.state_rows()[next];
  const auto begin = rows.next().begin();
  return {begin + rows.row_outcomes()[row], begin + rows.row_outcomes()[row + 1]};
}

// What the noise makes of a point, cell by cell: of each state. Where the second axis follows the
// first, by steps along the noise of that one.
std::vector<double> exact(const Abstraction::Input& input, double x, double y) {
  std::vector<double> of(input.states, 0.0);
  double inside = 0;
  const auto& l = input.grid.lines;
  const auto add = [&](int cell, double here) {
    of[input.state_of_cell[cell]] += here;
    inside += here;
  };
  for (int cell = 0; cell < 30; ++cell) {
    const double from = l[0][cell / 5], to = l[0][cell / 5 + 1];
    const double low = l[1][cell % 5], high = l[1][cell % 5 + 1];
    if (input.follows.empty()) {
      add(cell, mass(input.noise[0], x, from, to) * mass(input.noise[1], y, low, high));
      continue;
    }
    const int steps = 400;
    for (int i = 0; i < steps; ++i) {
      const double a = from + (to - from) * i / steps, b = from + (to - from) * (i + 1) / steps;
      const double moved = y + input.follows[2] * ((a + b) / 2 - x);
      add(cell, mass(input.noise[0], x, a, b) * mass(input.noise[1], moved, low, high));
    }
  }
  of[input.outside] += 1 - inside;
  return of;
}

struct Noise {
  Law law;
  double follows, accuracy;  // of `exact`
};
void PrintTo(const Noise& noise, std::ostream* to) {
  *to << (noise.law == Law::gaussian ? "gaussian" : "uniform") << ", follows " << noise.follows;
}

class EveryLaw : public ::testing::TestWithParam<Noise> {};
INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         ::testing::Values(Noise{Law::gaussian, 0, 1e-12},
                                           Noise{Law::uniform, 0, 1e-12},
                                           Noise{Law::gaussian, 0.6, 1e-5},
                                           Noise{Law::gaussian, -1.3, 1e-5}));

// Whatever set of states is asked for, and wherever in its box a point is: the outcomes within the
// set have no more, and those that meet it no less, than the true probability.
TEST_P(EveryLaw, OutcomesEncloseTheTrueProbabilityOfEverySet) {
  const auto [law, follows, accuracy] = GetParam();
  const Abstraction::Input input = plane(law, 0.3, follows);
  const Abstraction rows(input);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const auto row = static_cast<std::size_t>(random() % (2 * input.open.size()));
    double point[2];
    for (int axis = 0; axis < 2; ++axis) {
      const auto i = 2 * row + axis;
      point[axis] = input.low[i] + share(random) * (input.high[i] - input.low[i]);
    }
    const std::vector<double> truth = exact(input, point[0], point[1]);
    std::vector<bool> asked(input.states);
    const double part = share(random);
    for (State s = 0; s < input.states; ++s) asked[s] = share(random) < part;
    double within = 0, meeting = 0, total = 0, all = 0;
    for (State s = 0; s < input.states; ++s) total += asked[s] ? truth[s] : 0;
    for (auto i = rows.row_outcomes()[row]; i < rows.row_outcomes()[row + 1]; ++i) {
      const auto each = members(rows, rows.next()[i]);
      const auto in = [&](State s) { return asked[s]; };
      if (std::all_of(each.begin(), each.end(), in)) within += rows.probability()[i];
      if (std::any_of(each.begin(), each.end(), in)) meeting += rows.probability()[i];
      all += rows.probability()[i];
    }
    EXPECT_LE(within, total + accuracy);
    EXPECT_GE(meeting, total - accuracy);
    EXPECT_NEAR(all, 1, 1e-12);
  }
}

// Where an axis follows another they do: a piece of the noise of one leaves the other a box.
TEST(Abstraction, PointsNeedNoGroupsWhereAxesAreIndependent) {
  for (const Law law : {Law::gaussian, Law::uniform}) {
    Abstraction::Input input = plane(law, 0);
    input.least_piece = 0;
    const Abstraction rows(input);
    EXPECT_EQ(rows.groups(), 0);
    for (std::size_t row = 0; row < 2 * input.open.size(); ++row) {
      const auto truth = exact(input, input.low[2 * row], input.low[2 * row + 1]);
      for (auto i = rows.row_outcomes()[row]; i < rows.row_outcomes()[row + 1]; ++i)
        EXPECT_NEAR(rows.probability()[i], truth[rows.next()[i]], 1e-12);
    }
  }
}

TEST_P(EveryLaw, TheNoiseSaysWhichOutcomeItWas) {
  const auto [law, follows, accuracy] = GetParam();
  const Abstraction::Input input = plane(law, 0.3, follows);
  const Abstraction rows(input);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> share(0, 1);
  std::normal_distribution<double> normal;
  std::vector<double> met(rows.states() + rows.groups(), 0.0);
  const int row = 31, trials = 20000;
  for (int trial = 0; trial < trials; ++trial) {
    double noise[2], point[2];
    for (int axis = 0; axis < 2; ++axis) {
      const double unit = law == Law::gaussian ? normal(random) : 2 * share(random) - 1;
      noise[axis] = unit * input.noise[axis].scale + (axis == 1 ? follows * noise[0] : 0.0);
      const int i = 2 * row + axis;
      point[axis] = input.low[i] + share(random) * (input.high[i] - input.low[i]) + noise[axis];
    }
    const State next = rows.next(row / 2, row % 2, noise);
    const auto cell = input.grid.cell(point);
    const State arrived = cell < 0 ? input.outside : input.state_of_cell[cell];
    const auto each = members(rows, next);
    ASSERT_TRUE(std::find(each.begin(), each.end(), arrived) != each.end());
    met[next] += 1.0 / trials;
  }
  for (auto i = rows.row_outcomes()[row]; i < rows.row_outcomes()[row + 1]; ++i)
    EXPECT_NEAR(met[rows.next()[i]], rows.probability()[i], 0.02);
}

TEST(Abstraction, WithoutNoiseABoxIsOneGroup) {
  Abstraction::Input input = plane(Law::none, 0.3);
  const Abstraction rows(input);
  for (std::size_t row = 0; row < 2 * input.open.size(); ++row)
    EXPECT_EQ(rows.row_outcomes()[row + 1] - rows.row_outcomes()[row], 1);
}

TEST(Abstraction, NoiseThatIsNoneMayBeFollowed) {
  Abstraction::Input input = plane(Law::gaussian, 0.3, 0.6);
  input.noise[0] = {Law::none, 0};
  const Abstraction rows(input);
  input.follows.clear();
  EXPECT_EQ(rows.probability(), Abstraction(input).probability());
}

TEST(Abstraction, AModelTakesItsRows) {
  const Abstraction rows(plane(Law::gaussian, 0.3));
  ModelArrays arrays;
  arrays.states = rows.states() + rows.groups();
  arrays.groups = rows.groups();
  arrays.state_rows = rows.state_rows();
  arrays.action = rows.action();
  arrays.row_outcomes = rows.row_outcomes();
  arrays.next = rows.next();
  arrays.probability = rows.probability();
  const Model model(std::move(arrays));
  EXPECT_GT(model.groups(), 0);
  EXPECT_EQ(model.rows(), 54 + model.groups());
}

TEST(Abstraction, BadInput) {
  const auto with = [](auto change) {
    return error_of([&] {
      Abstraction::Input input = plane(Law::gaussian, 0.3);
      change(input);
      const Abstraction rows(std::move(input));
    });
  };
  using Input = Abstraction::Input;
  EXPECT_EQ(with([](Input& i) { i.noise[1].scale = -1; }),
            "scale -1 of the noise of axis 1, must be finite and at least 0");
  EXPECT_EQ(with([](Input& i) { i.grid.lines[0][2] = 9; }),
            "line 3 of axis 0 is at 0, lines must be finite and increase");
  EXPECT_EQ(with([](Input& i) { i.low[3] = 2, i.high[3] = 1; }),
            "image [2, 1] of cell 0, action 1, axis 1, must be an interval of finite numbers");
  EXPECT_EQ(with([](Input& i) { i.least_piece = 0.5; }), "least_piece = 0.5, must be in [0, 0.5)");
  EXPECT_EQ(with([](Input& i) { i.noise.pop_back(); }), "noise of 1 axes, must be of 2");
  EXPECT_EQ(with([](Input& i) { i.follows = {0.5}; }),
            "noise that follows other noise by 1 numbers, must be by 4");
  EXPECT_EQ(
      with([](Input& i) {
        i.follows = {0, 0.5, 0, 0};
      }),
      "noise of axis 0 follows that of axis 1 by 0.5, must be finite, and 0 unless that is an "
      "earlier one");
  EXPECT_EQ(with([](Input& i) { std::swap(i.open[0], i.open[1]); }),
            "27 cells have rows, 1 of them in the order of their states");
}

// What rows that are written out expect, where nature picks the members of groups, or helps.
std::vector<double> written_out(const Abstraction& rows, const std::vector<double>& values,
                                bool helpful) {
  std::vector<double> expected;
  for (Row row = 0; row < rows.state_rows()[rows.states()]; ++row) {
    double sum = 0;
    for (auto i = rows.row_outcomes()[row]; i < rows.row_outcomes()[row + 1]; ++i) {
      const auto each = members(rows, rows.next()[i]);
      const auto less = [&](State a, State b) { return values[a] < values[b]; };
      const auto [least, most] = std::minmax_element(each.begin(), each.end(), less);
      sum += rows.probability()[i] * values[helpful ? *most : *least];
    }
    expected.push_back(sum);
  }
  return expected;
}

std::vector<double> random_values(int count, std::mt19937& random) {
  std::uniform_real_distribution<double> draw(-2, 3);
  std::vector<double> values(count);
  for (double& value : values) value = draw(random);
  return values;
}

// Pieces that are joined touch more cells, but they are as rare together as they may be: what is
// expected moves by no more than that, at two ends of two axes.
TEST(Abstraction, RareEndsOfTheNoiseStayByThemselves) {
  std::mt19937 random(5);
  Abstraction::Input input = plane(Law::gaussian, 0.3);
  input.least_piece = 0;
  const Abstraction all(input);
  input.least_piece = 0.02;
  const Abstraction joined(input);
  EXPECT_LT(joined.row_outcomes()[54], 0.7 * static_cast<double>(all.row_outcomes()[54]));
  const auto values = random_values(input.states, random);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const auto fine = written_out(all, values, false), coarse = written_out(joined, values, false);
  for (std::size_t row = 0; row < fine.size(); ++row) {
    EXPECT_LE(coarse[row], fine[row] + 1e-12);
    EXPECT_LE(fine[row] - coarse[row], 4 * 0.02 * (*most - *least));
  }
}

// Three axes, without a goal; the image of a cell depends on all coordinates.
Abstraction::Input space() {
  Abstraction::Input input;
  input.grid.lines = {lines(0, 3, 3), lines(-1, 1, 4), lines(0, 1, 2)};
  input.noise = {{Law::gaussian, 0.6}, {Law::uniform, 0.3}, {Law::none, 0}};
  input.states = 25;
  input.outside = 24;
  input.actions = 1;
  for (int cell = 0; cell < 24; ++cell) {
    input.state_of_cell.push_back(cell);
    input.open.push_back(cell);
    const double x = cell / 8 + 0.5, y = -0.75 + 0.5 * (cell / 2 % 4), z = 0.25 + 0.5 * (cell % 2);
    for (const double middle : {0.7 * x + 0.2 * y, 0.5 * y + 0.1 * x, 0.9 * z - 0.1 * y}) {
      input.low.push_back(middle - 0.2);
      input.high.push_back(middle + 0.2);
    }
  }
  return input;
}

TEST(ProductRows, ExpectWhatRowsThatAreWrittenOutDo) {
  std::mt19937 random(3);
  for (const Abstraction::Input& input :
       {plane(Law::gaussian, 0.3), plane(Law::uniform, 0.3), plane(Law::none, 0.3), space()}) {
    const Abstraction rows(input);
    const ProductRows products(input);
    for (const bool helpful : {false, true}) {
      const auto values = random_values(input.states, random);
      const auto expected = written_out(rows, values, helpful);
      const auto found = products.expectations(values, helpful);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t row = 0; row < found.size(); ++row)
        EXPECT_NEAR(found[row], expected[row], 1e-8);
      EXPECT_EQ(found, products.expectations(values, helpful, 3));
    }
  }
}

// Images of 27 cells and two actions that depend on one coordinate each, and differ by rounding.
TEST(ProductRows, ImagesThatAreTheSameAlongAnAxisShareTheirLaw) {
  Abstraction::Input input = plane(Law::gaussian, 0.3);
  for (std::size_t i = 0; i < input.low.size(); ++i)
    input.low[i] += 1e-14 * static_cast<double>(i % 7);
  const ProductRows products(input);
  EXPECT_EQ(products.laws(0), 6 * 2);
  EXPECT_EQ(products.laws(1), 5 * 2);
}

// Each of the four quarters of an image by itself: closer to what is true of a point, and still on
// the right side of it.
TEST(ProductRows, PartsOfCellsNarrowWhatIsExpected) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> share(0, 1);
  const Abstraction::Input whole = plane(Law::gaussian, 0.3);
  Abstraction::Input quarters = whole;
  quarters.parts = 4;
  quarters.low.clear();
  quarters.high.clear();
  for (std::size_t box = 0; box < whole.low.size(); box += 2) {
    for (int part = 0; part < 4; ++part) {
      for (int axis = 0; axis < 2; ++axis) {
        const double low = whole.low[box + axis], middle = (low + whole.high[box + axis]) / 2;
        const bool upper = (axis == 0 ? part / 2 : part % 2) == 1;
        quarters.low.push_back(upper ? middle : low);
        quarters.high.push_back(upper ? whole.high[box + axis] : middle);
      }
    }
  }
  const auto values = random_values(whole.states, random);
  const ProductRows coarse(whole), fine(quarters);
  double gained = 0;
  for (const bool helpful : {false, true}) {
    const double sign = helpful ? -1 : 1;
    const auto wide = coarse.expectations(values, helpful),
               narrow = fine.expectations(values, helpful);
    for (std::size_t row = 0; row < wide.size(); ++row) {
      EXPECT_LE(sign * wide[row], sign * narrow[row] + 1e-8);
      gained += sign * (narrow[row] - wide[row]);
      for (int trial = 0; trial < 5; ++trial) {
        double point[2];
        for (int axis = 0; axis < 2; ++axis) {
          const auto i = 2 * row + axis;
          point[axis] = whole.low[i] + share(random) * (whole.high[i] - whole.low[i]);
        }
        const std::vector<double> truth = exact(whole, point[0], point[1]);
        const double mean = std::inner_product(truth.begin(), truth.end(), values.begin(), 0.0);
        EXPECT_LE(sign * narrow[row], sign * mean + 1e-8);
      }
    }
  }
  EXPECT_GT(gained, 1);
}

TEST(ProductRows, BadInput) {
  EXPECT_EQ(error_of([] { ProductRows(plane(Law::gaussian, 0.3, 0.6)); }),
            "noise of an axis that follows that of another one, must be independent");
  EXPECT_EQ(error_of([] {
              Abstraction::Input input = plane(Law::gaussian, 0.3);
              input.parts = 0;
              ProductRows{input};
            }),
            "images in 0 parts, must be at least 1");
  EXPECT_EQ(error_of([] {
              const ProductRows products(plane(Law::gaussian, 0.3));
              products.expectations(std::vector<double>(28), false);
            }),
            "values of 28 states, must be of 29");
  EXPECT_EQ(error_of([] {
              const ProductRows products(plane(Law::gaussian, 0.3));
              products.expectations(std::vector<double>(29), false, 0);
            }),
            "threads = 0, must be at least 1");
  EXPECT_EQ(error_of([] {
              Abstraction::Input input = plane(Law::gaussian, 0.3);
              input.parts = 2;
              input.low.resize(2 * input.low.size(), 0.0);
              input.high.resize(2 * input.high.size(), 1.0);
              const Abstraction rows(input);
            }),
            "images in 2 parts, must be whole to be written out");
}

}  // namespace
}  // namespace redoubt
