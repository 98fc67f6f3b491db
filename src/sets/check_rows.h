#pragma once

#include <span>

#include "redoubt/uncertainty.h"

namespace redoubt::internal {

// What the kernels read as the radius: of a set whose radius is one number, checked.
double radius_of(const Uncertainty& set);
// The radii of a set that has one for each row; empty: one number holds for all.
std::span<const double> radii_of(const Uncertainty& set);

// Errors name the outcome, its value and the rule.
void check_radius(double radius);
double check_probabilities(std::span<const double> probability);  // their sum, about 1
void check_bounds(std::span<const double> lower, std::span<const double> upper);
void check_values(std::span<const double> values);

}  // namespace redoubt::internal
