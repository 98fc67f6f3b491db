#pragma once

#include <span>
#include <vector>

#include "redoubt/policy.h"

namespace redoubt::internal {

// One policy that draws one of several memoryless ones at the start, with these weights, and
// follows it to the end: its memory is the number of the one that was drawn. All of them have
// equally many stages, and lists of choices.
Policy mixture_of(const Problem& problem, std::span<const Policy> policies,
                  std::span<const double> weights);

}  // namespace redoubt::internal
