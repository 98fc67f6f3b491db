#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "redoubt/choice.h"
#include "redoubt/problem.h"
#include "redoubt/shared_array.h"

namespace redoubt {

// How a remaining budget that falls between two cells of its grid is kept.
enum class Rounding {
  up,     // to the next larger requirement: pessimistic, as in the paper
  mixed,  // drawn from the two neighbours so that its expectation is right
};

// Memory that is the budget of one constraint, as a requirement: what the signal must still earn
// from here on, in the units of the current stage. Costs are utilities with the opposite sign. Cell
// `i` of stage h stands for bound + (low[h] + i) * step. Requirements beyond the window of a stage
// are kept in its first or last cell: there, no later decision depends on them.
struct BudgetAxis {
  int constraint = 0;
  int signal = 0;
  double sign = 1;   // -1 for a cost
  double bound = 0;  // of the utility
  double step = 1;
  double discount = 1;
  bool exact = false;  // every change of the budget is a whole number of cells
  Rounding rounding = Rounding::up;
  std::vector<std::int64_t> low;  // for each stage, and one more for the end of the horizon
  std::vector<std::int32_t> cells;
  std::vector<double>
      slack;  // for each stage: how far below the requirement the policy was allowed to stay

  double requirement(int stage, std::int32_t cell) const {
    return bound + static_cast<double>(low[stage] + cell) * step;
  }
  std::int32_t start() const;  // the cell of the whole bound at stage 0
  double size() const { return std::max(std::abs(bound), step); }  // what rounding is measured by
  bool operator==(const BudgetAxis&) const = default;
};

// What the requirement becomes: `cell`, or with probability `up` the cell above it. `loss` is what
// rounding up added to it.
struct BudgetMove {
  std::int32_t cell = 0;
  double up = 0;
  double loss = 0;
};
BudgetMove move_budget(const BudgetAxis& axis, int stage, std::int32_t cell, double earned);

struct MemoryMove {
  std::int32_t memory = 0;
  double weight = 1;
  bool operator==(const MemoryMove&) const = default;
};

// A finite-memory policy: the one type that every method returns and every tool takes. At a
// stage, a **node** is a pair of a state and one of its memory states; a node has a distribution
// over the state's actions, and for each action and outcome a distribution over the memory states
// of the next stage.
struct Policy {
  struct Stage {
    // Nodes of state s: node_begin[s] up to the next entry. Empty: `memory` nodes for every state,
    // in order.
    std::vector<std::int64_t> node_begin;
    std::int32_t memory = 1;

    // Decisions, in one of two forms: one MixedChoice for each node, or a list of (action, weight)
    // for each node. Actions are positions in the state's own list. Terminal states have no
    // decision.
    SharedArray<MixedChoice> mixed;
    std::vector<std::int64_t> choice_begin;
    std::vector<std::int32_t> choice_action;
    std::vector<double> choice_weight;

    // Memory moves by table, for policies without budget axes; without a table it keeps its number.
    // Choice c, outcome i of its row has the moves move_begin[outcome_slot[c] + i] up to the next
    // entry; i = number of outcomes is for a landing.
    std::vector<std::int64_t> outcome_slot;
    std::vector<std::int64_t> move_begin;
    std::vector<MemoryMove> moves;
    // A landing (an arrival outside the row's outcomes) first draws a landing plan by the
    // table above, then the memory by the plan: plan l in state s has the moves landing_begin[l *
    // states + s] up to the next entry.
    std::vector<std::int64_t> landing_begin;
    std::vector<MemoryMove> landing_moves;
    bool operator==(const Stage&) const = default;

    std::int64_t begin(State state) const {
      return node_begin.empty() ? std::int64_t{state} * memory : node_begin[state];
    }
    std::int64_t end(State state) const {
      return node_begin.empty() ? std::int64_t{state + 1} * memory : node_begin[state + 1];
    }
  };

  State states = 0;
  std::vector<Stage> stages;
  bool repeats_last = false;  // the last stage is used for ever (infinite horizon)
  std::vector<BudgetAxis>
      budget;  // memory = cells of these axes, the last one fastest; empty: by table, or no memory
  // Where an episode begins: start_begin[i] .. of the moves for start_states[i], in the numbers of
  // the whole model. No start_states: memory `start_memory` everywhere.
  std::int32_t start_memory = 0;
  std::vector<State> start_states;
  std::vector<std::int64_t> start_begin;
  std::vector<MemoryMove> start_moves;
  bool operator==(const Policy&) const = default;

  int stage_index(int stage) const { return std::min(stage, static_cast<int>(stages.size()) - 1); }
  const Stage& at(int stage) const { return stages[stage_index(stage)]; }
  std::int64_t memory_states()
      const;  // the largest number of memory states that any state has at any stage
};

// The distribution over memory states in which an episode from this state begins. Error when the
// policy has none for it.
std::vector<MemoryMove> start_memory(const Policy& policy, State state);

// A policy without memory: weight of each action, for each stage, state and position in the state's
// list of actions, in the order of the model's rows. One stage of weights is used at every stage.
Policy markov_policy(const Problem& problem, const std::vector<std::vector<double>>& weights);

// Throws an Error that names the mismatch unless the policy can be used on this problem.
void check_policy(const Problem& problem, const Policy& policy);

// Calls visit(action position, weight) for each action that the node may take.
template <class Visit>
void for_each_choice(const Policy::Stage& stage, std::int64_t node, Visit visit) {
  if (!stage.mixed.empty()) {
    const MixedChoice& choice = stage.mixed[node];
    visit(static_cast<std::int32_t>(choice.safe), choice.safe_probability());
    if (choice.weight != 65535)
      visit(static_cast<std::int32_t>(choice.other), 1 - choice.safe_probability());
    return;
  }
  for (auto c = stage.choice_begin[node]; c < stage.choice_begin[node + 1]; ++c) {
    visit(stage.choice_action[c], stage.choice_weight[c]);
  }
}

}  // namespace redoubt
