#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "redoubt/error.h"
#include "redoubt/problem.h"

namespace redoubt {

// A model that is code. Its states are any values that can be compared and hashed; actions are
// numbers. `initial()` is where episodes begin, `actions(state)` the numbers of a state's actions
// in increasing order (none: terminal), and `step(state, action, outcome)` calls
// outcome(probability, next) or outcome(probability, next, reward, signals), signals in the order
// of `signal_names()`, which a model without signals leaves out. `labels(state)`, where there is
// one, gives the names of a state's labels, and `hash(state)` is used in place of std::hash.
//
//     struct Queue {
//       using State = int;
//       State initial() const { return 0; }
//       std::vector<int> actions(const State& waiting) const { ... }
//       void step(const State& waiting, int action, auto&& outcome) const {
//         outcome(0.5, waiting + 1, 1.0);
//         outcome(0.5, waiting);
//       }
//     };
template <class M>
concept Explorable = requires(const M& model, const typename M::State& state) {
  { model.initial() } -> std::convertible_to<typename M::State>;
  { *std::begin(model.actions(state)) } -> std::convertible_to<std::int32_t>;
  { state == state } -> std::convertible_to<bool>;
};

// The states of an explored model, in the order of their numbers, and the model itself.
template <class StateValue>
struct Explored {
  Model model;
  std::vector<StateValue> states;  // number 0 is where episodes begin
};

namespace exploring {

template <Explorable M>
class Explorer {
 public:
  using Value = typename M::State;

  Explorer(const M& model, std::int64_t most_states) : model_(model), most_(most_states) {
    arrays_.state_rows = {0};
    arrays_.row_outcomes = {0};
    if constexpr (requires { model.signal_names(); }) {
      for (const auto& name : model.signal_names()) arrays_.signals.push_back({name, {}, {}});
    }
  }

  Explored<Value> run() {
    meet(model_.initial());
    for (std::size_t i = 0; i < states_.size(); ++i) expand(i);
    arrays_.states = static_cast<State>(states_.size());
    for (auto& [name, members] : labels_) arrays_.labels.push_back({name, std::move(members)});
    return {Model(std::move(arrays_)), std::move(states_)};
  }

 private:
  struct Hash {
    const M* model;
    std::size_t operator()(const Value& state) const {
      if constexpr (requires { model->hash(state); })
        return model->hash(state);
      else
        return std::hash<Value>()(state);
    }
  };

  State meet(Value state) {
    const auto [place, added] = numbers_.try_emplace(state, static_cast<State>(states_.size()));
    if (added) {
      if (static_cast<std::int64_t>(states_.size()) >= most_)
        throw Error("more than " + std::to_string(most_) +
                    " states can be reached, most_states must be larger");
      states_.push_back(std::move(state));
    }
    return place->second;
  }

  void add(double probability, State next, double reward, std::span<const double> signals) {
    arrays_.next.push_back(next);
    arrays_.probability.push_back(probability);
    arrays_.outcome_reward.push_back(reward);
    for (std::size_t k = 0; k < arrays_.signals.size(); ++k)
      arrays_.signals[k].outcome.push_back(k < signals.size() ? signals[k] : 0.0);
  }

  void expand(std::size_t number) {
    const Value state = states_[number];  // what follows may move the list
    if constexpr (requires { model_.labels(state); }) {
      for (const auto& name : model_.labels(state))
        labels_[std::string(name)].push_back(static_cast<State>(number));
    }
    for (const auto action : model_.actions(state)) {
      arrays_.action.push_back(static_cast<std::int32_t>(action));
      model_.step(
          state, action,
          [&](double probability, Value next, double reward = 0,
              std::initializer_list<double> signals = {}) {
            add(probability, meet(std::move(next)), reward, {signals.begin(), signals.size()});
          });
      arrays_.row_outcomes.push_back(static_cast<std::int64_t>(arrays_.next.size()));
    }
    arrays_.state_rows.push_back(static_cast<Row>(arrays_.action.size()));
  }

  const M& model_;
  std::int64_t most_;
  std::vector<Value> states_;
  std::unordered_map<Value, State, Hash> numbers_{16, Hash{&model_}};
  std::map<std::string, std::vector<State>> labels_;
  ModelArrays arrays_;
};

}  // namespace exploring

// All states that can be reached, numbered in the order in which they are met: the same model gives
// the same bits. An Error names the row whose probabilities do not sum to one.
template <Explorable M>
Explored<typename M::State> explore(const M& model,
                                    std::int64_t most_states = std::numeric_limits<State>::max() -
                                                               1) {
  return exploring::Explorer<M>(model, most_states).run();
}

}  // namespace redoubt
