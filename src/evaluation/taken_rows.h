#pragma once

#include <optional>
#include <vector>

#include "bellman/residual.h"
#include "bellman/row_batch.h"
#include "bellman/state_batch.h"
#include "parallel/exchange.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

// The rows that a policy without memory takes at one stage, and with which probability: those of
// own state number i are begin[i] up to the next entry.
struct TakenRows {
  std::vector<std::int64_t> begin;
  std::vector<Row> rows;
  std::vector<double> weight;
};
std::int64_t count_taken_rows(const Model& model, int stage, const Policy::Stage& decisions);
double bytes_of_taken_rows(const Model& model, std::int64_t rows);
void find_taken_rows(const Model& model, int stage, const Policy::Stage& decisions,
                     TakenRows& taken);

// Nature's distributions for the rows that are taken: of row i those from probability[begin[i]]
// on, and, where mass may land outside of a row, that mass behind them.
struct TakenDistributions {
  std::vector<std::int64_t> begin;  // of each row, and the end
  std::vector<double> probability;
};

// Results of this many states are kept at a time, in the nearest cache.
inline constexpr State kStatesAtATime = 256;

// Sweeps over the rows that a policy takes, with one value for every state.
class TakenSweep {
 public:
  TakenSweep(const Problem& problem, Workers& workers, Exchange& exchange);

  const Problem& problem() const { return *problem_; }
  Workers& workers() const { return *group_; }
  Exchange& exchange() const { return *exchange_; }
  bool needs_floor() const { return workers_.front().rows.needs_floor(); }
  double evaluations() const;  // of this rank

  // values[state] = worst case of taking these rows once, given what each next state is worth.
  Residual step(const TakenRows& taken, const Channel& channel, const double* next, double* values,
                TakenDistributions* distributions = nullptr);

 private:
  struct Worker {
    explicit Worker(const Problem& problem);
    RowBatch rows;
    std::optional<StateBatch> states;  // in their place where the rows of a state share a radius
    std::vector<StateItem> items;
    std::vector<double> result;
    Residual residual;
  };
  void run(State begin, State end, const TakenRows& taken, const Channel& channel,
           const double* next, double floor, double* values, TakenDistributions* distributions,
           Worker& worker);
  void run_shared(State begin, State end, const TakenRows& taken, const Channel& channel,
                  const NextOfStates& next, double* values, TakenDistributions* distributions,
                  Worker& worker);

  const Problem* problem_;
  Workers* group_;
  Exchange* exchange_;
  std::vector<Worker> workers_;
};

// What a landing anywhere is worth at worst: the least of any rank's states, each with what an
// arrival in it earns.
double worst_landing(const Problem& problem, const Channel& channel, Communicator& ranks,
                     std::span<const double> values);

}  // namespace redoubt::internal
