#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/set_traits.h"
#include "set_input.h"
#include "support/set_laws.h"
#include "support/set_reference.h"

namespace {

using namespace redoubt;
using namespace redoubt::fuzzing;
using namespace redoubt::internal;
using redoubt::testing::SetRow;

constexpr int kMostOutcomes = 20, kMostLanes = 9;  // more than one block, some of it padding
// A radius of any size, or within rounding of where all mass fits on the lowest outcome of a lane.
double radius(FuzzedDataProvider& input, const SetRow& row) {
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return fraction(input);
    case 1:
      return std::pow(10, -12 + 18 * fraction(input));
    case 2:
      return any_number(input, 0, 1e6);
    default: {
      const std::vector<double> lane = row.lane(input.ConsumeIntegralInRange(0, row.lanes - 1));
      const auto lowest = std::min_element(lane.begin(), lane.end()) - lane.begin();
      const double p = row.probability[lowest];
      const double edge = input.ConsumeBool() ? -std::log(p) : 1 / p - 1;
      return std::min(std::abs(edge) * (1 + 1e-9 * (fraction(input) - 0.5)), 1e6);
    }
  }
}

void add_bounds(FuzzedDataProvider& input, SetRow& row) {
  for (const double p : row.probability) {
    row.lower.push_back(std::max(0.0, p - row.radius * fraction(input)));
    row.upper.push_back(std::min(1.0, p + row.radius * fraction(input)));
  }
}

SetRow read_row(FuzzedDataProvider& input, const Uncertainty& set) {
  SetRow row;
  const int outcomes = input.ConsumeIntegralInRange(1, kMostOutcomes);
  row.lanes = input.ConsumeIntegralInRange(1, kMostLanes);
  row.probability = probabilities(input, outcomes);
  row.values.assign(outcomes, std::vector<double>(padded_lanes(row.lanes)));
  for (int lane = 0; lane < row.lanes; ++lane) {
    const int kind = input.ConsumeIntegralInRange(0, 5);
    for (auto& outcome : row.values) outcome[lane] = value(input, kind);
  }
  row.radius = radius(input, row);
  if (std::holds_alternative<Tilt>(set)) row.radius = std::clamp(row.radius, 1e-3, 1e3);
  if (internal::needs_bounds(set)) add_bounds(input, row);
  if (std::holds_alternative<Composed>(set)) redoubt::testing::make_benign(row);
  if (internal::lands_anywhere(set))
    for (int lane = 0; lane < padded_lanes(row.lanes); ++lane)
      row.floor.push_back(row.values[0][lane] + fraction(input) - 0.5);
  return row;
}

[[noreturn]] void fail(const std::string& sentence, const SetRow& row) {
  fmt::print(stderr, "ERROR: {}\nprobabilities {}\nradius {}\n", sentence, row.probability,
             row.radius);
  for (int lane = 0; lane < row.lanes; ++lane)
    fmt::print(stderr, "values of lane {}: {}\n", lane, row.lane(lane));
  if (!row.floor.empty()) fmt::print(stderr, "floor {}\n", row.floor);
  if (!row.lower.empty()) fmt::print(stderr, "bounds {} {}\n", row.lower, row.upper);
  std::abort();
}

}  // namespace

// Any row and any values: every instruction set agrees with the long-double reference, and every
// law of a worst case holds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Scratch scratch;
  FuzzedDataProvider input(data, size);
  const auto& sets = redoubt::testing::every_set();
  const Uncertainty& set = sets[input.ConsumeIntegralInRange<std::size_t>(0, sets.size() - 1)];
  const SetRow row = read_row(input, set);
  std::vector<long double> expected;
  for (int lane = 0; lane < row.lanes; ++lane)
    expected.push_back(redoubt::testing::reference_worst_case(set, row, lane));
  for (const InstructionSet instructions : instruction_sets()) {
    const WorstCase kernel = worst_case_kernel(set, instructions);
    const auto worst = redoubt::testing::solve(kernel, row, scratch).worst;
    for (int lane = 0; lane < row.lanes; ++lane) {
      const long double error = std::abs(worst[lane] - expected[lane]);
      if (!(error <= kTolerance * redoubt::testing::error_unit(row, lane)))
        fail(fmt::format("{}, {}, lane {}: {} instead of {} with {} outcomes, radius {}",
                         redoubt::testing::describe(set), name(instructions), lane, worst[lane],
                         static_cast<double>(expected[lane]), row.outcomes(), row.radius),
             row);
    }
    const std::string broken = redoubt::testing::broken_law(set, kernel, row, 10 * kTolerance);
    if (!broken.empty()) fail(fmt::format("{}: {}", name(instructions), broken), row);
  }
  return 0;
}
