#pragma once

#include "redoubt/samples.h"

namespace redoubt::internal {

// Fills in what the paper's lemmas and theorems say for this epsilon, where they say something.
// Kept for comparison only: docs/sampling.md lists what is wrong or loose in them.
void add_paper_bounds(const Problem& problem, double epsilon, SampleSize& size);

}  // namespace redoubt::internal
