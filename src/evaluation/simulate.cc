#include "redoubt/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "evaluation/chance_value.h"
#include "evaluation/satisfied.h"
#include "parallel/workers.h"
#include "policy/draw.h"
#include "policy/memory_update.h"
#include "redoubt/chance.h"
#include "redoubt/evaluate.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Runs episodes on one thread. Totals are laid out [quantity][episode].
class Runner {
 public:
  Runner(const Problem& problem, const Policy& policy, const WorstKernel& kernel, int stages,
         const std::vector<int>& signals)
      : problem_(problem), policy_(policy), kernel_(kernel), stages_(stages), signals_(signals) {}

  void run(std::uint64_t seed, std::int64_t episode, std::vector<std::vector<double>>& totals) {
    RandomStream random(seed, static_cast<std::uint64_t>(episode));
    const Model& model = problem_.model();
    const Start& start = problem_.start();
    State state = start.states[draw(random, start.states.size(),
                                    [&](std::size_t i) { return start.probability[i]; })];
    moves_ = start_memory(policy_, state);
    double worth = 1;  // of what is earned at this stage
    for (int h = 0; h < stages_; ++h, worth *= problem_.discount()) {
      if (model.row_begin(h, state) == model.row_end(h, state)) return;
      const std::int32_t memory = draw_memory(random, moves_);
      if (problem_.traps() && kernel_.keeps(h, state, memory)) return;
      const Policy::Stage& here = policy_.at(h);
      const std::int32_t action = draw_action(random, here, here.begin(state) + memory);
      const RowDistribution& chosen = kernel_.at(h, state, memory, action);
      const Row row = model.row_begin(h, state) + action;
      const auto outcomes = static_cast<std::int64_t>(chosen.probability.size());
      const auto outcome = static_cast<std::int64_t>(draw(random, outcomes + 1, [&](std::size_t i) {
        return static_cast<std::int64_t>(i) < outcomes ? chosen.probability[i] : chosen.landing;
      }));
      const State next = outcome < outcomes
                             ? model.arrays().next[model.outcome_begin(row) + outcome]
                             : chosen.landing_state;
      for (std::size_t q = 0; q < signals_.size(); ++q)
        totals[q][episode] += worth * earned(signals_[q], row, outcome, next);
      memory_moves(problem_, policy_, decision(policy_, h, state, memory, action), outcome, next,
                   moves_);
      state = next;
    }
  }

 private:
  double earned(int signal, Row row, std::int64_t outcome, State next) const {
    const Model& model = problem_.model();
    const auto place = model.outcome_begin(row) + outcome;
    const bool lands = place == model.outcome_end(row);
    return model.value(signal, row) +
           (lands ? model.arrival_value(signal, next) : model.outcome_value(signal, place));
  }

  const Problem& problem_;
  const Policy& policy_;
  WorstKernel kernel_;
  int stages_;
  const std::vector<int>& signals_;  // of the quantities; -1 is the reward
  std::vector<MemoryMove> moves_;
};

// Totals of the reward (signal -1) and of signals, [quantity][episode].
using Totals = std::vector<std::vector<double>>;

Totals run_episodes(const Problem& problem, const Policy& policy, Nature nature,
                    const std::vector<int>& signals, int stages, const SimulateOptions& options,
                    const Execution& execution) {
  const WorstKernel kernel(problem, policy, nature, execution);
  Totals totals(signals.size(), std::vector<double>(options.episodes));
  Workers workers(execution.threads);
  std::vector<Runner> runners;
  for (int w = 0; w < workers.count(); ++w)
    runners.emplace_back(problem, policy, kernel, stages, signals);
  const auto begin = std::chrono::steady_clock::now();
  // About a tenth of a second: in between, somebody may want to stop.
  const std::int64_t batch = std::max(16, 500'000 / std::max(1, stages));
  std::int64_t done = 0;
  while (done < options.episodes) {
    const std::int64_t count = std::min(batch, options.episodes - done);
    workers.for_each(count, 200.0 * static_cast<double>(count) * stages,
                     [&](std::int64_t first, std::int64_t last, int worker) {
                       for (auto e = first; e < last; ++e)
                         runners[worker].run(options.seed, done + e, totals);
                     });
    done += count;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    if (spent.count() > execution.time_limit) break;
    if (execution.progress &&
        !execution.progress(static_cast<double>(done) / static_cast<double>(options.episodes)))
      break;
  }
  for (auto& quantity : totals) quantity.resize(done);
  return totals;
}

// Of a chance constraint, 1 for each total that keeps its bound, 0 for each that does not.
void count_kept(const Problem& problem, Totals& totals) {
  Terms terms = problem.terms();
  for (Constraint& constraint : terms.constraints) constraint.probability.reset();
  const std::vector<double> misses = allowed_misses(problem.with(terms));
  for (std::size_t c = 0; c < terms.constraints.size(); ++c) {
    if (!problem.constraints()[c].probability) continue;
    for (double& total : totals[c + 1])
      total = satisfied(terms.constraints[c], total, misses[c]) ? 1 : 0;
  }
}

SampledTotal summary(std::string name, std::vector<double> totals) {
  SampledTotal sample{std::move(name), std::move(totals)};
  const auto count = static_cast<double>(sample.totals.size());
  if (count == 0) return sample;
  for (const double total : sample.totals) sample.mean += total / count;
  double squares = 0;
  for (const double total : sample.totals) squares += (total - sample.mean) * (total - sample.mean);
  if (count > 1) sample.standard_error = std::sqrt(squares / (count - 1) / count);
  return sample;
}

}  // namespace

Simulation simulate(const Problem& problem, const Policy& policy, const SimulateOptions& options,
                    const Execution& execution) {
  require(options.episodes >= 1, "episodes = {}, must be at least 1", options.episodes);
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  Simulation simulation;
  if (problem.improper() && !problem.traps())
    evaluate(problem, policy, execution);  // an Error if it never ends
  if (problem.infinite() && !problem.undiscounted()) {
    simulation.cut = std::max(
        1, static_cast<int>(std::ceil(std::log(options.tolerance) / std::log(problem.discount()))));
  }
  const int stages = simulation.cut           ? *simulation.cut
                     : problem.undiscounted() ? std::numeric_limits<int>::max()  // to the end
                                              : problem.horizon();
  std::vector<int> signals = {-1};
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c)
    signals.push_back(problem.signal_of(c));
  Totals totals;
  if (is_chance(problem, options.nature)) {  // nature looks at the total so far
    check_policy(problem, policy);
    Stopwatch watch(execution);
    Workers workers(execution, &watch);
    const AugmentedProblem augmented = augment_one(problem, options.nature.constraint, workers);
    const Policy lowered = to_augmented_with_nodes(augmented, policy, workers).policy;
    totals = run_episodes(augmented.problem, lowered, {Nature::Against::constraint, 0}, signals,
                          stages, options, watch.rest());
  } else {
    totals = run_episodes(problem, policy, options.nature, signals, stages, options, execution);
  }
  if (has_chance_constraints(problem)) count_kept(problem, totals);
  simulation.reward = summary("reward", std::move(totals[0]));
  for (std::size_t c = 0; c < problem.constraints().size(); ++c)
    simulation.constraints.push_back(
        summary(problem.constraints()[c].signal, std::move(totals[c + 1])));
  return simulation;
}

}  // namespace redoubt
