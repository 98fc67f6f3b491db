#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "bellman/row_evaluator.h"
#include "policy/export.h"
#include "policy/memory_update.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

using Moves = std::vector<MemoryMove>;

// A policy as flat arrays, each a list of lists: docs/deploy.md describes them.
struct FlatPolicy {
  std::vector<State> start_state;
  std::vector<std::int64_t> start_begin = {0}, node_begin = {0}, choice_begin = {0};
  std::vector<std::int64_t> outcome_begin = {0}, move_begin = {0}, plan_begin = {0};
  Moves start_moves, moves, plan_moves;
  std::vector<std::int32_t> choice_action;
  std::vector<double> choice_weight;
  std::vector<State> outcome_next;           // -1: any state that no outcome of the choice has
  std::vector<std::int64_t> outcome_number;  // in the row of the model
};

class Flatten {
 public:
  Flatten(const Problem& problem, const Policy& policy)
      : problem_(problem), model_(problem.model()), policy_(policy), stages_(stages()) {}

  FlatPolicy run() {
    start();
    for (int h = 0; h < stages_; ++h) {
      find_reached(h);
      for (State s = 0; s < model_.states(); ++s) {
        const auto first = policy_.at(h).begin(s), end = policy_.at(h).end(s);
        for (auto node = first; node < end; ++node) {
          if (reached_[h][node] && model_.row_begin(h, s) < model_.row_end(h, s))
            add_node(h, s, static_cast<std::int32_t>(node - first));
          flat_.choice_begin.push_back(static_cast<std::int64_t>(flat_.choice_action.size()));
        }
        flat_.node_begin.push_back(static_cast<std::int64_t>(flat_.choice_begin.size()) - 1);
      }
      known_plans_.clear();
    }
    return std::move(flat_);
  }
  int stage_count() const { return stages_; }

 private:
  int stages() const {
    if (problem_.infinite()) return static_cast<int>(policy_.stages.size());
    if (model_.stages() > 1) return problem_.horizon();
    return std::min(static_cast<int>(policy_.stages.size()), problem_.horizon());
  }
  // The stage that follows; none after the end of the horizon.
  int after(int h) const {
    if (!problem_.infinite() && h + 1 >= problem_.horizon()) return -1;
    return std::min(h + 1, stages_ - 1);
  }

  // A policy without memory begins anywhere, others where episodes do.
  void start() {
    for (int h = 0; h < stages_; ++h)
      reached_.emplace_back(policy_.at(h).end(model_.states() - 1), false);
    if (stages_ == 0) return;
    std::vector<State> states = problem_.start().states;
    if (policy_.memory_states() == 1) {
      states.resize(model_.states());
      for (State s = 0; s < model_.states(); ++s) states[s] = s;
    }
    for (const State s : states) {
      flat_.start_state.push_back(s);
      for (const MemoryMove& move : start_memory(policy_, s)) {
        flat_.start_moves.push_back(move);
        reached_[0][policy_.at(0).begin(s) + move.memory] = true;
      }
      flat_.start_begin.push_back(static_cast<std::int64_t>(flat_.start_moves.size()));
    }
  }

  // Marks the nodes that those of the stage lead to; a stage that leads to itself until it finds no
  // more.
  void find_reached(int h) {
    const int there = after(h);
    if (there < 0) return;
    bool more = true;
    for (std::int64_t before = -1; more; more = there == h) {
      const std::int64_t now = std::count(reached_[h].begin(), reached_[h].end(), true);
      if (now == before) break;
      before = now;
      for (State s = 0; s < model_.states(); ++s) mark_from(h, there, s);
    }
  }

  void mark_from(int h, int there, State s) {
    if (model_.row_begin(h, s) == model_.row_end(h, s)) return;
    const auto first = policy_.at(h).begin(s), end = policy_.at(h).end(s);
    for (auto node = first; node < end; ++node) {
      if (!reached_[h][node]) continue;
      for_each_choice(policy_.at(h), node, [&](std::int32_t action, double weight) {
        if (weight <= 0) return;
        const auto memory = static_cast<std::int32_t>(node - first);
        const Decision d = decision(policy_, h, s, memory, action);
        for_each_arrival(d, [&](std::int64_t, State next, const Moves& moves) {
          for (const MemoryMove& move : moves)
            reached_[there][policy_.at(there).begin(next) + move.memory] = true;
        });
      });
    }
  }

  // Calls visit(number of the outcome, next state, moves) for everything that may follow, landings
  // outside of the row included.
  template <class Visit>
  void for_each_arrival(const Decision& d, Visit visit) {
    const Row row = model_.row_begin(d.stage, d.state) + d.action;
    const auto outcomes = model_.outcome_end(row) - model_.outcome_begin(row);
    Moves moves;
    for (std::int64_t i = 0; i < outcomes; ++i) {
      const State next = model_.arrays().next[model_.outcome_begin(row) + i];
      visit(i, next, moves_after(d, i, next, moves));
    }
    for (State next = 0; next < model_.states() && lands_anywhere(problem_); ++next) {
      if (!model_.lists(row, next)) visit(outcomes, next, moves_after(d, outcomes, next, moves));
    }
  }

  const Moves& moves_after(const Decision& d, std::int64_t outcome, State next,
                           Moves& moves) const {
    if (after(d.stage) < 0)
      moves.assign(1, {0, 1.0});  // nothing is remembered after the end
    else
      memory_moves(problem_, policy_, d, outcome, next, moves);
    std::erase_if(moves, [](const MemoryMove& move) { return move.weight <= 0; });
    return moves;
  }

  void add_node(int h, State s, std::int32_t memory) {
    for_each_choice(policy_.at(h), policy_.at(h).begin(s) + memory,
                    [&](std::int32_t action, double weight) {
                      if (weight <= 0) return;
                      const Row row = model_.row_begin(h, s) + action;
                      flat_.choice_action.push_back(model_.arrays().action[row]);
                      flat_.choice_weight.push_back(weight);
                      add_outcomes(decision(policy_, h, s, memory, action), row);
                    });
  }

  // One entry for each next state, or several where the policy remembers its outcomes differently.
  void add_outcomes(const Decision& d, Row row) {
    std::map<State, std::vector<Moves>> known;
    std::vector<std::pair<State, Moves>> elsewhere;
    const auto outcomes = model_.outcome_end(row) - model_.outcome_begin(row);
    const auto add = [&](std::int64_t number, State next, const Moves& moves) {
      std::vector<Moves>& same = known[next];
      if (std::find(same.begin(), same.end(), moves) != same.end()) return;
      same.push_back(moves);
      add_outcome(next, number, moves);
    };
    for_each_arrival(d, [&](std::int64_t number, State next, const Moves& moves) {
      if (number < outcomes || known.contains(next))
        add(number, next, moves);
      else
        elsewhere.emplace_back(next, moves);
    });
    if (!elsewhere.empty()) add_outcome(-1, outcomes, {{plan_of(elsewhere), 1.0}});
    flat_.outcome_begin.push_back(static_cast<std::int64_t>(flat_.outcome_next.size()));
  }

  void add_outcome(State next, std::int64_t number, const Moves& moves) {
    flat_.outcome_next.push_back(next);
    flat_.outcome_number.push_back(number);
    flat_.moves.insert(flat_.moves.end(), moves.begin(), moves.end());
    flat_.move_begin.push_back(static_cast<std::int64_t>(flat_.moves.size()));
  }

  // The number of a plan: what is remembered in each state. Choices of a stage share them.
  std::int32_t plan_of(const std::vector<std::pair<State, Moves>>& elsewhere) {
    std::vector<double> key;
    for (const auto& [state, moves] : elsewhere) {
      key.push_back(state);
      for (const MemoryMove& move : moves) key.insert(key.end(), {-1.0 - move.memory, move.weight});
    }
    const auto [found, added] = known_plans_.emplace(std::move(key), plans_);
    if (!added) return found->second;
    auto entry = elsewhere.begin();
    for (State s = 0; s < model_.states(); ++s) {
      if (entry != elsewhere.end() && entry->first == s) {
        flat_.plan_moves.insert(flat_.plan_moves.end(), entry->second.begin(), entry->second.end());
        ++entry;
      }
      flat_.plan_begin.push_back(static_cast<std::int64_t>(flat_.plan_moves.size()));
    }
    return plans_++;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  int stages_;
  std::vector<std::vector<bool>> reached_;  // [stage][node]
  std::map<std::vector<double>, std::int32_t> known_plans_;
  std::int32_t plans_ = 0;
  FlatPolicy flat_;
};

template <class Values>
void write_list(std::ostream& out, const char* key, const Values& values) {
  out << fmt::format(",\n\"{}\":[{}]", key, fmt::join(values, ","));
}

void write_moves(std::ostream& out, const std::string& what, const std::vector<std::int64_t>& begin,
                 const Moves& moves) {
  write_list(out, (what + "_begin").c_str(), begin);
  std::vector<std::int32_t> memory;
  std::vector<double> weight;
  for (const MemoryMove& move : moves) memory.push_back(move.memory), weight.push_back(move.weight);
  write_list(out, (what + "_memory").c_str(), memory);
  write_list(out, (what + "_weight").c_str(), weight);
}

std::string names_text(const std::vector<std::string>& names) {
  return Json(names).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void write_policy_json(std::ostream& out, const Problem& problem, const Policy& policy) {
  check_policy(problem, policy);
  const Model& model = problem.model();
  Flatten flatten(problem, policy);
  const FlatPolicy flat = flatten.run();
  out << fmt::format(
      "{{\"format\":\"redoubt-policy\",\n\"version\":1,\n\"states\":{},\n\"actions\":{}",
      model.states(), model.actions());
  out << fmt::format(",\n\"horizon\":{},\n\"stages\":{}",
                     problem.infinite() ? "null" : std::to_string(problem.horizon()),
                     flatten.stage_count());
  write_list(out, "start_state", flat.start_state);
  write_moves(out, "start", flat.start_begin, flat.start_moves);
  write_list(out, "node_begin", flat.node_begin);
  write_list(out, "choice_begin", flat.choice_begin);
  write_list(out, "choice_action", flat.choice_action);
  write_list(out, "choice_weight", flat.choice_weight);
  write_list(out, "outcome_begin", flat.outcome_begin);
  write_list(out, "outcome_next", flat.outcome_next);
  write_list(out, "outcome_number", flat.outcome_number);
  write_moves(out, "move", flat.move_begin, flat.moves);
  write_moves(out, "plan", flat.plan_begin, flat.plan_moves);
  out << ",\n\"state_names\":" << names_text(model.arrays().state_names)
      << ",\n\"action_names\":" << names_text(model.arrays().action_names) << "}\n";
}

}  // namespace redoubt::internal
