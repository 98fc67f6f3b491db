#include <algorithm>
#include <memory>
#include <optional>

#include "model/set_traits.h"
#include "redoubt/worst_case.h"
#include "sets/check_rows.h"
#include "sets/row_checks.h"
#include "sets/worst_case.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

namespace {

constexpr int kBatch = 64;  // lanes that are laid out and solved at a time

// An array that needs no memory of its own as long as it is short: asking for it takes as long as
// the worst case of a short row.
template <class Number, std::size_t kFew>
class ShortArray {
 public:
  Number* get(std::size_t count) {
    if (count <= kFew) return few_;
    many_.reset(new Number[count]);
    return many_.get();
  }

 private:
  Number few_[kFew];
  std::unique_ptr<Number[]> many_;
};

// One row laid out for the kernels: only the outcomes that nature can reach, each with its place in
// the input. Where that is all of them, the row is read where it is.
class Layout {
 public:
  Layout(const Uncertainty& set, const SingleRow& row, const RowMass& mass, int lanes)
      : kernel_(worst_case_kernel(set)),
        radius_(radius_of(set)),
        lanes_(padded_lanes(lanes)),
        anywhere_(lands_anywhere(set)) {
    const bool interval = needs_bounds(set);
    const std::span<const double> most = interval ? row.upper : row.probability;
    size_ = static_cast<int>(most.size());
    outcomes_ = size_;
    if (mass.has_zeros) outcomes_ -= static_cast<int>(std::count(most.begin(), most.end(), 0.0));
    double* numbers = numbers_.get((std::size_t{3} + lanes_) * size_ + std::size_t{2} * lanes_);
    if (outcomes_ < size_) find_places(most);
    const auto kept = [&](std::span<const double> given, double divisor) -> const double* {
      if (given.empty() || (place_ == nullptr && divisor == 1)) return given.data();
      double* to = numbers;
      numbers += outcomes_;
      for (int i = 0; i < outcomes_; ++i) to[i] = given[place(i)] / divisor;
      return to;
    };
    if (interval) {
      lower_ = kept(row.lower, 1);
      upper_ = kept(row.upper, 1);
    } else {
      probability_ = kept(row.probability, mass.is_one ? 1 : mass.sum);
    }
    values_ = numbers;
    floor_ = values_ + std::size_t{1} * outcomes_ * lanes_;
    worst_ = floor_ + lanes_;
    pointers_ = all_pointers_.get(outcomes_);
    for (int i = 0; i < outcomes_; ++i) pointers_[i] = values_ + std::size_t{1} * i * lanes_;
  }

  // Lanes beyond the last vector repeat it: they are computed and must be finite.
  void lay_out(std::span<const double> values, int count) {
    for (int i = 0; i < outcomes_; ++i) {
      double* to = values_ + std::size_t{1} * i * lanes_;
      const double* from = values.data() + place(i);
      for (int lane = 0; lane < count; ++lane) to[lane] = from[std::size_t{1} * lane * size_];
      std::fill(to + count, to + padded_lanes(count), to[count - 1]);
    }
  }

  // Solves `count` value vectors that are laid out. `distribution` may be empty.
  void solve(std::span<const double> values, int count, std::span<double> worst,
             std::span<double> distribution) {
    const int padded = padded_lanes(count);
    for (int lane = 0; anywhere_ && lane < padded; ++lane) {
      const double* from = values.data() + std::size_t{1} * std::min(lane, count - 1) * size_;
      floor_[lane] = lane < count ? *std::min_element(from, from + size_) : floor_[count - 1];
    }
    std::vector<double> minimiser(distribution.empty() ? 0 : (std::size_t{1} + outcomes_) * padded);
    kernel_({outcomes_, probability_, radius_, lower_, upper_},
            {count, pointers_, anywhere_ ? floor_ : nullptr}, scratch_, worst_,
            minimiser.empty() ? nullptr : minimiser.data());
    std::copy_n(worst_, count, worst.begin());
    if (!minimiser.empty()) scatter(minimiser, values, count, distribution);
  }

 private:
  int place(int outcome) const { return place_ != nullptr ? place_[outcome] : outcome; }

  void find_places(std::span<const double> most) {
    place_ = places_.get(outcomes_);
    for (int i = 0, n = 0; i < size_; ++i)
      if (most[i] != 0) place_[n++] = i;
  }

  void scatter(const std::vector<double>& minimiser, std::span<const double> values, int count,
               std::span<double> distribution) const {
    const auto stride = static_cast<std::size_t>(padded_lanes(count));
    for (int lane = 0; lane < count; ++lane) {
      const auto here = distribution.subspan(std::size_t{1} * lane * size_, size_);
      for (int i = 0; i < outcomes_; ++i) here[place(i)] = minimiser[i * stride + lane];
      const double on_floor = minimiser[outcomes_ * stride + lane];
      if (on_floor == 0) continue;
      const auto of_lane = values.subspan(std::size_t{1} * lane * size_, size_);
      here[std::min_element(of_lane.begin(), of_lane.end()) - of_lane.begin()] += on_floor;
    }
  }

  WorstCase kernel_;
  double radius_;
  int lanes_;
  bool anywhere_;
  int size_ = 0, outcomes_ = 0;  // of the input; that nature can reach
  ShortArray<double, 256> numbers_;
  ShortArray<int, 16> places_;
  ShortArray<const double*, 16> all_pointers_;
  const double *probability_ = nullptr, *lower_ = nullptr, *upper_ = nullptr;
  double* values_;           // [outcome][lane]
  double *floor_, *worst_;   // [lane]
  int* place_ = nullptr;     // of each outcome in the input; null: its own number
  const double** pointers_;  // to the values of each outcome
  Scratch scratch_;
};

// Room for one short row in the lanes of a block. Each thread keeps its own: to get it anew would
// take as long as the worst case does.
struct ShortRow {
  static constexpr std::size_t kMost = 32;  // outcomes

  alignas(64) double lanes[kMost * kLaneBlock], floor[kLaneBlock], worst[kLaneBlock];
  const double* pointers[kMost];
  Scratch scratch;

  ShortRow() {
    for (std::size_t i = 0; i < kMost; ++i) pointers[i] = lanes + i * kLaneBlock;
  }
};

// Most calls: one vector for a short row that is right as it is. All that is done besides the worst
// case would take longer than that. Nothing when the call is of another kind, or something is
// wrong.
std::optional<double> solve_short(const Uncertainty& set, std::span<const double> probability,
                                  std::span<const double> values) {
  static thread_local ShortRow row;
  const std::size_t size = probability.size();
  if (size == 0 || size > ShortRow::kMost || values.size() != size) return {};
  const std::optional<SetOfOneRow> known = set_of_one_row(set);
  if (!known) return {};
  const int outcomes = static_cast<int>(size);
  if (!row_checks().spread(probability.data(), values.data(), outcomes, row.lanes)) return {};
  if (known->anywhere)
    std::fill_n(row.floor, kLaneBlock, *std::min_element(values.begin(), values.end()));
  known->kernel({outcomes, probability.data(), known->radius},
                {1, row.pointers, known->anywhere ? row.floor : nullptr}, row.scratch, row.worst,
                nullptr);
  return row.worst[0];
}

}  // namespace

double worst_case(const Uncertainty& uncertainty, std::span<const double> probability,
                  std::span<const double> values) {
  if (const auto worst = solve_short(uncertainty, probability, values)) return *worst;
  const std::size_t size = needs_bounds(uncertainty) ? 0 : probability.size();
  require(size == 0 || values.size() == size, "{} values for {} outcomes, must be as many",
          values.size(), size);
  return worst_case(uncertainty, SingleRow{.probability = probability}, values).value.front();
}

WorstCaseOf worst_case(const Uncertainty& uncertainty, const SingleRow& row,
                       std::span<const double> values, bool with_distribution) {
  if (!with_distribution) {
    if (const auto worst = solve_short(uncertainty, row.probability, values))
      return {.value = std::vector<double>(1, *worst), .distribution = {}};
  }
  require_row_scope(uncertainty, "the worst case of a row");
  const auto radii = radii_of(uncertainty).size();
  require(radii <= 1, "{} radii for one row, must be one number", radii);
  const bool interval = needs_bounds(uncertainty);
  RowMass mass;
  if (interval)
    check_bounds(row.lower, row.upper);
  else
    mass = check_probabilities(row.probability);
  const std::size_t size = interval ? row.lower.size() : row.probability.size();
  const std::size_t vectors = values.size() == size ? 1 : values.size() / size;
  require(vectors * size == values.size(), "{} values for {} outcomes, must be a multiple",
          values.size(), size);

  WorstCaseOf result;
  result.value.resize(vectors);
  if (with_distribution) result.distribution.resize(values.size());
  Layout layout(uncertainty, row, mass, static_cast<int>(std::min<std::size_t>(kBatch, vectors)));
  for (std::size_t first = 0; first < vectors; first += kBatch) {
    const int count = static_cast<int>(std::min<std::size_t>(kBatch, vectors - first));
    const std::span<const double> some = values.subspan(first * size, count * size);
    layout.lay_out(some, count);
    // All of them are checked now: what was just written takes as long to arrive where it is read.
    if (first == 0) check_values(values);
    const std::span<double> all(result.distribution);
    layout.solve(some, count, std::span(result.value).subspan(first, count),
                 all.empty() ? all : all.subspan(first * size, count * size));
  }
  return result;
}

}  // namespace redoubt
