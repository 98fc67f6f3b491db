#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>

#include "checks.h"
#include "execution_options.h"
#include "json.h"
#include "method_options.h"
#include "model_info.h"
#include "problem_options.h"
#include "rank_plans.h"
#include "redoubt/error.h"
#include "redoubt/frontier.h"
#include "redoubt/objective.h"
#include "redoubt/solve.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct InfoOptions {
  ProblemOptions problem;
  RcviOptions rcvi;
  ExecutionOptions execution;
  std::optional<int> ranks;
  bool json = false;
};

std::vector<AchievableRange> achievable_ranges(const Problem& problem, const Execution& execution) {
  std::vector<AchievableRange> ranges;
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c)
    ranges.push_back(achievable_range(problem, c, execution));
  return ranges;
}

std::string verdict(const Constraint& constraint, const AchievableRange& range) {
  const bool chance = constraint.probability.has_value();
  const double sign = constraint.sense == Sense::at_most && !chance ? -1 : 1;
  const double bound = chance ? *constraint.probability : constraint.bound;
  if (sign * range.best < sign * bound) return "no policy meets it";
  if (sign * range.worst >= sign * bound) return "every policy meets it";
  return "can be met";
}

// Constraints that can be met one by one may exclude each other. Whether they do is a question to
// frontier, on the same problem without a reward: any policy that keeps them all is an answer.
std::string verdict_on_all(const Problem& problem, const std::vector<AchievableRange>& achievable,
                           Execution execution) {
  constexpr double kPatience = 5;  // seconds
  if (achievable.size() < 2) return "";
  bool always = true;
  for (std::size_t c = 0; c < achievable.size(); ++c) {
    const std::string one = verdict(problem.constraints()[c], achievable[c]);
    if (one == "no policy meets it") return "no policy meets them together";
    always = always && one == "every policy meets it";
  }
  if (always) return "every policy meets them together";
  execution.time_limit = std::min(execution.time_limit, kPatience);
  try {
    const Problem feasibility(with_objective(problem.model(), {.none = true}), problem.terms());
    const Solution found = frontier(feasibility, {}, execution);
    if (found.status == Status::infeasible) return "no policy meets them together";
    if (std::all_of(found.constraints.begin(), found.constraints.end(),
                    [](const ConstraintResult& c) { return c.satisfied; }))
      return "can be met together";
  } catch (const Error&) {  // a set that frontier does not take, or too little memory
  }
  return "whether they can be met together is not known";
}

// The first moments of the solve itself show how fast this machine is at it; of those the later
// half, because windows are narrow, and work per row dear, near the end of the horizon. None when
// the solve would be refused.
std::optional<double> estimated_seconds(const Problem& problem, const RcviOptions& options,
                                        const RcviPlan& plan, Execution execution) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  // At least four stages, of large problems three, unless somebody loses patience first.
  int stages = 0;
  double before = 0;
  const auto keep_on = execution.progress;
  execution.progress = [&](double done) {
    if (done > before) ++stages;
    before = done;
    const bool enough = elapsed() >= (stages >= 4 ? 0.2 : 0.4) && stages >= 3;
    return keep_on(0) && !enough;
  };
  try {
    const Solution probe = rcvi(problem, options, execution);
    if (!probe.unfinished) return probe.seconds;
    const auto& [rows, seconds] = std::tie(probe.trace.row_evaluations, probe.trace.seconds);
    if (seconds.size() < 2) return {};
    const std::size_t half = seconds.size() / 2 - 1;
    return plan.row_evaluations * (seconds.back() - seconds[half]) / (rows.back() - rows[half]);
  } catch (const Error&) {  // the memory does not suffice
    return {};
  }
}

Json info_json(const Problem& problem, const std::vector<AchievableRange>& achievable,
               const std::string& together, const RcviPlan& plan,
               const std::optional<double>& seconds) {
  Json object = problem_json(problem);
  add_model_json(object, {problem.model(), problem.terms()});
  object["constraints"] = Json::array();
  for (std::size_t c = 0; c < achievable.size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    Json entry = {{"name", constraint.signal},
                  {"sense", constraint.sense == Sense::at_most ? "at_most" : "at_least"},
                  {"bound", constraint.bound}};
    if (constraint.probability) entry["probability"] = *constraint.probability;
    entry["best"] = achievable[c].best;
    entry["worst"] = achievable[c].worst;
    entry["verdict"] = verdict(constraint, achievable[c]);
    object["constraints"].push_back(entry);
  }
  if (!together.empty()) object["together"] = together;
  Json& cost = object["rcvi"];
  cost = {{"stages", plan.stages},
          {"memory_states", plan.most_memory_states},
          {"bytes", plan.memory.bytes()},
          {"memory", memory_json(plan.memory)},
          {"row_evaluations", plan.row_evaluations},
          {"seconds", seconds ? Json(*seconds) : Json()},
          {"axes", Json::array()}};
  if (plan.augmented_states > 0) cost["augmented_states"] = plan.augmented_states;
  for (const BudgetAxis& axis : plan.axes)
    cost["axes"].push_back({{"name", problem.constraints()[axis.constraint].signal},
                            {"step", axis.step},
                            {"exact", axis.exact}});
  add_other_plans(object, plan_others(problem));
  return object;
}

void print_constraints(const Problem& problem, const std::vector<AchievableRange>& achievable,
                       const std::string& together) {
  if (achievable.empty()) {
    fmt::print("\nNo constraints\n");
    return;
  }
  fmt::print("\nWorst-case totals that policies reach, so that a bound can be chosen\n");
  std::vector<Cells> rows = {{"constraint", "best policy", "worst policy", "bound", ""}};
  for (std::size_t c = 0; c < achievable.size(); ++c) {
    const Constraint& constraint = problem.constraints()[c];
    rows.push_back({quantity_text(constraint), number_text(achievable[c].best),
                    number_text(achievable[c].worst), bound_text(constraint),
                    verdict(constraint, achievable[c])});
  }
  print_table(rows);
  if (!together.empty()) fmt::print("  All constraints: {}\n", together);
}

void print_plan(const Problem& problem, const RcviPlan& plan,
                const std::optional<double>& seconds) {
  const std::string pairs = plan.augmented_states > 0
                                ? fmt::format(" for each of {} pairs of a state and a budget",
                                              count_text(plan.augmented_states))
                                : "";
  fmt::print("\nA solve by rcvi: {} stages, up to {} memory states{}, {} of RAM, {}\n",
             count_text(plan.stages), count_text(static_cast<double>(plan.most_memory_states)),
             pairs, memory_text(plan.memory.bytes()),
             seconds ? "about " + duration_text(*seconds) : "more than this machine has");
  for (const BudgetAxis& axis : plan.axes)
    fmt::print("Budget of {}: {} {}\n", problem.constraints()[axis.constraint].signal,
               axis.exact ? "exact, in steps of" : "rounded to steps of", number_text(axis.step));
  const auto [robust, frontier] = plan_others(problem);
  if (robust) fmt::print("A solve by robust: {} of RAM\n", memory_text(robust->bytes()));
  if (frontier)
    fmt::print("A solve by frontier: {} of RAM in its first pass, at most {}\n",
               memory_text(frontier->bytes()), memory_text(frontier->bytes() + frontier->growth));
}

// A problem without a horizon and a discount is one where episodes come to an end.
std::optional<Problem> pose_as_it_is(const Draft& draft, std::string& why_not) {
  if (is_complete(draft) && draft.rewarded) return pose(draft);
  try {
    if (draft.rewarded) return pose(draft);
  } catch (const Error& error) {
    why_not = error.what();
  }
  return {};
}

void print_problem(const Problem& problem) {
  const Model given = problem.given().model;
  print_sizes(given);
  if (problem.model().states() != given.states())
    fmt::print("{} states with {}\n", count_text(problem.model().states()),
               problem.merged() == nullptr
                   ? "which goals are decided"
                   : "those as one that go round for nothing, and without those of no use");
  fmt::print("{}\n", terms_text(problem));
  print_labels(given);
  print_values({problem.model(), problem.terms()});
}

// Some policies never come to an end: what the others need has no bound.
int print_improper(const Problem& problem, bool json) {
  if (json) {
    Json object = problem_json(problem);
    object["improper"] = true;
    add_other_plans(object, plan_others(problem));
    print_json(object);
    return kFine;
  }
  print_problem(problem);
  fmt::print("\nSome policies never come to an end{}: methods frontier, robust and nominal\n",
             problem.traps() ? ", for nature can keep them where they earn nothing"
                             : " and lose for ever");
  return kFine;
}

int info(const InfoOptions& options) {
  constexpr int kMostRanks = 1000;  // each is a thread of this process
  if (options.ranks && (*options.ranks < 1 || *options.ranks > kMostRanks))
    throw Error(fmt::format("--ranks {}, must be in 1..{}", *options.ranks, kMostRanks));
  const Draft draft = read_draft(options.problem);
  std::string incomplete;  // why it must be given a horizon or a discount
  const std::optional<Problem> posed = pose_as_it_is(draft, incomplete);
  if (!posed) return print_draft(draft, incomplete, options.json);
  const Problem& problem = *posed;
  if (problem.improper()) return print_improper(problem, options.json);
  const Execution how = execution(options.execution);
  const auto achievable = achievable_ranges(problem, how);
  const std::string together = verdict_on_all(problem, achievable, how);
  const RcviPlan plan = plan_rcvi(problem, options.rcvi);
  const auto seconds = estimated_seconds(problem, options.rcvi, plan, how);
  std::vector<RankPlan> ranks;
  std::optional<NeededStates> needed;
  const PartitionOptions how_to_divide = partition_options(options.problem, needed);
  if (options.ranks) ranks = plan_ranks(problem, options.rcvi, *options.ranks, how_to_divide);
  if (options.json) {
    Json object = info_json(problem, achievable, together, plan, seconds);
    if (!ranks.empty()) object["ranks"] = rank_plans_json(ranks);
    if (needed) object["needed"] = needed_json(*needed);
    print_json(object);
    return kFine;
  }
  print_problem(problem);
  print_constraints(problem, achievable, together);
  print_plan(problem, plan, seconds);
  if (!ranks.empty()) print_rank_plans(ranks);
  if (needed) print_needed(*needed, plan);
  return kFine;
}

}  // namespace

Action info_verb(CommandLine& verb) {
  auto options = std::make_shared<InfoOptions>();
  add_problem(verb, options->problem);
  add_rcvi(verb, options->rcvi);
  add_execution(verb, options->execution);
  add_partition(verb, options->problem);
  verb.add_option("--ranks", options->ranks,
                  "Also what each of this many processes would need, under mpirun")
      .check(is_whole_number())
      .type_name("NUMBER")
      .group("Execution");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return info(*options); };
}

}  // namespace redoubt::app
