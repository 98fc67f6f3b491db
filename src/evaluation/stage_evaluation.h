#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "evaluation/kept_nature.h"
#include "evaluation/lanes_by_action.h"
#include "evaluation/mixed_landings.h"
#include "evaluation/state_nodes.h"
#include "parallel/exchange.h"
#include "parallel/workers.h"
#include "policy/budget.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/execution.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// One backward stage of evaluating a policy, for several channels at once. Values are laid out
// [channel][node], where nodes are those of all states of the model. A submodel, whose
// policy has nodes of its own states only, has room for equally many in every state.
class StageEvaluation {
 public:
  StageEvaluation(const Problem& problem, const Policy& policy, std::vector<Channel> channels,
                  Workers& workers, const StageStore* store = nullptr);

  Exchange& exchange() { return exchange_; }
  int channels() const { return static_cast<int>(channels_.size()); }
  double row_evaluations() const;

  // Needed to go back over this many stages.
  MemoryPlan memory(int stages) const;

  // The values of a stage, which may be the one after the last, and where those of a state begin.
  std::int64_t nodes(int stage) const;
  std::int64_t first_node(int stage, State state) const;

  // Where the values of a stage lie, as ranks exchange them.
  LayerView layer(int stage, std::vector<double>& values) const;

  // values = worst case of following the policy from this stage, given what the next stage is
  // worth. `finish` sees each state when its values are there, and may change them. `kept` receives
  // nature's answers, where they are wanted.
  using Finish = std::function<void(State state)>;
  void run(int stage, const std::vector<double>& next, std::vector<double>& values,
           const Finish& finish, KeptNature* kept = nullptr);

 private:
  struct Worker {  // buffers of one thread
    explicit Worker(const Problem& problem);
    RowEvaluator rows;
    std::optional<StateNodes> shared;  // in their place where the rows of a state share a radius
    MemoryRange range;                 // memory states at hand
    LanesByAction taken;               // which of them take which action
    LanesByAction ahead;               // the same of the next state, when it is known already
    State ahead_of = -1;
    // Those that take the action at hand.
    std::span<const std::int32_t> lanes;
    std::span<const double> weight;
    std::span<const std::int64_t> choice;
    std::vector<const double*> next;
    std::vector<double> floor, result, earned, minimiser;
    std::vector<State> listed;  // of the row at hand, in the whole model
    BudgetMoves moves;
  };
  using Next = std::vector<double>;

  void find_room();
  void load(int stage);
  bool by_table(int stage) const { return by_table_[policy_->stage_index(stage)]; }
  std::int32_t nodes_of(State state) const;
  void fetch_decisions(State state) const;
  void run_range(int stage, State state, const Next& next, Next& values, Worker& worker);
  void collect_lanes(int stage, State state, MemoryRange range, LanesByAction& taken) const;
  void fetch_after(int stage, State state, int action, const Next& next, Worker& worker) const;
  bool fetch_taken(int stage, State state, int from, const LanesByAction& taken, const Next& next,
                   Worker& worker) const;
  void gather_row(int stage, State state, std::int32_t action, const Next& next, Worker& worker);
  void evaluate_row(int stage, State state, std::int32_t action, const Next& next, Worker& worker);
  void gather(int stage, Row row, int outcome, const Next& next, Worker& worker,
              double* target) const;
  void gather_floor(int stage, Row row, Worker& worker) const;
  std::int32_t floor_memory(int stage) const;
  void prepare_floor(int stage, const Next& next);
  void prepare_landings(int stage, const Next& next);
  double least_landing(const Policy::Stage& here, std::int64_t slot, int channel,
                       std::span<const State> listed) const;
  void gather_landings(int stage, Row row, Worker& worker) const;

  const Problem* problem_;
  const Policy* policy_;
  std::vector<Channel> channels_;
  const StageStore* store_;  // of stages that the policy has no decisions of; null: it has all
  const Policy::Stage* decisions_ = nullptr;  // of the stage at hand
  Policy::Stage stored_;
  Workers* group_;
  Exchange exchange_;
  KeptNature* kept_ = nullptr;  // where nature's answers go
  std::vector<Worker> workers_;
  bool outcomes_move_ = false;
  std::vector<bool> by_table_;      // of each stage, on any rank: memory moves by table
  std::vector<std::int64_t> room_;  // of each stage, on ranks: the most nodes that any state has
  // The least value over all states, [channel][memory state of a budget]; or, by table, the value
  // of landing in each state of the whole model, [channel][plan][state].
  std::vector<double> floor_;
  MixedLandings mixed_landings_;  // in their place where budgets are drawn
  std::int64_t plans_ = 0;        // of the stage at hand
  State all_states_;              // of the whole model
};

// What has the place of a discount for one policy that follows its last stage for ever, in a
// problem without one: that of the problem, unless some policies never come to an end (see
// bellman/steps.h). Then an Error where this one may not.
double contraction_of(const Problem& problem, const Policy& policy, int stage, Workers& workers);

}  // namespace redoubt::internal
