#include "solvers/value_iteration/alike_rows.h"

#include <algorithm>
#include <array>

#include "bellman/nominal_rows.h"

namespace redoubt::internal {
namespace {

// How many rows a state has, and how many outcomes the longest of them. More outcomes in all take
// as long as knowing that only one row need be looked at.
constexpr int kMostInAll = 8;
constexpr std::int8_t kShapes = AlikeStates::kMostRows * AlikeStates::kMostOutcomes;
constexpr std::int8_t kOther = kShapes;

std::int8_t shape_of(const Model& model, Row begin, Row end) {
  const auto rows = end - begin;
  if (rows == 0 || rows > AlikeStates::kMostRows) return kOther;
  std::int64_t outcomes = 1;
  for (Row row = begin; row < end; ++row)
    outcomes = std::max(outcomes, model.outcome_end(row) - model.outcome_begin(row));
  if (rows * outcomes > kMostInAll) return kOther;
  return static_cast<std::int8_t>((rows - 1) * AlikeStates::kMostOutcomes + outcomes - 1);
}

}  // namespace

AlikeRows::AlikeRows(const Model& model, const RowsOfStates& of, std::span<const State> states) {
  std::array<std::int8_t, AlikeStates::kMost> shapes;
  while (true) {
    blocks_.push_back(
        {static_cast<std::int64_t>(runs_.size()), static_cast<std::int64_t>(others_.size())});
    if (states.empty()) return;
    const auto block = states.first(std::min(states.size(), shapes.size()));
    for (std::size_t i = 0; i < block.size(); ++i)
      shapes[i] = shape_of(model, of.begin[block[i]], of.begin[block[i] + 1]);
    std::array<bool, kShapes + 1> met{};
    for (std::size_t i = 0; i < block.size(); ++i) met[shapes[i]] = true;
    for (std::int8_t shape = 0; shape < kShapes; ++shape)
      if (met[shape]) add_run(model, of, block, shapes, shape);
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (shapes[i] != kOther) continue;
      others_.push_back(block[i]);
      place_of_others_.push_back(static_cast<State>(i));
    }
    states = states.subspan(block.size());
  }
}

void AlikeRows::add_run(const Model& model, const RowsOfStates& of, std::span<const State> states,
                        std::span<const std::int8_t> shapes, std::int8_t shape) {
  Run run{0,
          1 + shape / AlikeStates::kMostOutcomes,
          1 + shape % AlikeStates::kMostOutcomes,
          std::ssize(place_),
          std::ssize(earned_),
          std::ssize(next_)};
  for (std::size_t i = 0; i < states.size(); ++i)
    if (shapes[i] == shape) place_.push_back(static_cast<State>(i));
  run.states = static_cast<std::int32_t>(std::ssize(place_) - run.first_state);
  runs_.push_back(run);
  const SparseRows matrix = nominal_rows(model);
  const std::span places = std::span(place_).subspan(run.first_state);
  for (std::int32_t row = 0; row < run.rows; ++row) {
    for (const State place : places) earned_.push_back(of.earned[of.begin[states[place]] + row]);
    for (std::int32_t n = 0; n < run.outcomes; ++n) {
      for (const State place : places) {
        const Row own = of.begin[states[place]] + row;
        const auto i = matrix.row_outcomes[own] + n, end = matrix.row_outcomes[own + 1];
        next_.push_back(matrix.next[std::min(i, end - 1)]);
        probability_.push_back(i < end ? matrix.probability[i] : 0);
      }
    }
  }
}

double AlikeRows::bytes(const Model& model) {
  return (sizeof(double) + sizeof(State)) * static_cast<double>(model.outcomes()) +
         sizeof(double) * static_cast<double>(model.rows()) + 2.0 * sizeof(State) * model.states();
}

bool AlikeRows::pay(const Problem& problem) {
  constexpr int kManyStages = 20;  // fewer take less time than the copy
  constexpr double kMostBytes = 8 << 20;
  return is_nominal(problem) && problem.model().stages() == 1 &&
         (problem.infinite() || problem.horizon() >= kManyStages) &&
         bytes(problem.model()) <= kMostBytes;
}

bool AlikeRows::best(std::int64_t block, const Kernels& kernels, const SparseRows& matrix,
                     const RowsOfStates& of, const double* values, double* room, double* best,
                     std::int32_t* position) const {
  bool exact = true;
  for (std::int64_t r = blocks_[block].run; r < blocks_[block + 1].run; ++r) {
    const Run& run = runs_[r];
    const AlikeStates alike{run.states,
                            run.rows,
                            run.outcomes,
                            next_.data() + run.first_outcome,
                            probability_.data() + run.first_outcome,
                            earned_.data() + run.first_row,
                            place_.data() + run.first_state};
    exact &= kernels.alike(alike, of.discount, of.unit, of.least, values, best, position);
  }
  const std::int64_t first = blocks_[block].other;
  const auto count = static_cast<std::int32_t>(blocks_[block + 1].other - first);
  if (count == 0) return exact;
  std::array<double, AlikeStates::kMost> some;
  std::array<std::int32_t, AlikeStates::kMost> rows;
  exact &= kernels.any(matrix, of, {.count = count, .list = others_.data() + first}, {}, values,
                       room, some.data(), rows.data());
  for (std::int32_t i = 0; i < count; ++i) {
    best[place_of_others_[first + i]] = some[i];
    position[place_of_others_[first + i]] = rows[i];
  }
  return exact;
}

}  // namespace redoubt::internal
