#pragma once

#include <cstdint>
#include <vector>

#include "sampling/binomial.h"
#include "sampling/row_counts.h"

namespace redoubt::internal {

// Where the probability of heads lies after `heads` of `flips`: with probability at least
// 1 - exp(-evidence) at all numbers of flips at once, so that it may be looked at whenever one
// likes. By Ville's inequality for the likelihood ratio between a mixture of coins and the coin
// itself, a martingale that begins at one; the mixture is Beta(1/2, 1/2). Rounded outwards.
Range coin_interval(std::int64_t heads, std::int64_t flips, double evidence);

// How many such intervals a row of k outcomes needs: none for one, one for two, otherwise k.
std::int64_t intervals_of_row(std::size_t outcomes);

// An interval for each outcome of a row, as tight as the other intervals and the sum of one make
// it. They hold the shares of the samples.
std::vector<Range> row_intervals(const RowCounts& counts, Row row, double evidence);

// The corners of all distributions within the intervals, or where these are many, few distributions
// of which every one within the intervals is a mixture.
std::vector<std::vector<double>> row_corners(const std::vector<Range>& intervals);

}  // namespace redoubt::internal
