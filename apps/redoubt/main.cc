#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>

#include "processes.h"
#include "redoubt/error.h"
#include "verbs.h"
#include "version.h"

namespace redoubt::app {
namespace {

struct Verb {
  const char* name;
  const char* description;
  Action (*prepare)(CLI::App&);
  bool takes_ranks = false;  // mpirun may start it as several processes
};

constexpr Verb kVerbs[] = {
    {"make", "Write a built-in problem to a file", make_verb},
    {"envs", "List the built-in problems, or the parameters of one", envs_verb},
    {"info", "Sizes, ranges, which bounds can be met, and what a solve will cost", info_verb},
    {"solve", "Find a policy and report what it guarantees in the worst case", solve_verb, true},
    {"frontier", "The whole trade-off between reward and constraints, exactly", frontier_verb,
     true},
    {"evaluate", "Worst-case totals of a stored policy, also under other terms", evaluate_verb,
     true},
    {"verify", "The same, by an independent slow road in long double", verify_verb},
    {"simulate", "Episodes of a stored policy, nominal or in a worst case", simulate_verb},
    {"compare", "Several methods on one problem: a table and all traces", compare_verb},
    {"estimate", "Build a problem from the samples of a simulator, or from recorded data",
     estimate_verb},
    {"samples", "How many samples a guarantee needs, or what they guarantee", samples_verb},
    {"convert", "Write a problem in another format", convert_verb},
};

constexpr std::string_view kTry = R"_(Three commands to try:
  redoubt envs                                        the built-in problems
  redoubt info "river_swim(horizon=10,start=3)"       which bounds can be met
  redoubt solve "river_swim(horizon=10,start=3)"      a policy and what it guarantees)_";

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto near = near_matches(word, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

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

// CLI11 says what was left over; a person wants to know which option was meant.
std::string describe_extras(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  const CLI::App& part = chosen.empty() ? program : *chosen.front();
  const auto left = program.remaining(true);
  const auto flag = std::find_if(left.begin(), left.end(),
                                 [](const std::string& word) { return word.starts_with('-'); });
  if (flag == left.end())
    return fmt::format("argument '{}', {} takes no more of them", left.front(), part.get_name());
  std::vector<std::string> known;
  for (const CLI::Option* option : part.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string word = flag->substr(0, flag->find('='));
  return fmt::format("option '{}', {} has none of that name{}", word, part.get_name(),
                     did_you_mean(word, known));
}

int run(int argc, char** argv) {
  CLI::App program("Robust constrained Markov decision processes, solved with certificates",
                   "redoubt");
  program.set_version_flag("--version", version_text(), "Print versions and exit");
  program.require_subcommand(0, 1);
  program.footer(std::string(kTry));
  Action action;
  for (const Verb& verb : kVerbs) {
    CLI::App* part = program.add_subcommand(verb.name, verb.description);
    part->footer("");
    part->final_callback([&action, prepared = verb.prepare(*part)] { action = prepared; });
  }
  check_verb(argc, argv);
  check_ranks(argc, argv);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help and --version
    const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    throw Error(extras ? describe_extras(program) : error.what());
  }
  if (!action) {
    fmt::print("{}", program.help());
    return kFine;
  }
  return action();
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
    const int status = run(argc, argv);
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
