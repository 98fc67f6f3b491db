#pragma once

#include <functional>
#include <span>
#include <vector>

#include "redoubt/gradient.h"

namespace redoubt::internal {

// What a method may look at before it decides: worst-case totals of the policy after `update`
// updates.
struct Iterate {
  int update = 0;
  double reward = 0;
  std::span<const double> margins;  // of each constraint: by how much it is met (negative: missed)

  // The constraint with the smallest margin; -1 when there is none.
  int tightest() const;
  double missed() const;  // by how much that one is missed; minus infinity when there is none
};

// Writes how much of each channel to follow: the reward first, then each constraint. All are
// maximised. What a method remembers from one update to the next is in `memory`.
using Selector =
    std::function<void(const Iterate&, std::span<double> direction, std::vector<double>& memory)>;

enum class StepKind { natural, projected };

struct GradientMethod {
  const char* name;
  StepKind step;
  Selector select;
  std::vector<double> memory = {};  // before the first update
};

// The loop that every gradient method runs.
Solution climb(const Problem& problem, const GradientMethod& method, const GradientOptions& options,
               const Execution& execution);

}  // namespace redoubt::internal
