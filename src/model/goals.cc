#include "model/goals.h"

#include <algorithm>
#include <limits>

#include "model/model_writer.h"
#include "model/select_rows.h"
#include "model/set_traits.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr int kMostFlags = 16;

bool reaches_anywhere(const Terms& terms) {
  const bool anywhere = lands_anywhere(terms.uncertainty);
  require(!anywhere || !needs_bounds(terms.uncertainty),
          "set {} with reach anywhere and goals, must have reach support", name(terms.uncertainty));
  return anywhere;
}

// Pairs of a state and a code: which ends were met, and whether the episode begins there with
// something that the start is worth, which its first decision then earns.
class Pairs {
 public:
  Pairs(const Model& model, const Terms& terms, const GoalSets& sets)
      : model_(model), anywhere_(reaches_anywhere(terms)), sets_(sets) {
    find_flags();
    for (const State s : terms.start.states) begins_ |= worth_at_start(s);
    width_ = std::int64_t{1} << (flags_.size() + (begins_ ? 1 : 0));
    require(model.states() <= std::numeric_limits<State>::max() / width_,
            "{} states with goals that {} sets of states decide, must be at most {} pairs",
            model.states(), flags_.size(), std::numeric_limits<State>::max());
    find_reached(terms.start);
  }

  // Whether the states of the model suffice: there is nothing to remember, or whoever must remember
  // something is done.
  bool same_states() const {
    if (begins_) return false;
    return flags_.empty() || (sets_.nothing_else && flags_.size() == 1 && sets_.ends.size() == 1);
  }
  // Whether nothing that is asked for follows.
  bool done(State state, std::int64_t code) const {
    if (!sets_.nothing_else || begins(code)) return false;
    for (const DecidedGoal& goal : sets_.goals)
      if (undecided(goal, state, code)) return false;
    return true;
  }
  bool undecided(const DecidedGoal& goal, State state, std::int64_t code) const {
    const int flag = flag_of_end_[goal.end];
    return flag < 0 ? !sets_.ends[goal.end][state] : (code >> flag & 1) == 0;
  }
  // Whether steps or a total until a label go on.
  bool counts_still(State state, std::int64_t code) const {
    return std::any_of(sets_.goals.begin(), sets_.goals.end(), [&](const DecidedGoal& goal) {
      return !goal.is_probability() && undecided(goal, state, code);
    });
  }
  bool begins(std::int64_t code) const { return begins_ && code >= width_ / 2; }
  std::int64_t arrival_code(State state) const { return met_[state]; }  // with nothing met before
  std::int64_t start_code(State state) const {
    return met_[state] | (worth_at_start(state) ? width_ / 2 : 0);
  }
  std::int64_t next_code(std::int64_t code, State next) const {
    return (begins(code) ? code - width_ / 2 : code) | met_[next];
  }

  std::int64_t width() const { return width_; }
  State count() const { return count_; }
  State number(State state, std::int64_t code) const { return number_[state * width_ + code]; }
  bool can_reach(const DecidedGoal& goal) const {
    for (State s = 0; s < model_.states(); ++s) {
      for (std::int64_t code = 0; goal.at_label[s] && code < width_; ++code)
        if (number(s, code) >= 0) return true;
    }
    return false;
  }
  std::string name(State state, std::int64_t code) const {
    std::string text = model_.state_name(state);
    if (begins(code)) return text + " at the start";
    const char* separator = " after ";
    for (const DecidedGoal& goal : sets_.goals) {
      const int flag = flag_of_end_[goal.end];
      const auto same = [&](const DecidedGoal& other) { return other.end == goal.end; };
      const bool first = &*std::find_if(sets_.goals.begin(), sets_.goals.end(), same) == &goal;
      if (flag < 0 || !first || (code >> flag & 1) == 0) continue;
      text += separator + (goal.goal.before.empty() ? goal.goal.label : goal.name);
      separator = ", ";
    }
    return text;
  }

 private:
  // An end whose states have no rows needs no flag: nothing follows it.
  void find_flags() {
    const ModelArrays& a = model_.arrays();
    flag_of_end_.assign(sets_.ends.size(), -1);
    for (std::size_t e = 0; e < sets_.ends.size(); ++e) {
      bool follows = false;
      for (std::int64_t h = 0; h < a.stages; ++h) {
        for (std::int64_t s = 0; s < a.states; ++s) {
          const std::int64_t slot = h * a.states + s;
          follows |= sets_.ends[e][s] != 0 && a.state_rows[slot] < a.state_rows[slot + 1];
        }
      }
      if (!follows) continue;
      flag_of_end_[e] = static_cast<int>(flags_.size());
      flags_.push_back(static_cast<int>(e));
    }
    require(flags_.size() <= kMostFlags, "goals that {} sets of states decide, must be at most {}",
            flags_.size(), kMostFlags);
    met_.assign(model_.states(), 0);
    for (std::size_t f = 0; f < flags_.size(); ++f) {
      for (State s = 0; s < model_.states(); ++s)
        if (sets_.ends[flags_[f]][s]) met_[s] |= 1 << f;
    }
  }
  bool worth_at_start(State state) const {
    return std::any_of(sets_.goals.begin(), sets_.goals.end(),
                       [&](const DecidedGoal& goal) { return goal.at_start(state) != 0; });
  }

  void find_reached(const Start& start) {
    number_.assign(model_.states() * width_, -1);
    std::vector<std::pair<State, std::int64_t>> open;
    const auto reach = [&](State state, std::int64_t code) {
      State& known = number_[state * width_ + code];
      if (known >= 0) return;
      known = 0;
      open.emplace_back(state, code);
    };
    for (const State s : start.states) reach(s, start_code(s));
    while (!open.empty()) {
      const auto [state, code] = open.back();
      open.pop_back();
      follow(state, code, reach);
    }
    for (State& number : number_)
      if (number >= 0) number = count_++;
  }

  template <class Visit>
  void follow(State state, std::int64_t code, Visit visit) const {
    const ModelArrays& a = model_.arrays();
    if (done(state, code)) return;
    bool acts = false;
    for (int h = 0; h < a.stages; ++h) {
      const Row begin = model_.row_begin(h, state), end = model_.row_end(h, state);
      acts |= begin < end;
      for (auto i = a.row_outcomes[begin]; i < a.row_outcomes[end]; ++i)
        visit(a.next[i], next_code(code, a.next[i]));
    }
    for (State s = 0; acts && anywhere_ && s < a.states; ++s) visit(s, next_code(code, s));
    if (!acts && begins(code)) visit(state, next_code(code, state));
  }

  const Model& model_;
  bool anywhere_;
  const GoalSets& sets_;
  std::vector<int> flags_;  // the end of each
  std::vector<int> flag_of_end_;
  std::vector<std::int32_t> met_;  // of each state: the flags of the ends that it is in
  bool begins_ = false;
  std::int64_t width_ = 1;
  State count_ = 0;
  std::vector<State> number_;
};

// What a goal earns in the rows and outcomes of a model.
double row_value(const DecidedGoal& goal, const Model& model, Row row, bool decides) {
  if (goal.goal.kind == Goal::Kind::steps) return decides ? 1 : 0;
  return goal.goal.kind == Goal::Kind::total ? model.value(goal.signal, row) : 0;
}
double outcome_value(const DecidedGoal& goal, const Model& model, std::int64_t outcome) {
  return goal.goal.kind == Goal::Kind::total ? model.outcome_value(goal.signal, outcome)
                                             : goal.arrival(model.arrays().next[outcome]);
}
double arrival_value(const DecidedGoal& goal, const Model& model, State state) {
  return goal.goal.kind == Goal::Kind::total ? model.arrival_value(goal.signal, state)
                                             : goal.arrival(state);
}

// Totals until a label that somebody wants to be small.
Unfinished unfinished_of(const Terms& terms, const GoalSets& sets) {
  Unfinished unfinished;
  for (const DecidedGoal& goal : sets.goals) {
    if (goal.is_probability()) continue;
    if (terms.objective.signal == goal.name) unfinished.may_miss &= terms.objective.minimise;
    for (const Constraint& c : terms.constraints)
      unfinished.may_miss &= c.signal != goal.name || c.sense == Sense::at_most;
  }
  return unfinished;
}

// The model with its own states. Rows of states in which everything is decided are left out.
WithGoals on_same_states(const Model& model, const Terms& terms, const GoalSets& sets,
                         const Pairs& pairs) {
  std::vector<State> all(model.states());
  for (State s = 0; s < model.states(); ++s) all[s] = s;
  Ranges rows = rows_of(model.arrays(), all);
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    const auto state = static_cast<State>(slot % model.states());
    if (pairs.done(state, pairs.arrival_code(state))) rows[slot].second = rows[slot].first;
  }
  const Model cut(select_rows(model.arrays(), rows, model.states()));
  ModelArrays arrays = cut.arrays();
  if (sets.nothing_else) arrays.signals.clear();
  for (const DecidedGoal& goal : sets.goals) {
    Signal signal{goal.name, {}, {}, {}};
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      const bool decides = static_cast<State>(slot % model.states()) < sets.ordinary;
      for (Row row = arrays.state_rows[slot]; row < arrays.state_rows[slot + 1]; ++row)
        signal.row.push_back(row_value(goal, cut, row, decides));
    }
    for (std::int64_t i = 0; i < cut.outcomes(); ++i)
      signal.outcome.push_back(outcome_value(goal, cut, i));
    for (State s = 0; s < cut.states(); ++s) signal.arrival.push_back(arrival_value(goal, cut, s));
    arrays.signals.push_back(std::move(signal));
  }
  Terms same = terms;
  select_radii(same, rows);
  Unfinished unfinished = unfinished_of(terms, sets);
  for (State s = 0; s < model.states(); ++s)
    unfinished.states.push_back(pairs.counts_still(s, pairs.arrival_code(s)));
  return {Model(std::move(arrays)), std::move(same), std::move(all), std::move(unfinished)};
}

// The model of the pairs that episodes can come to.
class Product {
 public:
  Product(const Model& model, const Terms& terms, const GoalSets& sets, const Pairs& pairs)
      : model_(model),
        terms_(terms),
        sets_(sets),
        pairs_(pairs),
        anywhere_(reaches_anywhere(terms)),
        // Outcomes of probability zero stay in a model only where bounds say that they are
        // possible.
        writer_(sets.nothing_else ? std::vector<Signal>() : model.arrays().signals,
                anywhere_ || !model.arrays().lower.empty()),
        own_signals_(static_cast<int>(arrays_.signals.size())),
        unfinished_(unfinished_of(terms, sets)) {}

  WithGoals build() {
    const ModelArrays& from = model_.arrays();
    arrays_.states = pairs_.count();
    arrays_.stages = from.stages;
    arrays_.action_names = from.action_names;
    for (const DecidedGoal& goal : sets_.goals) arrays_.signals.push_back({goal.name, {}, {}});
    for (const Label& label : from.labels) arrays_.labels.push_back({label.name});
    for_each_pair([&](State state, std::int64_t code) {
      arrays_.state_names.push_back(pairs_.name(state, code));
      state_.push_back(state);
      unfinished_.states.push_back(pairs_.counts_still(state, code));
    });
    for (Label& label : arrays_.labels) {
      const auto& with = model_.find_label(label.name)->states;
      for (State s = 0; s < pairs_.count(); ++s)
        if (std::binary_search(with.begin(), with.end(), state_[s])) label.states.push_back(s);
    }
    for (int stage = 0; stage < from.stages; ++stage)
      for_each_pair([&](State state, std::int64_t code) { add_rows(stage, state, code); });
    Terms terms = changed_terms();
    return {Model(std::move(arrays_)), std::move(terms), std::move(state_), std::move(unfinished_)};
  }

 private:
  template <class Visit>
  void for_each_pair(Visit visit) const {
    for (State s = 0; s < model_.states(); ++s) {
      for (std::int64_t code = 0; code < pairs_.width(); ++code)
        if (pairs_.number(s, code) >= 0) visit(s, code);
    }
  }

  void add_rows(int stage, State state, std::int64_t code) {
    const Row begin = model_.row_begin(stage, state), end = model_.row_end(stage, state);
    if (!pairs_.done(state, code)) {
      for (Row row = begin; row < end; ++row) add_row(state, code, row);
      if (begin == end && pairs_.begins(code)) add_waiting_row(state, code);
    }
    writer_.end_state();
  }

  // What the start is worth is earned by a decision, also where there is none to take.
  void add_waiting_row(State state, std::int64_t code) {
    rows_.push_back(-1);
    writer_.begin_row(0, [&](int k) { return k < own_signals_ ? 0 : goal(k).at_start(state); });
    add_outcome(
        state, code, state, 1, 1, 1, [](int) { return 0.0; },
        [](const DecidedGoal&) { return 0.0; });
    writer_.end_row();
  }

  void add_row(State state, std::int64_t code, Row row) {
    const ModelArrays& from = model_.arrays();
    rows_.push_back(row);
    writer_.begin_row(from.action[row], [&](int k) {
      if (k < own_signals_) return model_.value(k, row);
      const double begins = pairs_.begins(code) ? goal(k).at_start(state) : 0;
      const double earned = pairs_.undecided(goal(k), state, code)
                                ? row_value(goal(k), model_, row, state < sets_.ordinary)
                                : 0;
      return begins + earned;
    });
    const bool bounded = !from.lower.empty();
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
      add_outcome(
          state, code, from.next[i], from.probability[i], bounded ? from.lower[i] : 0,
          bounded ? from.upper[i] : 1, [&](int s) { return model_.outcome_value(s, i); },
          [&](const DecidedGoal& goal) { return outcome_value(goal, model_, i); });
    for (State next = 0; anywhere_ && next < from.states; ++next) {
      if (model_.lists(row, next)) continue;
      add_outcome(
          state, code, next, 0, 0, 1, [&](int s) { return model_.arrival_value(s, next); },
          [&](const DecidedGoal& goal) { return arrival_value(goal, model_, next); });
    }
    writer_.end_row();
  }

  template <class OwnValue, class GoalValue>
  void add_outcome(State state, std::int64_t code, State next, double probability, double lower,
                   double upper, OwnValue own, GoalValue of_goal) {
    writer_.add_outcome(pairs_.number(next, pairs_.next_code(code, next)), probability,
                        anywhere_ ? 0 : lower, anywhere_ ? 1 : upper, [&](int k) {
                          if (k < own_signals_) return own(k);
                          return pairs_.undecided(goal(k), state, code) ? of_goal(goal(k)) : 0.0;
                        });
  }
  const DecidedGoal& goal(int signal) const { return sets_.goals[signal - own_signals_]; }

  Terms changed_terms() const {
    Terms terms = terms_;
    for (State& s : terms.start.states) s = pairs_.number(s, pairs_.start_code(s));
    select_radii(terms, rows_);
    if (anywhere_) keep_to_support(terms.uncertainty);  // landings are outcomes now
    return terms;
  }

  const Model& model_;
  const Terms& terms_;
  const GoalSets& sets_;
  const Pairs& pairs_;
  bool anywhere_;
  ModelWriter writer_;
  ModelArrays& arrays_ = writer_.arrays;
  int own_signals_;        // before those of the goals
  std::vector<Row> rows_;  // the row of the model that each is; -1: none
  std::vector<State> state_;
  Unfinished unfinished_;
};

}  // namespace

WithGoals with_goals(const Model& model, const Terms& terms, State ordinary) {
  const GoalSets sets = find_goals(model, terms, ordinary);
  const Pairs pairs(model, terms, sets);
  for (const DecidedGoal& goal : sets.goals) {
    const bool asks = goal.goal.kind != Goal::Kind::avoid && goal.goal.kind != Goal::Kind::until;
    require(goal.name != terms.objective.signal || !asks || pairs.can_reach(goal),
            "objective '{}', no state of label '{}' can be reached from the start", goal.name,
            goal.goal.label);
    for (const State s : terms.start.states)
      require(terms.horizon != 0 || goal.at_start(s) == 0,
              "'{}' with horizon 0, must be at least 1: the start {} decides it", goal.name,
              model.state_name(s));
  }
  if (pairs.same_states()) return on_same_states(model, terms, sets, pairs);
  return Product(model, terms, sets, pairs).build();
}

}  // namespace redoubt::internal
