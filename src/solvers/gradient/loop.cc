#include "solvers/gradient/loop.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/evaluation.h"
#include "evaluation/satisfied.h"
#include "solvers/finish.h"
#include "solvers/gradient/markov_weights.h"
#include "solvers/solver_checkpoint.h"
#include "support/checksum.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

void check(const Problem& problem, const GradientMethod& method, const GradientOptions& options) {
  require(options.step > 0 && std::isfinite(options.step), "step = {}, must be above 0 and finite",
          options.step);
  require(options.iterations >= 0, "iterations = {}, must be at least 0", options.iterations);
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  require(options.slack >= 0 && std::isfinite(options.slack),
          "slack = {}, must be at least 0 and finite", options.slack);
  require(options.weight > 0 && std::isfinite(options.weight),
          "weight = {}, must be above 0 and finite", options.weight);
  require(options.inner >= 1, "inner = {}, must be at least 1", options.inner);
  require(options.dual_step >= 0 && std::isfinite(options.dual_step),
          "dual_step = {}, must be at least 0 and finite", options.dual_step);
  for (const Constraint& c : problem.constraints()) {
    require(!c.probability,
            "method {} cannot keep the constraint on {} with probability {}: Markov policies do "
            "not see the total so far, use rcvi or frontier",
            method.name, c.signal, c.probability.value_or(0));
  }
}

// Every option that can change the answer.
std::string method_text(const GradientMethod& method, const GradientOptions& options) {
  Checksum start;
  for (const auto& stage : options.start_weights) start.add_all(stage);
  return fmt::format(
      "{}(step={}, iterations={}, first_policy={}, seed={}, start_weights={:x}, tolerance={}, "
      "slack={}, rule={}, weight={}, inner={}, dual_step={})",
      method.name, options.step, options.iterations,
      options.first_policy == FirstPolicy::uniform ? "uniform" : "random", options.seed,
      options.start_weights.empty() ? 0 : start.value(), options.tolerance, options.slack,
      options.rule == ChoiceRule::neg ? "neg" : "repo", options.weight, options.inner,
      options.dual_step);
}

// One run of the loop.
class Climb {
 public:
  Climb(const Problem& problem, const GradientMethod& method, const GradientOptions& options,
        const Execution& execution)
      : problem_(problem),
        method_(method),
        options_(options),
        watch_(execution),
        checkpoint_(execution, problem, method_text(method, options), watch_),
        workers_(execution.threads, one_process(), &watch_),
        evaluation_(problem, workers_, options.tolerance, method.step == StepKind::projected),
        weights_(problem, evaluation_, options),
        best_(weights_.weights().begin(), weights_.weights().end()),
        memory_(method.memory),
        allowed_misses_(allowed_misses(problem)),
        margins_(problem.constraints().size(), 0.0),
        direction_(problem.constraints().size() + 1, 0.0) {
    solution_.method = method.name;
    reserve(solution_.trace);
  }

  Solution run() {
    bool stopped = false;
    try {
      stopped = !climb();
    } catch (const Stopped&) {  // in the middle of an update; the best one before it stands
      stopped = true;
    }
    return answer(stopped);
  }

 private:
  // False: stopped between two updates.
  bool climb() {
    const auto state = [this](Archive& archive) { visit(archive); };
    checkpoint_.restore(state);
    for (;; ++update_) {
      checkpoint_.offer(state);
      evaluation_.run(weights_.weights());
      for (std::size_t c = 0; c < margins_.size(); ++c)
        margins_[c] = evaluation_.total(1 + static_cast<int>(c)) - utility_bound(c);
      record();
      keep_if_best();
      if (update_ == options_.iterations) return true;
      const auto update = static_cast<int>(update_);
      if (watch_.stop(update / (options_.iterations + 1.0))) return false;
      std::fill(direction_.begin(), direction_.end(), 0.0);
      method_.select({update, evaluation_.total(0), margins_}, direction_, memory_);
      if (method_.step == StepKind::natural) {
        weights_.natural_step(evaluation_, direction_, options_.step);
      } else {
        weights_.projected_step(evaluation_, direction_, options_.step);
      }
    }
  }

  // The state between two updates.
  void visit(Archive& archive) {
    std::int64_t best_holds = best_holds_ ? 1 : 0;
    archive.visit("update", update_);
    archive.visit("memory", memory_);
    archive.visit("best", best_);
    archive.visit("best_holds", best_holds);
    archive.visit("best_update", best_update_);
    archive.visit("best_reward", best_reward_);
    archive.visit("best_miss", best_miss_);
    archive.visit("best_error", best_error_);
    archive.visit("trace", solution_.trace);
    weights_.visit(archive);
    evaluation_.visit(archive);
    best_holds_ = best_holds > 0;
    solution_.trace.constraints.resize(margins_.size());
  }

  double sign(std::size_t constraint) const {
    return problem_.constraints()[constraint].sense == Sense::at_least ? 1 : -1;
  }
  double utility_bound(std::size_t constraint) const {
    return sign(constraint) * problem_.constraints()[constraint].bound;
  }

  void reserve(Trace& trace) const {
    const auto count = static_cast<std::size_t>(options_.iterations) + 1;
    trace.constraints.resize(margins_.size());
    for (auto* column : {&trace.iteration, &trace.row_evaluations, &trace.seconds, &trace.reward})
      column->reserve(count);
    for (auto& column : trace.constraints) column.reserve(count);
  }

  void record() {
    Trace& trace = solution_.trace;
    trace.iteration.push_back(static_cast<double>(update_));
    trace.row_evaluations.push_back(evaluation_.row_evaluations());
    trace.seconds.push_back(watch_.seconds());
    trace.reward.push_back(evaluation_.total(0));
    for (std::size_t c = 0; c < margins_.size(); ++c)
      trace.constraints[c].push_back(sign(c) * evaluation_.total(1 + static_cast<int>(c)));
  }

  // Met beyond the doubt that the evaluation leaves, so that evaluating the answer again agrees.
  bool feasible() const {
    for (std::size_t c = 0; c < margins_.size(); ++c) {
      const double worst = evaluation_.total(1 + static_cast<int>(c)) - evaluation_.error();
      if (!satisfied(problem_.constraints()[c], sign(c) * worst, allowed_misses_[c])) return false;
    }
    return true;
  }

  void keep_if_best() {
    const bool holds = feasible();
    const double missed = holds ? 0 : -*std::min_element(margins_.begin(), margins_.end());
    const double reward = evaluation_.total(0);
    const bool better =
        holds == best_holds_ ? (holds ? reward > best_reward_ : missed < best_miss_) : holds;
    if (!better) return;
    best_holds_ = holds;
    best_reward_ = reward;
    best_miss_ = missed;
    best_error_ = evaluation_.error();
    best_update_ = update_;
    best_.assign(weights_.weights().begin(), weights_.weights().end());
  }

  Solution answer(bool stopped) {
    const int last = static_cast<int>(solution_.trace.iteration.size()) - 1;
    if (last < 0) return internal::stopped(problem_, std::move(solution_), watch_, workers_);
    add_notes(last);
    weights_.assign(best_);
    solution_.policy = weights_.policy();
    solution_.row_evaluations = evaluation_.row_evaluations();
    solution_.iterations = last;
    BestPolicy evaluated;
    evaluated.offer({solution_.policy, evaluation_of_best(), {}, "the best iterate so far"});
    return stopped ? internal::stopped(problem_, std::move(solution_), watch_, workers_,
                                       std::move(evaluated))
                   : finished(problem_, std::move(solution_), watch_, workers_, {}, nullptr,
                              std::move(evaluated));
  }

  // As the climb knows it: not better than it is.
  Evaluation evaluation_of_best() const {
    std::vector<double> totals = {best_reward_ - best_error_};
    for (std::size_t c = 0; c < margins_.size(); ++c)
      totals.push_back(sign(c) * solution_.trace.constraints[c][best_update_] - best_error_);
    return report(problem_, totals, workers_.ranks());
  }

  void add_notes(int last) {
    auto& notes = solution_.notes;
    notes.push_back(
        best_holds_
            ? fmt::format("the policy is the best feasible iterate: update {} of {}", best_update_,
                          last)
            : fmt::format("no iterate met the constraints; the policy is the one that missed them "
                          "least, by {:.6g}: update {} of {}",
                          best_miss_, best_update_, last));
    std::string text = fmt::format("last iterate: reward {:.6g}", solution_.trace.reward.back());
    for (std::size_t c = 0; c < margins_.size(); ++c) {
      text +=
          fmt::format(", {} {:.6g}{}", problem_.constraints()[c].signal,
                      solution_.trace.constraints[c].back(), margins_[c] < 0 ? " (violated)" : "");
    }
    notes.push_back(std::move(text));
    if (evaluation_.unfinished() > 0) {
      notes.push_back(fmt::format(
          "{} of {} evaluations did not reach the tolerance {:.3g} within {} sweeps",
          evaluation_.unfinished(), last + 1, options_.tolerance, evaluation_.most_sweeps()));
    }
  }

  const Problem& problem_;
  const GradientMethod& method_;
  const GradientOptions& options_;
  Stopwatch watch_;
  SolverCheckpoint checkpoint_;
  Workers workers_;
  MarkovEvaluation evaluation_;
  MarkovWeights weights_;
  std::vector<double> best_, memory_, allowed_misses_, margins_, direction_;
  bool best_holds_ = false;
  std::int64_t update_ = 0, best_update_ = 0;
  double best_reward_ = -std::numeric_limits<double>::infinity();
  double best_miss_ = std::numeric_limits<double>::infinity();
  double best_error_ = 0;  // what its evaluation leaves open
  Solution solution_;
};

}  // namespace

int Iterate::tightest() const {
  if (margins.empty()) return -1;
  return static_cast<int>(std::min_element(margins.begin(), margins.end()) - margins.begin());
}

double Iterate::missed() const {
  return margins.empty() ? -std::numeric_limits<double>::infinity() : -margins[tightest()];
}

Solution climb(const Problem& problem, const GradientMethod& method, const GradientOptions& options,
               const Execution& execution) {
  check(problem, method, options);
  require(!problem.terms().helpful_nature,
          "nature helpful with method {}, the method must be robust or nominal", method.name);
  return Climb(problem, method, options, execution).run();
}

}  // namespace redoubt::internal
