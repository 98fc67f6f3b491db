#include "redoubt/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>

#include "checks.h"
#include "execution_options.h"
#include "method_options.h"
#include "output.h"
#include "redoubt/error.h"
#include "redoubt/io.h"
#include "sampling_options.h"
#include "table.h"
#include "text.h"
#include "verbs.h"
#include "version.h"

namespace redoubt::app {
namespace {

struct LearnVerb {
  ProblemOptions problem;
  SamplingOptions sampling;
  LearnOptions learn;
  MethodOptions method;
  bool own_method = false;  // one was named
  std::optional<double> epsilon;
  std::string problem_output;
  ExecutionOptions execution;
  OutputOptions output;
  bool json = false;
};

Json round_json(const LearnRound& round) {
  const auto known = [](double value) { return is_known(value) ? Json(value) : Json(); };
  return {{"samples", round.samples},
          {"worst", known(round.worst)},
          {"bound", known(round.bound)},
          {"feasible", round.feasible}};
}

std::string bracket_text(const LearnRound& round) {
  const std::string low = round.feasible ? number_text(round.worst) : "no policy yet";
  const std::string high = is_known(round.bound) ? number_text(round.bound) : "none possible";
  return fmt::format("{} samples: reward {} to {}", count_text(static_cast<double>(round.samples)),
                     low, high);
}

// Where most of the samples went.
void print_samples(const Learned& learned) {
  const std::vector<std::int64_t>& samples = learned.samples;
  std::vector<Row> order(samples.size());
  std::iota(order.begin(), order.end(), Row{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Row a, Row b) { return samples[a] > samples[b]; });
  const auto text = [](std::int64_t count) { return count_text(static_cast<double>(count)); };
  fmt::print("Samples: {} in {} rounds; {} queries, {} reused\n",
             text(learned.rounds.back().samples), learned.rounds.size(), text(learned.queries),
             text(learned.reused));
  constexpr std::size_t kShown = 3;
  std::string most;
  const Model asked = learned.problem.given().model;
  for (std::size_t i = 0; i < std::min(kShown, order.size()) && samples[order[i]] > 0; ++i)
    most += fmt::format("{}{} {}", i > 0 ? "; " : "", asked.row_name(order[i]),
                        text(samples[order[i]]));
  if (!most.empty()) fmt::print("Most of them: {}\n", most);
}

std::string_view meaning_of(const Learned& learned) {
  switch (learned.solution.status) {
    case Status::certified:
      return "the constraints hold, and no policy that keeps them does better by more than epsilon";
    case Status::feasible:
      return "the constraints hold; how good the policy is needs more samples";
    case Status::infeasible:
      return "no policy keeps the constraints";
    default:
      return "more samples are needed to know a policy that keeps the constraints";
  }
}

// The constraints as they were asked for: within epsilon, unless strict.
std::vector<ConstraintResult> asked_for(const Learned& learned, const LearnOptions& options) {
  std::vector<ConstraintResult> constraints = learned.solution.constraints;
  for (ConstraintResult& c : constraints) {
    if (options.strict || c.probability) continue;
    c.bound += c.sense == Sense::at_most ? options.epsilon : -options.epsilon;
  }
  return constraints;
}

void print_learned(const Learned& learned, const LearnOptions& options) {
  const Solution& solution = learned.solution;
  fmt::print("{}: with probability at least {} of the samples, on the true model:\n{}\n\n",
             name(solution.status), number_text(1 - options.delta), meaning_of(learned));
  print_worst_cases(learned.problem, solution.reward, asked_for(learned, options),
                    solution.hopeless, solution.gap());
  fmt::print("\n");
  print_first_decisions(learned.problem, solution.policy);
  fmt::print("Problem: {} states, {}\n", count_text(learned.problem.model().states()),
             terms_text(learned.problem));
  print_samples(learned);
  for (const std::string& note : solution.notes) fmt::print("Note: {}\n", note);
}

Json learned_json(const Learned& learned, const LearnOptions& options) {
  Json object = solution_json(learned.problem, learned.solution);
  object["epsilon"] = options.epsilon;
  object["delta"] = options.delta;
  object["confidence"] = 1 - options.delta;
  object["strict"] = options.strict;
  object["samples"] = learned.rounds.back().samples;
  object["samples_of_rows"] = learned.samples;
  object["queries"] = learned.queries;
  object["samples_reused"] = learned.reused;
  Json rounds = Json::array();
  for (const LearnRound& round : learned.rounds) rounds.push_back(round_json(round));
  object["rounds"] = rounds;
  return object;
}

// Options are of the method that is named; without one, how rounds are solved follows from epsilon.
void check_options(const CommandLine& verb, const std::string& method) {
  for (const char* flag : {"--tolerance", "--memory-limit"})
    if (verb.has(flag) && !verb.has("--method"))
      throw Error(fmt::format("{} is an option of a method, must come with --method", flag));
  check_method_options(verb, {method});
}

int learn_policy(const LearnVerb& options) {
  if (!options.epsilon) throw Error("--epsilon is missing, must say which gap is small enough");
  check_outputs(options.output);
  LearnOptions asked = options.learn;
  asked.epsilon = *options.epsilon;
  asked.seed = options.method.gradient.seed;
  asked.store = sample_store(options.sampling);
  if (options.own_method)
    asked.method = [&](const Problem& problem, const Execution& run) {
      return run_method(problem, options.method, run);
    };
  const Execution run = execution(options.execution);
  if (options.execution.progress.value_or(false))
    asked.round = [](const LearnRound& round) {
      fmt::print(stderr, "\r\033[K{}\n", bracket_text(round));  // over the bar
      return true;
    };
  const OpenSimulator open = open_simulator(options.problem, options.sampling);
  const Learned learned = learn(*open.simulator, open.terms, asked, run);
  end_interrupts();
  write_outputs(options.output, learned.problem, learned.solution, run);
  if (!options.problem_output.empty()) save(learned.problem, options.problem_output);
  if (!learned.solution.unfinished) remove_temporary_store(options.sampling);
  if (options.json) {
    print_json(learned_json(learned, asked));
  } else {
    print_learned(learned, asked);
    print_outputs(options.output, learned.solution);
    if (!options.problem_output.empty())
      fmt::print("Problem written to {}\n", options.problem_output);
  }
  const Status status = learned.solution.status;
  return status == Status::certified || status == Status::feasible ? kFine : kBadOutcome;
}

}  // namespace

Action learn_verb(CommandLine& verb) {
  auto options = std::make_shared<LearnVerb>();
  add_optional_problem(verb, options->problem);
  add_simulator(verb, options->sampling);
  const auto add = [&](const char* flag, auto& value, const char* text) {
    return verb.add_option(flag, value, text).group("Certificate").type_name("NUMBER");
  };
  add("--epsilon", options->epsilon, "Gap that ends the run, and what a bound may be exceeded by")
      .check(is_number());
  add("--delta", options->learn.delta, "Probability that the certificate may fail")
      .check(is_number());
  add("--most-samples", options->learn.most_samples, "Samples of all rows together; 0: no limit")
      .check(is_whole_number(0));
  add("--first-samples", options->learn.first_samples, "Samples of each row in the first round")
      .check(is_whole_number(1));
  verb.add_flag("--strict", options->learn.strict, "Keep every constraint within its bound itself")
      .group("Certificate");
  verb.add_flag("--uniform", options->learn.uniform,
                "Draw all rows equally often, instead of where it matters")
      .group("Certificate");
  add_method(verb, options->method);
  add_execution(verb, options->execution);
  add_solution_output(verb, options->output);
  add_policy_output(verb, options->output);
  verb.add_option("--problem-out", options->problem_output,
                  "Write what is known of the model, for evaluate and verify")
      .type_name("FILE");
  verb.add_flag("--json", options->json, "Print one JSON object");
  return [options, &verb] {
    check_options(verb, options->method.method);
    options->own_method = verb.has("--method");
    return learn_policy(*options);
  };
}

}  // namespace redoubt::app
