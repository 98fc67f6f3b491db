#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <limits>

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
  std::vector<int> signals;
  std::vector<std::string> names;
  double sign = 1;  // of the reward
};

Columns read_header(CsvRecords& records) {
  require(records.next(), "is empty, must begin with a header line");
  Columns c;
  c.names.assign(records.fields().begin(), records.fields().end());
  const std::pair<std::string_view, int*> known[] = {{"state", &c.state},
                                                     {"action", &c.action},
                                                     {"next", &c.next},
                                                     {"stage", &c.stage},
                                                     {"reward", &c.reward}};
  for (int i = 0; i < static_cast<int>(c.names.size()); ++i) {
    require(std::find(c.names.begin(), c.names.begin() + i, c.names[i]) == c.names.begin() + i,
            "line {}: column '{}' is given twice, must be given once", records.line(), c.names[i]);
    const auto it = std::find_if(std::begin(known), std::end(known),
                                 [&](const auto& k) { return k.first == c.names[i]; });
    if (it != std::end(known))
      *it->second = i;
    else
      c.signals.push_back(i);
  }
  for (const auto& [name, column] : known) {
    require(*column >= 0 || column == &c.stage || column == &c.reward,
            "line {}: column '{}' is missing, must be given", records.line(), name);
  }
  return c;
}

// The column that is the reward; a signal that becomes one stays a signal.
void choose_reward(Columns& c, const Objective& objective) {
  std::vector<std::string> signals;
  for (const int column : c.signals) signals.push_back(c.names[column]);
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
  c.reward = c.signals[found - signals.begin()];
  c.sign = objective.minimise ? -1 : 1;
}

struct Transition {
  int stage = 0;
  State state = 0;
  std::int32_t action = 0;
  int line = 0;
  Sample sample;
};

class Reader {
 public:
  Reader(const CsvRecords& records, const Columns& columns) : records_(records), c_(columns) {}

  Transition read() const {
    require(records_.fields().size() == c_.names.size(), "line {}: {} fields, must be {}",
            records_.line(), records_.fields().size(), c_.names.size());
    Transition t;
    t.line = records_.line();
    t.state = integer(c_.state);
    t.action = integer(c_.action);
    t.stage = c_.stage < 0 ? 0 : integer(c_.stage);
    t.sample.next = integer(c_.next);
    t.sample.reward = c_.reward < 0 ? 0.0 : c_.sign * number(c_.reward);
    for (const int column : c_.signals) t.sample.signals.push_back(number(column));
    return t;
  }

 private:
  double number(int column) const {
    const std::string_view text = records_.fields()[column];
    double value = std::numeric_limits<double>::quiet_NaN();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    require(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
            "line {}: {} = {}, must be a finite number", records_.line(), c_.names[column], text);
    return value;
  }
  std::int32_t integer(int column) const {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max() - 1;
    const double value = number(column);
    require(value >= 0 && value <= most && value == std::floor(value),
            "line {}: {} = {}, must be a whole number in 0..{}", records_.line(), c_.names[column],
            value, most);
    return static_cast<std::int32_t>(value);
  }
  const CsvRecords& records_;
  const Columns& c_;
};

std::vector<Transition> read_transitions(CsvRecords& records, const Columns& columns) {
  std::vector<Transition> transitions;
  const Reader reader(records, columns);
  while (records.next()) transitions.push_back(reader.read());
  require(!transitions.empty(), "has no transitions, must have at least one");
  return transitions;
}

// Sizes as given, or as large as the data need.
SimulatorShape shape_of(const std::vector<Transition>& transitions, const Columns& columns,
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
  std::vector<std::string> signals;
  for (const int column : columns.signals) signals.push_back(columns.names[column]);
  return regular_shape(states, actions, std::move(signals), stages, options.terminal);
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
  CsvRecords records(text);
  Columns columns = read_header(records);
  choose_reward(columns, options.objective);
  const std::vector<Transition> transitions = read_transitions(records, columns);
  const SimulatorShape shape = shape_of(transitions, columns, options, text.size());
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
