#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/row_name.h"
#include "redoubt/estimate.h"
#include "sampling/tally.h"
#include "support/csv_records.h"
#include "support/file.h"

namespace redoubt {
using namespace internal;
namespace {

struct Columns {
  int state = -1, action = -1, next = -1, stage = -1, reward = -1;
  double sign = 1;  // of the reward
};

// The column that is the reward; a signal that becomes one stays a signal.
void choose_reward(const CsvTable& table, Columns& c, const Objective& objective) {
  const std::vector<std::string> signals = table.other_names();
  require(c.reward >= 0 || objective.chosen(),
          "no column is called reward, must be chosen: {}reward none says that there is none",
          signals.empty()
              ? ""
              : fmt::format("reward NAME or minimise NAME, of {}; ", fmt::join(signals, ", ")));
  if (!objective.chosen()) return;
  c.reward = -1;
  if (objective.none) return;
  const auto found = std::find(signals.begin(), signals.end(), objective.signal);
  require(found != signals.end(), "reward '{}', must be a column: {}", objective.signal,
          fmt::join(signals, ", "));
  c.reward = table.others()[found - signals.begin()];
  c.sign = objective.minimise ? -1 : 1;
}

struct Transition {
  int stage = 0;
  State state = 0;
  std::int32_t action = 0;
  int line = 0;
  Sample sample;
};

std::vector<Transition> read_transitions(CsvTable& record, const Columns& c) {
  std::vector<Transition> transitions;
  while (record.next()) {
    Transition& t = transitions.emplace_back();
    t.line = record.line();
    t.state = record.integer(c.state);
    t.action = record.integer(c.action);
    t.stage = c.stage < 0 ? 0 : record.integer(c.stage);
    t.sample.next = record.integer(c.next);
    t.sample.reward = c.reward < 0 ? 0.0 : c.sign * record.number(c.reward);
    for (const int column : record.others()) t.sample.signals.push_back(record.number(column));
  }
  require(!transitions.empty(), "has no transitions, must have at least one");
  return transitions;
}

// Sizes as given, or as large as the data need.
SimulatorShape shape_of(const std::vector<Transition>& transitions, const CsvTable& table,
                        const RecordedOptions& options, std::size_t bytes) {
  State states = 1;
  std::int32_t actions = 1;
  int stages = 1;
  for (const Transition& t : transitions) {
    states = std::max({states, t.state + 1, t.sample.next + 1});
    actions = std::max(actions, t.action + 1);
    stages = std::max(stages, t.stage + 1);
  }
  const auto given = [](auto seen, const auto& option, const char* what) {
    require(option.value_or(seen) >= seen, "{} = {}, must be at least {}: the data have that many",
            what, option.value_or(seen), seen);
    return option.value_or(seen);
  };
  states = given(states, options.states, "states");
  actions = given(actions, options.actions, "actions");
  if (!options.states) require_plausible(states, "states", bytes);
  if (!options.actions) require_plausible(std::int64_t{states} * actions, "rows", bytes);
  require_plausible(std::int64_t{states} * stages, "states of all stages", bytes);
  return regular_shape(states, actions, table.other_names(), stages, options.terminal);
}

std::string list_of(const Model& model, const std::vector<Row>& rows) {
  constexpr std::size_t shown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, rows.size()); ++i)
    text += (i > 0 ? ", " : "") + model.row_name(rows[i]);
  if (rows.size() > shown) text += fmt::format(" and {} more", rows.size() - shown);
  return text;
}

Estimate tally_up(std::string_view text, const RecordedOptions& options) {
  Columns c;
  CsvTable table(text, std::array<CsvColumn, 5>{{{"state", &c.state},
                                                 {"action", &c.action},
                                                 {"next", &c.next},
                                                 {"stage", &c.stage, true},
                                                 {"reward", &c.reward, true}}});
  choose_reward(table, c, options.objective);
  const std::vector<Transition> transitions = read_transitions(table, c);
  const SimulatorShape shape = shape_of(transitions, table, options, text.size());
  Tally tally(shape);
  for (const Transition& t : transitions) {
    const auto slot = static_cast<std::size_t>(t.stage) * shape.states + t.state;
    const Row row = shape.state_rows[slot] + t.action;
    require(row < shape.state_rows[slot + 1],
            "line {}: an action in terminal state {}, must be none", t.line, t.state);
    tally.add(row, t.sample);
  }
  Estimate estimate = tally.finish(options.unvisited == Unvisited::ignore);
  require(estimate.unvisited.empty() || options.unvisited != Unvisited::error,
          "no samples of {} of {} rows: {}; every row must have some, or unvisited must be simplex",
          estimate.unvisited.size(), shape.rows(), list_of(estimate.model, estimate.unvisited));
  return estimate;
}

}  // namespace

Estimate read_recorded(std::string_view text, std::string_view name,
                       const RecordedOptions& options) {
  return naming(name, [&] { return tally_up(text, options); });
}

}  // namespace redoubt
