#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sets/worst_case.h"
#include "support/set_laws.h"
#include "support/set_rows.h"

namespace redoubt {
using namespace internal;
namespace {

using testing::SetRow;

// Rows of equally many outcomes, side by side: lane i has row i, and of that its first values.
struct SideBySide {
  std::vector<const SetRow*> rows;
  std::vector<double> probability, lower, upper, radius, floor;
  std::vector<std::vector<double>> values;

  explicit SideBySide(std::vector<const SetRow*> given) : rows(std::move(given)) {
    const std::size_t lanes = padded_lanes(count());
    values.assign(rows[0]->outcomes(), std::vector<double>(lanes));
    for (int i = 0; i < rows[0]->outcomes(); ++i) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const SetRow& row = at(lane);
        probability.push_back(row.probability[i]);
        lower.push_back(row.lower.empty() ? 0 : row.lower[i]);
        upper.push_back(row.upper.empty() ? 0 : row.upper[i]);
        values[i][lane] = row.values[i][0];
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      radius.push_back(at(lane).radius);
      if (!rows[0]->floor.empty()) floor.push_back(at(lane).floor[0]);
    }
  }

  int count() const { return static_cast<int>(rows.size()); }
  const SetRow& at(std::size_t lane) const { return *rows[std::min(lane, rows.size() - 1)]; }

  testing::SetResult solve(WorstCases kernel, Scratch& scratch) const {
    const int lanes = padded_lanes(count()), outcomes = rows[0]->outcomes();
    std::vector<const double*> pointers;
    for (const auto& of_outcome : values) pointers.push_back(of_outcome.data());
    std::vector<double> worst(lanes), flat((outcomes + 1) * lanes);
    kernel({outcomes, probability.data(), radius.data(), lower.data(), upper.data()},
           {count(), pointers.data(), floor.empty() ? nullptr : floor.data()}, scratch,
           worst.data(), flat.data());
    testing::SetResult result;
    result.worst.assign(worst.begin(), worst.begin() + count());
    for (int i = 0; i <= outcomes; ++i)
      result.minimiser.emplace_back(flat.begin() + i * lanes, flat.begin() + i * lanes + count());
    return result;
  }
};

// Nasty rows by their number of outcomes; every fifth is certain, which kernels of one row leave to
// the nominal one.
std::map<int, std::vector<SetRow>> rows_by_outcomes(std::mt19937_64& random, const Uncertainty& set,
                                                    int count) {
  std::map<int, std::vector<SetRow>> rows;
  for (int n = 0; n < count; ++n) {
    SetRow row = testing::nasty_row(random, set);
    if (n % 5 == 0 && !std::holds_alternative<Tilt>(set)) row.radius = 0;
    rows[row.outcomes()].push_back(std::move(row));
  }
  return rows;
}

std::vector<const SetRow*> pointers_to(const std::vector<SetRow>& rows) {
  std::vector<const SetRow*> pointers;
  for (const SetRow& row : rows) pointers.push_back(&row);
  return pointers;
}

double spread_of(const SetRow& row) {
  const std::vector<double> lane = row.lane(0);
  const auto [low, high] = std::minmax_element(lane.begin(), lane.end());
  return std::max(*high - *low, 1e-4 * std::max(std::abs(*low), std::abs(*high)));
}

// The worst case of a row is what it is alone, and so is nature's answer to it.
TEST(LaneRows, AreWhatTheyAreAlone) {
  std::mt19937_64 random(11);
  Scratch scratch;
  for (const InstructionSet instructions : instruction_sets()) {
    for (const Uncertainty& set : testing::every_set()) {
      for (const auto& [outcomes, rows] : rows_by_outcomes(random, set, 400)) {
        const auto abreast =
            SideBySide(pointers_to(rows)).solve(worst_cases_kernel(set, instructions), scratch);
        for (std::size_t n = 0; n < rows.size(); ++n) {
          const auto alone = solve(worst_case_kernel(set, instructions), rows[n], scratch);
          SCOPED_TRACE(testing::describe(set) + ", " + std::string(name(instructions)));
          ASSERT_NEAR(abreast.worst[n], alone.worst[0], 1e-12 * spread_of(rows[n]));
          double attained = 0;
          for (int i = 0; i < outcomes; ++i)
            attained += abreast.minimiser[i][n] * rows[n].values[i][0];
          if (!rows[n].floor.empty()) attained += abreast.minimiser[outcomes][n] * rows[n].floor[0];
          double attained_alone = 0;
          for (int i = 0; i < outcomes; ++i)
            attained_alone += alone.minimiser[i][0] * rows[n].values[i][0];
          if (!rows[n].floor.empty())
            attained_alone += alone.minimiser[outcomes][0] * rows[n].floor[0];
          ASSERT_NEAR(attained, attained_alone, 1e-9 * spread_of(rows[n]));
        }
      }
    }
  }
}

// Whoever divides rows among threads or processes gets other neighbours.
TEST(LaneRows, HaveTheSameBitsBesideOtherRows) {
  std::mt19937_64 random(12);
  Scratch scratch;
  for (const InstructionSet instructions : instruction_sets()) {
    for (const Uncertainty& set : testing::every_set()) {
      const WorstCases kernel = worst_cases_kernel(set, instructions);
      for (const auto& [outcomes, rows] : rows_by_outcomes(random, set, 200)) {
        auto order = pointers_to(rows);
        const auto first = SideBySide(order).solve(kernel, scratch);
        std::map<const SetRow*, double> found;
        for (std::size_t n = 0; n < order.size(); ++n) found[order[n]] = first.worst[n];
        std::shuffle(order.begin(), order.end(), random);
        const auto again = SideBySide(order).solve(kernel, scratch);
        for (std::size_t n = 0; n < order.size(); ++n) ASSERT_EQ(again.worst[n], found[order[n]]);
        for (const SetRow* row : order)
          ASSERT_EQ(SideBySide({row}).solve(kernel, scratch).worst[0], found[row]);
      }
    }
  }
}

// Rows of any length, wherever they lie, also the last of them: nothing behind it may be read.
TEST(LaneRows, AreLaidOutByAnyInstructions) {
  std::mt19937_64 random(15);
  const auto below = [&](std::size_t limit) { return static_cast<std::int64_t>(random() % limit); };
  std::vector<double> values(50);
  for (double& value : values) value = testing::uniform(random);
  for (const InstructionSet instructions : instruction_sets()) {
    const LayOut lay_out = lay_out_kernel(instructions);
    for (int outcomes = 1; outcomes < 20; ++outcomes) {
      const int lanes = kLaneBlock * static_cast<int>(1 + below(4)), rows = 40;
      std::vector<double> numbers(outcomes * rows), to(outcomes * lanes), led_to(to);
      std::vector<std::int32_t> next(numbers.size());
      for (double& number : numbers) number = testing::uniform(random);
      for (std::int32_t& state : next) state = static_cast<std::int32_t>(below(values.size()));
      std::vector<std::int64_t> begin(lanes);
      for (std::int64_t& first : begin) first = outcomes * below(rows);
      begin[below(lanes)] = outcomes * (rows - 1);
      const RowsInStorage members{outcomes, lanes, begin.data()};
      lay_out.numbers(members, numbers.data(), to.data());
      lay_out.values(members, next.data(), values.data(), led_to.data());
      for (int i = 0; i < outcomes; ++i) {
        for (int lane = 0; lane < lanes; ++lane) {
          ASSERT_EQ(to[i * lanes + lane], numbers[begin[lane] + i]) << name(instructions);
          ASSERT_EQ(led_to[i * lanes + lane], values[next[begin[lane] + i]]);
        }
      }
    }
  }
}

TEST(LaneRows, ExpectedValuesAreThoseOfTheNominalKernel) {
  std::mt19937_64 random(13);
  Scratch scratch;
  for (const InstructionSet instructions : instruction_sets()) {
    for (int n = 0; n < 100; ++n) {
      const SetRow row = testing::plain_row(random, 1 + n % 12, 0);
      const std::vector<double> values = row.lane(0);
      const std::vector<std::int64_t> row_outcomes = {0, row.outcomes()};
      std::vector<std::int32_t> next(row.outcomes());
      for (int i = 0; i < row.outcomes(); ++i) next[i] = i;
      const double earned = 0;
      double result = 0;
      expected_values_kernel(instructions)(
          {row_outcomes.data(), next.data(), row.probability.data()}, {.count = 1}, &earned, 1.0,
          values.data(), &result);
      EXPECT_DOUBLE_EQ(result,
                       solve(worst_case_kernel(Nominal{}, instructions), row, scratch).worst[0]);
    }
  }
}

// Against a plain loop: the largest or least worth, and the first row that has it but for rounding.
TEST(LaneRows, BestExpectedIsTheBestOfAStatesRows) {
  std::mt19937_64 random(14);
  constexpr std::int32_t kStates = 60;
  std::vector<std::int64_t> begin = {0}, row_outcomes = {0};
  std::vector<std::int32_t> next;
  std::vector<double> probability, earned, values;
  for (std::int32_t s = 0; s < kStates; ++s) {
    values.push_back(testing::uniform(random));
    for (int rows = s % 7; rows > 0; --rows) {
      const int outcomes = static_cast<int>(random() % 6);
      for (int i = 0; i < outcomes; ++i) {
        next.push_back(static_cast<std::int32_t>(random() % kStates));
        probability.push_back(testing::uniform(random));
      }
      row_outcomes.push_back(static_cast<std::int64_t>(next.size()));
      earned.push_back(random() % 4 == 0 && rows < s % 7 ? earned.back()
                                                         : testing::uniform(random));
    }
    begin.push_back(static_cast<std::int64_t>(earned.size()));
  }
  const SparseRows matrix{row_outcomes.data(), next.data(), probability.data()};
  std::vector<double> worth(earned.size());
  for (const InstructionSet instructions : instruction_sets()) {
    expected_values_kernel(instructions)(matrix,
                                         {.count = static_cast<std::int64_t>(earned.size())},
                                         earned.data(), 0.9, values.data(), worth.data());
    for (const bool least : {false, true}) {
      std::vector<double> room(8), best(kStates), of_list(kStates);
      std::vector<std::int32_t> position(kStates), list(kStates), position_of_list(kStates);
      for (std::int32_t s = 0; s < kStates; ++s) list[s] = kStates - 1 - s;
      const RowsOfStates states{begin.data(), earned.data(), 0.9, 1, least};
      const BestExpected kernel = best_expected_kernel(instructions);
      bool exact = kernel(matrix, states, {.count = kStates}, {}, values.data(), room.data(),
                          best.data(), position.data());
      EXPECT_EQ(exact, kernel(matrix, states, {.count = kStates, .list = list.data()}, {},
                              values.data(), room.data(), of_list.data(), position_of_list.data()));
      bool expected_exact = true;
      for (std::int32_t s = 0; s < kStates; ++s) {
        double top = 0;
        std::int32_t taken = -1;
        for (auto row = begin[s]; row < begin[s + 1]; ++row)
          top = row == begin[s] ? worth[row]
                : least         ? std::min(top, worth[row])
                                : std::max(top, worth[row]);
        for (auto row = begin[s + 1]; row-- > begin[s];)
          if (std::abs(worth[row] - top) <= 1e-13 * std::max(1.0, std::abs(top)))
            taken = static_cast<std::int32_t>(row - begin[s]);
        EXPECT_EQ(best[s], top);
        EXPECT_EQ(position[s], taken);
        EXPECT_EQ(of_list[kStates - 1 - s], top);
        EXPECT_EQ(position_of_list[kStates - 1 - s], taken);
        expected_exact &= taken < 0 || worth[begin[s] + taken] == top;
      }
      EXPECT_EQ(exact, expected_exact);
    }
  }
}

}  // namespace
}  // namespace redoubt
