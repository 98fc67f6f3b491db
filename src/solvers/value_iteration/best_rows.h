#pragma once

#include <vector>

#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// Backward steps in which every state takes its best row, for one channel and one value per state.
class BestRows {
 public:
  // `least`: the row that is worst for the channel, instead of the best.
  BestRows(const Problem& problem, Channel channel, Workers& workers, Exchange& exchange,
           bool least);

  // values[state] = best of its rows, given what the next stage is worth; actions = which one that
  // was, of each own state by its place (-1: it is terminal).
  Residual step(int stage, const std::vector<double>& next, std::vector<double>& values,
                std::vector<std::int32_t>& actions);

  double evaluations() const;  // of this rank

 private:
  struct Worker {
    explicit Worker(const Problem& problem) : batch(problem) {}
    RowBatch batch;
    std::vector<Row> rows;
    std::vector<double> result;
    Residual residual;
  };
  std::int32_t choose(const double* results, std::int64_t count, double& value) const;

  const Problem* problem_;
  Channel channel_;
  Workers* group_;
  Exchange* exchange_;
  bool least_;
  std::vector<Worker> workers_;
};

}  // namespace redoubt::internal
