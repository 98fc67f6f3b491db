#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "redoubt/worst_case.h"
#include "sets/worst_case.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

namespace {

constexpr int kBatch = 64;  // lanes that are laid out and solved at a time

double single(const Radius& radius) {
  require(radius.rows.size() <= 1, "{} radii for one row, must be one number", radius.rows.size());
  return radius.of(0);
}

// What the kernel reads as the radius of the row.
template <class Set>
double radius_of(const Set& set) {
  double radius = 0;
  if constexpr (requires { set.radius; }) {
    radius = single(set.radius);
    require(radius >= 0 && std::isfinite(radius), "radius = {}, must be at least 0 and finite",
            radius);
  }
  if constexpr (requires { set.temperature; }) {
    radius = set.temperature;
    require(radius > 0 && std::isfinite(radius), "temperature = {}, must be positive and finite",
            radius);
  }
  return radius;
}

void check_probabilities(std::span<const double> p) {
  require(!p.empty(), "a row without outcomes, must have at least one");
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    require(p[i] >= 0 && p[i] <= 1, "probability[{}] = {}, must be in [0, 1]", i, p[i]);
    sum += p[i];
  }
  require(std::abs(sum - 1) <= 1e-9 * p.size(), "probabilities sum to {}, must sum to 1", sum);
}

void check_bounds(std::span<const double> lower, std::span<const double> upper) {
  require(!lower.empty() && lower.size() == upper.size(),
          "{} lower and {} upper bounds, must be one of each for every outcome", lower.size(),
          upper.size());
  for (std::size_t i = 0; i < lower.size(); ++i)
    require(0 <= lower[i] && lower[i] <= upper[i] && upper[i] <= 1,
            "bounds of outcome {} = [{}, {}], must satisfy 0 <= lower <= upper <= 1", i, lower[i],
            upper[i]);
  const double least = std::accumulate(lower.begin(), lower.end(), 0.0);
  const double most = std::accumulate(upper.begin(), upper.end(), 0.0);
  const double slack = 1e-9 * lower.size();
  require(least <= 1 + slack && most >= 1 - slack, "bounds sum to [{}, {}], must contain 1", least,
          most);
}

// One row laid out for the kernels: only the outcomes that nature can reach, each with its place in
// the input.
class Layout {
 public:
  Layout(const Uncertainty& set, const SingleRow& row) : kernel_(worst_case_kernel(set)) {
    radius_ = std::visit([](const auto& kind) { return radius_of(kind); }, set);
    const bool interval = std::holds_alternative<Interval>(set);
    if (interval)
      check_bounds(row.lower, row.upper);
    else
      check_probabilities(row.probability);
    size_ = interval ? row.lower.size() : row.probability.size();
    const double sum = std::accumulate(row.probability.begin(), row.probability.end(), 0.0);
    for (std::size_t i = 0; i < size_; ++i) {
      if (!interval && row.probability[i] == 0) continue;
      place_.push_back(i);
      probability_.push_back(interval ? 0 : row.probability[i] / sum);
      lower_.push_back(interval ? row.lower[i] : 0);
      upper_.push_back(interval ? row.upper[i] : 1);
    }
    const TV* tv = std::get_if<TV>(&set);
    anywhere_ = tv != nullptr && tv->reach == Reach::anywhere;
    for (std::size_t i = 0; i < place_.size(); ++i) lanes_.emplace_back(kBatch);
    for (const auto& lane : lanes_) pointers_.push_back(lane.data());
  }

  std::size_t size() const { return size_; }

  // Solves `count` value vectors, at most a batch. `distribution` may be empty.
  void solve(std::span<const double> values, int count, std::span<double> worst,
             std::span<double> distribution) {
    for (std::size_t i = 0; i < place_.size(); ++i) {
      for (int lane = 0; lane < count; ++lane) lanes_[i][lane] = values[lane * size_ + place_[i]];
      // Lanes beyond the last vector repeat it: they are computed and must be finite.
      std::fill(lanes_[i].begin() + count, lanes_[i].end(), lanes_[i][count - 1]);
    }
    std::vector<double> floor(anywhere_ ? kBatch : 0);
    for (int lane = 0; lane < static_cast<int>(floor.size()); ++lane)
      floor[lane] = values[lowest(values, std::min(lane, count - 1))];
    std::vector<double> result(kBatch);
    std::vector<double> minimiser(distribution.empty() ? 0
                                                       : (place_.size() + 1) * padded_lanes(count));
    const int outcomes = static_cast<int>(place_.size());
    kernel_({outcomes, probability_.data(), radius_, lower_.data(), upper_.data()},
            {count, pointers_.data(), anywhere_ ? floor.data() : nullptr}, scratch_, result.data(),
            minimiser.empty() ? nullptr : minimiser.data());
    std::copy_n(result.begin(), count, worst.begin());
    if (!minimiser.empty()) scatter(minimiser, values, count, distribution);
  }

 private:
  // The index of the lowest of all given outcomes in one value vector.
  std::size_t lowest(std::span<const double> values, int lane) const {
    const auto first = values.begin() + lane * size_;
    return std::min_element(first, first + size_) - values.begin();
  }

  void scatter(const std::vector<double>& minimiser, std::span<const double> values, int count,
               std::span<double> distribution) const {
    const int stride = padded_lanes(count);
    for (int lane = 0; lane < count; ++lane) {
      for (std::size_t i = 0; i < place_.size(); ++i)
        distribution[lane * size_ + place_[i]] = minimiser[i * stride + lane];
      const double on_floor = minimiser[place_.size() * stride + lane];
      if (on_floor > 0) distribution[lowest(values, lane)] += on_floor;
    }
  }

  WorstCase kernel_;
  double radius_ = 0;
  bool anywhere_ = false;
  std::size_t size_ = 0;            // of the input
  std::vector<std::size_t> place_;  // of each outcome in the input
  std::vector<double> probability_, lower_, upper_;
  std::vector<std::vector<double>> lanes_;  // [outcome][lane]
  std::vector<const double*> pointers_;
  Scratch scratch_;
};

}  // namespace

WorstCaseOf worst_case(const Uncertainty& uncertainty, const SingleRow& row,
                       std::span<const double> values, bool with_distribution) {
  Layout layout(uncertainty, row);
  const std::size_t size = layout.size();
  require(values.size() % size == 0, "{} values for {} outcomes, must be a multiple", values.size(),
          size);
  for (std::size_t i = 0; i < values.size(); ++i)
    require(std::isfinite(values[i]), "values[{}] = {}, must be finite", i, values[i]);

  const std::size_t vectors = values.size() / size;
  WorstCaseOf result;
  result.value.resize(vectors);
  if (with_distribution) result.distribution.resize(values.size());
  for (std::size_t first = 0; first < vectors; first += kBatch) {
    const int count = static_cast<int>(std::min<std::size_t>(kBatch, vectors - first));
    const std::span<double> all(result.distribution);
    layout.solve(values.subspan(first * size, count * size), count,
                 std::span(result.value).subspan(first, count),
                 all.empty() ? all : all.subspan(first * size, count * size));
  }
  return result;
}

}  // namespace redoubt
