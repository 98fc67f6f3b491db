#include "support/set_reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sets/worst_case.h"

namespace redoubt {
namespace {

using testing::SetRow;

const std::vector<Uncertainty>& every_set() {
  static const std::vector<Uncertainty> sets = {
      Nominal{}, TV{0.0, Reach::anywhere}, TV{0.0, Reach::support}, Chi2{}, KL{}, Tilt{},
      Interval{}};
  return sets;
}

TEST(Reference, AgreesOnNastyRows) {
  for (const auto& set : every_set())
    for (const InstructionSet instructions : instruction_sets()) {
      std::mt19937_64 random(1);
      Scratch scratch;
      double worst_benign = 0, worst_all = 0;
      for (int n = 0; n < 3000; ++n) {
        const SetRow row = testing::nasty_row(random, set);
        const auto result = solve(worst_case_kernel(set, instructions), row, scratch);
        for (int lane = 0; lane < row.lanes; ++lane) {
          const long double expected = reference_worst_case(set, row, lane);
          const double error = static_cast<double>(std::abs(result.worst[lane] - expected)) /
                               testing::error_unit(row, lane);
          if (!(error <= 1e-9)) {
            ADD_FAILURE() << name(set) << " row " << n << " lane " << lane << " k "
                          << row.outcomes() << " radius " << row.radius << " got "
                          << result.worst[lane] << " expected " << (double)expected << " error "
                          << error;
          }
          worst_all = std::max(worst_all, error);
          if (is_benign(set, row, lane)) worst_benign = std::max(worst_benign, error);
        }
      }
      printf("%s %s benign %.2g all %.2g  evals/blocks %.3f\n", name(set).data(),
             name(instructions).data(), worst_benign, worst_all,
             double(scratch.work.evaluations) / std::max<double>(1, scratch.work.blocks));
    }
}

}  // namespace
}  // namespace redoubt
