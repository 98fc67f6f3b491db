#include "evaluation/evaluation.h"

#include <algorithm>
#include <cmath>

#include "bellman/over_states.h"
#include "evaluation/chance_value.h"
#include "evaluation/memoryless_evaluation.h"
#include "evaluation/satisfied.h"
#include "evaluation/stage_evaluation.h"
#include "evaluation/stationary.h"
#include "evaluation/without_traps.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "parallel/memory_limit.h"
#include "policy/check.h"
#include "redoubt/solution.h"

namespace redoubt {
using namespace internal;
namespace internal {
namespace {

// The pass of one policy: which channels there are, what the end of the horizon is worth, and what
// must be written over.
class Pass {
 public:
  Pass(const Problem& problem, const Policy& policy, Workers& workers, const StageStore* store)
      : problem_(problem),
        policy_(policy),
        channels_(channels_of(problem, policy)),
        workers_(workers),
        stage_(problem, policy, channels_, workers, store) {
    if (all_ranks(workers.ranks(), store == nullptr && is_memoryless(policy)))
      memoryless_.emplace(problem, policy, channels_, workers, stage_.exchange());
  }

  // With no stage kept but the first.
  MemoryPlan memory() {
    MemoryPlan plan = stage_.memory(stages_before_end() + problem_.infinite());
    plan.values +=
        memoryless_ ? memoryless_->bytes() : KeptNature::bytes(problem_, policy_, channels_.size());
    return plan;
  }

  EvaluationPass run(bool keep_all_stages, Stopwatch* watch, std::span<const double> near) {
    EvaluationPass pass;
    const auto keep = [&](const std::vector<double>& values) {
      if (keep_all_stages) pass.values.insert(pass.values.begin(), values);
    };
    const int stages = stages_before_end();
    std::vector<double> next(stage_.nodes(stages) * channels_.size(), 0.0), values;
    if (problem_.infinite()) {
      if (memoryless_ && !problem_.undiscounted())
        std::copy(near.begin(), near.end(), next.begin());
      reach_fixed_point(stages, next);
    }
    keep(next);
    for (int h = stages; h-- > 0;) {
      if (!watch) workers_.check_together();
      if (watch && watch->stop(1 - (h + 1.0) / stages))
        throw Stopped("the evaluation was stopped before its end");
      if (memoryless_)
        memoryless_->run(h, next, values);
      else
        stage_.run(h, next, values, [&](State state) { mark_hopeless(h, state, values); });
      next.swap(values);
      keep(next);
    }
    pass.channels = channels_;
    pass.evaluation = report(problem_, totals(next), workers_.ranks());
    if (!keep_all_stages) pass.values.push_back(std::move(next));
    pass.evaluation.converged = converged_;
    pass.row_evaluations = stage_.row_evaluations() + evaluations_;
    if (memoryless_)
      pass.row_evaluations += sum_over_ranks(workers_.ranks(), memoryless_->evaluations());
    return pass;
  }

 private:
  // An infinite horizon goes on from there with the last one.
  int stages_before_end() const {
    return problem_.infinite() ? static_cast<int>(policy_.stages.size()) - 1 : problem_.horizon();
  }

  static std::vector<Channel> channels_of(const Problem& problem, const Policy& policy) {
    std::vector<Channel> channels = internal::channels_of(problem);
    if (!policy.budget.empty())
      channels.push_back({-1, 0});  // earns nothing; its value is set in hopeless states
    return channels;
  }

  // The stage that is used for ever: its values are the fixed point of one backward step.
  void reach_fixed_point(int stage, std::vector<double>& values) {
    if (!std::holds_alternative<Tilt>(problem_.uncertainty())) {
      if (memoryless_) return memoryless_->reach_fixed_point(stage, values);
      if (problem_.traps()) return follow_to_the_end(values);
      if (all_ranks(workers_.ranks(),
                    moves_are_listed(policy_) && stage_.nodes(stage) <= kMostKeptNodes))
        return follow_for_ever(stage, values);
    }
    const double discount = contraction_of(problem_, policy_, stage, workers_);
    const double rest = discount / (1 - discount);
    // A contraction needs far fewer sweeps; `tilt` is none and may go on for ever.
    const auto most_sweeps =
        100 + static_cast<std::int64_t>(10 * std::log(1e-13) / std::log(discount));
    std::vector<double> better;
    for (std::int64_t sweeps = 0; sweeps < most_sweeps; ++sweeps) {
      workers_.check_together();
      stage_.run(stage, values, better, [](State) {});
      double change = 0, scale = 1e-300;
      for (std::size_t n = 0; n < values.size(); ++n) {
        change = std::max(change, std::abs(better[n] - values[n]));
        scale = std::max(scale, std::abs(better[n]));
      }
      change = max_over_ranks(workers_.ranks(), change),
      scale = max_over_ranks(workers_.ranks(), scale);
      values.swap(better);
      if (change * rest <= 1e-12 * scale) return;
    }
    converged_ = false;
  }

  // Where nature can keep an episode: as a policy without memory.
  void follow_to_the_end(std::vector<double>& values) {
    const TakenProblem nodes = node_problem(problem_, policy_);
    const auto count = static_cast<std::ptrdiff_t>(values.size() / channels_.size());
    auto to = values.begin();
    for (const Channel& channel : channels_) {
      const std::vector<double> found =
          totals_of(nodes.problem, nodes.rows, channel, workers_, evaluations_);
      to = std::copy_n(found.begin(), count, to);
    }
  }

  void follow_for_ever(int stage, std::vector<double>& values) {
    constexpr double kAccuracy = 1e-12;  // of the largest value
    const std::vector<Bracket> found = improve_values(
        stage_, problem_, policy_, stage, channels_, workers_,
        [](int, double scale) { return kAccuracy * scale; }, values);
    std::vector<double> by;
    for (const Bracket& bracket : found) by.push_back(reported(problem_, bracket));
    shift_values(stage_, problem_, policy_, stage, by, stage_.exchange(), values);
  }

  // A node is hopeless when what the policy guarantees from it falls short of the requirement that
  // it remembers.
  void mark_hopeless(int h, State state, std::vector<double>& values) const {
    if (policy_.budget.empty() || h >= static_cast<int>(policy_.budget.front().cells.size()) - 1)
      return;
    const bool decides = !problem_.is_factor(state);
    const auto all = static_cast<std::int64_t>(values.size()) / stage_.channels();
    const auto memory = memory_states(policy_.budget, h);
    double* here = values.data() + stage_.first_node(h, state);
    double* hopeless = here + (stage_.channels() - 1) * all;
    // Coming to a hopeless state later is no less likely: a probability is not discounted.
    for (std::int32_t m = 0; m < memory; ++m) hopeless[m] /= problem_.discount();
    std::int32_t inner = memory;
    for (const BudgetAxis& axis : policy_.budget) {
      inner /= axis.cells[h];
      const double* guaranteed = here + (1 + axis.constraint) * all;
      for (std::int32_t m = 0; decides && m < memory; ++m) {
        const double required = axis.requirement(h, m / inner % axis.cells[h]) - axis.slack[h];
        if (guaranteed[m] < required - kSatisfied * std::max(axis.size(), std::abs(required)))
          hopeless[m] = -1;
      }
    }
  }

  std::vector<double> totals(const std::vector<double>& values) const {
    const auto all = static_cast<std::int64_t>(values.size()) / stage_.channels();
    std::vector<double> sums(channels_.size(), 0.0);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const State state = problem_.start().states[i];
      for (const MemoryMove& move : start_memory(policy_, whole_number(problem_.model(), state))) {
        const double weight = problem_.start().probability[i] * move.weight;
        for (std::size_t c = 0; c < sums.size(); ++c)
          sums[c] += weight * values[c * all + stage_.first_node(0, state) + move.memory];
      }
    }
    return sums;
  }

  const Problem& problem_;
  const Policy& policy_;
  std::vector<Channel> channels_;
  Workers& workers_;
  StageEvaluation stage_;
  std::optional<MemorylessEvaluation> memoryless_;  // in its place where there is no memory
  bool converged_ = true;
  double evaluations_ = 0;  // beside those of the stages
};

}  // namespace

Evaluation report(const Problem& problem, const std::vector<double>& totals, Communicator& ranks) {
  const std::vector<double> misses = allowed_misses(problem, ranks);
  Evaluation evaluation;
  evaluation.reward.worst = totals[0] * reward_channel(problem).sign + 0.0;  // no -0
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    const double worst = totals[c + 1] * channel_of(problem, static_cast<int>(c)).sign + 0.0;
    evaluation.constraints.push_back({constraint.signal, constraint.sense, constraint.bound,
                                      constraint.probability, worst,
                                      satisfied(constraint, worst, misses[c]), std::nullopt});
  }
  if (totals.size() > problem.constraints().size() + 1) evaluation.hopeless = -totals.back() + 0.0;
  return evaluation;
}

const double* EvaluationPass::at_first_stage(const Model& model, const Policy& policy, int channel,
                                             State state) const {
  const std::vector<double>& all = values.front();
  const auto nodes = static_cast<std::int64_t>(all.size() / channels.size());
  // Of a submodel, there is room for equally many nodes in every state.
  const auto first = model.arrays().submodel || policy.stages.empty()
                         ? nodes / model.states() * state
                         : policy.stages.front().begin(state);
  return all.data() + channel * nodes + first;
}

MemoryPlan plan_evaluation(const Problem& problem, const Policy& policy, Workers& workers) {
  return Pass(problem, policy, workers, nullptr).memory();
}

EvaluationPass evaluate(const Problem& problem, const Policy& policy, Workers& workers,
                        bool keep_all_stages, const StageStore* store, Stopwatch* watch,
                        std::span<const double> near) {
  // First what may be refused for its size.
  std::vector<std::optional<double>> probability(problem.constraints().size());
  for (std::size_t c = 0; c < probability.size(); ++c) {
    if (problem.constraints()[c].probability)
      probability[c] = worst_probability(problem, static_cast<int>(c), policy, workers);
  }
  EvaluationPass pass = Pass(problem, policy, workers, store).run(keep_all_stages, watch, near);
  for (std::size_t c = 0; c < probability.size(); ++c) {
    if (!probability[c]) continue;
    ConstraintResult& result = pass.evaluation.constraints[c];
    result.worst = *probability[c];
    result.satisfied = satisfied(problem.constraints()[c], result.worst, kSatisfied);
  }
  return pass;
}

Evaluation evaluate_expected(const Problem& problem, const Policy& policy, Workers& workers) {
  Evaluation evaluation =
      Pass(problem, policy, workers, nullptr).run(false, nullptr, {}).evaluation;
  for (ConstraintResult& constraint : evaluation.constraints) {
    if (!constraint.probability) continue;
    constraint.worst = kUnknown;
    constraint.satisfied = false;
  }
  return evaluation;
}

}  // namespace internal

Evaluation evaluate(const Problem& problem, const Policy& policy, const Execution& execution) {
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  internal::check_policy(problem, policy, workers.ranks());
  announce(plan_evaluation(problem, policy, workers), execution);
  return internal::evaluate(problem, policy, workers, false, nullptr, &watch).evaluation;
}

std::vector<double> internal::allowed_misses(const Problem& problem, Communicator& ranks) {
  std::vector<double> misses;
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    const double size =
        constraint.probability ? 1
        : constraint.bound != 0
            ? std::abs(constraint.bound)
            : largest_value(problem.model(), problem.signal_of(static_cast<int>(c)), ranks);
    misses.push_back(kSatisfied * size);
  }
  return misses;
}

bool internal::all_satisfied(const std::vector<ConstraintResult>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [](const ConstraintResult& c) { return c.satisfied; });
}
bool Evaluation::satisfied() const { return internal::all_satisfied(constraints); }

bool internal::satisfied(const Constraint& c, double worst, double allowed_miss) {
  if (c.probability) return worst >= *c.probability - allowed_miss;
  return c.sense == Sense::at_least ? worst >= c.bound - allowed_miss
                                    : worst <= c.bound + allowed_miss;
}

}  // namespace redoubt
