#pragma once

#include <optional>
#include <vector>

#include "evaluation/chain.h"
#include "solvers/value_iteration/alike_rows.h"

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
  //
  // `change`: how far `next` is from that of the last step, whose actions are given, too. Rows that
  // cannot have become the best since are not looked at; without it all are.
  Residual step(int stage, const std::vector<double>& next, std::vector<double>& values,
                std::vector<std::int32_t>& actions, const Residual* change = nullptr);

  // The same for some states of a whole model whose rows are the same at every stage, after a step
  // over all of them: values[i] and actions[i] are those of states[i], none of which is terminal.
  void step_of(std::span<const State> states, const std::vector<double>& next, double* values,
               std::int32_t* actions);

  // Copies the rows of the states that the calls of step_of up to the next copy will be for; of no
  // states: drops that copy.
  void copy_of(std::span<const State> states);

  // The states of this rank whose values the last step over all of them has changed, and those for
  // which it took another action than was given.
  State changed() const { return sum_of(&Worker::changed); }
  State new_actions() const { return sum_of(&Worker::new_actions); }
  // Those of which it looked at more than the row that was given.
  State looked_at() const { return sum_of(&Worker::looked_at); }

  // Of this rank. A step counts the rows of all states, also of those that it need not look at.
  double evaluations() const { return evaluations_; }

  // The largest value of a decision, by which rows are worth the same.
  double unit() const { return unit_; }

  // True when on no rank a state has taken, in any step, an action that is worse than another one
  // by rounding: then the values are, to the bit, what the actions are worth.
  bool exact() const;

  // Whether a step at this stage may copy the rows that are taken, for the steps that follow.
  static bool may_gather(const Problem& problem, int stage);

 private:
  struct Worker {
    explicit Worker(const Problem& problem) : batch(problem) {}
    RowBatch batch;
    std::vector<Row> rows;
    std::vector<double> result, room;
    Residual residual;
    State changed = 0, new_actions = 0, looked_at = 0;
    bool exact = true;
  };
  State sum_of(State Worker::*count) const;
  std::size_t slot(int stage) const;  // of the stage's first state among those of all stages
  void prepare_nominal(int stage);
  void copy_alike();
  void begin_elimination(const Residual* change);
  bool pays_to_gather(int stage) const;
  State run(int stage, State begin, State end, const std::vector<double>& next, double floor,
            std::vector<double>& values, std::vector<std::int32_t>& actions, Worker& worker);
  void run_nominal(State begin, State end, const std::vector<double>& next,
                   std::vector<double>& values, std::vector<std::int32_t>& actions,
                   Worker& worker) const;
  void best_of_block(const StateChoice& block, const double* next, double* values,
                     std::int32_t* actions, Worker& worker) const;
  void run_some(std::span<const State> states, const std::vector<double>& next, double* values,
                std::int32_t* actions, Worker& worker) const;
  std::int32_t choose(std::span<const double> results, double& value, bool& exact) const;
  double lead(std::span<const double> results, std::int32_t taken) const;

  void begin_nominal(const double* earned);

  const Problem* problem_;
  Channel channel_;
  Workers* group_;
  Exchange* exchange_;
  bool least_;
  double unit_;
  double evaluations_ = 0;
  std::vector<Worker> workers_;
  bool eliminates_;
  bool measures_;                  // what changes: not where a finite horizon has nothing to choose
  ActionElimination elimination_;  // of this step
  double drift_ = 0;
  std::vector<double> until_;  // by place
  // Of a nominal problem:
  bool nominal_;
  AlikeRows::Kernels kernels_;
  ExpectedValues expected_;
  // The rows that are taken, one behind the other: where hardly any other can be the best, a sweep
  // reads these in place of the model, in which they are far apart.
  Chain taken_;
  RowsOfStates states_;         // by place
  std::vector<Row> begin_;      // of a submodel: the first row of each place
  std::vector<double> earned_;  // of each row, where no array of the model has it
  int steps_ = 0;
  std::optional<AlikeRows> all_, some_;  // of all places; of the states of copy_of
};

}  // namespace redoubt::internal
