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

Model ModelBuilder::build() const {
  std::vector<const Entry*> order;
  for (const Entry& e : entries_) order.push_back(&e);
  std::stable_sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
    return std::tie(a->stage, a->state, a->action) < std::tie(b->stage, b->state, b->action);
  });

  ModelArrays a;
  a.states = states_;
  a.stages = stages_;
  a.state_names = state_names_;
  a.action_names = action_names_;
  a.labels = labels_;
  a.state_rows.assign(static_cast<std::size_t>(states_) * stages_ + 1, 0);
  a.row_outcomes.push_back(0);
  for (const std::string& name : signals_) a.signals.push_back({name, {}, {}});
  a.arrival_reward = arrival_reward_;
  for (std::size_t s = 0; s < arrival_signals_.size(); ++s)
    a.signals[s].arrival = arrival_signals_[s];
  const auto at = [](const std::vector<double>& values, std::size_t i) {
    return values.empty() ? 0.0 : values[i];
  };
  bool intervals = false;
  for (const Entry* e : order) {
    ++a.state_rows[static_cast<std::size_t>(e->stage) * states_ + e->state + 1];
    a.action.push_back(e->action);
    a.reward.push_back(e->row.reward);
    for (std::size_t s = 0; s < signals_.size(); ++s)
      a.signals[s].row.push_back(at(e->row.signals, s));
    for (const Outcome& o : e->row.outcomes) {
      a.next.push_back(o.next);
      a.probability.push_back(o.probability);
      const bool inside = o.next >= 0 && o.next < states_;  // otherwise the model will complain
      const auto arrival = [&](const std::vector<double>& values) {
        return inside ? at(values, o.next) : 0.0;
      };
      a.outcome_reward.push_back(o.reward + arrival(arrival_reward_));
      for (std::size_t s = 0; s < signals_.size(); ++s)
        a.signals[s].outcome.push_back(at(o.signals, s) + arrival(a.signals[s].arrival));
      const bool bounded = o.lower >= 0 || o.upper >= 0;
      a.lower.push_back(bounded ? o.lower : o.probability);
      a.upper.push_back(bounded ? o.upper : o.probability);
      intervals |= bounded;
    }
    a.row_outcomes.push_back(static_cast<std::int64_t>(a.next.size()));
  }
  for (std::size_t i = 1; i < a.state_rows.size(); ++i) a.state_rows[i] += a.state_rows[i - 1];
  if (!intervals) a.lower.clear(), a.upper.clear();
  return Model(std::move(a));
}

}  // namespace redoubt
