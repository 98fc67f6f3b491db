#include "evaluation/without_traps.h"

#include "evaluation/memoryless_evaluation.h"
#include "evaluation/taken_model.h"
#include "model/set_traits.h"
#include "policy/memory_update.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

class Nodes {
 public:
  Nodes(const Problem& problem, const Policy& policy)
      : problem_(problem),
        model_(problem.model()),
        from_(model_.arrays()),
        policy_(policy),
        stage_(static_cast<int>(policy.stages.size()) - 1),
        count_(policy.at(stage_).end(model_.states() - 1)),
        made_(model_, !from_.lower.empty()) {}

  TakenProblem build() {
    require(!lands_anywhere(problem_.uncertainty()),
            "a policy with memory where nature can keep an episode for ever and may land anywhere, "
            "must have no memory or a set with reach support");
    for (State s = 0; s < model_.states(); ++s)
      for (std::int64_t m = 0; m < memory_of(policy_, stage_, s); ++m)
        add_node(s, static_cast<std::int32_t>(m));
    for (const std::vector<MemoryMove>& moves : draws_) add_draw(moves);
    Terms terms = made_.terms_like(problem_);
    terms.start = {{0}, {1.0}};
    return {problem_.earning(made_.take_model(), std::move(terms)), made_.take_rows()};
  }

 private:
  void add_node(State s, std::int32_t memory) {
    const Row first = model_.row_begin(0, s);
    const Policy::Stage& here = policy_.at(stage_);
    if (first < model_.row_end(0, s))
      for_each_choice(here, here.begin(s) + memory, [&](std::int32_t action, double weight) {
        if (weight > 0) add_row(decision(policy_, stage_, s, memory, action), weight);
      });
    made_.end_state();
  }
  void add_row(const Decision& taken, double weight) {
    const Row row = model_.row_begin(0, taken.state) + taken.action;
    const auto first = model_.outcome_begin(row);
    made_.begin_row(weight, radius_of(problem_.uncertainty(), row),
                    [&](int k) { return model_.value(k, row); });
    for (auto i = first; i < model_.outcome_end(row); ++i)
      made_.copy_outcome(node_after(taken, i - first, from_.next[i]), model_, i,
                         [&](int k) { return model_.outcome_value(k, i); });
    made_.end_row();
  }
  State node_after(const Decision& taken, std::int64_t outcome, State to) {
    memory_moves(problem_, policy_, taken, outcome, to, moves_);
    for (MemoryMove& move : moves_)  // by its node from here on
      move.memory = static_cast<std::int32_t>(node_of(policy_, stage_, to, move.memory));
    if (moves_.size() == 1) return moves_.front().memory;
    draws_.push_back(moves_);
    return static_cast<State>(count_ + static_cast<std::int64_t>(draws_.size()) - 1);
  }
  void add_draw(const std::vector<MemoryMove>& moves) {
    const auto nothing = [](int) { return 0.0; };
    made_.begin_row(1, 0, nothing);
    for (const MemoryMove& move : moves)
      if (move.weight > 0)
        made_.add_outcome(move.memory, move.weight, move.weight, move.weight, nothing);
    made_.end_row();
    made_.end_state();
  }

  const Problem& problem_;
  const Model& model_;
  const ModelArrays& from_;
  const Policy& policy_;
  int stage_;
  std::int64_t count_;
  std::vector<MemoryMove> moves_;
  std::vector<std::vector<MemoryMove>> draws_;  // of nodes
  TakenModel made_;
};

}  // namespace

TakenProblem node_problem(const Problem& problem, const Policy& policy) {
  if (is_memoryless(policy)) {
    TakenRows taken;
    find_taken_rows(problem.model(), 0, policy.stages.back(), taken);
    return {problem, std::move(taken)};
  }
  return Nodes(problem, policy).build();
}

}  // namespace redoubt::internal
