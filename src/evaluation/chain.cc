#include "evaluation/chain.h"

#include <algorithm>
#include <cmath>

#include "bellman/nominal_rows.h"
#include "evaluation/nature_iteration.h"
#include "evaluation/small_chain.h"
#include "support/array_memory.h"

namespace redoubt::internal {

namespace {

template <class Earned>
void find_chain(const Model& model, const Earned& earned_of, const TakenRows& taken, Chain& chain) {
  std::int64_t outcomes = 0;
  for (const Row row : taken.rows) outcomes += model.outcome_end(row) - model.outcome_begin(row);
  chain.begin.resize(model.own_states() + 1);
  chain.next.resize(outcomes);
  chain.probability.resize(outcomes);
  chain.earned.resize(model.own_states());
  chain.rows.resize(model.own_states(), -1);
  const SparseRows rows = nominal_rows(model);
  State* next = chain.next.data();
  double* probability = chain.probability.data();
  std::int64_t to = 0;
  for (State place = 0; place < model.own_states(); ++place) {
    const auto first = taken.begin[place], count = taken.begin[place + 1] - first;
    const Row row = count == 1 && taken.weight[first] == 1 ? taken.rows[first] : -1;
    const bool same = row >= 0 && chain.rows[place] == row && chain.begin[place] == to;
    chain.rows[place] = row;
    chain.begin[place] = to;
    if (same) {  // what the last policy takes, too, is there
      chain.earned[place] = earned_of(row);
      to += rows.row_outcomes[row + 1] - rows.row_outcomes[row];
      continue;
    }
    double earned = 0;
    for (auto i = first; i < first + count; ++i) {
      const double weight = taken.weight[i];
      earned += weight * earned_of(taken.rows[i]);
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

// How many sweeps leave `wanted` of a bracket, at least, if `sweeps` of them have left `left`.
std::int64_t sweeps_until(double wanted, double left, std::int64_t sweeps) {
  constexpr double kMost = 16;
  if (!(wanted > 0 && left > 0 && left < 1)) return 1;
  const double more = static_cast<double>(sweeps) * std::log(wanted) / std::log(left);
  return static_cast<std::int64_t>(std::clamp(more, 1.0, kMost));
}

}  // namespace

void find_nominal_chain(const Model& model, const Channel& channel, const TakenRows& taken,
                        Chain& chain) {
  find_chain(
      model, [&](Row row) { return nominal_earned(model, channel, row); }, taken, chain);
}

void find_nominal_chain(const Model& model, std::span<const double> earned, const TakenRows& taken,
                        Chain& chain) {
  find_chain(
      model, [&](Row row) { return earned[row]; }, taken, chain);
}

Residual step_along(const Chain& chain, const Problem& problem, Workers& workers,
                    Exchange& exchange, const std::vector<double>& next,
                    std::vector<double>& values, bool measure) {
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
      if (whole && measure) residual.add(next.data() + first, to, count);
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
  if (measure) add_over_ranks(workers.ranks(), residual);
  return residual;
}

// A single sweep may do little, so that whether sweeps still help is asked after as many of them as
// must leave a twentieth of a bracket. How far a sweep moved the values is asked when, as far as
// the last ones tell, it may be the last.
Bracket follow_chain(const Chain& chain, const Problem& problem, double discount, Workers& workers,
                     Exchange& exchange, const std::function<double(double scale)>& width,
                     SmallChain& small, std::vector<double>& values) {
  const std::int64_t most = sweeps_to_share(discount);
  std::vector<double> better;
  resize_with_large_pages(better, values.size());
  double last_of_round = Residual::kNone, last = Residual::kNone;
  std::int64_t measured = 0, next = 1;  // the last sweep that was measured, and the next one
  for (std::int64_t sweeps = 1;; ++sweeps) {
    workers.check_together();
    if (small.solve_after(sweeps - 1, chain, values)) next = sweeps;
    const bool round = sweeps % most == 0, measure = sweeps >= next || round;
    const Residual residual =
        step_along(chain, problem, workers, exchange, values, better, measure);
    values.swap(better);
    if (!measure) continue;
    const Bracket found = bracket(residual, discount);
    const double size = scale(residual, found), wanted = width(size);
    if (!residual.numbers || found.width() <= wanted ||
        as_narrow_as_rounding(discount, found.width(), round ? last_of_round : Residual::kNone,
                              size))
      return found;
    if (round) last_of_round = found.width();
    next = sweeps + sweeps_until(wanted / found.width(), found.width() / last, sweeps - measured);
    measured = sweeps;
    last = found.width();
  }
}

}  // namespace redoubt::internal
