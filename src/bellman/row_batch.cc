#include "bellman/row_batch.h"

#include <algorithm>

#include "bellman/nominal_rows.h"
#include "support/array_memory.h"

namespace redoubt::internal {
namespace {

StoredRows stored_rows(const Problem& problem, const NatureOfRows& nature) {
  const ModelArrays& arrays = problem.model().arrays();
  StoredRows rows;
  rows.row_outcomes = arrays.row_outcomes.data();
  rows.equal =
      problem.model().rows() * problem.model().most_outcomes() == problem.model().outcomes();
  rows.next = arrays.next.data();
  rows.probability = arrays.probability.data();
  if (nature.bounds) {
    rows.lower = arrays.lower.data();
    rows.upper = arrays.upper.data();
  }
  rows.same_radius = nature.radius ? nature.radius->all : nature.strength;
  if (nature.radius && !nature.radius->rows.empty()) rows.radius = nature.radius->rows.data();
  rows.discount = problem.discount();
  rows.far = is_far_away(static_cast<std::size_t>(problem.model().states()));
  return rows;
}

}  // namespace

RowBatch::RowBatch(const Problem& problem)
    : problem_(&problem),
      nature_(nature_of_rows(problem)),
      nominal_(is_nominal(problem)),
      some_certain_(nature_.radius != nullptr && !nature_.bounds && !nature_.radius->rows.empty()),
      stored_(stored_rows(problem, nature_)),
      abreast_(problem.uncertainty()),
      expected_(expected_values_kernel()) {}

void RowBatch::worst(std::span<const Row> rows, const Channel& channel, const double* next,
                     double floor, double* result, const Distributions* distributions) {
  worst({.count = static_cast<std::int64_t>(rows.size()), .list = rows.data()}, channel, next,
        floor, result, distributions);
}

void RowBatch::worst(Row first, std::int64_t count, const Channel& channel, const double* next,
                     double floor, double* result, const Distributions* distributions) {
  worst({.count = count, .first = first}, channel, next, floor, result, distributions);
}

void RowBatch::worst(const RowChoice& rows, const Channel& channel, const double* next,
                     double floor, double* result, const Distributions* distributions) {
  evaluations_ += static_cast<double>(rows.count);
  if (nominal_) return expect(rows, channel, next, result, distributions);
  if (some_certain_) return worst_of_some(rows, channel, next, floor, result, distributions);
  worst_of_uncertain(rows, channel, next, floor, result, distributions);
}

// Which way a row goes depends on the row alone, so that its value does, too.
void RowBatch::worst_of_some(const RowChoice& rows, const Channel& channel, const double* next,
                             double floor, double* result, const Distributions* distributions) {
  for (Part* part : {&certain_, &uncertain_}) part->rows.clear(), part->place.clear();
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const Row row = row_of(rows, i);
    Part& part = nature_.radius->of(row) == 0 ? certain_ : uncertain_;
    part.rows.push_back(row);
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
      for (const std::int64_t i : part->place) part->begin.push_back(distributions->begin[i]);
      to = {part->begin.data(), distributions->probability};
    }
    const Distributions* where = distributions != nullptr ? &to : nullptr;
    if (part == &certain_)
      expect(part->chosen(), channel, next, part->result.data(), where);
    else
      worst_of_uncertain(part->chosen(), channel, next, floor, part->result.data(), where);
    for (std::size_t n = 0; n < part->place.size(); ++n) result[part->place[n]] = part->result[n];
  }
}

void RowBatch::worst_of_uncertain(const RowChoice& rows, const Channel& channel, const double* next,
                                  double floor, double* result,
                                  const Distributions* distributions) {
  const std::vector<double>& extra = problem_->model().outcome_values(channel.signal);
  stored_.added = extra.empty() ? nullptr : extra.data();
  stored_.sign = channel.sign;
  LandingFloor landings;
  if (nature_.floor) landings.floor = &floor;
  abreast_.worst(stored_, rows, next, landings, result, distributions);
  add_own_values(rows, channel, result);
}

void RowBatch::expect(const RowChoice& rows, const Channel& channel, const double* next,
                      double* result, const Distributions* distributions) {
  const Model& model = problem_->model();
  earned_.resize(rows.count);
  for (std::int64_t i = 0; i < rows.count; ++i)
    earned_[i] = nominal_earned(model, channel, row_of(rows, i));
  const SparseRows matrix = nominal_rows(model);
  expected_(matrix, rows, earned_.data(), problem_->discount(), next, result);
  for (std::int64_t i = 0; distributions != nullptr && i < rows.count; ++i) {
    const Row row = row_of(rows, i);
    double* end = std::copy(matrix.probability + model.outcome_begin(row),
                            matrix.probability + model.outcome_end(row),
                            distributions->probability + distributions->begin[i]);
    if (nature_.floor) *end = 0;
  }
}

void RowBatch::add_own_values(const RowChoice& rows, const Channel& channel, double* result) const {
  const ModelArrays& arrays = problem_->model().arrays();
  const std::vector<double>& earned =
      channel.signal < 0 ? arrays.reward : arrays.signals[channel.signal].row;
  const double sign = channel.sign, discount = problem_->discount();
  if (!earned.empty() && rows.list == nullptr) {
    const double* own = earned.data() + rows.first;
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < rows.count; ++i) result[i] = sign * own[i] + discount * result[i];
    return;
  }
  for (std::int64_t i = 0; i < rows.count; ++i)
    result[i] = sign * (earned.empty() ? 0.0 : earned[row_of(rows, i)]) + discount * result[i];
}

}  // namespace redoubt::internal
