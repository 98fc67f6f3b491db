#include "policy/export.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "policy/memory_update.h"
#include "support/csv_records.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

int stages_of(const Problem& problem, const Policy& policy) {
  const auto stored = static_cast<int>(policy.stages.size());
  return problem.infinite() ? stored : std::min(stored, problem.horizon());
}

// Weight of each action of a node, by position in the state's list.
std::map<std::int32_t, double> weights_of(const Policy::Stage& stage, std::int64_t node) {
  std::map<std::int32_t, double> weights;
  for_each_choice(stage, node, [&](std::int32_t action, double weight) {
    if (weight > 0) weights[action] += weight;
  });
  return weights;
}

// The cell of each axis that a memory state stands for; the last axis runs fastest.
std::vector<std::int32_t> cells_of(const Policy& policy, int stage, std::int32_t memory) {
  std::vector<std::int32_t> cells(policy.budget.size());
  for (std::size_t a = policy.budget.size(); a-- > 0;) {
    const auto& counts = policy.budget[a].cells;
    const auto count = counts[std::min<std::size_t>(stage, counts.size() - 1)];
    cells[a] = memory % count;
    memory /= count;
  }
  return cells;
}

std::string quoted_csv(const std::string& text) {
  return text.find_first_of(",\"\n\r") == std::string::npos ? text : csv_quoted(text);
}

// Where the memory goes after an action: for each next state one memory state, or an Error.
class StormMemory {
 public:
  StormMemory(const Problem& problem, const Policy& policy)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        stages_(stages_of(problem, policy)) {
    for (int h = 0; h < stages_; ++h) {
      begin_.push_back(count_);
      std::int64_t most = 1;
      for (State s = 0; s < policy.states; ++s)
        most = std::max(most, policy.stages[h].end(s) - policy.stages[h].begin(s));
      count_ += most;
    }
    begin_.push_back(count_);  // after the last decision
    start_ = single(start_memory(policy, problem.start().states.front()), 0);
    for (const State s : problem.start().states)
      require(single(start_memory(policy, s), 0) == start_,
              "episodes begin in different memory states, Storm's schedulers must begin in one");
  }

  // Number 0 changes places with the memory state in which episodes begin.
  std::int64_t number(int stage, std::int64_t memory) const {
    const std::int64_t plain = begin_[stage] + memory;
    return plain == start_ ? 0 : plain == 0 ? start_ : plain;
  }

  std::map<State, std::int64_t> updates(const Decision& decision, Row row) const {
    std::map<State, std::int64_t> out;
    const int stage = decision.stage;
    const int there = policy_.repeats_last ? std::min(stage + 1, stages_ - 1) : stage + 1;
    std::vector<MemoryMove> moves;
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      const State next = model_.arrays().next[i];
      memory_moves(problem_, policy_, decision, i - model_.outcome_begin(row), next, moves);
      const auto target = number(there, there == stages_ ? 0 : single(moves, stage));
      const auto [entry, added] = out.emplace(next, target);
      require(added || entry->second == target,
              "the memory of the policy at stage {} depends on more than the next state, Storm's "
              "schedulers cannot",
              stage);
    }
    return out;
  }

 private:
  static std::int64_t single(std::vector<MemoryMove> moves, int stage) {
    std::erase_if(moves, [](const MemoryMove& move) { return move.weight == 0; });
    require(moves.size() == 1,
            "the memory of the policy moves at random at stage {}, Storm's schedulers cannot",
            stage);
    return moves.front().memory;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  int stages_;
  std::vector<std::int64_t> begin_;
  std::int64_t count_ = 0, start_ = 0;
};

}  // namespace

void write_policy_csv(std::ostream& out, const Problem& problem, const Policy& policy) {
  check_policy(problem, policy);
  const Model& m = problem.model();
  out << "step,idstate,memory";
  for (const BudgetAxis& axis : policy.budget)
    out << ',' << quoted_csv("budget_" + m.arrays().signals[axis.signal].name);
  out << ",idaction,probability\n";
  for (int h = 0; h < stages_of(problem, policy); ++h) {
    const Policy::Stage& stage = policy.stages[h];
    for (State s = 0; s < m.states(); ++s) {
      if (m.row_begin(h, s) == m.row_end(h, s)) continue;
      for (auto node = stage.begin(s); node < stage.end(s); ++node) {
        const auto memory = static_cast<std::int32_t>(node - stage.begin(s));
        std::string left = fmt::format("{},{},{}", h, s, memory);
        const auto cells = cells_of(policy, h, memory);
        for (std::size_t a = 0; a < cells.size(); ++a)
          left +=
              fmt::format(",{}", policy.budget[a].sign * policy.budget[a].requirement(h, cells[a]));
        for (const auto& [position, weight] : weights_of(stage, node))
          out << fmt::format("{},{},{}\n", left, m.arrays().action[m.row_begin(h, s) + position],
                             weight);
      }
    }
  }
}

namespace {

Json storm_choices(const Model& m, const Policy& policy, const StormMemory& memory, int h, State s,
                   std::int64_t node) {
  const Policy::Stage& stage = policy.stages[h];
  Json choices = Json::array();
  for (const auto& [position, weight] : weights_of(stage, node)) {
    const Row row = m.row_begin(h, s) + position;
    const auto here = static_cast<std::int32_t>(node - stage.begin(s));
    Json updates = Json::array();
    for (const auto& [next, to] : memory.updates(decision(policy, h, s, here, position), row))
      updates.push_back({{"s'", next}, {"m'", to}});
    choices.push_back({{"index", row},
                       {"labels", Json::array({m.action_name(m.arrays().action[row])})},
                       {"prob", weight},
                       {"memory-updates", updates}});
  }
  return choices;
}

}  // namespace

void write_storm_scheduler(std::ostream& out, const Problem& problem, const Policy& policy) {
  check_policy(problem, policy);
  const Model& m = problem.model();
  require(m.stages() == 1,
          "the model has rows for {} stages, Storm's schedulers are for one model at all stages",
          m.stages());
  const StormMemory memory(problem, policy);
  out << '[';
  const char* separator = "\n";
  for (int h = 0; h < stages_of(problem, policy); ++h) {
    const Policy::Stage& stage = policy.stages[h];
    for (State s = 0; s < m.states(); ++s) {
      if (m.row_begin(h, s) == m.row_end(h, s)) continue;
      for (auto node = stage.begin(s); node < stage.end(s); ++node) {
        const Json entry = {{"s", s},
                            {"m", memory.number(h, node - stage.begin(s))},
                            {"c", storm_choices(m, policy, memory, h, s, node)}};
        out << separator << entry.dump(-1, ' ', false, Json::error_handler_t::replace);
        separator = ",\n";
      }
    }
  }
  out << "\n]\n";
}

}  // namespace redoubt::internal
