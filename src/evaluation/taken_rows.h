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

// Those of a policy that takes one action in each own state (-1: it is terminal), for ever.
void take_rows(const Model& model, const std::vector<std::int32_t>& actions, TakenRows& taken);

// Of each row of the model, whether it is taken with positive probability.
std::vector<char> is_taken(const Model& model, const TakenRows& taken);

// Calls visit(place, row, weight) for each row that is taken.
template <class Visit>
void for_each_taken_row(const Model& model, int stage, const Policy::Stage& decisions,
                        Visit visit) {
  for (State place = 0; place < model.own_states(); ++place) {
    const State state = model.own(place);
    const Row first = model.row_begin(stage, state);
    if (first == model.row_end(stage, state)) continue;
    for_each_choice(decisions, place, [&](std::int32_t action, double weight) {
      if (weight != 0) visit(place, first + action, weight);
    });
  }
}

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
  // `distributions`: where nature's go, of each row that is taken.
  Residual step(const TakenRows& taken, const Channel& channel, const double* next, double* values,
                const RowBatch::Distributions* distributions = nullptr);

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
           const double* next, double floor, double* values,
           const RowBatch::Distributions* distributions, Worker& worker);
  void run_shared(State begin, State end, const TakenRows& taken, const Channel& channel,
                  const NextOfStates& next, double* values,
                  const RowBatch::Distributions* distributions, Worker& worker);

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
