#include "bellman/row_batch.h"

#include <algorithm>

#include "bellman/nominal_rows.h"

namespace redoubt::internal {
namespace {

// Rows that are sorted by length together: enough to fill the lanes, few enough to stay near.
constexpr int kWindow = 256;
// Rows side by side. Kernels take four blocks of lanes together; long rows fill the caches sooner.
constexpr int kAbreast = 32;
constexpr int kLongRow = 256;

int outcomes_of(const Model& model, Row row) {
  return static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
}

}  // namespace

RowBatch::RowBatch(const Problem& problem)
    : problem_(&problem),
      nature_(nature_of_rows(problem)),
      nominal_(is_nominal(problem)),
      some_certain_(nature_.radius != nullptr && !nature_.bounds && !nature_.radius->rows.empty()),
      kernel_(worst_cases_kernel(problem.uncertainty())),
      expected_(expected_values_kernel()),
      count_(problem.model().most_outcomes() + 2),
      radius_(kAbreast),
      floor_(kAbreast),
      worst_(kAbreast) {}

void RowBatch::worst(std::span<const Row> rows, const Channel& channel, const double* next,
                     double floor, double* result, const Distributions* distributions) {
  evaluations_ += static_cast<double>(rows.size());
  if (nominal_) return expect(rows, channel, next, result, distributions);
  if (some_certain_) return worst_of_some(rows, channel, next, floor, result, distributions);
  worst_of_uncertain(rows, channel, next, floor, result, distributions);
}

// Which way a row goes depends on the row alone, so that its value does, too.
void RowBatch::worst_of_some(std::span<const Row> rows, const Channel& channel, const double* next,
                             double floor, double* result, const Distributions* distributions) {
  for (Part* part : {&certain_, &uncertain_}) part->rows.clear(), part->place.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Part& part = nature_.radius->of(rows[i]) == 0 ? certain_ : uncertain_;
    part.rows.push_back(rows[i]);
    part.place.push_back(i);
  }
  if (uncertain_.rows.empty()) return expect(rows, channel, next, result, distributions);
  if (certain_.rows.empty())
    return worst_of_uncertain(rows, channel, next, floor, result, distributions);
  for (Part* part : {&certain_, &uncertain_}) {
    part->result.resize(part->rows.size());
    Distributions to;
    if (distributions != nullptr) {
      part->begin.clear();
      for (const std::size_t i : part->place) part->begin.push_back(distributions->begin[i]);
      to = {part->begin.data(), distributions->probability};
    }
    const Distributions* where = distributions != nullptr ? &to : nullptr;
    if (part == &certain_)
      expect(part->rows, channel, next, part->result.data(), where);
    else
      worst_of_uncertain(part->rows, channel, next, floor, part->result.data(), where);
    for (std::size_t n = 0; n < part->place.size(); ++n) result[part->place[n]] = part->result[n];
  }
}

void RowBatch::worst_of_uncertain(std::span<const Row> rows, const Channel& channel,
                                  const double* next, double floor, double* result,
                                  const Distributions* distributions) {
  for (std::size_t first = 0; first < rows.size(); first += kWindow) {
    const auto window = rows.subspan(first, std::min<std::size_t>(kWindow, rows.size() - first));
    Distributions here;
    if (distributions != nullptr) here = {distributions->begin + first, distributions->probability};
    solve_window(window, channel, next, floor, result + first,
                 distributions != nullptr ? &here : nullptr);
  }
  add_own_values(rows, channel, result);
}

void RowBatch::expect(std::span<const Row> rows, const Channel& channel, const double* next,
                      double* result, const Distributions* distributions) {
  const Model& model = problem_->model();
  earned_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    earned_[i] = nominal_earned(model, channel, rows[i]);
  const SparseRows matrix = nominal_rows(model);
  expected_(matrix, {.count = static_cast<std::int64_t>(rows.size()), .list = rows.data()},
            earned_.data(), problem_->discount(), next, result);
  for (std::size_t i = 0; distributions != nullptr && i < rows.size(); ++i) {
    double* end = std::copy(matrix.probability + model.outcome_begin(rows[i]),
                            matrix.probability + model.outcome_end(rows[i]),
                            distributions->probability + distributions->begin[i]);
    if (nature_.floor) *end = 0;
  }
}

void RowBatch::solve_window(std::span<const Row> rows, const Channel& channel, const double* next,
                            double floor, double* result, const Distributions* distributions) {
  const Model& model = problem_->model();
  sort_by_outcomes(rows);
  for (std::size_t first = 0; first < rows.size();) {
    const int outcomes = outcomes_of(model, rows[order_[first]]);
    const std::size_t most = outcomes > kLongRow ? kLaneBlock : kAbreast;
    std::size_t last = first + 1;
    while (last < rows.size() && last - first < most &&
           outcomes_of(model, rows[order_[last]]) == outcomes)
      ++last;
    solve_abreast(rows, std::span(order_).subspan(first, last - first), outcomes, channel, next,
                  floor, result, distributions);
    first = last;
  }
}

// By counting: lengths are small numbers.
void RowBatch::sort_by_outcomes(std::span<const Row> rows) {
  const Model& model = problem_->model();
  int least = outcomes_of(model, rows[0]), most = least;
  for (const Row row : rows) {
    const int outcomes = outcomes_of(model, row);
    ++count_[outcomes + 1];
    least = std::min(least, outcomes);
    most = std::max(most, outcomes);
  }
  for (int n = least; n <= most; ++n) count_[n + 1] += count_[n];
  order_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    order_[count_[outcomes_of(model, rows[i])]++] = static_cast<int>(i);
  std::fill(count_.begin() + least, count_.begin() + most + 2, 0);
}

void RowBatch::solve_abreast(std::span<const Row> rows, std::span<const int> members, int outcomes,
                             const Channel& channel, const double* next, double floor,
                             double* result, const Distributions* distributions) {
  const int count = static_cast<int>(members.size()), lanes = padded_lanes(count);
  const std::size_t numbers = static_cast<std::size_t>(outcomes) * lanes;
  const bool interval = nature_.bounds;
  if (values_.size() < numbers) {
    values_.resize(numbers);
    (interval ? lower_ : probability_).resize(numbers);
    if (interval) upper_.resize(numbers);
  }
  pointers_.resize(outcomes);
  for (int i = 0; i < outcomes; ++i) pointers_[i] = values_.data() + i * lanes;
  for (int lane = 0; lane < lanes; ++lane)  // lanes beyond the last row repeat it
    fill_lane(rows[members[std::min(lane, count - 1)]], lane, lanes, outcomes, channel, next);
  if (nature_.floor) std::fill(floor_.begin(), floor_.end(), floor);
  if (distributions != nullptr) minimiser_.resize(numbers + lanes);
  kernel_({outcomes, probability_.data(), radius_.data(), lower_.data(), upper_.data()},
          {count, pointers_.data(), nature_.floor ? floor_.data() : nullptr}, scratch_,
          worst_.data(), distributions != nullptr ? minimiser_.data() : nullptr);
  for (int lane = 0; lane < count; ++lane) result[members[lane]] = worst_[lane];
  for (int lane = 0; distributions != nullptr && lane < count; ++lane) {
    double* to = distributions->probability + distributions->begin[members[lane]];
    for (int i = 0; i < outcomes + nature_.floor; ++i) to[i] = minimiser_[i * lanes + lane];
  }
}

void RowBatch::fill_lane(Row row, int lane, int lanes, int outcomes, const Channel& channel,
                         const double* next) {
  const Model& model = problem_->model();
  const ModelArrays& arrays = model.arrays();
  const auto begin = model.outcome_begin(row);
  radius_[lane] = nature_.radius_of(row);
  const State* to = arrays.next.data() + begin;
  double* values = values_.data() + lane;
  for (int i = 0; i < outcomes; ++i) values[i * lanes] = next[to[i]];
  const std::vector<double>& extra = model.outcome_values(channel.signal);
  if (!extra.empty()) {
    for (int i = 0; i < outcomes; ++i)
      values[i * lanes] += channel.sign * extra[begin + i] / problem_->discount();
  }
  const auto spread = [&](const std::vector<double>& from, std::vector<double>& lanes_of) {
    for (int i = 0; i < outcomes; ++i) lanes_of[lane + i * lanes] = from[begin + i];
  };
  if (nature_.bounds) {
    spread(arrays.lower, lower_);
    spread(arrays.upper, upper_);
  } else {
    spread(arrays.probability, probability_);
  }
}

void RowBatch::add_own_values(std::span<const Row> rows, const Channel& channel,
                              double* result) const {
  const Model& model = problem_->model();
  const double discount = problem_->discount();
  for (std::size_t i = 0; i < rows.size(); ++i)
    result[i] = channel.sign * model.value(channel.signal, rows[i]) + discount * result[i];
}

}  // namespace redoubt::internal
