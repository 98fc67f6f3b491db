#include <algorithm>
#include <cmath>

#include "model/machine.h"
#include "model/require.h"
#include "redoubt/solve.h"
#include "solvers/budget_axes.h"
#include "solvers/budget_sweep.h"
#include "solvers/finish.h"
#include "solvers/value_iteration.h"

namespace redoubt {
namespace {

void check_options(const RcviOptions& options) {
  require(options.slack >= 0 && std::isfinite(options.slack),
          "slack = {}, must be at least 0 and finite", options.slack);
  require(options.budget_step >= 0 && std::isfinite(options.budget_step),
          "budget_step = {}, must be at least 0 and finite", options.budget_step);
  require(options.budget_cells >= 1, "budget_cells = {}, must be at least 1", options.budget_cells);
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  require(options.memory_limit >= 0, "memory_limit = {}, must be at least 0", options.memory_limit);
}

void check_memory(const RcviPlan& plan, const RcviOptions& options) {
  const double limit = options.memory_limit > 0 ? options.memory_limit : 0.75 * machine_memory();
  require(plan.bytes <= limit,
          "this solve needs {:.3g} GB ({} stages, {} budgets at most), the limit is {:.3g} GB: "
          "widen budget_step or raise memory_limit",
          plan.bytes / 1e9, plan.stages, plan.most_memory_states, limit / 1e9);
}

// The value of the k-step problem at the start, in the user's sign: what the trace shows after k
// backward steps.
void record(const Problem& problem, const BudgetSweep& sweep, std::span<const BudgetAxis> axes,
            int stage, int stages, const Stopwatch& watch, Trace& trace) {
  std::int32_t memory = 0;
  for (const BudgetAxis& axis : axes) {
    const auto cell = std::clamp<std::int64_t>(-axis.low[stage], 0, axis.cells[stage] - 1);
    memory = memory * axis.cells[stage] + static_cast<std::int32_t>(cell);
  }
  const auto at_start = [&](int array) {
    double sum = 0;
    for (std::size_t i = 0; i < problem.start().states.size(); ++i) {
      sum += problem.start().probability[i] * sweep.value(array, problem.start().states[i], memory);
    }
    return sum;
  };
  trace.iteration.push_back(stages - stage);
  trace.row_evaluations.push_back(sweep.row_evaluations());
  trace.seconds.push_back(watch.seconds());
  trace.reward.push_back(at_start(0));
  trace.constraints.resize(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a)
    trace.constraints[a].push_back(axes[a].sign * at_start(static_cast<int>(a) + 1));
}

}  // namespace

RcviPlan plan_rcvi(const Problem& problem, const RcviOptions& options) {
  check_options(options);
  RcviPlan plan;
  plan.stages =
      problem.infinite() ? stages_until_negligible(problem, options.tolerance) : problem.horizon();
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    plan.axes.push_back(budget_axis(problem, c, plan.stages, options));
  }
  const Model& model = problem.model();
  const double states = model.states(), arrays = 1.0 + static_cast<double>(plan.axes.size());
  double layer = 0;
  for (int h = 0; h <= plan.stages; ++h) {
    double memory = 1;
    for (const BudgetAxis& axis : plan.axes) memory *= axis.cells[h];
    plan.most_memory_states =
        std::max(plan.most_memory_states, static_cast<std::int64_t>(std::min(memory, 9e18)));
    layer = std::max(layer, memory * states * arrays * 8);
    if (h == plan.stages) break;
    plan.bytes += 4 * memory * states;
    plan.row_evaluations += memory * arrays * static_cast<double>(model.rows()) / model.stages();
  }
  plan.bytes += 4 * layer;  // two layers to solve, two to evaluate what was found
  return plan;
}

Solution rcvi(const Problem& problem, const RcviOptions& options, const Execution& execution) {
  if (problem.constraints()
          .empty()) {  // without a requirement to remember this is robust value iteration
    check_options(options);
    Solution solution = robust(problem, execution);
    solution.method = "rcvi";
    return solution;
  }
  require(problem.constraints().size() == 1, "{} constraints, rcvi takes one",
          problem.constraints().size());
  require(!problem.constraints()[0].probability,
          "the constraint on '{}' is a chance constraint, rcvi takes none",
          problem.constraints()[0].signal);
  const Stopwatch watch;
  const RcviPlan plan = plan_rcvi(problem, options);
  check_memory(plan, options);
  Workers workers(execution.threads);
  BudgetSweep sweep(problem, plan.axes, plan.stages, options.fallback, workers);
  Solution solution;
  solution.method = "rcvi";
  Policy& policy = solution.policy;
  policy.states = problem.model().states();
  policy.stages.resize(plan.stages);
  policy.budget = plan.axes;
  for (const BudgetAxis& axis : plan.axes)
    policy.start_memory = policy.start_memory * axis.cells[0] + axis.start();
  for (int h = plan.stages; h-- > 0;) {
    if (watch.stop(execution, 1 - (h + 1.0) / plan.stages))
      return stopped(problem, std::move(solution), watch, workers);
    sweep.step(h, policy.stages[h]);
    record(problem, sweep, plan.axes, h, plan.stages, watch, solution.trace);
  }
  if (problem.infinite()) append_tail(problem, solution, plan.stages, workers);
  solution.row_evaluations = sweep.row_evaluations();
  solution.iterations = plan.stages;
  finish(problem, solution, workers);
  solution.seconds = watch.seconds();
  return solution;
}

}  // namespace redoubt
