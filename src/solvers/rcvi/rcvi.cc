#include <algorithm>
#include <cmath>
#include <limits>

#include "bellman/steps.h"
#include "chance/augment.h"
#include "evaluation/mixed_landings.h"
#include "model/bytes.h"
#include "model/set_traits.h"
#include "parallel/memory_limit.h"
#include "policy/budget_axes.h"
#include "redoubt/chance.h"
#include "solvers/chance.h"
#include "solvers/finish.h"
#include "solvers/rcvi/budget_lanes.h"
#include "solvers/rcvi/budget_sweep.h"
#include "solvers/rcvi/rcvi.h"
#include "solvers/solver_checkpoint.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
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

// "200 budgets", or for several constraints "200 x 150 = 30000 budgets", of the widest stage.
std::string budgets_text(const RcviPlan& plan) {
  if (plan.axes.size() == 1) return fmt::format("{} budgets", plan.most_memory_states);
  std::string factors;
  for (const BudgetAxis& axis : plan.axes)
    factors += fmt::format("{}{}", factors.empty() ? "" : " x ", axis.cells[plan.widest_stage]);
  return fmt::format("{} = {} budgets", factors, plan.most_memory_states);
}

void check_memory(const RcviPlan& plan, const RcviOptions& options, Communicator& ranks) {
  require_memory(plan.memory, ranks, options.memory_limit,
                 fmt::format("this solve ({} stages, {} at most)", plan.stages, budgets_text(plan)),
                 "widen budget_step or raise memory_limit");
  require(plan.most_memory_states <= std::numeric_limits<std::int32_t>::max(),
          "{}, must be fewer than 2^31: widen budget_step", budgets_text(plan));
}

// Of the constraints on one signal from one side, only the tightest asks for anything.
bool is_implied(const Problem& problem, int constraint) {
  const auto& all = problem.constraints();
  const Constraint& one = all[constraint];
  for (int c = 0; c < static_cast<int>(all.size()); ++c) {
    if (c == constraint || all[c].signal != one.signal || all[c].sense != one.sense) continue;
    const double tighter = channel_of(problem, c).sign * (all[c].bound - one.bound);
    if (tighter > 0 || (tighter == 0 && c < constraint)) return true;
  }
  return false;
}

// The axis that keeps a constraint: its own, or that of the one that implies it.
int axis_of(const Problem& problem, std::span<const BudgetAxis> axes, int constraint) {
  int axis = 0;
  while (Channel{axes[axis].signal, axes[axis].sign} != channel_of(problem, constraint)) ++axis;
  return axis;
}

// Every option that can change the answer.
std::string method_text(const RcviOptions& options) {
  return fmt::format(
      "rcvi(slack={}, fallback={}, budget_step={}, budget_cells={}, rounding={}, tolerance={})",
      options.slack, options.fallback == Fallback::reward ? "reward" : "utility",
      options.budget_step, options.budget_cells, options.rounding == Rounding::up ? "up" : "mixed",
      options.tolerance);
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
  trace.constraints.resize(problem.constraints().size());
  for (std::size_t c = 0; c < trace.constraints.size(); ++c) {
    const int axis = axis_of(problem, axes, static_cast<int>(c));
    trace.constraints[c].push_back(axes[axis].sign * at_start(axis + 1) + 0.0);
  }
}

// The decisions go to the store; what is left of the stage says how many there are.
void hand_over(int h, Policy::Stage& stage, StageStore& store) {
  store.put(h, stage);
  const std::int32_t memory = stage.memory;
  stage = {};
  stage.memory = memory;
}

// Of a problem without chance constraints; steps[c] is the budget step of constraint c.
RcviPlan plan_expected(const Problem& problem, const RcviOptions& options,
                       std::span<const double> steps, const StageStore* store, Workers& workers) {
  Communicator& ranks = workers.ranks();
  RcviPlan plan;
  plan.others = problem.model().states() - problem.model().own_states();
  plan.stages = problem.infinite() ? stages_until_negligible(problem, options.tolerance, workers)
                                   : problem.horizon();
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    const BudgetGrid grid{steps[c], options.budget_cells, options.rounding, options.slack};
    if (!is_implied(problem, c))
      plan.axes.push_back(budget_axis(problem, c, plan.stages, grid, workers));
  }
  const Model& model = problem.model();
  const double states = model.states(), arrays = 1.0 + static_cast<double>(plan.axes.size());
  const double channels = 2.0 + static_cast<double>(problem.constraints().size());
  const bool shared = shares_radius(problem);
  const BudgetLanes shapes(problem, plan.axes, ranks);
  const bool mixes = lands_anywhere(problem) && landings_move_apart(model, plan.axes, ranks);
  double landings = 0, earned = 0;  // what they are worth, for each that rows earn
  double swept = 0, evaluated = 0;  // the largest layers of values
  double policy = 0, stage = 0;     // all stages, and the largest
  for (int h = 0; h <= plan.stages; ++h) {
    double memory = 1;
    for (const BudgetAxis& axis : plan.axes) memory *= axis.cells[h];
    const auto memory_states = static_cast<std::int64_t>(std::min(memory, 9e18));
    if (memory_states > plan.most_memory_states)
      plan.most_memory_states = memory_states, plan.widest_stage = h;
    const double stride = plan.axes.size() == 1 ? static_cast<double>(shapes.at(h).stride) : memory;
    swept = std::max(swept, stride * (states + 1) * arrays * 8);
    evaluated = std::max(evaluated, memory * states * channels * 8);
    if (h == plan.stages) break;
    if (mixes && (h == 0 || model.stages() > 1))
      earned = static_cast<double>(earned_by_landings(model, plan.axes, h, ranks).size());
    landings = std::max(landings, 8 * earned * memory * channels);
    // A decision between two actions, or a list of as many as there are constraints and one more;
    // of all, where the rows of a state share a radius.
    const double list = 8 + 12 * (shared ? model.most_actions() : arrays);
    const double own = (plan.axes.size() <= 1 && !shared ? 4 : list) * memory * model.own_states();
    policy += own;
    stage = std::max(stage, own);
    plan.row_evaluations += memory * arrays * static_cast<double>(model.rows()) / model.stages();
  }
  plan.row_evaluations = sum_over_ranks(ranks, plan.row_evaluations);
  // Two layers to solve and, when those are gone, two to evaluate what was found. Values of other
  // ranks' states come in slices.
  const double layers = 2 * std::max(swept, evaluated);
  const double others = (states - model.own_states()) / states;
  plan.memory = {.model = bytes_of(model),
                 .values = layers * (1 - others) + landings,
                 .halo = layers * others + swept * others / 4,
                 .policy = store ? 2 * stage : policy};
  return plan;
}

// Sets the policy, which is evaluated next. Throws Stopped.
void search(const Problem& problem, const RcviOptions& options, const RcviPlan& plan,
            const Execution& execution, Stopwatch& watch, Workers& workers, Solution& solution) {
  BudgetSweep sweep(problem, plan.axes, plan.stages, options.fallback, workers);
  Policy& policy = solution.policy;
  policy.states = problem.model().own_states();
  policy.stages.resize(plan.stages);
  policy.budget = plan.axes;
  for (const BudgetAxis& axis : plan.axes)
    policy.start_memory = policy.start_memory * axis.cells[0] + axis.start();
  std::int64_t stage = plan.stages;  // from here on the policy is known
  SolverCheckpoint checkpoint(execution, problem, method_text(options), watch);
  const auto state = [&](Archive& archive) {
    archive.visit("stage", stage);
    archive.visit_stages("policy", policy, execution.stages);
    archive.visit("trace", solution.trace);
    sweep.visit(archive, static_cast<int>(stage));
  };
  if (checkpoint.restore(state)) sweep.take_from_others();
  while (stage > 0) {
    const auto h = static_cast<int>(stage - 1);
    if (watch.stop(1 - (h + 1.0) / plan.stages)) throw Stopped("stopped between two stages");
    sweep.step(h, policy.stages[h]);
    if (execution.stages) hand_over(h, policy.stages[h], *execution.stages);
    record(problem, sweep, plan.axes, h, plan.stages, watch, solution.trace);
    stage = h;
    checkpoint.offer(state);
  }
  if (problem.infinite()) append_tail(problem, solution, plan.stages, workers);
  solution.row_evaluations = sweep.row_evaluations();
  solution.iterations = plan.stages;
}

}  // namespace

void internal::solve_rcvi(const Problem& problem, const RcviOptions& options,
                          std::span<const double> steps, const Execution& execution,
                          Stopwatch& watch, Workers& workers, Solution& solution) {
  const RcviPlan plan = plan_expected(problem, options, steps, execution.stages, workers);
  check_memory(plan, options, workers.ranks());
  if (execution.planned) execution.planned(plan.memory);
  search(problem, options, plan, execution, watch, workers, solution);
  finish(problem, solution, workers, {}, execution.stages);
}

namespace {

// The given step for every constraint, except that whether a chance constraint is kept is 0 or 1
// and needs no rounding.
std::vector<double> steps_of(const Problem& problem, const RcviOptions& options) {
  std::vector<double> steps;
  for (const Constraint& c : problem.constraints())
    steps.push_back(c.probability ? 0.0 : options.budget_step);
  return steps;
}

}  // namespace

RcviPlan plan_rcvi(const Problem& problem, const RcviOptions& options, const Execution& execution) {
  check_options(options);
  const std::vector<double> steps = steps_of(problem, options);
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  if (!has_chance_constraints(problem))
    return plan_expected(problem, options, steps, execution.stages, workers);
  const AugmentedProblem augmented = augment(problem, workers);
  RcviPlan plan = plan_expected(augmented.problem, options, steps, execution.stages, workers);
  plan.memory.model += bytes_beyond_model(augmented);
  plan.augmented_states = augmented.problem.model().all_states();
  std::erase_if(plan.axes, [&](const BudgetAxis& axis) {
    return problem.constraints()[axis.constraint].probability.has_value();
  });
  plan.axes.insert(plan.axes.end(), augmented.budget.begin(), augmented.budget.end());
  return plan;
}

Solution rcvi(const Problem& problem, const RcviOptions& options, const Execution& execution) {
  check_options(options);
  if (problem.constraints()
          .empty()) {  // without a requirement to remember this is robust value iteration
    Solution solution = robust(problem, {}, execution);
    solution.method = "rcvi";
    return solution;
  }
  require(!problem.terms().helpful_nature,
          "nature helpful with {} constraints, must be left out of what is solved for",
          problem.constraints().size());
  const std::vector<double> steps = steps_of(problem, options);
  require(!has_chance_constraints(problem) || !execution.stages,
          "chance constraints with stages on disk, must be solved in memory");
  const auto method = [&](const Problem& expected, const Execution& run) {
    Stopwatch watch(run);
    Workers workers(run, &watch);
    Solution solution;
    solution.method = "rcvi";
    BestPolicy evaluated;
    try {
      evaluated = candidates_in_time(expected, run);
      solve_rcvi(expected, options, steps, run, watch, workers, solution);
    } catch (const Stopped&) {
      return stopped(expected, std::move(solution), watch, workers, std::move(evaluated));
    }
    solution.seconds = watch.seconds();
    return solution;
  };
  return has_chance_constraints(problem) ? solve_augmented(problem, execution, 0, {"rcvi", method})
                                         : method(problem, execution);
}

}  // namespace redoubt
