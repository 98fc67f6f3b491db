#include "sampling_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "checks.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/error.h"
#include "redoubt/learn.h"
#include "table.h"
#include "text.h"

namespace redoubt::app {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(fmt::format("{}: cannot be opened, must be a file", path));
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void check_sources(const ProblemOptions& problem, const SamplingOptions& options) {
  const int sources = (problem.problem.empty() ? 0 : 1) + (options.simulator.empty() ? 0 : 1) +
                      (options.data.empty() ? 0 : 1);
  if (sources != 1)
    throw Error(fmt::format("{} of PROBLEM, --simulator and --data are given, must be one of them",
                            sources == 0 ? "none" : "several"));
  if (!options.features.empty() && !problem.problem.empty())
    throw Error("--features with PROBLEM, must be with --simulator or --data");
  if (options.radius_from_data && options.confidence)
    throw Error("--radius-from-data and --confidence, must be one of them");
  if (!options.data.empty() && options.samples)
    throw Error("--samples has no meaning for --data, must be left out");
  if (!options.simulator.empty() && objective(problem).chosen())
    throw Error(
        "--reward or --minimise has no meaning for --simulator, whose answers name a reward");
  if (!options.simulator.empty() && !options.samples)
    throw Error("--simulator without --samples, must say how many samples of each row to ask for");
}

constexpr const char* kStore = "simulator.samples";

bool has_temporary_store(const SamplingOptions& options) {
  return !options.simulator.empty() && options.store.empty();
}

std::unique_ptr<Simulator> start_simulator(const ProblemOptions& problem,
                                           const SamplingOptions& options) {
  if (!options.simulator.empty()) return external_simulator(options.simulator, options.external);
  const Problem source = read_problem(problem);
  if (source.merged() != nullptr)  // which samples of the rest do not show
    throw Error(
        "samples with no discount and no horizon where states have become one, or were left out, "
        "must have --horizon or --discount");
  return problem_simulator(source);
}

// Who says that there is neither means it: totals count until episodes end.
void require_horizon(const Terms& terms, const ProblemOptions& problem) {
  if (terms.horizon || terms.discount < 1 || !problem.problem.empty() || problem.horizon) return;
  throw Error("neither horizon nor discount is known, must be given by --horizon or --discount");
}

// A problem whose factors are to be estimated, under the terms that flags say; none.
std::optional<Draft> read_features(const ProblemOptions& problem, const SamplingOptions& options) {
  if (options.features.empty()) return {};
  ProblemOptions asked = problem;
  asked.problem = options.features;
  return read_draft(asked);
}

Estimate collect(const ProblemOptions& problem, const SamplingOptions& options,
                 const std::optional<Draft>& features, const Execution& execution) {
  if (!options.data.empty()) {
    RecordedOptions recorded{.states = options.states,
                             .actions = options.actions,
                             .terminal = options.terminal,
                             .unvisited = options.unvisited == "simplex" || options.confidence
                                              ? Unvisited::simplex
                                              : Unvisited::error,
                             .objective = objective(problem)};
    if (features) {  // it says what is earned
      recorded.states = features->model.ordinary();
      recorded.actions = features->model.actions();
      recorded.unvisited = Unvisited::ignore;
      recorded.objective = {.none = true};
    }
    return read_recorded(read_text(options.data), options.data, recorded);
  }
  return estimate(
      *start_simulator(problem, options),
      {.samples = *options.samples, .seed = options.seed, .store = sample_store(options)},
      execution);
}

}  // namespace

void add_simulator(CommandLine& verb, SamplingOptions& options) {
  const auto add = [&](const char* flag, auto& value, const char* text) {
    return verb.add_option(flag, value, text).group("Samples");
  };
  add("--simulator", options.simulator, "Program that answers queries; docs/sampling.md")
      .type_name("COMMAND");
  add("--features", options.features,
      "Problem with factors: samples tell of these, and it of the weights and all that is earned")
      .type_name("FILE");
  add("--store", options.store,
      "Keep samples here, and go on from them; simulator.samples until a program is done")
      .type_name("FILE");
  add("--timeout", options.external.timeout, "Seconds without an answer that count as a hang")
      .check(is_number())
      .type_name("SECONDS");
  add("--window", options.external.window, "Queries that may wait for an answer at a time")
      .check(is_whole_number())
      .type_name("NUMBER");
}

void add_sampling(CommandLine& verb, SamplingOptions& options) {
  const auto add = [&](const char* flag, auto& value, const char* text) {
    return verb.add_option(flag, value, text).group("Samples");
  };
  add_simulator(verb, options);
  add("--data", options.data, "Recorded transitions: CSV of state,action,next[,stage][,reward]...")
      .type_name("FILE");
  add("--samples", options.samples, "Samples of each row; with PROBLEM: of its nominal model")
      .check(is_whole_number(1))
      .type_name("NUMBER");
  add("--radius-from-data", options.radius_from_data,
      "Radii such that all true rows are inside with probability 1 - DELTA")
      .check(is_number())
      .type_name("DELTA");
  add("--confidence", options.confidence,
      "An interval for each probability instead: all true rows are within the set of some row "
      "inside")
      .check(is_number())
      .type_name("NUMBER");
  add("--unvisited", options.unvisited,
      "Rows without data: error, or simplex (anything may happen)")
      .check(is_one_of({"error", "simplex"}));
  add("--states", options.states, "States of the data; one more than the largest unless given")
      .type_name("NUMBER");
  add("--actions", options.actions, "Actions of the data; likewise").type_name("NUMBER");
  add("--terminal", options.terminal, "States in which recorded episodes end, as in 3,7")
      .delimiter(',')
      .type_name("STATES");
}

namespace {

SampledProblem of_factors(Estimate rows, const Draft& features, const SamplingOptions& options) {
  if (options.radius_from_data)
    throw Error("--radius-from-data with --features, must be --confidence");
  if (options.confidence) {
    Problem bounded = composed_factors(rows, features.model, features.terms, *options.confidence);
    return {std::move(bounded), std::move(rows), has_temporary_store(options), {}};
  }
  Estimate found = estimate_factors(rows, features.model);
  Problem likeliest = estimated_problem(found, features.terms);
  return {std::move(likeliest), std::move(found), has_temporary_store(options), {}};
}

}  // namespace

SampledProblem read_or_sample(const ProblemOptions& problem, const SamplingOptions& options,
                              const Execution& execution) {
  check_sources(problem, options);
  if (!problem.problem.empty() && !options.samples) {
    std::optional<NeededStates> needed;
    Problem part = read_subproblem(problem, needed);
    return {std::move(part), {}, false, needed};
  }
  if (execution.ranks)
    throw Error(
        fmt::format("samples on {} ranks, must be drawn on one: estimate writes a problem "
                    "that all can read",
                    execution.ranks->size()));
  const std::optional<Draft> features = read_features(problem, options);
  Estimate found = collect(problem, options, features, execution);
  if (features) return of_factors(std::move(found), *features, options);
  Terms terms = found.terms;
  // With a radius from data, a set is enough: its radius is what the data decide.
  ProblemOptions flags = problem;
  if ((options.radius_from_data || options.confidence) && flags.set && !flags.radius)
    flags.radius = 0.0;
  if (problem.problem.empty())
    replace_terms(terms, found.model.states(), found.model.arrays().state_names, flags);
  require_horizon(terms, problem);
  Problem result = options.radius_from_data
                       ? confident_problem(found, terms, *options.radius_from_data)
                   : options.confidence ? composed_problem(found, terms, *options.confidence)
                                        : estimated_problem(found, terms);
  return {std::move(result), std::move(found), has_temporary_store(options), {}};
}

OpenSimulator open_simulator(const ProblemOptions& problem, const SamplingOptions& options) {
  if (problem.problem.empty() == options.simulator.empty())
    throw Error(fmt::format("{} of PROBLEM and --simulator are given, must be one of them",
                            problem.problem.empty() ? "none" : "both"));
  const std::optional<Draft> features = read_features(problem, options);
  OpenSimulator open{start_simulator(problem, options), {}};
  if (features) open.simulator = factor_simulator(std::move(open.simulator), features->model);
  const SimulatorShape& shape = open.simulator->shape();
  open.terms = features ? features->terms : shape.terms;
  if (!features && problem.problem.empty())
    replace_terms(open.terms, shape.states, shape.state_names, problem);
  require_horizon(open.terms, problem);
  if (!open.terms.horizon && open.terms.discount == 1)
    throw Error("learning with no discount and no horizon, must have one of them");
  return open;
}

std::string sample_store(const SamplingOptions& options) {
  return has_temporary_store(options) ? kStore : options.store;
}

void remove_temporary_store(const SamplingOptions& options) {
  if (has_temporary_store(options)) std::filesystem::remove(kStore);
}

void remove_temporary_store(const SampledProblem& sampled) {
  if (sampled.temporary_store) std::filesystem::remove(kStore);
}

void add_sampling_json(Json& object, const SampledProblem& sampled) {
  if (!sampled.estimate) return;
  const Estimate& found = *sampled.estimate;
  object["queries"] = found.queries;
  object["samples_reused"] = found.reused;
  Json unvisited = Json::array();
  for (const Row row : found.unvisited) unvisited.push_back(found.model.row_name(row));
  object["unvisited"] = unvisited;
}

void print_sampling(const SampledProblem& sampled) {
  if (!sampled.estimate) return;
  const Estimate& found = *sampled.estimate;
  std::vector<std::int64_t> visits = found.visits;
  if (found.model.factors() > 0) std::erase(visits, 0);  // rows that are known, or no matter
  const auto [least, most] = std::minmax_element(visits.begin(), visits.end());
  const auto text = [](std::int64_t count) { return count_text(static_cast<double>(count)); };
  if (least == visits.end()) return;
  const std::string each = *least == *most ? text(*most) : text(*least) + " to " + text(*most);
  fmt::print("Samples: {} for each of {} rows; {} queries, {} reused\n", each,
             count_text(static_cast<double>(visits.size())), text(found.queries),
             text(found.reused));
  for (const Row row : found.unvisited)
    fmt::print("No samples of {}: anything may happen there\n", found.model.row_name(row));
}

}  // namespace redoubt::app
