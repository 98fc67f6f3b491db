#include "redoubt/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "checks.h"
#include "execution_options.h"
#include "json.h"
#include "problem_options.h"
#include "redoubt/io.h"
#include "table.h"
#include "text.h"
#include "verbs.h"

namespace redoubt::app {
namespace {

struct SimulateVerbOptions {
  ProblemOptions problem;
  std::string solution;
  std::string nature = "nominal";
  int episodes = 1000, seed = 0;
  ExecutionOptions execution;
  bool json = false;
};

Json total_json(const SampledTotal& total) {
  return {{"name", total.name}, {"mean", total.mean}, {"standard_error", total.standard_error}};
}

Json simulation_json(const SimulateVerbOptions& options, const Simulation& simulation) {
  Json object;
  object["episodes"] = simulation.reward.totals.size();
  object["nature"] = options.nature;
  object["seed"] = options.seed;
  object["reward"] = total_json(simulation.reward);
  object["constraints"] = Json::array();
  for (const SampledTotal& total : simulation.constraints)
    object["constraints"].push_back(total_json(total));
  object["cut"] = simulation.cut ? Json(*simulation.cut) : Json();
  return object;
}

Cells total_cells(const std::string& name, const SampledTotal& total) {
  std::vector<double> sorted = total.totals;
  std::sort(sorted.begin(), sorted.end());
  return {name,
          number_text(total.mean),
          number_text(total.standard_error),
          number_text(sorted.front()),
          number_text(sorted[sorted.size() / 2]),
          number_text(sorted.back())};
}

void print_simulation(const SimulateVerbOptions& options, const Problem& problem,
                      const Simulation& simulation) {
  fmt::print("{} episodes against nature {}\n\n",
             count_text(static_cast<double>(simulation.reward.totals.size())), options.nature);
  if (simulation.reward.totals.empty()) return;
  std::vector<Cells> rows = {{"total", "mean", "standard error", "least", "median", "largest"}};
  rows.push_back(total_cells("reward", simulation.reward));
  for (std::size_t c = 0; c < simulation.constraints.size(); ++c)
    rows.push_back(total_cells(quantity_text(problem.constraints()[c]), simulation.constraints[c]));
  print_table(rows);
  if (simulation.cut)
    fmt::print("\nNote: the infinite horizon was cut after {} stages\n", *simulation.cut);
}

int simulate(const SimulateVerbOptions& options) {
  const Problem problem = read_problem(options.problem);
  const Policy policy = load_solution(options.solution).policy;
  const SimulateOptions simulate_options = {.episodes = options.episodes,
                                            .seed = static_cast<std::uint64_t>(options.seed),
                                            .nature = nature_of(problem, options.nature)};
  const Simulation simulation =
      redoubt::simulate(problem, policy, simulate_options, execution(options.execution));
  if (options.json) {
    print_json(simulation_json(options, simulation));
  } else {
    print_simulation(options, problem, simulation);
  }
  const auto done = static_cast<std::int64_t>(simulation.reward.totals.size());
  return done == simulate_options.episodes ? kFine : kBadOutcome;  // fewer: it was stopped
}

}  // namespace

Action simulate_verb(CommandLine& verb) {
  auto options = std::make_shared<SimulateVerbOptions>();
  add_problem(verb, options->problem);
  add_solution(verb, options->solution);
  verb.add_option("--episodes", options->episodes, "Number of episodes (1000)")
      .check(is_whole_number())
      .type_name("NUMBER");
  verb.add_option("--nature", options->nature,
                  "Who draws the outcomes: nominal, worst-reward, worst-SIGNAL or chance-SIGNAL "
                  "(nominal)")
      .type_name("WORD");
  verb.add_option("--seed", options->seed, "A seed gives the same episodes on any machine (0)")
      .check(is_whole_number())
      .type_name("NUMBER");
  add_execution(verb, options->execution);
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options] { return simulate(*options); };
}

}  // namespace redoubt::app
