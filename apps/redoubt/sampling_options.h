#pragma once

#include <memory>
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
  std::string simulator, data, store, features;
  std::optional<std::int64_t> samples;
  std::uint64_t seed = 0;  // the verb's own, where it has other uses for one
  ExternalOptions external;
  std::optional<double> radius_from_data, confidence;
  std::string unvisited = "error";
  std::optional<State> states;
  std::optional<std::int32_t> actions;
  std::vector<State> terminal;
};

void add_sampling(CommandLine& verb, SamplingOptions& options);
void add_simulator(CommandLine& verb, SamplingOptions& options);  // the flags of simulators alone

// What is asked, and the terms under which it is solved: its own, as far as no flag replaces them.
struct OpenSimulator {
  std::unique_ptr<Simulator> simulator;
  Terms terms;
};
OpenSimulator open_simulator(const ProblemOptions& problem, const SamplingOptions& options);

// Where samples go: answers of a program are dear, and on disk until what is made of them is
// written, even where no file is named.
std::string sample_store(const SamplingOptions& options);
void remove_temporary_store(const SamplingOptions& options);

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
