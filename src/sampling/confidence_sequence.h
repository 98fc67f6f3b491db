#pragma once

#include <cstdint>
#include <vector>

#include "sampling/binomial.h"
#include "sampling/row_counts.h"

namespace redoubt::internal {

// log of the evidence that `heads` of `flips` give against a coin with heads of probability p: the
// likelihood of a mixture of coins around p over that of p. If p is the truth, the evidence is a
// martingale that begins at one, so by Ville's inequality it ever reaches 1 / delta with
// probability delta at most. Convex in p, and at most 0 at heads / flips.
double log_evidence(std::int64_t heads, std::int64_t flips, double p);

// All p against which the log of the evidence is at most that: holds the truth with probability at
// least 1 - exp(-evidence) at all numbers of flips at once, so that it may be looked at whenever
// one likes. Rounded outwards.
Range coin_interval(std::int64_t heads, std::int64_t flips, double evidence);

// The most mass that can be on the outcomes that the samples of a row did not show, `seen` of all;
// with the same probability, whichever they are, at all numbers of samples at once.
double missing_mass(std::size_t seen, std::size_t outcomes, std::int64_t samples, double evidence);

// How many such intervals a row of k outcomes needs: none for one, one for two, otherwise k.
std::int64_t intervals_of_row(std::size_t outcomes);

// An interval for each outcome of a row, as tight as the other intervals and the sum of one make
// it. They hold the shares of the samples. Where the row may have a mass besides that is missing,
// they are for the distribution of the rest, the row given that its outcome is one of these.
std::vector<Range> row_intervals(const RowCounts& counts, Row row, double evidence,
                                 double missing = 0);

// The same intervals, as tight as the others and the sum of one make each.
std::vector<Range> within_simplex(const std::vector<Range>& intervals);

// The corners of all distributions within the intervals, or where these are many, few distributions
// of which every one within the intervals is a mixture.
std::vector<std::vector<double>> row_corners(const std::vector<Range>& intervals);

}  // namespace redoubt::internal
