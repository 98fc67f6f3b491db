#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "json.h"
#include "problem_options.h"
#include "redoubt/estimate.h"

namespace redoubt::app {

// Where samples come from: a problem to sample from, a program, or recorded data.
struct SamplingOptions {
  std::string simulator, data, store;
  std::optional<std::int64_t> samples;
  std::uint64_t seed = 0;  // the verb's own, where it has other uses for one
  ExternalOptions external;
  std::optional<double> radius_from_data;
  std::string unvisited = "error";
  std::optional<State> states;
  std::optional<std::int32_t> actions;
  std::vector<State> terminal;
};

void add_sampling(CommandLine& verb, SamplingOptions& options);

// A problem and, where it was estimated, from what.
struct SampledProblem {
  Problem problem;
  std::optional<Estimate> estimate;
  bool temporary_store = false;  // its samples are on disk until remove_temporary_store()
  std::optional<NeededStates> needed = {};  // of other processes
};

// Estimates the problem when samples are asked for; otherwise reads it.
SampledProblem read_or_sample(const ProblemOptions& problem, const SamplingOptions& options,
                              const Execution& execution);

// Once what was made of the samples is written.
void remove_temporary_store(const SampledProblem& sampled);

void add_sampling_json(Json& object, const SampledProblem& sampled);
void print_sampling(const SampledProblem& sampled);

}  // namespace redoubt::app
