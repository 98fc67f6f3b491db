#pragma once

#include <span>

#include "redoubt/policy.h"

namespace redoubt::internal {

// One policy that draws one of several at the start, with these weights, and follows it to the end:
// its memory is the number of the one that was drawn and, where some of them have memory, theirs.
// All of them have lists of choices; without memory, equally many stages; with memory, there is
// nowhere to land.
Policy mixture_of(const Problem& problem, std::span<const Policy> policies,
                  std::span<const double> weights);

}  // namespace redoubt::internal
