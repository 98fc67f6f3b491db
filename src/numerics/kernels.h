#pragma once

#include <cstdint>

#include "numerics/isa.h"
#include "redoubt/choice.h"

namespace redoubt::internal {

// Per lane, the mix of actions with the most reward among those whose utility reaches the
// threshold:
//     maximise sum pi[a] reward[a]  subject to  sum pi[a] utility[a] >= threshold,  pi a
//     distribution.
// An optimum mixes at most two actions. Its weight is rounded towards the action of higher utility,
// so the stored choice still satisfies the constraint, exactly; the values in the result are those
// of the stored choice. Among equal rewards the higher utility wins, then the lower index.
struct MixProblem {
  int actions = 0;  // 1 .. 256
  int lanes = 0;
  const double* const* reward =
      nullptr;  // [action][lane], readable and finite up to padded_lanes(lanes)
  const double* const* utility = nullptr;  // the same
  const double* threshold = nullptr;       // [lane], the same
  bool fall_back_to_utility =
      false;  // where no action reaches the threshold, instead of to the reward
};

struct MixResult {
  MixedChoice* choice = nullptr;      // [lane]
  double* reward = nullptr;           // [lane], writable up to padded_lanes(lanes)
  double* utility = nullptr;          // the same
  unsigned char* feasible = nullptr;  // [lane], or null
};

void best_mix(const MixProblem& problem, const MixResult& result);

// The two ways that best_mix chooses between: trying all pairs, and walking along the upper hull of
// the points (utility, reward) towards the threshold. For tests and measurements.
using MixFunction = void (*)(const MixProblem&, const MixResult&);
struct MixFunctions {
  MixFunction by_pairs, by_bridge;
};
const MixFunctions& mix_functions(InstructionSet instructions);

// Vectors in blocks of eight, [block][coordinate][vector]: which of them has the largest sum of
// coordinates times factors; of equal ones, the first.
struct LargestSum {
  std::int64_t which = 0;
  double value = 0;
};
using LargestSumFunction = LargestSum (*)(const double* vectors, std::int64_t blocks,
                                          int coordinates, const double* factor);
LargestSumFunction largest_sum_function(InstructionSet instructions);

// The vector math of the lane kernels as functions of arrays, for tests and measurements: y[i] =
// f(x[i]), count a multiple of 8.
using VectorFunction = void (*)(const double* x, double* y, int count);

struct VectorFunctions {
  VectorFunction exp, expm1, log, log1p;
};

const VectorFunctions& vector_functions(InstructionSet instructions);

}  // namespace redoubt::internal
