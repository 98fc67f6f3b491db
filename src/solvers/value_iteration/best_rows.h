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
  // The same for a problem of set none, where row r earns earned[r] in expectation.
  BestRows(const Problem& problem, std::vector<double> earned, Workers& workers,
           Exchange& exchange);

  // values[state] = best of its rows, given what the next stage is worth; actions = which one that
  // was, of each own state by its place (-1: it is terminal). Of actions that differ by rounding
  // only the first is taken, on every machine.
  Residual step(int stage, const std::vector<double>& next, std::vector<double>& values,
                std::vector<std::int32_t>& actions);
  // The same where nobody asks how far it moved the values, unless `measure`.
  void sweep(int stage, const std::vector<double>& next, std::vector<double>& values,
             std::vector<std::int32_t>& actions, bool measure = false);

  // The same for some states of a whole model whose rows are the same at every stage, after a step
  // over all of them: values[i] and actions[i] are those of states[i], none of which is terminal.
  void step_of(std::span<const State> states, const std::vector<double>& next, double* values,
               std::int32_t* actions);

  // The states of this rank whose values the last step over all of them has changed.
  State changed() const;

  // Of this rank. A step counts the rows of all states, also of those that it need not look at.
  double evaluations() const { return evaluations_; }

  // The largest value of a decision, by which rows are worth the same.
  double unit() const { return unit_; }

  // True when on no rank a state has taken, in any step, an action that is worse than another one
  // by rounding: then the values are, to the bit, what the actions are worth.
  bool exact() const;

 private:
  struct Worker {
    explicit Worker(const Problem& problem) : batch(problem) {}
    RowBatch batch;
    std::vector<Row> rows;
    std::vector<double> result, room;
    Residual residual;
    State changed = 0;
    bool exact = true;
  };
  std::size_t slot(int stage) const;  // of the stage's first state among those of all stages
  void prepare_nominal(int stage);
  void run(int stage, State begin, State end, const std::vector<double>& next, double floor,
           std::vector<double>& values, std::vector<std::int32_t>& actions, Worker& worker) const;
  void run_nominal(State begin, State end, const std::vector<double>& next,
                   std::vector<double>& values, std::vector<std::int32_t>& actions,
                   Worker& worker) const;
  void run_some(std::span<const State> states, const std::vector<double>& next, double* values,
                std::int32_t* actions, Worker& worker) const;
  std::int32_t choose(const double* results, std::int64_t count, double& value, bool& exact) const;

  void begin_nominal(const double* earned);

  const Problem* problem_;
  Channel channel_;
  Workers* group_;
  Exchange* exchange_;
  bool least_;
  double unit_;
  bool measure_ = false;
  double evaluations_ = 0;
  std::vector<Worker> workers_;
  // Of a nominal problem:
  bool nominal_;
  BestExpected best_;
  RowsOfStates states_;         // by place
  std::vector<Row> begin_;      // of a submodel: the first row of each place
  std::vector<double> earned_;  // of each row, where no array of the model has it
};

}  // namespace redoubt::internal
