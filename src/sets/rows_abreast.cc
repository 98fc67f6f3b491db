#include "sets/rows_abreast.h"

#include <algorithm>
#include <numeric>

namespace redoubt::internal {
namespace {

// Rows that are sorted by length together: enough to fill the lanes, few enough to stay near.
constexpr int kWindow = 256;
// Rows side by side. Kernels take four blocks of lanes together; long rows fill the caches sooner.
constexpr int kAbreast = 32;
constexpr int kLongRow = 256;

int outcomes_of(const StoredRows& rows, std::int64_t row) {
  return static_cast<int>(rows.row_outcomes[row + 1] - rows.row_outcomes[row]);
}

}  // namespace

RowsAbreast::RowsAbreast(const Uncertainty& set)
    : kernel_(worst_cases_kernel(set)),
      lay_out_(lay_out_kernel()),
      order_(kWindow),
      begin_(kAbreast),
      radius_(kAbreast),
      floor_(kAbreast),
      worst_(kAbreast) {}

void RowsAbreast::worst(const StoredRows& rows, const RowChoice& chosen, const double* values,
                        const LandingFloor& landings, double* result,
                        const Distributions* distributions) {
  if (landings.floor != nullptr) std::fill(floor_.begin(), floor_.end(), *landings.floor);
  if (rows.radius == nullptr) std::fill(radius_.begin(), radius_.end(), rows.same_radius);
  for (std::int64_t first = 0; first < chosen.count; first += kWindow) {
    const RowChoice window{std::min<std::int64_t>(kWindow, chosen.count - first),
                           chosen.first + first,
                           chosen.list != nullptr ? chosen.list + first : nullptr};
    LandingFloor of_window = landings;
    if (landings.of_each) of_window.floor += first;
    Distributions here;
    if (distributions != nullptr) here = {distributions->begin + first, distributions->probability};
    solve_window(rows, window, values, of_window, result + first,
                 distributions != nullptr ? &here : nullptr);
  }
}

void RowsAbreast::solve_window(const StoredRows& rows, const RowChoice& chosen,
                               const double* values, const LandingFloor& landings, double* result,
                               const Distributions* distributions) {
  const bool has_floor = landings.floor != nullptr;
  const bool equal = sort_by_outcomes(rows, chosen);
  for (std::int64_t first = 0; first < chosen.count;) {
    const int outcomes = outcomes_of(rows, row_of(chosen, order_[first]));
    const auto most =
        std::min<std::int64_t>(chosen.count, first + (outcomes > kLongRow ? kLaneBlock : kAbreast));
    std::int64_t last = first + 1;
    if (equal) last = most;
    while (last < most && outcomes_of(rows, row_of(chosen, order_[last])) == outcomes) ++last;

    const int count = static_cast<int>(last - first), lanes = padded_lanes(count);
    const int* members = order_.data() + first;
    make_room(outcomes, lanes, rows.lower != nullptr, distributions != nullptr);
    take_rows(rows, chosen, members, count, landings);
    lay_out(rows, {outcomes, lanes, begin_.data()}, values);
    if (rows.far) fetch_values(rows, chosen, last, values);
    kernel_({outcomes, probability_.data(), radius_.data(), lower_.data(), upper_.data()},
            {count, pointers_.data(), has_floor ? floor_.data() : nullptr}, scratch_, worst_.data(),
            distributions != nullptr ? minimiser_.data() : nullptr);
    if (in_order_)
      std::copy_n(worst_.data(), count, result + first);
    else
      for (int lane = 0; lane < count; ++lane) result[members[lane]] = worst_[lane];
    if (distributions != nullptr)
      write_distributions(members, count, outcomes, has_floor, *distributions);
    first = last;
  }
}

// What each lane's row is. Lanes beyond the last row repeat it.
void RowsAbreast::take_rows(const StoredRows& rows, const RowChoice& chosen, const int* members,
                            int count, const LandingFloor& landings) {
  const auto take = [&](auto& of_lane, auto number_of) {
    auto* to = of_lane.data();
    for (int lane = 0; lane < count; ++lane) to[lane] = number_of(members[lane]);
    std::fill(to + count, to + padded_lanes(count), to[count - 1]);
  };
  if (in_order_ && chosen.list == nullptr) {  // as they are in storage
    const std::int64_t* begin = rows.row_outcomes + chosen.first + members[0];
    std::copy_n(begin, count, begin_.data());
    std::fill(begin_.data() + count, begin_.data() + padded_lanes(count), begin[count - 1]);
  } else {
    take(begin_, [&](int i) { return rows.row_outcomes[row_of(chosen, i)]; });
  }
  if (rows.radius != nullptr) take(radius_, [&](int i) { return rows.radius[row_of(chosen, i)]; });
  if (landings.of_each) take(floor_, [&](int i) { return landings.floor[i]; });
}

// Of the rows that come next: they are on their way while these are solved.
void RowsAbreast::fetch_values(const StoredRows& rows, const RowChoice& chosen, std::int64_t first,
                               const double* values) const {
  const auto last = std::min<std::int64_t>(chosen.count, first + kAbreast);
  for (std::int64_t i = first; i < last; ++i) {
    const auto row = row_of(chosen, order_[i]);
    for (auto o = rows.row_outcomes[row]; o < rows.row_outcomes[row + 1]; ++o)
      __builtin_prefetch(values + rows.next[o]);
  }
}

void RowsAbreast::make_room(int outcomes, int lanes, bool intervals, bool distributions) {
  const auto numbers = static_cast<std::size_t>(outcomes) * lanes;
  if (values_.size() < numbers) {
    values_.resize(numbers);
    (intervals ? lower_ : probability_).resize(numbers);
    if (intervals) upper_.resize(numbers);
  }
  if (distributions && minimiser_.size() < numbers + lanes) minimiser_.resize(numbers + lanes);
  pointers_.resize(outcomes);
  for (int i = 0; i < outcomes; ++i)
    pointers_[i] = values_.data() + static_cast<std::size_t>(i) * lanes;
}

bool RowsAbreast::are_equal(const StoredRows& rows, const RowChoice& chosen) {
  const int outcomes = outcomes_of(rows, row_of(chosen, 0));
  bool equal = true;
  if (chosen.list == nullptr) {  // without a branch in the loop: most models have such rows only
    const std::int64_t* begin = rows.row_outcomes + chosen.first;
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < chosen.count; ++i) equal &= begin[i + 1] - begin[i] == outcomes;
    return equal;
  }
  for (std::int64_t i = 1; equal && i < chosen.count; ++i)
    equal = outcomes_of(rows, chosen.list[i]) == outcomes;
  return equal;
}

// By counting: lengths are small numbers. True when they are all equal.
bool RowsAbreast::sort_by_outcomes(const StoredRows& rows, const RowChoice& chosen) {
  if (rows.equal || are_equal(rows, chosen)) {
    if (!in_order_) std::iota(order_.begin(), order_.end(), 0);
    in_order_ = true;
    return true;
  }
  int least = outcomes_of(rows, row_of(chosen, 0)), most = least;
  for (std::int64_t i = 1; i < chosen.count; ++i) {
    const int outcomes = outcomes_of(rows, row_of(chosen, i));
    least = std::min(least, outcomes);
    most = std::max(most, outcomes);
  }
  in_order_ = false;
  count_.assign(most - least + 2, 0);
  for (std::int64_t i = 0; i < chosen.count; ++i)
    ++count_[outcomes_of(rows, row_of(chosen, i)) - least + 1];
  std::partial_sum(count_.begin(), count_.end(), count_.begin());
  for (std::int64_t i = 0; i < chosen.count; ++i)
    order_[count_[outcomes_of(rows, row_of(chosen, i)) - least]++] = static_cast<int>(i);
  return false;
}

void RowsAbreast::lay_out(const StoredRows& rows, const RowsInStorage& members,
                          const double* values) {
  lay_out_.values(members, rows.next, values, values_.data());
  for (int i = 0; rows.added != nullptr && i < members.outcomes; ++i) {
    double* to = values_.data() + static_cast<std::size_t>(i) * members.lanes;
    for (int lane = 0; lane < members.lanes; ++lane)
      to[lane] += rows.sign * rows.added[members.begin[lane] + i] / rows.discount;
  }
  if (rows.lower != nullptr) {
    lay_out_.numbers(members, rows.lower, lower_.data());
    lay_out_.numbers(members, rows.upper, upper_.data());
  } else {
    lay_out_.numbers(members, rows.probability, probability_.data());
  }
}

void RowsAbreast::write_distributions(const int* members, int count, int outcomes, bool has_floor,
                                      const Distributions& distributions) const {
  const auto step = static_cast<std::size_t>(padded_lanes(count));
  for (int lane = 0; lane < count; ++lane) {
    double* to = distributions.probability + distributions.begin[members[lane]];
    for (int i = 0; i < outcomes + has_floor; ++i) to[i] = minimiser_[i * step + lane];
  }
}

}  // namespace redoubt::internal
