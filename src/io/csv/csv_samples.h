#pragma once

#include <cstdint>
#include <vector>

#include "io/transitions.h"

namespace redoubt::internal::io {

// Of a file with `idoutcome` each row has several distributions, samples of a posterior. They
// become one: their mean, with the least and the largest probability of each outcome as its bounds.
// Returns for each row, by stage, state and action, the largest distance in total variation of a
// sample from the mean. An Error names a row of which a sample does not sum to one, and values that
// differ between samples.
std::vector<double> merge_samples(const std::vector<std::int32_t>& sample,
                                  Transitions& transitions);

// The same lines as scenarios: every sample of a row is a factor of its own, and the row a mixture
// of these with weights that nature picks, anything from 0 to 1. `a` has the ordinary states, with
// their names if any, and the names of signals; it gets everything else. Errors as above, and where
// rows depend on the stage.
void add_scenarios(const std::vector<std::int32_t>& sample, const Transitions& transitions,
                   ModelArrays& a);

}  // namespace redoubt::internal::io
