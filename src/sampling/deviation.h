#pragma once

#include "redoubt/problem.h"

namespace redoubt::internal {

// How far the worst case of an estimated row can be from that of the true one, for each unit by
// which the values of its outcomes differ: with probability 1 - delta no larger than this, for all
// rows and all values at once, when every row has `samples` samples. One where nothing better is
// known. Never larger with more samples. docs/sampling.md derives it for each set.
double worst_case_deviation(const Problem& problem, double samples, double delta);

// The inequalities behind it, for one row and its estimate and values that differ by at most one.
// KL(estimate || row) is at most `entropy`, |log(estimate / row)| at most `log_ratio` for every
// outcome.
double chi2_deviation(double entropy, double radius);
double kl_deviation(double log_ratio, double entropy, double least_probability, double radius);

}  // namespace redoubt::internal
