#include <algorithm>

#include "io/explicit/explicit_model.h"
#include "model/set_traits.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

std::string_view value_name(const Model& m, int signal) {
  return signal < 0 ? "reward" : std::string_view(m.arrays().signals[signal].name);
}

}  // namespace

std::vector<double> take_row_values(std::vector<double>& outcome, const ModelArrays& a) {
  std::vector<double> row(a.action.size(), 0.0);
  const auto possible = [&](std::int64_t i) {
    return a.probability[i] > 0 || (!a.upper.empty() && a.upper[i] > 0);
  };
  for (std::size_t r = 0; r < row.size(); ++r) {
    const auto begin = a.row_outcomes[r], end = a.row_outcomes[r + 1];
    auto first = begin;
    while (first < end && !possible(first)) ++first;
    bool shared = first < end;
    for (auto i = first; i < end && shared; ++i)
      shared = !possible(i) || outcome[i] == outcome[first];
    if (!shared) continue;
    row[r] = outcome[first];
    std::fill(outcome.begin() + begin, outcome.begin() + end, 0.0);
  }
  return row;
}

void require_no_groups(const Model& m, std::string_view format) {
  require(m.groups() == 0, "{} groups of states, which {} cannot keep: write JSON or UMB",
          m.groups(), format);
  require(m.factors() == 0, "{} factors of rows, which {} cannot keep: write JSON or UMB",
          m.factors(), format);
}

void require_no_arrivals(const Model& m, std::string_view format) {
  for (int signal = -1; signal < m.signals(); ++signal)
    require(m.arrival_values(signal).empty(),
            "{} is earned by arrivals, also by those that no row lists, which {} cannot keep: "
            "write JSON or UMB",
            value_name(m, signal), format);
}

double outcome_total(const Model& m, int signal, Row row, std::int64_t outcome) {
  return m.value(signal, row) + m.outcome_value(signal, outcome);
}

// Mass that total variation moves to a new state earns the row's own value. Where a file has only
// the totals of outcomes, that value must be the one that its reader takes from them.
void require_row_values_survive(const Draft& draft, std::string_view format) {
  if (!lands_anywhere(draft.terms.uncertainty)) return;
  const Model& m = draft.model;
  for (int signal = -1; signal < m.signals(); ++signal) {
    if (m.outcome_values(signal).empty()) continue;
    for (Row r = 0; r < m.rows(); ++r) {
      const double first = outcome_total(m, signal, r, m.outcome_begin(r));
      bool shared = true;
      for (auto i = m.outcome_begin(r); i < m.outcome_end(r); ++i)
        shared = shared && outcome_total(m, signal, r, i) == first;
      require(m.value(signal, r) == (shared ? first : 0.0),
              "{} of {} differs between outcomes and from its row; with set tv and reach anywhere, "
              "{} cannot keep both",
              value_name(m, signal), m.row_name(r), format);
    }
  }
}

}  // namespace redoubt::internal::io
