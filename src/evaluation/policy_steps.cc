#include <algorithm>

#include "bellman/steps.h"
#include "evaluation/stage_evaluation.h"
#include "model/support.h"
#include "policy/memory_update.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// The nodes in which nature can keep the policy for ever: none, or an Error.
class StayingNodes {
 public:
  StayingNodes(const Problem& problem, const Policy& policy, int stage)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        stage_(stage),
        support_(model_, problem.uncertainty()),
        kept_(policy.at(stage).end(model_.states() - 1), 1) {}

  void require_none() {
    const Policy::Stage& here = policy_.at(stage_);
    for (bool changed = true; changed;) {
      changed = false;
      for (State s = 0; s < model_.states(); ++s) {
        for (auto node = here.begin(s); node < here.end(s); ++node) {
          if (!kept_[node] || stays(s, node)) continue;
          kept_[node] = 0;
          changed = true;
        }
      }
    }
    for (State s = 0; s < model_.states(); ++s)
      for (auto node = here.begin(s); node < here.end(s); ++node)
        require(kept_[node] == 0,
                "the policy may stay in state {} for ever, must come to an end with certainty",
                model_.state_name(s));
  }

 private:
  bool stays(State s, std::int64_t node) {
    const Row first = model_.row_begin(0, s);
    if (first == model_.row_end(0, s)) return false;
    bool all = true;
    const auto memory = static_cast<std::int32_t>(node - policy_.at(stage_).begin(s));
    for_each_choice(policy_.at(stage_), node, [&](std::int32_t action, double weight) {
      if (weight <= 0 || !all) return;
      const Decision taken = decision(policy_, stage_, s, memory, action);
      all = support_.may_stay(first + action,
                              [&](State to) { return keeps(taken, first + action, to); });
    });
    return all;
  }
  // Whether every memory state in which the row may arrive there is kept.
  bool keeps(const Decision& taken, Row row, State to) {
    const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
    bool all = true;
    const auto look_at = [&](std::int64_t outcome) {
      memory_moves(problem_, policy_, taken, outcome, to, moves_);
      for (const MemoryMove& move : moves_)
        all &= move.weight <= 0 || kept_[policy_.at(stage_).begin(to) + move.memory] != 0;
    };
    for (auto i = begin; i < end; ++i)
      if (model_.arrays().next[i] == to) look_at(i - begin);
    if (support_.lands_anywhere(row) && !model_.lists(row, to)) look_at(end - begin);
    return all;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  int stage_;
  Support support_;
  std::vector<char> kept_;
  std::vector<MemoryMove> moves_;
};

}  // namespace

double contraction_of(const Problem& problem, const Policy& policy, int stage, Workers& workers) {
  if (!problem.improper()) return contraction(problem, workers);
  StayingNodes(problem, policy, stage).require_none();
  StageEvaluation nodes(problem, policy, {{-1, 0.0}}, workers);  // which earns nothing
  const Model& model = problem.model();
  std::vector<double> less;
  const auto run = [&](const std::vector<double>& steps, std::vector<double>& longer) {
    less.resize(steps.size());
    std::transform(steps.begin(), steps.end(), less.begin(), [](double n) { return 0.0 - n; });
    nodes.run(stage, less, longer, [](State) {});
    for (State s = 0; s < model.states(); ++s) {
      const auto first = longer.begin() + nodes.first_node(stage, s);
      const auto count = policy.at(stage).end(s) - policy.at(stage).begin(s);
      const bool decides = model.row_begin(0, s) < model.row_end(0, s);
      std::transform(first, first + count, first, [&](double n) { return decides ? 1 - n : 0; });
    }
  };
  const std::vector<double> steps =
      most_steps(static_cast<std::size_t>(nodes.nodes(stage)), run, workers);
  return 1 - 1 / std::max(2.0, *std::max_element(steps.begin(), steps.end()));
}

}  // namespace redoubt::internal
