#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sets/worst_case.h"
#include "support/set_reference.h"
#include "topics.h"

namespace redoubt::bench {
using namespace internal;

namespace {

// The largest error against long double on benign lanes of nasty rows, relative to the spread of
// the values.
double largest_error(const Uncertainty& set) {
  std::mt19937_64 random(11);
  Scratch scratch;
  double largest = 0;
  for (int n = 0; n < 2000; ++n) {
    auto row = testing::nasty_row(random, set);
    if (row.radius == 0) continue;  // the plain expectation, which rounds relative to the values
    const auto worst = solve(worst_case_kernel(set), row, scratch).worst;
    for (int lane = 0; lane < row.lanes; ++lane) {
      if (!is_benign(set, row, lane)) continue;
      const auto error = std::abs(worst[lane] - reference_worst_case(set, row, lane));
      largest = std::max(largest, static_cast<double>(error) / error_unit(row, lane));
    }
  }
  return largest;
}

}  // namespace

void accuracy(Table& table) {
  for (const Uncertainty& set : {Uncertainty{KL{}}, Uncertainty{Chi2{}}, Uncertainty{TV{}}})
    table.add(
        {fmt::format("error of {} against long double, of the spread", name(set)), 1e-11, 1e-12},
        [&] { return largest_error(set); });
}

}  // namespace redoubt::bench
