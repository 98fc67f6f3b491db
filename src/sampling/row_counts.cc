#include "sampling/row_counts.h"

#include <algorithm>

#include "support/require.h"

namespace redoubt::internal {
namespace {

using Value = RowCounts::Value;

double value_of(const Sample& sample, std::size_t quantity) {
  return (quantity == 0 ? sample.reward : sample.signals[quantity - 1]) + 0.0;  // no -0
}

std::string name_of(const SimulatorShape& shape, std::size_t quantity) {
  return quantity == 0 ? "reward" : fmt::format("signal '{}'", shape.signals[quantity - 1]);
}

void check_ranges(const SimulatorShape& shape, const Sample& sample) {
  for (std::size_t q = 0; q < shape.ranges.size(); ++q) {
    const double value = value_of(sample, q);
    const auto& range = shape.ranges[q];
    require(!range || (value >= range->least && value <= range->most),
            "{} = {}, must be in its declared range {} to {}", name_of(shape, q), value,
            range ? range->least : 0, range ? range->most : 0);
  }
}

// Whether a declared outcome is what the sample shows.
bool fits(const SimulatorShape::Outcome& outcome, const Sample& sample) {
  if (outcome.next != sample.next) return false;
  for (std::size_t q = 0; q < outcome.values.size(); ++q)
    if (outcome.values[q] != value_of(sample, q)) return false;
  return true;
}

}  // namespace

RowCounts::RowCounts(const SimulatorShape& shape)
    : shape_(shape), rows_(shape.rows()), samples_(shape.rows(), 0) {
  const std::size_t quantities = shape.signals.size() + 1;
  constexpr double kMostListed = 5e7;
  require(
      !shape.outcomes.empty() || static_cast<double>(shape.rows()) * shape.states <= kMostListed,
      "{} rows that may lead to any of {} states, must declare their outcomes", shape.rows(),
      shape.states);
  for (Row row = 0; row < shape.rows(); ++row) {
    if (shape.outcomes.empty()) {
      for (State next = 0; next < shape.states; ++next)
        rows_[row].push_back({next, 0, std::vector<Value>(quantities)});
      continue;
    }
    for (const SimulatorShape::Outcome& declared : shape.outcomes[row]) {
      Outcome& outcome = rows_[row].emplace_back();
      outcome.next = declared.next;
      outcome.values.resize(quantities);
      for (std::size_t q = 0; q < declared.values.size(); ++q)
        outcome.values[q] = {Value::Known::fixed, declared.values[q]};
    }
  }
}

RowCounts::Outcome& RowCounts::outcome_of(Row row, const Sample& sample) {
  if (shape_.outcomes.empty()) return rows_[row][sample.next];
  const auto& declared = shape_.outcomes[row];
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const auto& outcome) { return fits(outcome, sample); });
  require(found != declared.end(), "next = {}, which is no declared outcome of its row",
          sample.next);
  return rows_[row][found - declared.begin()];
}

void RowCounts::add(Row row, const Sample& sample, std::int64_t count) {
  check_ranges(shape_, sample);
  Outcome& outcome = outcome_of(row, sample);
  outcome.count += count;
  samples_[row] += count;
  for (std::size_t q = 0; q < outcome.values.size(); ++q) {
    Value& known = outcome.values[q];
    const double value = value_of(sample, q);
    if (known.known == Value::Known::nothing)
      known = {Value::Known::fixed, value};
    else if (known.value != value)
      known = {Value::Known::varies, 0};
  }
}

}  // namespace redoubt::internal
