#include "sampling/confidence_sequence.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace redoubt::internal {
namespace {

// How many flips' worth the mixtures know of their coin. Evidence is largest where that is a tenth
// or so of the flips, but ten times more or less make little difference: from a few dozen to a
// hundred thousand flips one of these will do.
constexpr std::array kStrengths = {4.0, 256.0};

// What log_evidence says of some flips, for one coin after the other.
class Flips {
 public:
  Flips(std::int64_t heads, std::int64_t flips)
      : heads_(static_cast<double>(heads)), tails_(static_cast<double>(flips - heads)) {
    for (std::size_t i = 0; i < kStrengths.size(); ++i)
      of_all_[i] = std::lgamma(heads_ + tails_ + kStrengths[i]) - std::lgamma(kStrengths[i]);
  }

  double log_evidence(double p) const {
    if ((heads_ > 0 && p <= 0) || (tails_ > 0 && p >= 1)) return HUGE_VAL;
    if (p <= 0 || p >= 1) return 0;
    std::array<double, kStrengths.size()> ratios;
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = log_ratio(p, i);
    const double most = *std::max_element(ratios.begin(), ratios.end());
    double sum = 0;
    for (const double ratio : ratios) sum += std::exp(ratio - most);
    return most + std::log(sum / static_cast<double>(ratios.size()));
  }

 private:
  // log of the mean of (q / p)^heads ((1 - q) / (1 - p))^tails over q from
  // Beta(strength p, strength (1 - p)).
  double log_ratio(double p, std::size_t i) const {
    const auto part = [strength = kStrengths[i]](double count, double share) {
      if (count == 0) return 0.0;
      const double known = strength * share;
      return std::lgamma(count + known) - std::lgamma(known) - count * std::log(share);
    };
    return part(heads_, p) + part(tails_, 1 - p) - of_all_[i];
  }

  double heads_, tails_;
  std::array<double, kStrengths.size()> of_all_;  // the part that is the same for all coins
};

// Where a convex function that is negative at `begin` turns positive on the way to `end`, seen from
// beyond; `end` where it does not. It is looked for about so far away, and farther as long as it is
// not there. Chords, with the halved weights of the Illinois method.
template <class Function>
double crossing(Function f, double begin, double end, double about) {
  double inside = begin, at_inside = f(begin), outside = begin, at_outside = at_inside;
  for (double away = about; at_outside <= 0; away *= 2) {
    if (outside == end) return end;
    inside = outside, at_inside = at_outside;
    outside = away < std::abs(end - begin) ? begin + std::copysign(away, end - begin) : end;
    at_outside = f(outside);
  }
  for (int last = 0; std::abs(outside - inside) > 1e-9 * std::abs(outside - begin);) {
    double x = inside + (outside - inside) * (at_inside / (at_inside - at_outside));
    if (!(std::min(inside, outside) < x && x < std::max(inside, outside)))
      x = (inside + outside) / 2;
    if (x == inside || x == outside) break;
    const double at_x = f(x);
    if (at_x <= 0) {
      if (last < 0) at_outside /= 2;
      inside = x, at_inside = at_x, last = -1;
    } else {
      if (last > 0) at_inside /= 2;
      outside = x, at_outside = at_x, last = 1;
    }
  }
  return outside;
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

double log_evidence(std::int64_t heads, std::int64_t flips, double p) {
  return Flips(heads, flips).log_evidence(p);
}

Range coin_interval(std::int64_t heads, std::int64_t flips, double evidence) {
  if (flips == 0) return {0, 1};
  const auto n = static_cast<double>(flips);
  // The rounding of the logarithms, on the side of the wider interval.
  const double rounding = 1e-14 * std::lgamma(n + kStrengths.back());
  const Flips seen(heads, flips);
  const auto excess = [&](double p) { return seen.log_evidence(p) - evidence - rounding; };
  const double share = static_cast<double>(heads) / n;  // against which there is none
  const double about = std::sqrt(2 * share * (1 - share) * evidence / n) + (1 + 2 * evidence) / n;
  return {crossing(excess, share, 0.0, about), crossing(excess, share, 1.0, about)};
}

double missing_mass(std::size_t seen, std::size_t outcomes, std::int64_t samples, double evidence) {
  if (seen == outcomes) return 0;
  if (samples == 0) return 1;
  const auto s = static_cast<double>(seen), k = static_cast<double>(outcomes);
  const double log_weight =
      std::lgamma(s + 1) + std::lgamma(k - s + 1) - std::lgamma(k + 1) - std::log(s * (s + 1));
  return -std::expm1((log_weight - evidence) / static_cast<double>(samples));
}

std::int64_t intervals_of_row(std::size_t outcomes) {
  return outcomes <= 2 ? static_cast<std::int64_t>(outcomes) - 1
                       : static_cast<std::int64_t>(outcomes);
}

std::vector<Range> row_intervals(const RowCounts& counts, Row row, double evidence,
                                 double missing) {
  const auto& outcomes = counts.outcomes(row);
  const std::int64_t samples = counts.samples(row);
  if (outcomes.size() == 1) return {{1, 1}};
  std::vector<Range> intervals;
  for (const RowCounts::Outcome& outcome : outcomes) {
    intervals.push_back(coin_interval(outcome.count, samples, evidence));
    intervals.back().high = std::min(1.0, intervals.back().high / (1 - missing));
    if (outcomes.size() == 2 && intervals.size() == 2)  // the same coin, seen from behind
      intervals[1] = {1 - intervals[0].high, 1 - intervals[0].low};
  }
  return within_simplex(intervals);
}

std::vector<Range> within_simplex(const std::vector<Range>& intervals) {
  double low = 0, high = 0;
  for (const Range& interval : intervals) {
    low += interval.low;
    high += interval.high;
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
