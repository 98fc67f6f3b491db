#include <fmt/ranges.h>

#include <algorithm>

#include "redoubt/model.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

ModelBuilder::ModelBuilder(State states, std::vector<std::string> signals, int stages)
    : states_(states), stages_(stages), signals_(std::move(signals)) {
  require(states >= 1, "states = {}, must be at least 1", states);
  require(stages >= 1, "stages = {}, must be at least 1", stages);
}

void ModelBuilder::add(int stage, State state, std::int32_t action, RowData row) {
  require(stage >= 0 && stage < stages_, "stage {}, must be in 0..{}", stage, stages_ - 1);
  require(state >= 0 && state < states_, "state {}, must be in 0..{}", state, states_ - 1);
  const auto check = [&](const std::vector<double>& values) {
    require(values.empty() || values.size() == signals_.size(),
            "{} signal values of (state {}, action {}), must be {} or none", values.size(), state,
            action, signals_.size());
  };
  check(row.signals);
  for (const Outcome& outcome : row.outcomes) check(outcome.signals);
  entries_.push_back({stage, state, action, std::move(row)});
}

void ModelBuilder::on_arrival(State state, double reward, std::vector<double> signals) {
  require(state >= 0 && state < states_, "state {}, must be in 0..{}", state, states_ - 1);
  require(signals.empty() || signals.size() == signals_.size(),
          "{} signal values of arrivals in state {}, must be {} or none", signals.size(), state,
          signals_.size());
  arrival_reward_.resize(states_, 0.0);
  arrival_reward_[state] = reward;
  arrival_signals_.resize(signals_.size(), std::vector<double>(states_, 0.0));
  for (std::size_t s = 0; s < signals.size(); ++s) arrival_signals_[s][state] = signals[s];
}

State ModelBuilder::group(std::vector<State> members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  require(!members.empty(), "a group without members, must have at least one");
  for (const State s : members)
    require(s >= 0 && s < states_, "state {} of a group, must be in 0..{}", s, states_ - 1);
  const auto known = std::find(groups_.begin(), groups_.end(), members);
  const auto number = static_cast<State>(known - groups_.begin());
  if (known == groups_.end()) groups_.push_back(std::move(members));
  return states_ + number;
}

State ModelBuilder::factor(std::vector<Outcome> outcomes) {
  factors_.push_back(std::move(outcomes));
  return states_ + static_cast<State>(factors_.size() - 1);
}

// The rows of groups and factors, behind those that were added.
std::vector<ModelBuilder::Entry> ModelBuilder::entries_between() const {
  std::vector<Entry> entries;
  for (int stage = 0; stage < stages_; ++stage) {
    for (std::size_t k = 0; k < factors_.size(); ++k)
      entries.push_back(
          {stage, states_ + static_cast<State>(k), 0, RowData{.outcomes = factors_[k]}});
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      RowData row;
      for (const State s : groups_[g])
        row.outcomes.push_back({.next = s,
                                .probability = 1.0 / static_cast<double>(groups_[g].size()),
                                .lower = 0,
                                .upper = 1});
      entries.push_back({stage, states_ + static_cast<State>(g), 0, std::move(row)});
    }
  }
  return entries;
}

std::vector<std::string> ModelBuilder::all_state_names() const {
  std::vector<std::string> names = state_names_;
  for (std::size_t g = 0; !state_names_.empty() && g < groups_.size(); ++g) {
    std::vector<std::string> members;
    for (const State s : groups_[g]) members.push_back(state_names_.at(s));
    names.push_back(fmt::format("one of {}", fmt::join(members, ", ")));
  }
  for (std::size_t k = 0; !state_names_.empty() && k < factors_.size(); ++k)
    names.push_back(fmt::format("factor {}", k));
  return names;
}

Model ModelBuilder::build() const {
  require(groups_.empty() || factors_.empty(), "{} groups and {} factors, must be one of them",
          groups_.size(), factors_.size());
  const std::vector<Entry> added = entries_between();
  const auto states = static_cast<State>(states_ + groups_.size() + factors_.size());
  std::vector<const Entry*> order;
  for (const Entry& e : entries_) order.push_back(&e);
  for (const Entry& e : added) order.push_back(&e);
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::tie(a->stage, a->state, a->action) < std::tie(b->stage, b->state, b->action);
  });

  ModelArrays a;
  a.states = states;
  a.groups = static_cast<State>(groups_.size());
  a.factors = static_cast<State>(factors_.size());
  a.stages = stages_;
  a.state_names = all_state_names();
  a.action_names = action_names_;
  a.labels = labels_;
  a.state_rows.assign(static_cast<std::size_t>(states) * stages_ + 1, 0);
  a.row_outcomes.push_back(0);
  for (const std::string& name : signals_) a.signals.push_back({name, {}, {}});
  a.arrival_reward = arrival_reward_;
  if (!arrival_reward_.empty()) a.arrival_reward.resize(states, 0.0);
  for (std::size_t s = 0; s < arrival_signals_.size(); ++s) {
    a.signals[s].arrival = arrival_signals_[s];
    a.signals[s].arrival.resize(states, 0.0);
  }
  const auto at = [](const std::vector<double>& values, std::size_t i) {
    return values.empty() ? 0.0 : values[i];
  };
  bool intervals = false;
  for (const Entry* e : order) {
    ++a.state_rows[static_cast<std::size_t>(e->stage) * states + e->state + 1];
    a.action.push_back(e->action);
    a.reward.push_back(e->row.reward);
    for (std::size_t s = 0; s < signals_.size(); ++s)
      a.signals[s].row.push_back(at(e->row.signals, s));
    for (const Outcome& o : e->row.outcomes) {
      a.next.push_back(o.next);
      a.probability.push_back(o.probability);
      const bool inside = o.next >= 0 && o.next < states;  // otherwise the model will complain
      const auto arrival = [&](const std::vector<double>& values) {
        return inside && o.next < static_cast<State>(values.size()) ? values[o.next] : 0.0;
      };
      a.outcome_reward.push_back(o.reward + arrival(arrival_reward_));
      for (std::size_t s = 0; s < signals_.size(); ++s)
        a.signals[s].outcome.push_back(at(o.signals, s) + arrival(a.signals[s].arrival));
      const bool bounded = o.lower >= 0 || o.upper >= 0;
      a.lower.push_back(bounded ? o.lower : o.probability);
      a.upper.push_back(bounded ? o.upper : o.probability);
      intervals |= bounded && (e->state < states_ || !factors_.empty());
    }
    a.row_outcomes.push_back(static_cast<std::int64_t>(a.next.size()));
  }
  for (std::size_t i = 1; i < a.state_rows.size(); ++i) a.state_rows[i] += a.state_rows[i - 1];
  if (!intervals) a.lower.clear(), a.upper.clear();
  return Model(std::move(a));
}

}  // namespace redoubt
