#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "json.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/objective.h"
#include "redoubt/problem.h"

namespace redoubt::app {

// A problem on the command line: a file or the id of a built-in problem, and the terms that flags
// replace. A flag changes what it names and nothing else.
struct ProblemOptions {
  std::string problem;
  std::optional<std::string> set, reach, scope, horizon, start, nature, groups;
  std::optional<double> radius, temperature, discount;
  std::vector<std::string> bounds;              // replace all constraints
  std::optional<std::string> reward, minimise;  // the signal to maximise, or none; to minimise
  std::string partition = "blocks";             // how processes divide the states
  std::string posterior = "mean";               // what becomes of a CSV file's samples of rows
};

void add_problem(CommandLine& verb, ProblemOptions& options, const std::string& name = "PROBLEM");
// The same for verbs that may get their problem from samples instead.
void add_optional_problem(CommandLine& verb, ProblemOptions& options);

// Whether nature works against the policy or for it, for verbs that solve and evaluate.
void add_nature(CommandLine& verb, ProblemOptions& options);

// The stored solution that a verb works on, after the problem.
void add_solution(CommandLine& verb, std::string& path);

// For verbs that several processes may run together.
void add_partition(CommandLine& verb, ProblemOptions& options);

// What --partition asks for; when states are divided, `needed` is known.
PartitionOptions partition_options(const ProblemOptions& options,
                                   std::optional<NeededStates>& needed);

Problem read_problem(const ProblemOptions& options);
// The same for verbs that do not solve it: neither a horizon nor a reward need be known.
Draft read_draft(const ProblemOptions& options);
bool is_complete(const Draft& draft);  // it says when episodes end
// The subproblem of this rank, where mpirun has started several.
Problem read_subproblem(const ProblemOptions& options, std::optional<NeededStates>& needed);
void tell_needed(const std::optional<NeededStates>& needed);  // on standard error
Json needed_json(const NeededStates& needed);
// "In a stage ranks send ...", with the bytes of one state where they are known.
std::string needed_text(const NeededStates& needed, double bytes_of_state = 0);

// What the flags say is to be maximised.
Objective objective(const ProblemOptions& options);

// The terms that flags replace, for a model that comes from elsewhere.
void replace_terms(Terms& terms, State states, const std::vector<std::string>& state_names,
                   const ProblemOptions& options);

}  // namespace redoubt::app
