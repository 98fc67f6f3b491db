#include "sampling/confidence_sequence.h"

#include <algorithm>
#include <numbers>

namespace redoubt::internal {
namespace {

// log of the integral of q^heads (1 - q)^tails over Beta(1/2, 1/2).
double log_mixture(double heads, double tails) {
  return std::lgamma(heads + 0.5) + std::lgamma(tails + 0.5) - std::lgamma(heads + tails + 1) -
         std::log(std::numbers::pi);
}

double log_likelihood(double heads, double tails, double p) {
  return (heads > 0 ? heads * std::log(p) : 0.0) + (tails > 0 ? tails * std::log1p(-p) : 0.0);
}

constexpr std::size_t kMostExact = 4;  // outcomes of rows whose corners are all listed
constexpr double kSame = 1e-12;

void add_corner(std::vector<std::vector<double>>& corners, const std::vector<double>& corner) {
  const auto same = [&](const std::vector<double>& other) {
    for (std::size_t i = 0; i < corner.size(); ++i)
      if (std::abs(other[i] - corner[i]) > kSame) return false;
    return true;
  };
  if (std::none_of(corners.begin(), corners.end(), same)) corners.push_back(corner);
}

// A corner has all outcomes but one at an end of their intervals.
std::vector<std::vector<double>> all_corners(const std::vector<Range>& intervals) {
  const std::size_t k = intervals.size();
  std::vector<std::vector<double>> corners;
  for (std::size_t free = 0; free < k; ++free) {
    for (unsigned ends = 0; ends < (1u << k); ++ends) {
      if (ends >> free & 1) continue;
      std::vector<double> corner(k);
      double rest = 1;
      for (std::size_t i = 0; i < k; ++i) {
        if (i == free) continue;
        corner[i] = ends >> i & 1 ? intervals[i].high : intervals[i].low;
        rest -= corner[i];
      }
      if (rest < intervals[free].low - kSame || rest > intervals[free].high + kSame) continue;
      corner[free] = std::max(0.0, rest);
      add_corner(corners, corner);
    }
  }
  return corners;
}

}  // namespace

Range coin_interval(std::int64_t heads, std::int64_t flips, double evidence) {
  if (flips == 0) return {0, 1};
  const auto h = static_cast<double>(heads), t = static_cast<double>(flips - heads);
  // The rounding of the logarithms, on the side of the wider interval.
  const double least = log_mixture(h, t) - evidence - 1e-12 * (std::abs(log_mixture(h, t)) + 1);
  const auto edge = [&](double inside, double outside) {
    for (int step = 0; step < 200; ++step) {
      const double middle = (inside + outside) / 2;
      if (middle == inside || middle == outside) break;
      (log_likelihood(h, t, middle) >= least ? inside : outside) = middle;
    }
    return outside;
  };
  const double share = h / static_cast<double>(flips);
  return {edge(share, 0.0), edge(share, 1.0)};
}

std::int64_t intervals_of_row(std::size_t outcomes) {
  return outcomes <= 2 ? static_cast<std::int64_t>(outcomes) - 1
                       : static_cast<std::int64_t>(outcomes);
}

std::vector<Range> row_intervals(const RowCounts& counts, Row row, double evidence) {
  const auto& outcomes = counts.outcomes(row);
  const std::int64_t samples = counts.samples(row);
  if (outcomes.size() == 1) return {{1, 1}};
  std::vector<Range> intervals;
  double low = 0, high = 0;
  for (const RowCounts::Outcome& outcome : outcomes) {
    intervals.push_back(coin_interval(outcome.count, samples, evidence));
    if (outcomes.size() == 2 && intervals.size() == 2)  // the same coin, seen from behind
      intervals[1] = {1 - intervals[0].high, 1 - intervals[0].low};
    low += intervals.back().low;
    high += intervals.back().high;
  }
  std::vector<Range> tight = intervals;
  for (std::size_t i = 0; i < tight.size(); ++i) {
    tight[i].low = std::max(intervals[i].low, 1 - (high - intervals[i].high) - kSame);
    tight[i].high = std::min(intervals[i].high, 1 - (low - intervals[i].low) + kSame);
    tight[i].low = std::clamp(tight[i].low, 0.0, 1.0);
    tight[i].high = std::clamp(tight[i].high, tight[i].low, 1.0);
  }
  return tight;
}

std::vector<std::vector<double>> row_corners(const std::vector<Range>& intervals) {
  if (intervals.size() <= kMostExact) return all_corners(intervals);
  // Whoever is above the lower ends is a mixture of those that give all that is left to one.
  std::vector<double> low;
  double left = 1;
  for (const Range& interval : intervals) {
    low.push_back(interval.low);
    left -= interval.low;
  }
  std::vector<std::vector<double>> corners;
  for (std::size_t i = 0; i < low.size(); ++i) {
    std::vector<double> corner = low;
    corner[i] += std::max(left, 0.0);
    add_corner(corners, corner);
  }
  return corners;
}

}  // namespace redoubt::internal
