#pragma once

#include "redoubt/uncertainty.h"

// What callers ask of a set without knowing which it is.
namespace redoubt::internal {

// Whether rows are known by the bounds of the model, which must then have some.
bool needs_bounds(const Uncertainty& set);

// Whether nature may move mass to states that a row does not list.
bool lands_anywhere(const Uncertainty& set);

// For models in which landings have become outcomes.
void keep_to_support(Uncertainty& set);

double radius_of(const Uncertainty& set, std::int64_t row);  // 0: the set has none

}  // namespace redoubt::internal
