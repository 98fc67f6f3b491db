#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "evaluation/mixed_landings.h"
#include "parallel/exchange.h"
#include "parallel/workers.h"
#include "policy/budget.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/solve.h"
#include "solvers/rcvi/budget_decisions.h"
#include "solvers/rcvi/budget_lanes.h"
#include "solvers/rcvi/mixture_decision.h"

namespace redoubt::internal {

// Backward value iteration on (state, budgets), the engine of rcvi. Lanes are the
// cells of the budget grid, of all axes' cells where there are several; two layers of values are
// kept, the policy is handed out stage by stage. One axis takes a short way: its lanes move as a
// whole, and mixtures of two actions are found for many lanes at once. Where the rows of a state
// share a radius, every lane has a decision of its own.
class BudgetSweep {
 public:
  // Besides the reward, each axis adds one more array of values: what the policy earns on that
  // axis. At least one axis.
  BudgetSweep(const Problem& problem, std::span<const BudgetAxis> axes, int stages,
              Fallback fallback, Workers& workers);

  // One stage back: reads the values of stage + 1, makes those of `stage`, and writes its
  // decisions.
  void step(int stage, Policy::Stage& decisions);

  // What the computed policy is worth from here: array 0 is the reward, then one for each axis, in
  // nature's sign.
  double value(int array, State state, std::int32_t memory) const {
    return lanes(next_, array, state)[memory];
  }
  double row_evaluations() const;

  // What a checkpoint keeps between two stages: the values of `stage`, of this rank's states. Once
  // they are read, other ranks' are missing.
  void visit(Archive& archive, int stage);
  void take_from_others();

 private:
  // Values of one stage: [state][array][halo | lanes | halo], so that moving the budget by whole
  // cells is moving a pointer. State number `states` holds, for each lane, the least value of all
  // states: the worst landing anywhere.
  struct Layer {
    int lanes = 1, before = 0, after = 0;
    std::int64_t stride = 0;  // of one array
    std::vector<double> values;
  };
  struct Worker {
    Worker(const Problem& problem, BudgetDecision decides)
        : rows(problem), decision(std::move(decides)) {}
    RowEvaluator rows;
    BudgetDecision decision;
    std::optional<MixtureDecision> mixture;  // where the rows of a state share a radius
    DecisionList decisions;                  // of the lanes at hand, where they are lists
    std::vector<double> q;                   // [action][array][padded lanes]
    std::vector<const double*> reward, utility;
    std::vector<const double*> next;  // [array][outcome]
    std::vector<double> floor, earned, value, required;
    MemoryRange range;       // the lanes at hand
    BudgetMoves moves;       // of the step at hand
    std::int64_t shift = 0;  // the same where it is a shift
  };

  double own_evaluations() const;  // of this rank
  void shape_layer(int stage, Layer& layer) const;
  const double* lanes(const Layer& layer, int array, State state) const {
    return layer.values.data() + (std::int64_t{state} * arrays_ + array) * layer.stride +
           layer.before;
  }
  double* lanes(Layer& layer, int array, State state) const {
    return const_cast<double*>(lanes(static_cast<const Layer&>(layer), array, state));
  }
  void step_range(int stage, State state, Policy::Stage& decisions, Worker& worker);
  void evaluate_row(int stage, Row row, double* q, Worker& worker);
  void find_next(int stage, Row row, Worker& worker);
  double lost_by_rounding(int stage, const Worker& worker) const;
  void fetch_row(int stage, Row row, Worker& worker) const;
  void move(int stage, Row row, std::int64_t outcome, Worker& worker) const;
  const double* moved(int array, State state, const Worker& worker, double* buffer) const;
  const double* moved_floor(int array, Row row, Worker& worker) const;
  void find_thresholds(int stage);
  void decide(State state, int actions, Policy::Stage& decisions, Worker& worker);
  void decide_lists(State state, int actions, Worker& worker);
  void lend_rows(int stage, Row first, int actions, Worker& worker);
  // Decisions are lists of actions, not pairs of them.
  bool by_lists() const { return axes_.size() > 1 || workers_.front().mixture.has_value(); }
  LayerView view(Layer& layer) const;
  void fill_halo(Layer& layer, State state) const;
  void fill_halos_of_others(Layer& layer) const;
  void find_floor(int stage);

  const Problem* problem_;
  std::span<const BudgetAxis> axes_;
  int stages_;
  std::vector<Channel> channels_;  // of the arrays
  int arrays_;
  Fallback fallback_;
  Workers* group_;
  Exchange exchange_;
  std::vector<Worker> workers_;
  BudgetLanes shapes_;
  MixedLandings landings_;  // where budgets are drawn
  Layer next_, here_;
  std::vector<double> threshold_;        // of the stage at hand, [axis][padded lanes]
  std::vector<DecisionList> decisions_;  // where they are lists, of each range of lanes
  double evaluations_before_ = 0;        // in the run that this one continues
};

}  // namespace redoubt::internal
