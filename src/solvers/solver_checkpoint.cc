#include "solvers/solver_checkpoint.h"

#include <fmt/format.h>

#include "model/submodel.h"
#include "parallel/collectives.h"
#include "support/checksum.h"

namespace redoubt::internal {
namespace {

const std::vector<double>* radii_of_rows(const Uncertainty& uncertainty) {
  return std::visit(
      [](const auto& set) -> const std::vector<double>* {
        if constexpr (requires { set.radius; }) return &set.radius.rows;
        return nullptr;
      },
      uncertainty);
}

template <class Values>
void add_some(Checksum& sum, const Values& values, std::int64_t begin, std::int64_t end) {
  for (auto i = begin; i < end && !values.empty(); ++i) sum.add(values[i]);
}

// Parts of a problem number their states differently: here they have the numbers of the whole one.
void add_row(Checksum& sum, const Problem& problem, Row row) {
  const Model& model = problem.model();
  const ModelArrays& a = model.arrays();
  const auto begin = model.outcome_begin(row), end = model.outcome_end(row);
  sum.add(end - begin);
  sum.add(a.action[row]);
  add_some(sum, a.reward, row, row + 1);
  for (auto o = begin; o < end; ++o) sum.add(whole_number(model, a.next[o]));
  for (const auto* values : {&a.probability, &a.outcome_reward, &a.lower, &a.upper})
    add_some(sum, *values, begin, end);
  for (const Signal& signal : a.signals) {
    add_some(sum, signal.row, row, row + 1);
    add_some(sum, signal.outcome, begin, end);
  }
  const auto* radii = radii_of_rows(problem.uncertainty());
  if (radii) add_some(sum, *radii, row, row + 1);
}

// The rows of this rank's states. A sum over states, so that those of all ranks together are those
// of the whole problem.
std::uint64_t sum_of_rows(const Problem& problem) {
  const Model& model = problem.model();
  std::uint64_t total = 0;
  for (int h = 0; h < model.stages(); ++h) {
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      Checksum sum;
      sum.add(h);
      sum.add(whole_number(model, s));
      for (int signal = -1; signal < model.signals(); ++signal)
        add_some(sum, model.arrival_values(signal), s, s + 1);
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row)
        add_row(sum, problem, row);
      total += sum.value();
    }
  }
  return total;
}

void add_terms(Checksum& sum, const Problem& problem) {
  const Terms& terms = problem.terms();
  sum.add(terms.horizon.value_or(-1));
  sum.add(terms.discount);
  for (const State s : terms.start.states) sum.add(whole_number(problem.model(), s));
  sum.add_all(terms.start.probability);
  for (const Constraint& constraint : terms.constraints) {
    sum.add_all(constraint.signal);
    sum.add(constraint.sense == Sense::at_least);
    sum.add(constraint.bound);
    sum.add(constraint.probability.value_or(-1));
  }
  sum.add(name(terms.uncertainty));
  std::visit(
      [&](const auto& set) {
        if constexpr (requires { set.radius; }) sum.add(set.radius.all);
        if constexpr (requires { set.reach; }) sum.add(set.reach == Reach::anywhere);
        if constexpr (requires { set.temperature; }) sum.add(set.temperature);
        if constexpr (requires { set.scope; }) sum.add(set.scope == Scope::state);
      },
      terms.uncertainty);
}

std::string description(const Problem& problem, const Owners& owners) {
  const Model& model = problem.model();
  Checksum sum;
  sum.add(model.all_states());
  sum.add(model.stages());
  for (const Signal& signal : model.arrays().signals) sum.add_all(signal.name);
  add_terms(sum, problem);
  std::uint64_t digest = sum.value();
  for (const std::uint64_t rows : all_gather_one(*owners.ranks, sum_of_rows(problem)))
    digest += rows;
  const auto rows = sum_over_ranks(*owners.ranks, static_cast<double>(model.rows()));
  return fmt::format("problem {:016x} ({} states, {} rows, {})", digest, model.all_states(), rows,
                     problem.infinite() ? fmt::format("discount {}", problem.discount())
                                        : fmt::format("horizon {}", problem.horizon()));
}

}  // namespace

SolverCheckpoint::SolverCheckpoint(const Execution& execution, const Problem& problem,
                                   const std::string& method, Stopwatch& watch)
    : checkpoint_(execution.checkpoint.get()), watch_(&watch) {
  if (!checkpoint_) return;
  if (execution.ranks) owners_.ranks = execution.ranks;
  owners_.model = &problem.model();
  work_ =
      fmt::format("{} by redoubt {} on {}", method, REDOUBT_VERSION, description(problem, owners_));
}

Checkpoint::State SolverCheckpoint::with_time(const Checkpoint::State& state) {
  return [this, &state](Archive& archive) {
    double seconds = watch_->seconds();
    archive.visit("seconds", seconds);
    watch_->go_on_from(seconds);
    state(archive);
  };
}

bool SolverCheckpoint::restore(const Checkpoint::State& state) {
  return checkpoint_ && checkpoint_->restore(work_, with_time(state), owners_);
}

void SolverCheckpoint::offer(const Checkpoint::State& state) {
  if (!checkpoint_ || !all_gather_one<char>(*owners_.ranks, checkpoint_->is_due() ? 1 : 0)[0])
    return;
  checkpoint_->save(work_, with_time(state), owners_);
}

}  // namespace redoubt::internal
