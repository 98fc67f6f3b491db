#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt::internal {

// Rows as ranges of row numbers, one after the other.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The rows of some states, in the order in which these are listed: one range for each stage and
// state.
Ranges rows_of(const ModelArrays& arrays, const std::vector<State>& states);

// Those rows with all that belongs to them, as rows of a model of that many states. Next states
// keep their numbers, and names, labels and arrivals are those of all states.
ModelArrays select_rows(const ModelArrays& arrays, const Ranges& rows, State states);

// Keeps what arrivals in some states earn, in the order in which these are listed.
void select_arrivals(ModelArrays& arrays, const std::vector<State>& states);

// Labels of some states, under the numbers that are their places in this list.
void renumber_labels(ModelArrays& arrays, const std::vector<State>& states);

// Keeps the radii of those rows, where each row has one.
void select_radii(Terms& terms, const Ranges& rows);
// The same for rows one by one; -1 stands for a row that nature cannot change.
void select_radii(Terms& terms, const std::vector<Row>& rows);

}  // namespace redoubt::internal
