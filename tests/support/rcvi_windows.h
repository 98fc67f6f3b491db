#pragma once

#include <cstdint>
#include <vector>

#include "redoubt/solve.h"

namespace redoubt::testing {

struct CellWindow {
  std::int64_t low = 0, high = 0;  // cell k: bound + k step is required
  bool operator==(const CellWindow&) const = default;
};

// Of every stage, the budget cells that can matter, by going through all paths: those between the
// lowest and the highest that a path comes to from the whole bound, as far as they are neither met
// by every path that is left, whatever rounding adds, nor beyond the best one.
std::vector<CellWindow> rcvi_windows(const Problem& problem, int constraint,
                                     const RcviOptions& options);

}  // namespace redoubt::testing
