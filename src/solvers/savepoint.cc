#include "solvers/savepoint.h"

#include <fmt/format.h>

#include "model/checksum.h"
#include "model/require.h"
#include "redoubt/ranks.h"

namespace redoubt {
namespace {

void add(Checksum& sum, const Radius& radius) {
  sum.add(radius.all);
  sum.add_all(radius.rows);
}

void add(Checksum& sum, const ModelArrays& model) {
  sum.add(model.states);
  sum.add(model.stages);
  sum.add_all(model.state_rows);
  sum.add_all(model.action);
  sum.add_all(model.row_outcomes);
  sum.add_all(model.next);
  for (const auto* values :
       {&model.probability, &model.reward, &model.outcome_reward, &model.lower, &model.upper})
    sum.add_all(*values);
  for (const Signal& signal : model.signals) {
    sum.add_all(signal.name);
    sum.add_all(signal.row);
    sum.add_all(signal.outcome);
  }
}

void add(Checksum& sum, const Terms& terms) {
  sum.add(terms.horizon.value_or(-1));
  sum.add(terms.discount);
  sum.add_all(terms.start.states);
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
        if constexpr (requires { set.radius; }) add(sum, set.radius);
        if constexpr (requires { set.reach; }) sum.add(set.reach == Reach::anywhere);
        if constexpr (requires { set.temperature; }) sum.add(set.temperature);
      },
      terms.uncertainty);
}

std::string description(const Problem& problem) {
  Checksum sum;
  add(sum, problem.model().arrays());
  add(sum, problem.terms());
  return fmt::format("problem {:016x} ({} states, {} rows, {})", sum.value(),
                     problem.model().states(), problem.model().rows(),
                     problem.infinite() ? fmt::format("discount {}", problem.discount())
                                        : fmt::format("horizon {}", problem.horizon()));
}

}  // namespace

Savepoint::Savepoint(const Execution& execution, const Problem& problem, const std::string& method,
                     Stopwatch& watch)
    : checkpoint_(execution.checkpoint.get()), watch_(&watch) {
  const int ranks = execution.ranks ? execution.ranks->size() : 1;
  require(!checkpoint_ || ranks == 1, "a checkpoint of {} ranks, must be of one process", ranks);
  require(!checkpoint_ || !execution.stages,
          "a checkpoint of a policy whose stages go to disk, must be of one in memory");
  if (checkpoint_)
    work_ = fmt::format("{} by redoubt {} on {}", method, REDOUBT_VERSION, description(problem));
}

Checkpoint::State Savepoint::with_time(const Checkpoint::State& state) {
  return [this, &state](Archive& archive) {
    double seconds = watch_->seconds();
    archive.visit("seconds", seconds);
    watch_->go_on_from(seconds);
    state(archive);
  };
}

bool Savepoint::restore(const Checkpoint::State& state) {
  return checkpoint_ && checkpoint_->restore(work_, with_time(state));
}

void Savepoint::offer(const Checkpoint::State& state) {
  if (checkpoint_ && checkpoint_->is_due()) checkpoint_->save(work_, with_time(state));
}

}  // namespace redoubt
