#pragma once

#include <span>

#include "redoubt/uncertainty.h"

namespace redoubt::internal {

// What the kernels read as the radius: of a set whose radius is one number, checked.
double radius_of(const Uncertainty& set);
// The radii of a set that has one for each row; empty: one number holds for all.
std::span<const double> radii_of(const Uncertainty& set);

// The mass of a row: about one, or one but for rounding, which nothing needs to be divided by.
struct RowMass {
  double sum = 1;
  bool is_one = true;
  bool has_zeros = true;  // some of the probabilities may be zero
};

// Errors name the outcome, its value and the rule.
void check_radius(double radius);
RowMass check_probabilities(std::span<const double> probability);
void check_bounds(std::span<const double> lower, std::span<const double> upper);
void check_values(std::span<const double> values);

}  // namespace redoubt::internal
