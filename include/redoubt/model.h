#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace redoubt {

using State = std::int32_t;
using Row = std::int64_t;  // one (stage, state, action)

// A named quantity that constraints speak of: one value for each row and, where it depends on what
// follows, an extra one for each outcome and for each state that is arrived in otherwise.
struct Signal {
  std::string name;
  std::vector<double> row;      // one for each row; empty: zero
  std::vector<double> outcome;  // one for each outcome, added to the row's value; empty: that of
                                // its arrival
  // One for each state, added to the row's value by an arrival in the state that the row does not
  // list, which total variation with reach anywhere allows; empty: zero.
  std::vector<double> arrival = {};
  bool operator==(const Signal&) const = default;
};

// A named set of states, such as those in which a goal is reached.
struct Label {
  std::string name;
  std::vector<State> states = {};  // in increasing order, each once
  bool operator==(const Label&) const = default;
};

// A model that has the rows of some of the states of a larger one, for one of several ranks. Where
// those rows lead to other states, and in the start states, it has the states without their rows:
// their values come from the rank that owns them. States are numbered as in the larger model, so
// that all sums have their terms in the same sequence.
struct Submodel {
  int rank = 0, ranks = 1;
  State states = 0;                 // of the larger model
  std::vector<State> number;        // of each state here, in the larger model; they increase
  std::vector<std::int32_t> owner;  // of each state here: the rank that has its rows
  int actions = 0;                  // distinct action numbers of the larger model
  bool operator==(const Submodel&) const = default;
};

// What a model is made of. Rows are ordered by stage, then state, then action; outcomes by row.
// Compressed row storage: the rows of (stage, state) are state_rows[stage * states + state] up to
// the next entry, the outcomes of a row likewise.
struct ModelArrays {
  State states = 0;
  int stages = 1;  // 1: the same rows at every stage; otherwise one set of rows for each stage of
                   // the horizon
  std::vector<Row> state_rows;
  std::vector<std::int32_t> action;  // the user's action number of each row
  std::vector<std::int64_t> row_outcomes;
  std::vector<State> next;             // of each outcome
  std::vector<double> probability;     // of each outcome, nominal
  std::vector<double> reward;          // of each row; empty: zero
  std::vector<double> outcome_reward;  // of each outcome, added to the row's, as for a signal
  std::vector<double> arrival_reward;  // of each state, likewise
  std::vector<Signal> signals;
  std::vector<double> lower,
      upper;  // of each outcome: bounds for the `interval` set; empty when there are none
  std::vector<std::string> state_names;  // empty: numbers are the names
  std::vector<std::string> action_names;
  std::vector<Label> labels;
  // The last `groups` of the states are groups of other states: an outcome that leads to one of
  // them leads to any of its members, and somebody picks which (see Terms::helpful_groups). A group
  // has one row, whose outcomes are its members with equal probabilities; it earns nothing, and its
  // outcomes what an arrival in the member does.
  State groups = 0;
  // The last `factors` of the states are factors: distributions that rows share. Every row of
  // another state is then a mixture of factors, known exactly: its outcomes lead to factors and
  // earn nothing of their own. A factor has one row, over ordinary states, which earns nothing; its
  // outcomes earn what an arrival in their state does. The uncertainty set is around factors.
  // Nobody sees which factor an outcome came from. Not together with groups.
  State factors = 0;
  std::optional<Submodel> submodel;  // none: the whole model
  bool operator==(const ModelArrays&) const = default;
};

// Arrays of a model that live elsewhere, such as in another language. Each means what it means in
// ModelArrays, and an empty one that the array there is meant.
struct ModelViews {
  std::variant<std::span<const std::int64_t>, std::span<const std::int32_t>> row_outcomes;
  std::span<const State> next;
  std::span<const double> probability;
  std::span<const double> reward;
  std::vector<std::span<const double>> signals;  // the row values of each signal
};

// States, actions, outcomes, reward and signals; immutable and valid once built, cheap to copy
// (copies share the arrays). Building drops outcomes of probability zero, merges equal outcomes
// (same next state and values), leaves out value arrays that are zero throughout, sorts the states
// of labels, and renormalises rows that sum to one within 1e-9 times their number of outcomes.
// Anything else is an Error that names the row, the value and the rule.
class Model {
 public:
  // Views are copied, which takes less time here, where they are checked, than before.
  explicit Model(ModelArrays arrays, const ModelViews& views = {});

  State states() const { return arrays_->states; }
  int stages() const { return arrays_->stages; }
  Row rows() const { return static_cast<Row>(arrays_->action.size()); }
  std::int64_t outcomes() const { return static_cast<std::int64_t>(arrays_->next.size()); }
  int signals() const { return static_cast<int>(arrays_->signals.size()); }
  State groups() const { return arrays_->groups; }    // the last of the states
  State factors() const { return arrays_->factors; }  // likewise
  // The states in which somebody decides: those that are neither groups nor factors, the first.
  State ordinary() const { return states() - groups() - factors(); }
  int actions() const { return actions_; }  // distinct action numbers: one more than the largest
  int most_actions() const { return most_actions_; }  // of any state

  // The states whose rows this has: all of them, unless the model is a submodel. Their
  // places are by the numbers of the larger model, and so is all that is kept by place (policies,
  // files).
  State own_states() const { return own_ ? static_cast<State>(own_->states.size()) : states(); }
  State own(State place) const { return own_ ? own_->states[place] : place; }
  State own_place(State state) const { return own_ ? own_->places[state] : state; }  // -1: none
  bool owns(State state) const { return own_place(state) >= 0; }
  State all_states() const { return arrays_->submodel ? arrays_->submodel->states : states(); }
  int most_outcomes() const { return most_outcomes_; }

  // Rows of a state at a stage of the horizon (a stationary model answers the same for every
  // stage). None: terminal.
  Row row_begin(int stage, State state) const { return arrays_->state_rows[slot(stage, state)]; }
  Row row_end(int stage, State state) const { return arrays_->state_rows[slot(stage, state) + 1]; }
  std::int64_t outcome_begin(Row row) const { return arrays_->row_outcomes[row]; }
  std::int64_t outcome_end(Row row) const { return arrays_->row_outcomes[row + 1]; }

  // Signal number -1 is the reward, so that one loop serves reward and signals alike.
  double value(int signal, Row row) const {
    const auto& values = signal < 0 ? arrays_->reward : arrays_->signals[signal].row;
    return values.empty() ? 0.0 : values[row];
  }
  double outcome_value(int signal, std::int64_t outcome) const {
    const auto& values = outcome_values(signal);
    return values.empty() ? 0.0 : values[outcome];
  }
  const std::vector<double>& outcome_values(int signal) const {
    return signal < 0 ? arrays_->outcome_reward : arrays_->signals[signal].outcome;
  }
  // What an arrival outside of the row's outcomes earns beyond the row's own value.
  double arrival_value(int signal, State state) const {
    const auto& values = arrival_values(signal);
    return values.empty() ? 0.0 : values[state];
  }
  const std::vector<double>& arrival_values(int signal) const {
    return signal < 0 ? arrays_->arrival_reward : arrays_->signals[signal].arrival;
  }

  // True when the row has an outcome that leads to this state and earns what any arrival there
  // does. Mass that total variation may put anywhere lands in such an outcome, or else, in a state
  // that the row does not list, in one of its own.
  bool lists(Row row, State state) const;

  int signal_index(const std::string& name) const;         // -1 when there is none of this name
  const Label* find_label(const std::string& name) const;  // null when there is none of this name
  std::string state_name(State state) const;
  std::string action_name(std::int32_t action) const;
  std::string row_name(
      Row row) const;  // "(state 3, action 1)", with the stage where rows depend on it
  const ModelArrays& arrays() const { return *arrays_; }
  bool operator==(const Model& other) const {
    return arrays_ == other.arrays_ || *arrays_ == *other.arrays_;
  }

 private:
  void complete(std::shared_ptr<ModelArrays> arrays, bool tidy);
  void find_own();
  std::size_t slot(int stage, State state) const {
    return (arrays_->stages == 1 ? 0 : static_cast<std::size_t>(stage) * arrays_->states) + state;
  }
  std::shared_ptr<const ModelArrays> arrays_;
  int actions_ = 0, most_actions_ = 0, most_outcomes_ = 0;
  struct Own {  // of a submodel
    std::vector<State> states, places;
  };
  std::shared_ptr<const Own> own_;
};

// Collects rows in any order, one call each, for callers that do not have arrays.
class ModelBuilder {
 public:
  ModelBuilder(State states, std::vector<std::string> signals, int stages = 1);

  struct Outcome {
    State next = 0;
    double probability = 0;
    double reward = 0;                 // added to the row's
    std::vector<double> signals = {};  // added to the row's; empty: zero
    double lower = -1, upper = -1;     // interval bounds; negative: none
  };
  struct RowData {
    double reward = 0;
    std::vector<double> signals = {};  // empty: zero
    std::vector<Outcome> outcomes = {};
  };
  // Each (stage, state, action) once. Actions of a state are ordered by their number.
  void add(int stage, State state, std::int32_t action, RowData row);
  // What every arrival in a state earns, beyond the row's and the outcome's values.
  void on_arrival(State state, double reward, std::vector<double> signals = {});
  // The state that stands for a group of states, for outcomes that may lead to any of them. The
  // same members, in any order, are the same group.
  State group(std::vector<State> members);
  // The state that stands for a factor: a distribution that rows lead to. What its outcomes earn
  // must be what every arrival in their state does. With rows that depend on the stage, it is the
  // same at each.
  State factor(std::vector<Outcome> outcomes);
  void name_states(std::vector<std::string> names) { state_names_ = std::move(names); }
  void name_actions(std::vector<std::string> names) { action_names_ = std::move(names); }
  void label(std::string name, std::vector<State> states) {
    labels_.push_back({std::move(name), std::move(states)});
  }
  Model build() const;

 private:
  struct Entry {
    int stage;
    State state;
    std::int32_t action;
    RowData row;
  };
  std::vector<Entry> entries_between() const;
  std::vector<std::string> all_state_names() const;

  State states_;
  int stages_;
  std::vector<std::string> signals_, state_names_, action_names_;
  std::vector<Label> labels_;
  std::vector<Entry> entries_;
  std::vector<std::vector<State>> groups_;
  std::vector<std::vector<Outcome>> factors_;
  std::vector<double> arrival_reward_;
  std::vector<std::vector<double>> arrival_signals_;  // of each signal; of each state
};

}  // namespace redoubt
