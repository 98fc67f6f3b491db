#include "evaluation/chain.h"

#include <algorithm>

#include "bellman/nominal_rows.h"

namespace redoubt::internal {

void find_nominal_chain(const Model& model, const Channel& channel, const TakenRows& taken,
                        Chain& chain) {
  std::int64_t outcomes = 0;
  for (const Row row : taken.rows) outcomes += model.outcome_end(row) - model.outcome_begin(row);
  chain.begin.resize(model.own_states() + 1);
  chain.next.resize(outcomes);
  chain.probability.resize(outcomes);
  chain.earned.resize(model.own_states());
  const SparseRows rows = nominal_rows(model);
  State* next = chain.next.data();
  double* probability = chain.probability.data();
  std::int64_t to = 0;
  for (State place = 0; place < model.own_states(); ++place) {
    chain.begin[place] = to;
    double earned = 0;
    for (auto i = taken.begin[place]; i < taken.begin[place + 1]; ++i) {
      const double weight = taken.weight[i];
      earned += weight * nominal_earned(model, channel, taken.rows[i]);
      const auto last = rows.row_outcomes[taken.rows[i] + 1];
      for (auto k = rows.row_outcomes[taken.rows[i]]; k < last; ++k, ++to) {
        next[to] = rows.next[k];
        probability[to] = weight * rows.probability[k];
      }
    }
    chain.earned[place] = earned;
  }
  chain.begin.back() = to;
}

Residual step_along(const Chain& chain, const Problem& problem, Workers& workers,
                    Exchange& exchange, const std::vector<double>& next,
                    std::vector<double>& values) {
  const Model& model = problem.model();
  const SparseRows rows{chain.begin.data(), chain.next.data(), chain.probability.data()};
  const ExpectedValues expected = expected_values_kernel();
  std::vector<Residual> residuals(workers.count());
  const bool whole = !model.arrays().submodel;  // places are states
  const auto run = [&](State begin, State end, int worker) {
    Residual residual = residuals[worker];
    for (State first = begin; first < end; first += kStatesAtATime) {
      const State count = std::min(end - first, kStatesAtATime);
      double result[kStatesAtATime];
      double* to = whole ? values.data() + first : result;
      expected(rows, {.count = count, .first = first}, chain.earned.data() + first,
               problem.discount(), next.data(), to);
      if (whole) residual.add(next.data() + first, to, count);
      for (State i = 0; !whole && i < count; ++i) {
        const State state = model.own(first + i);
        values[state] = result[i];
        residual.add(next[state], result[i]);
      }
    }
    residuals[worker] = residual;
  };
  exchange.sweep_ranges(workers, static_cast<double>(chain.next.size()), {values.data()}, run);
  Residual residual;
  for (const Residual& each : residuals) residual.add(each);
  agree(workers.ranks(), residual);
  return residual;
}

}  // namespace redoubt::internal
