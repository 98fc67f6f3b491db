#include "model/select_rows.h"

#include <algorithm>

namespace redoubt::internal {
namespace {

// Entries of an array that lie in some ranges, one after the other; of nothing, nothing.
template <class Value>
std::vector<Value> pick(const std::vector<Value>& values, const Ranges& ranges) {
  std::vector<Value> picked;
  if (values.empty()) return picked;
  std::int64_t count = 0;
  for (const auto& [begin, end] : ranges) count += end - begin;
  picked.reserve(count);
  for (const auto& [begin, end] : ranges)
    picked.insert(picked.end(), values.begin() + begin, values.begin() + end);
  return picked;
}

}  // namespace

Ranges rows_of(const ModelArrays& a, const std::vector<State>& states) {
  Ranges rows;
  for (std::int64_t h = 0; h < a.stages; ++h) {
    for (const State s : states)
      rows.emplace_back(a.state_rows[h * a.states + s], a.state_rows[h * a.states + s + 1]);
  }
  return rows;
}

ModelArrays select_rows(const ModelArrays& a, const Ranges& rows, State states) {
  ModelArrays some;
  some.states = states;
  some.stages = a.stages;
  some.state_rows.push_back(0);
  some.row_outcomes.push_back(0);
  Ranges outcomes;
  for (const auto& [begin, end] : rows) {
    some.state_rows.push_back(some.state_rows.back() + end - begin);
    for (Row row = begin; row < end; ++row)
      some.row_outcomes.push_back(some.row_outcomes.back() + a.row_outcomes[row + 1] -
                                  a.row_outcomes[row]);
    outcomes.emplace_back(a.row_outcomes[begin], a.row_outcomes[end]);
  }
  some.action = pick(a.action, rows);
  some.reward = pick(a.reward, rows);
  some.next = pick(a.next, outcomes);
  some.probability = pick(a.probability, outcomes);
  some.outcome_reward = pick(a.outcome_reward, outcomes);
  some.lower = pick(a.lower, outcomes);
  some.upper = pick(a.upper, outcomes);
  for (const Signal& s : a.signals)
    some.signals.push_back({s.name, pick(s.row, rows), pick(s.outcome, outcomes), s.arrival});
  some.arrival_reward = a.arrival_reward;
  some.state_names = a.state_names;
  some.action_names = a.action_names;
  some.labels = a.labels;
  return some;
}

void select_arrivals(ModelArrays& a, const std::vector<State>& states) {
  const auto pick_some = [&](std::vector<double>& arrival) {
    if (arrival.empty()) return;
    std::vector<double> picked;
    picked.reserve(states.size());
    for (const State s : states) picked.push_back(arrival[s]);
    arrival = std::move(picked);
  };
  pick_some(a.arrival_reward);
  for (Signal& s : a.signals) pick_some(s.arrival);
}

void renumber_labels(ModelArrays& a, const std::vector<State>& states) {
  if (a.labels.empty()) return;
  const State last = states.empty() ? -1 : *std::max_element(states.begin(), states.end());
  std::vector<State> number(last + 1, -1);
  for (std::size_t i = 0; i < states.size(); ++i) number[states[i]] = static_cast<State>(i);
  for (Label& label : a.labels) {
    std::vector<State> kept;
    for (const State s : label.states) {
      if (s <= last && number[s] >= 0) kept.push_back(number[s]);
    }
    label.states = std::move(kept);
  }
}

void select_radii(Terms& terms, const Ranges& rows) {
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.radius; }) {
          set.radius.rows = pick(set.radius.rows, rows);
          set.radius.states.clear();  // they are in the rows
        }
      },
      terms.uncertainty);
}

void select_radii(Terms& terms, const std::vector<Row>& rows) {
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.radius; }) {
          if (set.radius.rows.empty()) return;
          std::vector<double> radii;
          radii.reserve(rows.size());
          for (const Row row : rows) radii.push_back(row < 0 ? 0 : set.radius.of(row));
          set.radius = std::move(radii);
        }
      },
      terms.uncertainty);
}

}  // namespace redoubt::internal
