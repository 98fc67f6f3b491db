#pragma once

#include "redoubt/model.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// Outcomes of which only the arrival says what they earn.
void earn_by_arrival(ModelArrays& arrays);

// Leaves out reward and signal arrays that are zero throughout: models that mean the same compare
// equal, and later layers skip such arrays without looking at every entry.
void drop_silent_values(ModelArrays& arrays);

// Drops outcomes that cannot happen and merges equal ones, so that every later layer meets each
// outcome once. Arrays that are canonical already, the usual case, are not touched.
void drop_and_merge_outcomes(ModelArrays& arrays);

// Makes every row sum to one. Sums that differ by rounding only are left alone, so that reading
// what was written changes no bit. Throws an Error when a sum is off by more than 1e-9 times the
// number of outcomes; `names` gives the row's name for it.
void normalise_rows(ModelArrays& arrays, const Model& names);

// One entry for each state that an episode may begin in, by number, summing to one: starts that
// mean the same compare equal. An Error unless it is a distribution over states 0..states-1.
Start canonical_start(const Start& start, State states);

}  // namespace redoubt::internal
