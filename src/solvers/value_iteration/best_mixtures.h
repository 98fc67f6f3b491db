#pragma once

#include <vector>

#include "bellman/state_batch.h"
#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// Backward steps in which every state takes its best mixture of actions, where its rows share one
// radius, for one channel and one value per state. (The worst mixture is a single row: there,
// nature and policy want the same.)
class BestMixtures {
 public:
  BestMixtures(const Problem& problem, Channel channel, Workers& workers, Exchange& exchange);

  // values[state] = what its best mixture guarantees, given what the next stage is worth.
  Residual step(int stage, const std::vector<double>& next, std::vector<double>& values,
                Policy::Stage& decisions);

  double evaluations() const;  // of this rank

 private:
  struct Worker {
    explicit Worker(const Problem& problem) : rows(problem), states(problem) {}
    RowBatch rows;
    StateBatch states;
    std::vector<Row> row;
    std::vector<double> alone, value;
    std::vector<StateItem> items;
    Residual residual;
  };
  void run(int stage, State begin, State end, const NextOfStates& next, double* values,
           Worker& worker);
  Policy::Stage decisions_of(int stage) const;

  const Problem* problem_;
  Channel channel_;
  Workers* group_;
  Exchange* exchange_;
  std::vector<Worker> workers_;
  std::vector<double> weight_;  // of each row of the model
};

}  // namespace redoubt::internal
