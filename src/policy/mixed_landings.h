#pragma once

#include <functional>
#include <span>
#include <vector>

#include "policy/budget.h"
#include "sweep/workers.h"

namespace redoubt {

// True when a remaining requirement may be drawn from two cells.
bool draws_budgets(std::span<const BudgetAxis> axes);

// What rows earn on the axes when nature lands outside of them, each once, in order; those of a
// stage, of all ranks together.
std::vector<std::vector<double>> earned_by_landings(const Model& model,
                                                    std::span<const BudgetAxis> axes, int stage,
                                                    Communicator& ranks);

// The worst landing of a policy that draws its budget. Nature chooses the state before the policy
// draws: it is the least mixture of any state, not the mixture of the least. Of a row, it depends
// on what the row earns and on nothing else, so it is found once for all rows that earn the same,
// by all ranks together.
class MixedLandings {
 public:
  MixedLandings(const Problem& problem, std::span<const BudgetAxis> axes, Workers& workers)
      : problem_(&problem), axes_(axes), group_(&workers) {}

  // For all rows of a stage. values(array, state) are what the memory states of the next stage are
  // worth there.
  using Values = std::function<const double*(int array, State state)>;
  void find(int stage, int arrays, const Values& values);

  // For the memory states of the stage, padded like lanes.
  const double* least(Row row, int array) const;

 private:
  struct Worker {
    BudgetMoves moves;
    std::vector<double> mixture;
  };
  void find_one(int stage, std::size_t entry, const Values& values, Worker& worker);

  const Problem* problem_;
  std::span<const BudgetAxis> axes_;
  Workers* group_;
  std::vector<std::vector<double>> earned_;
  int arrays_ = 0;
  std::int64_t stride_ = 0;    // of one array
  std::vector<double> least_;  // [what is earned][array][memory state]
};

}  // namespace redoubt
