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

}  // namespace redoubt::internal::io
