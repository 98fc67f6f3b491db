#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "parallel/workers.h"
#include "policy/budget.h"

namespace redoubt::internal {

// True when a budget may be drawn from two cells.
bool draws_budgets(std::span<const BudgetAxis> axes);

// True when the worst landing of a row cannot be told from the cells that its budgets move to: they
// are drawn, or move differently with the state that is arrived in. Ranks ask together.
bool landings_move_apart(const Model& model, std::span<const BudgetAxis> axes, Communicator& ranks);

// What rows earn on the axes when there is a landing, each value once, sorted; those of a
// stage, of all ranks together.
std::vector<std::vector<double>> earned_by_landings(const Model& model,
                                                    std::span<const BudgetAxis> axes, int stage,
                                                    Communicator& ranks);

// The worst landing of a policy that draws its budget, or whose budget depends on the state that it
// lands in. Nature chooses the state before the policy draws: it is the least mixture of any state,
// not the mixture of the least. Of a row, it depends on what the row earns and on nothing else, so
// it is found once for all rows that earn the same, by all ranks together.
class MixedLandings {
 public:
  // With `counts_losses`, what rounding up adds to the requirement of axis a counts as not earned
  // in array a + 1.
  MixedLandings(const Problem& problem, std::span<const BudgetAxis> axes, Workers& workers,
                bool counts_losses);

  // For all rows of a stage; there is an array for each channel. values(array, state) are what the
  // memory states of the next stage are worth there.
  using Values = std::function<const double*(int array, State state)>;
  void find(int stage, std::span<const Channel> channels, const Values& values);
  bool needed() const { return needed_; }  // otherwise the cells are enough

  // For the memory states of the stage, padded like lanes.
  const double* least(Row row, int array) const;

 private:
  struct Worker {
    BudgetMoves moves;
    std::vector<double> mixture, earned;
  };
  static void mix(const double* there, std::int32_t count, Worker& worker);
  void find_alike();
  void find_one(int stage, std::size_t entry, std::span<const Channel> channels,
                const Values& values, Worker& worker);

  const Problem* problem_;
  std::span<const BudgetAxis> axes_;
  Workers* group_;
  bool counts_losses_, needed_;
  std::vector<std::vector<State>> alike_;  // states whose arrivals earn the same on all axes
  std::vector<std::vector<double>> earned_;
  int arrays_ = 0;
  std::int64_t stride_ = 0;    // of one array
  std::vector<double> least_;  // [what is earned][array][memory state]
};

}  // namespace redoubt::internal
