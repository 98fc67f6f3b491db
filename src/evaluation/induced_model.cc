#include "redoubt/induced_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "model/model_writer.h"
#include "policy/memory_update.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

class InducedChain {
 public:
  InducedChain(const Problem& problem, const Policy& policy, Nature nature,
               const Execution& execution)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        kernel_(problem, policy, nature, execution),
        writer_(model_.arrays().signals, false) {}

  Draft build() {
    Terms terms;
    terms.horizon = problem_.terms().horizon;
    terms.discount = problem_.discount();
    terms.start = begin();
    for (std::size_t i = 0; i < nodes_.size(); ++i) expand(i);
    arrays_.states = static_cast<State>(nodes_.size());
    add_names();
    return {Model(std::move(arrays_)), std::move(terms)};
  }

 private:
  using Node = std::tuple<int, State, std::int32_t>;  // stage, state, memory
  using Reached = std::map<State, double>;

  State meet(int stage, State state, std::int32_t memory) {
    const bool over = !problem_.infinite() && stage == problem_.horizon();
    // Stages after the last of a policy that repeats it are the same.
    const int kept = problem_.infinite() ? policy_.stage_index(stage) : stage;
    const auto [place, added] =
        numbers_.emplace(Node(kept, state, over ? 0 : memory), static_cast<State>(nodes_.size()));
    if (added) {
      require(nodes_.size() < std::numeric_limits<State>::max() - 1,
              "{} states of a policy and its memory, must be fewer", nodes_.size());
      nodes_.push_back(place->first);
    }
    return place->second;
  }

  Start begin() {
    Reached reached;
    const Start& start = problem_.start();
    for (std::size_t i = 0; i < start.states.size(); ++i) {
      for (const MemoryMove& move : start_memory(policy_, start.states[i]))
        reached[meet(0, start.states[i], move.memory)] += start.probability[i] * move.weight;
    }
    Start out;
    for (const auto& [node, probability] : reached) {
      out.states.push_back(node);
      out.probability.push_back(probability);
    }
    return out;
  }

  void expand(std::size_t number) {
    const auto [stage, state, memory] = nodes_[number];
    const bool over = !problem_.infinite() && stage == problem_.horizon();
    if (!over && model_.row_begin(stage, state) < model_.row_end(stage, state)) {
      Reached reached;
      std::vector<double> earned(model_.signals() + 1, 0.0);
      const Policy::Stage& here = policy_.at(stage);
      const auto node = here.begin(state) + memory;
      for_each_choice(here, node, [&](std::int32_t action, double weight) {
        if (weight > 0) take(nodes_[number], action, weight, reached, earned);
      });
      writer_.begin_row(0, [&](int k) { return earned[k + 1]; });
      for (const auto& [next, probability] : reached)
        writer_.add_outcome(next, probability, 0, 0, [](int) { return 0.0; });
      writer_.end_row();
    }
    writer_.end_state();
  }

  void take(const Node& from, std::int32_t action, double weight, Reached& reached,
            std::vector<double>& earned) {
    const auto [stage, state, memory] = from;
    const RowDistribution chosen = kernel_.at(stage, state, memory, action);
    const Row row = model_.row_begin(stage, state) + action;
    const auto first = model_.outcome_begin(row);
    const auto outcomes = static_cast<std::int64_t>(chosen.probability.size());
    for (std::int64_t i = 0; i <= outcomes; ++i) {
      const bool lands = i == outcomes;
      const double share = weight * (lands ? chosen.landing : chosen.probability[i]);
      if (share <= 0) continue;
      const State next = lands ? chosen.landing_state : model_.arrays().next[first + i];
      for (int k = -1; k < model_.signals(); ++k)
        earned[k + 1] +=
            share * (model_.value(k, row) +
                     (lands ? model_.arrival_value(k, next) : model_.outcome_value(k, first + i)));
      memory_moves(problem_, policy_, decision(policy_, stage, state, memory, action), i, next,
                   moves_);
      for (const MemoryMove& move : moves_)
        reached[meet(stage + 1, next, move.memory)] += share * move.weight;
    }
  }

  void add_names() {
    for (const Label& label : model_.arrays().labels) arrays_.labels.push_back({label.name});
    std::vector<std::vector<std::size_t>> of_state(model_.states());
    for (std::size_t k = 0; k < arrays_.labels.size(); ++k) {
      for (const State s : model_.arrays().labels[k].states) of_state[s].push_back(k);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto [stage, state, memory] = nodes_[i];
      arrays_.state_names.push_back(
          fmt::format("stage={}, state={}, memory={}", stage, state, memory));
      for (const auto k : of_state[state])
        arrays_.labels[k].states.push_back(static_cast<State>(i));
    }
    for (Signal& signal : arrays_.signals)
      std::replace(signal.name.begin(), signal.name.end(), ' ', '_');
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  WorstKernel kernel_;
  std::map<Node, State> numbers_;
  std::vector<Node> nodes_;
  std::vector<MemoryMove> moves_;
  ModelWriter writer_;
  ModelArrays& arrays_ = writer_.arrays;
};

}  // namespace

Draft induced_model(const Problem& problem, const Policy& policy, Nature nature,
                    const Execution& execution) {
  check_policy(problem, policy);
  return InducedChain(problem, policy, nature, execution).build();
}

}  // namespace redoubt
