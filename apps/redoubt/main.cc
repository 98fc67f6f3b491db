#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>

#include "checks.h"
#include "command_line.h"
#include "processes.h"
#include "redoubt/error.h"
#include "verbs.h"
#include "version.h"

namespace redoubt::app {
namespace {

constexpr Verb kVerbs[] = {
    {"make", "Write a built-in problem to a file", make_verb},
    {"envs", "List the built-in problems, or the parameters of one", envs_verb},
    {"info", "Sizes, ranges, which bounds can be met, and what a solve will cost", info_verb},
    {"solve", "Find a policy and report what it guarantees in the worst case", solve_verb, true},
    {"frontier", "The whole trade-off between reward and constraints, exactly", frontier_verb,
     true},
    {"evaluate", "Worst-case totals of a stored policy, also under other terms", evaluate_verb,
     true},
    {"verify", "The same, by an independent slow evaluation in long double", verify_verb},
    {"simulate", "Episodes of a stored policy, nominal or in a worst case", simulate_verb},
    {"aggregate", "States as cells: a guarantee and a bound from a smaller problem",
     aggregate_verb},
    {"report", "One page that shows a solution, explains it and compares other radii", report_verb},
    {"act", "Run an exported policy: lines of JSON in, lines of JSON out", act_verb},
    {"compare", "Several methods on one problem: a table and all traces", compare_verb},
    {"estimate", "Build a problem from the samples of a simulator, or from recorded data",
     estimate_verb},
    {"learn", "Draw samples where they matter until a policy is certified", learn_verb},
    {"samples", "How many samples a guarantee needs, or what they guarantee", samples_verb},
    {"convert", "Write a problem in another format, or renumber its states", convert_verb},
};

constexpr std::string_view kTry = R"_(Three commands to try:
  redoubt envs                                        the built-in problems
  redoubt info "river_swim(horizon=10,start=3)"       which bounds can be met
  redoubt solve "river_swim(horizon=10,start=3)"      a policy and what it guarantees)_";

void check_verb(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw Error(fmt::format("verb '{}', must be one of {}{}", word, fmt::join(names, ", "),
                          did_you_mean(word, names)));
}

void check_ranks(int argc, char** argv) {
  if (argc < 2 || processes().size() == 1) return;
  for (const Verb& verb : kVerbs) {
    if (verb.name == std::string_view(argv[1]) && !verb.takes_ranks)
      throw Error(fmt::format("{} on {} ranks, must run on one", verb.name, processes().size()));
  }
}

int run_checked(int argc, char** argv) {
  check_verb(argc, argv);
  check_ranks(argc, argv);
  return run(
      {.name = "redoubt",
       .description = "Robust constrained Markov decision processes, solved with certificates",
       .version = version_text(),
       .footer = std::string(kTry),
       .verbs = kVerbs},
      argc, argv);
}

// Exactly one line, whatever the error holds.
void complain(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  fmt::print(stderr, "redoubt: {}\n", text);
}

// An error that every rank has found is told by the first. One that only this rank has found ends
// them all: the others wait for it.
int fail(const std::string& text) {
  if (everyone_is_here()) {
    if (processes().rank() == 0) complain(text);
    return kBadInput;
  }
  complain(fmt::format("rank {}: {}", processes().rank(), text));
  abandon(kBadInput);
}

int run_or_fail(int argc, char** argv) {
  try {
    const int status = run_checked(argc, argv);
    return std::fflush(stdout) == 0 ? status : fail("standard output cannot be written");
  } catch (const Stopped& stop) {
    if (processes().rank() == 0) complain(stop.what());
    return kBadOutcome;
  } catch (const std::bad_alloc&) {
    return fail(
        "out of memory; redoubt info says what a solve needs, and ulimit -v what it may have");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace
}  // namespace redoubt::app

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error like a full disk
  // Every rank does everything; the first one speaks.
  if (redoubt::processes().rank() > 0 && std::freopen("/dev/null", "w", stdout) == nullptr)
    redoubt::abandon(redoubt::app::kBadInput);
  const int status = redoubt::app::run_or_fail(argc, argv);
  redoubt::end_processes();
  return status;
}
