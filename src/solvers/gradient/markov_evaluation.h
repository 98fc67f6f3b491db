#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bellman/row_batch.h"
#include "bellman/state_batch.h"
#include "parallel/workers.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// Nature's distributions for every row of one stage and every channel: outcome i of a row, and
// after the last one the mass of landings, at kernel[channel * size + outcome_begin(row) + row +
// i].
struct Kernels {
  std::span<const double> weights;  // of each row: the policy
  std::span<const double> kernel;
  std::int64_t size = 0;           // of one channel
  std::span<const State> landing;  // for each channel, where mass from outside lands; empty: none
};

// The Markov chains, one for each channel, that a stationary policy and nature make together.
// Systems are solved by elimination for few states, by sweeps for many.
class PolicyChains {
 public:
  PolicyChains(const Problem& problem, Workers& workers, int channels);

  // x becomes (I - discount W)^-1 x in every channel; x is laid out [channel][state]. By sweeps,
  // only to a share of x: the caller improves it in any case.
  void solve(const Kernels& kernels, std::span<double> x);

  // The discounted number of visits to each state, for one channel.
  void visits(const Kernels& kernels, int channel, std::span<double> counts);

 private:
  static constexpr State kElimination = 128;  // states up to which elimination is used

  void fill(const Kernels& kernels, int channel, bool transposed);
  void eliminate(double* x);
  void solve_by_sweeps(const Kernels& kernels, std::span<double> all);
  void visits_by_sweeps(const Kernels& kernels, int channel, std::span<double> counts);
  // One step of the chain for one channel and state: visit(next state, probability).
  template <class Visit>
  void for_each_move(const Kernels& kernels, int channel, State state, Visit visit) const;

  const Problem* problem_;
  Workers* workers_;  // works alone, but asks them whether to stop
  int channels_;
  std::vector<double> matrix_, right_, arriving_, following_;
};

// Worst-case values of one Markov policy after another, for the reward (channel 0) and every
// constraint (channel 1 + its number) at once, in nature's sign. A policy has one weight for each
// **slot**: a row, and in a finite horizon a row at a stage.
//
// In an infinite horizon this is policy iteration for nature: given values, one robust sweep finds
// nature's kernels; given kernels, a linear system has the values. The worst cases of the rows do
// not depend on the policy, so those of the previous policy begin the next evaluation for free,
// and two or three sweeps are enough. Where the rows of a state share a radius they do: nature
// answers the policy's weights, and what a slot is worth is counted under that answer, which makes
// it the derivative of the state's worst case by its weight.
class MarkovEvaluation {
 public:
  // `with_visits`: visits() will be asked for.
  MarkovEvaluation(const Problem& problem, Workers& workers, double tolerance, bool with_visits);

  int stages() const { return stages_; }
  std::int64_t slots() const { return slots_; }
  std::int64_t slot(int stage, Row row) const { return stage * stage_slots_ + row; }
  int channels() const { return static_cast<int>(channels_.size()); }

  void run(std::span<const double> weights);

  // Of the last run: totals from the start, the largest error in them, what each slot is worth.
  double total(int channel) const { return totals_[channel]; }
  double error() const { return error_; }
  double worth(std::int64_t slot, int channel) const { return worth_[channel * slots_ + slot]; }
  // Discounted visits to (stage, state) under the policy and nature's kernels for the channel.
  std::span<const double> visits(std::span<const double> weights, int channel);

  double row_evaluations() const;
  void visit(Archive& archive);                            // what one run leaves to the next
  std::int64_t unfinished() const { return unfinished_; }  // runs that did not reach the tolerance
  std::int64_t most_sweeps() const { return most_sweeps_; }

 private:
  struct Worker {
    explicit Worker(const Problem& problem);
    RowBatch rows;
    std::optional<StateBatch> states;  // in their place where the rows of a state share a radius
    std::vector<StateItem> items;      // [state][channel]
    std::vector<Row> row;
    std::vector<double> result;
  };

  void run_finite(std::span<const double> weights);
  void run_infinite(std::span<const double> weights);
  // Worth and kernels of the stage's rows.
  void sweep(std::span<const double> weights, int stage, const double* next);
  void sweep_states(std::int64_t begin, std::int64_t end, Worker& worker);
  void sweep_shared(std::int64_t begin, std::int64_t end, Worker& worker);
  void keep_answer(Row row, int channel, const StateLanes& lanes, int lane, int action);
  void average(std::span<const double> weights, int stage, double* values) const;
  void sum_at_start(const double* values);
  double residual();  // how far the policy's values are from those that they follow from
  Kernels kernels(std::span<const double> weights) const {
    return {weights, kernel_, kernel_size_, landing_};
  }

  const Problem* problem_;
  Workers* group_;
  Workers::Body body_;
  std::vector<Worker> workers_;
  std::vector<Channel> channels_;
  int stages_;
  std::int64_t stage_slots_, stage_kernel_, slots_, kernel_size_ = 0;
  double tolerance_;
  std::int64_t most_sweeps_ = 0;

  std::vector<double> worth_;              // [channel][slot]
  std::vector<double> kernel_;             // [channel], as in Kernels; of each stage
  std::vector<std::int64_t> row_kernels_;  // where that of each row begins
  std::vector<double> values_;  // [channel][state]; in a finite horizon for each stage and the end
  std::vector<double> base_, correction_;  // infinite horizon: the values that `worth_` belongs to
  std::vector<double> floor_, totals_, visits_;
  std::vector<State> landing_;
  PolicyChains chains_;
  bool begun_ = false;
  int stage_ = 0;                 // of the sweep at hand
  const double* next_ = nullptr;  // and what the next stage is worth
  std::span<const double> weights_;
  double error_ = 0;
  std::int64_t unfinished_ = 0;
  double evaluations_before_ = 0;  // before this run of the program
};

}  // namespace redoubt::internal
