#include "support/chance_reference.h"

#include <algorithm>
#include <cmath>

#include "policy/memory_update.h"
#include "redoubt/chance.h"

namespace redoubt::testing {
using namespace internal;
namespace {

using Real = long double;

bool keeps(const Constraint& constraint, Real total) {
  return constraint.sense == Sense::at_least ? total >= constraint.bound - 1e-9L
                                             : total <= constraint.bound + 1e-9L;
}

class Paths {
 public:
  Paths(const Problem& problem, const Policy& policy, int constraint)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        constraint_(problem.constraints()[constraint]),
        signal_(problem.signal_of(constraint)) {}

  Real at_start() const {
    Real sum = 0;
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const State state = problem_.start().states[i];
      for (const MemoryMove& move : start_memory(policy_, state))
        sum +=
            Real{problem_.start().probability[i]} * move.weight * from(0, state, move.memory, 0, 1);
    }
    return sum;
  }

 private:
  Real from(int h, State s, std::int32_t memory, Real total, Real worth) const {
    if (h == problem_.horizon() || model_.row_begin(h, s) == model_.row_end(h, s))
      return keeps(constraint_, total) ? 1 : 0;
    Real sum = 0;
    const Policy::Stage& stage = policy_.at(h);
    for_each_choice(stage, stage.begin(s) + memory, [&](std::int32_t action, double weight) {
      if (weight > 0) sum += Real{weight} * after(h, s, memory, action, total, worth);
    });
    return sum;
  }

  Real after(int h, State s, std::int32_t memory, std::int32_t action, Real total,
             Real worth) const {
    const Row row = model_.row_begin(h, s) + action;
    Real sum = 0;
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      const State next = model_.arrays().next[i];
      const Real earned = Real{model_.value(signal_, row)} + model_.outcome_value(signal_, i);
      std::vector<MemoryMove> moves;
      memory_moves(problem_, policy_, decision(policy_, h, s, memory, action),
                   i - model_.outcome_begin(row), next, moves);
      for (const MemoryMove& move : moves) {
        const std::int32_t to = h + 1 < problem_.horizon() ? move.memory : 0;
        sum += Real{model_.arrays().probability[i]} * move.weight *
               from(h + 1, next, to, total + worth * earned, worth * problem_.discount());
      }
    }
    return sum;
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  const Constraint& constraint_;
  int signal_;
};

// Values of all deterministic ways to go on from a history, which all begin with this total.
std::vector<HistoryPolicyValue> ways(const Problem& problem, int h, State s, Real total) {
  const Model& model = problem.model();
  if (h == problem.horizon() || model.row_begin(h, s) == model.row_end(h, s))
    return {{0, keeps(problem.constraints()[0], total) ? 1.0 : 0.0}};
  const int signal = problem.signal_of(0);
  std::vector<HistoryPolicyValue> all;
  for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
    // One way to go on for each outcome, in every combination.
    std::vector<HistoryPolicyValue> mixed = {{model.value(-1, row), 0}};
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
      const double p = model.arrays().probability[i];
      const Real earned = Real{model.value(signal, row)} + model.outcome_value(signal, i);
      std::vector<HistoryPolicyValue> wider;
      for (const auto& next : ways(problem, h + 1, model.arrays().next[i], total + earned)) {
        for (const auto& so_far : mixed)
          wider.push_back({so_far.reward + p * (model.outcome_value(-1, i) + next.reward),
                           so_far.kept + p * next.kept});
      }
      mixed = std::move(wider);
    }
    all.insert(all.end(), mixed.begin(), mixed.end());
  }
  return all;
}

}  // namespace

Problem random_chance_problem(std::uint64_t seed, RandomOptions options) {
  options.constraints = std::min(options.constraints, options.signals);
  const Problem rough = random_problem(seed, options);
  ModelArrays arrays = rough.model().arrays();
  for (Signal& signal : arrays.signals) {
    for (double& v : signal.row) v = std::round(2 * v) / 2;
    for (double& v : signal.outcome) v = std::round(2 * v) / 2;
    for (double& v : signal.arrival) v = std::round(2 * v) / 2;
  }
  Terms terms = rough.terms();
  terms.constraints[0] = with_probability(terms.constraints[0], 0.6);
  terms.constraints[0].bound = std::round(0.9 * options.horizon.value()) / 2;
  return Problem(Model(arrays), terms);
}

double kept_probability(const Problem& problem, const Policy& policy, int constraint) {
  return static_cast<double>(Paths(problem, policy, constraint).at_start());
}

std::vector<HistoryPolicyValue> deterministic_history_policies(const Problem& problem) {
  return ways(problem, 0, problem.start().states[0], 0);
}

}  // namespace redoubt::testing
