#include "policy/unseen_factors.h"

#include <algorithm>
#include <map>

#include "policy/memory_update.h"
#include "policy/stage_builder.h"

namespace redoubt::internal {
namespace {

// Between two decisions, in a factor, memory is the number of the choice that was made: the same
// whichever factor it is.
class Unseen {
 public:
  Unseen(const Problem& problem, const Policy& policy)
      : problem_(problem), model_(problem.model()), policy_(policy) {
    for (int h = 0; h < stages(); ++h) choices_.push_back(choices_of(h));
  }

  Policy run() const {
    Policy out = policy_;
    for (int h = 0; h < stages(); ++h) out.stages[h] = stage(h);
    return out;
  }

 private:
  using Moves = std::vector<MemoryMove>;
  struct Choice {
    State state;
    std::int32_t memory, action;
  };

  int stages() const { return static_cast<int>(policy_.stages.size()); }
  bool ends_after(int h) const { return !policy_.repeats_last && h + 1 >= stages(); }
  bool acts(int h, State s) const { return model_.row_begin(h, s) < model_.row_end(h, s); }
  std::int32_t memory(int h, State s) const {
    return static_cast<std::int32_t>(memory_of(policy_, h, s));
  }

  template <class Visit>
  void for_each_action(int h, State s, std::int32_t m, Visit visit) const {
    const Policy::Stage& here = policy_.at(h);
    for_each_choice(here, here.begin(s) + m, [&](std::int32_t action, double weight) {
      if (weight > 0) visit(action, weight);
    });
  }

  // Of all ordinary nodes, in the order in which they are written.
  std::vector<Choice> choices_of(int h) const {
    std::vector<Choice> all;
    for (State s = 0; s < model_.states(); ++s) {
      if (problem_.is_factor(s) || !acts(h, s)) continue;
      for (std::int32_t m = 0; m < memory(h, s); ++m)
        for_each_action(h, s, m, [&](std::int32_t action, double) {
          all.push_back({s, m, action});
        });
    }
    return all;
  }

  // The number of the first choice of a stage among those that lead to the next one. The stage that
  // is repeated comes after the one before it, and after itself.
  std::int32_t first_number(int h) const {
    const bool again = policy_.stage_index(h + 1) == h;
    return again && h > 0 ? static_cast<std::int32_t>(choices_[h - 1].size()) : 0;
  }

  Policy::Stage stage(int h) const {
    StageBuilder builder({.nodes_by_state = true, .moves_by_table = true});
    const std::vector<std::map<State, Moves>> after = moves_into(h);
    std::int32_t number = first_number(h);
    for (State s = 0; s < model_.states(); ++s) {
      if (!acts(h, s)) {
        for (std::int32_t m = 0; m < memory(h, s); ++m) builder.end_node();
      } else if (problem_.is_factor(s)) {
        add_factor(h, s, after, builder);
      } else {
        add_nodes(h, s, number, builder);
      }
      builder.end_state();
    }
    return builder.take();
  }

  void add_nodes(int h, State s, std::int32_t& number, StageBuilder& builder) const {
    for (std::int32_t m = 0; m < memory(h, s); ++m) {
      for_each_action(h, s, m, [&](std::int32_t action, double weight) {
        builder.choose(action, weight);
        const Row row = model_.row_begin(h, s) + action;
        for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
          builder.move({ends_after(h) ? 0 : number, 1.0});
          builder.end_outcome();
        }
        ++number;
      });
      builder.end_node();
    }
  }

  // A node for each choice, although some of them never lead here.
  void add_factor(int h, State s, const std::vector<std::map<State, Moves>>& after,
                  StageBuilder& builder) const {
    const Row row = model_.row_begin(h, s);
    const Moves never = {{0, 1.0}};
    for (const std::map<State, Moves>& moves : after) {
      builder.choose(0, 1);
      for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
        const auto known = moves.find(model_.arrays().next[i]);
        for (const MemoryMove& move : known != moves.end() ? known->second : never)
          builder.move(move);
        builder.end_outcome();
      }
      builder.end_node();
    }
  }

  // For each choice that leads to this stage, and each state that it may come to in the end: where
  // memory goes.
  std::vector<std::map<State, Moves>> moves_into(int h) const {
    std::vector<std::map<State, Moves>> all;
    const auto add = [&](int from) {
      for (const Choice& choice : choices_[from]) all.push_back(moves_after(from, choice));
    };
    if (h > 0) add(h - 1);
    if (policy_.repeats_last && h + 1 == stages()) add(h);
    if (all.empty()) all.emplace_back();  // nobody comes here
    return all;
  }

  std::map<State, Moves> moves_after(int h, const Choice& choice) const {
    struct Mass {
      double likely = 0, any = 0;  // nominal, and with every outcome of a factor alike
    };
    std::map<State, std::map<std::int32_t, Mass>> found;
    const Row row = model_.row_begin(h, choice.state) + choice.action;
    const Decision taken = decision(policy_, h, choice.state, choice.memory, choice.action);
    Moves first, second;
    for (auto k = model_.outcome_begin(row); k < model_.outcome_end(row); ++k) {
      const State factor = model_.arrays().next[k];
      memory_moves(problem_, policy_, taken, k - model_.outcome_begin(row), factor, first);
      const Row drawn = model_.row_begin(h + 1, factor);
      for (const MemoryMove& move : first) {
        const Decision passed = decision(policy_, h + 1, factor, move.memory, 0);
        for (auto i = model_.outcome_begin(drawn); i < model_.outcome_end(drawn); ++i) {
          const State next = model_.arrays().next[i];
          memory_moves(problem_, policy_, passed, i - model_.outcome_begin(drawn), next, second);
          for (const MemoryMove& then : second) {
            const double weight = model_.arrays().probability[k] * move.weight * then.weight;
            Mass& mass = found[next][then.memory];
            mass.likely += weight * model_.arrays().probability[i];
            mass.any += weight;
          }
        }
      }
    }
    std::map<State, Moves> moves;
    for (const auto& [next, masses] : found) {
      double likely = 0, any = 0;
      for (const auto& [memory, mass] : masses) likely += mass.likely, any += mass.any;
      for (const auto& [memory, mass] : masses) {
        const double weight = likely > 0 ? mass.likely / likely : mass.any / any;
        if (weight > 0) moves[next].push_back({memory, weight});
      }
    }
    return moves;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  std::vector<std::vector<Choice>> choices_;  // of each stage
};

}  // namespace

Policy without_factors(const Problem& problem, const Policy& policy) {
  const bool by_table = std::any_of(policy.stages.begin(), policy.stages.end(),
                                    [](const auto& stage) { return !stage.outcome_slot.empty(); });
  return by_table ? Unseen(problem, policy).run() : policy;
}

}  // namespace redoubt::internal
