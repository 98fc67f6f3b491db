#include "redoubt/advanced/explain.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "bellman/row_evaluator.h"
#include "evaluation/evaluation.h"
#include "policy/export.h"
#include "policy/memory_update.h"

namespace redoubt {
using namespace internal;

namespace {

// One stage after the other, from where episodes begin.
class Forward {
 public:
  Forward(const Problem& problem, const Policy& policy, Nature nature, const Execution& execution)
      : problem_(problem),
        model_(problem.model()),
        policy_(policy),
        channels_(channels_of(problem)),
        kernel_(problem, policy, nature, execution) {
    course_.earned.resize(channels_.size());
    course_.row_visits.assign(model_.rows(), 0.0);
    course_.row_moved.assign(model_.rows(), 0.0);
    course_.landing_visits.assign(model_.rows(), 0.0);
    course_.outcome_visits.assign(model_.outcomes(), 0.0);
  }

  Course run(int stages) {
    std::vector<double> here(node_count(policy_, 0), 0.0);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const State s = problem_.start().states[i];
      for (const MemoryMove& move : start_memory(policy_, s))
        here[node_of(policy_, 0, s, move.memory)] += problem_.start().probability[i] * move.weight;
    }
    double scale = 1;
    for (int h = 0; h < stages; ++h, scale *= problem_.discount()) {
      std::vector<double> next(node_count(policy_, h + 1), 0.0);
      for (auto& earned : course_.earned) earned.push_back(0.0);
      for (State s = 0; s < model_.states(); ++s) {
        const auto memories = static_cast<std::int32_t>(memory_of(policy_, h, s));
        for (std::int32_t m = 0; m < memories; ++m) {
          const double visits = here[node_of(policy_, h, s, m)];
          if (visits > 0 && model_.row_begin(h, s) < model_.row_end(h, s))
            act(h, s, m, visits, scale, next);
        }
      }
      course_.visits.push_back(std::exchange(here, std::move(next)));
    }
    return std::move(course_);
  }

 private:
  void act(int h, State s, std::int32_t m, double visits, double scale, std::vector<double>& next) {
    for_each_choice(policy_.at(h), policy_.at(h).begin(s) + m,
                    [&](std::int32_t action, double weight) {
                      if (weight > 0) take(h, s, m, action, visits * weight, scale, next);
                    });
  }

  void take(int h, State s, std::int32_t m, std::int32_t action, double visits, double scale,
            std::vector<double>& next) {
    const Row row = model_.row_begin(h, s) + action;
    const auto begin = model_.outcome_begin(row), outcomes = model_.outcome_end(row) - begin;
    const Decision d = decision(policy_, h, s, m, action);
    const RowDistribution& chosen = kernel_.at(h, s, m, action);
    course_.row_visits[row] += visits;
    earn(row, -1, -1, scale * visits);
    double moved = chosen.landing;
    for (std::int64_t i = 0; i < outcomes; ++i) {
      const double share = visits * chosen.probability[i];
      moved += std::abs(chosen.probability[i] - model_.arrays().probability[begin + i]);
      course_.outcome_visits[begin + i] += share;
      if (share > 0) arrive(d, row, i, model_.arrays().next[begin + i], share, scale, next);
    }
    if (chosen.landing > 0) {
      course_.landing_visits[row] += visits * chosen.landing;
      arrive(d, row, outcomes, chosen.landing_state, visits * chosen.landing, scale, next);
    }
    course_.row_moved[row] += visits * moved / 2;
  }

  void arrive(const Decision& d, Row row, std::int64_t outcome, State to, double share,
              double scale, std::vector<double>& next) {
    const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
    earn(row, begin + outcome < end ? begin + outcome : -1, to, scale * share);
    memory_moves(problem_, policy_, d, outcome, to, moves_);
    for (const MemoryMove& move : moves_)
      next[node_of(policy_, d.stage + 1, to, move.memory)] += share * move.weight;
  }

  // Of the row itself (no state), of one of its outcomes, or of an arrival outside of it.
  void earn(Row row, std::int64_t outcome, State to, double share) {
    for (std::size_t j = 0; j < channels_.size(); ++j) {
      const int signal = channels_[j].signal;
      const double value = to < 0         ? model_.value(signal, row)
                           : outcome >= 0 ? model_.outcome_value(signal, outcome)
                                          : model_.arrival_value(signal, to);
      course_.earned[j].back() += share * value;
    }
  }

  const Problem& problem_;
  const Model& model_;
  const Policy& policy_;
  std::vector<Channel> channels_;
  WorstKernel kernel_;
  std::vector<MemoryMove> moves_;
  Course course_;
};

}  // namespace

Course course(const Problem& problem, const Policy& policy, Nature nature, int most_stages,
              const Execution& execution) {
  check_policy(problem, policy);
  const int stages = problem.infinite() ? most_stages : std::min(problem.horizon(), most_stages);
  return Forward(problem, policy, nature, execution).run(stages);
}

std::vector<std::vector<std::vector<double>>> node_values(const Problem& problem,
                                                          const Policy& policy,
                                                          const Execution& execution) {
  check_policy(problem, policy);
  Terms terms = problem.terms();
  for (Constraint& constraint : terms.constraints) constraint.probability.reset();
  const Problem expected = problem.with(std::move(terms));
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  const EvaluationPass pass = internal::evaluate(expected, policy, workers, true);
  const std::vector<Channel> channels = channels_of(expected);
  std::vector<std::vector<std::vector<double>>> found;
  for (const std::vector<double>& values : pass.values) {
    const auto nodes = static_cast<std::ptrdiff_t>(values.size() / pass.channels.size());
    auto& stage = found.emplace_back();
    for (std::size_t j = 0; j < channels.size(); ++j) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(j) * nodes;
      auto& of_channel = stage.emplace_back(first, first + nodes);
      for (double& value : of_channel) value = channels[j].sign * value + 0.0;  // no -0
    }
  }
  return found;
}

std::string policy_json(const Problem& problem, const Policy& policy) {
  std::ostringstream out;
  write_policy_json(out, problem, policy);
  return out.str();
}

}  // namespace redoubt
