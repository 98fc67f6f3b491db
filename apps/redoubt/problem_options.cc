#include "problem_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "checks.h"
#include "processes.h"
#include "redoubt/advanced/io.h"
#include "redoubt/chance.h"
#include "redoubt/environments.h"
#include "redoubt/error.h"
#include "redoubt/io.h"
#include "text.h"

namespace redoubt::app {
namespace {

bool names_a_file(const std::string& text) {
  const std::filesystem::path path(text);
  std::error_code too_long;  // for a file name, not for an id
  return std::filesystem::exists(path, too_long) || text.find('/') != std::string::npos ||
         (path.has_extension() && text.find('(') == std::string::npos);
}

Draft read_source(const ProblemOptions& options) {
  const std::string& text = options.problem;
  const bool scenarios = options.posterior == "scenarios";
  if (names_a_file(text)) {
    std::vector<std::string> notes;
    Draft draft = load_draft(text, &notes, scenarios ? Posterior::scenarios : Posterior::mean);
    for (const std::string& note : notes) fmt::print(stderr, "Note: {}: {}\n", text, note);
    return draft;
  }
  if (scenarios)
    throw Error(fmt::format("--posterior scenarios of '{}', must be a CSV file", text));
  const Problem problem = make(text);
  return {problem.model(), problem.terms()};
}

void check_meaning(bool given, const char* flag, bool has_meaning, std::string_view set) {
  if (given && !has_meaning)
    throw Error(fmt::format("{} has no meaning for set {}, must be left out", flag, set));
}

// What the flags leave open comes from the set that the problem already has.
Uncertainty read_uncertainty(const Uncertainty& old, const ProblemOptions& options) {
  const SetKind& before = *SetKind::find(name(old));
  const SetKind& kind = options.set ? *SetKind::find(*options.set) : before;
  check_meaning(options.radius.has_value(), "--radius", kind.radius, kind.name);
  check_meaning(options.reach.has_value(), "--reach", kind.reach, kind.name);
  check_meaning(options.temperature.has_value(), "--temperature", kind.temperature, kind.name);
  check_meaning(options.scope.has_value(), "--scope", kind.scope, kind.name);
  if (kind.radius && !before.radius && !options.radius)
    throw Error(fmt::format("--set {} has no radius, must come with --radius", kind.name));
  SetKind::Numbers numbers;
  std::visit(
      [&](const auto& set) {
        if constexpr (requires { set.radius; }) numbers.radius = set.radius;
        if constexpr (requires { set.reach; }) numbers.reach = set.reach;
        if constexpr (requires { set.temperature; }) numbers.temperature = set.temperature;
        if constexpr (requires { set.scope; }) numbers.scope = set.scope;
      },
      old);
  if (options.scope) numbers.scope = *options.scope == "state" ? Scope::state : Scope::row;
  if (options.radius) numbers.radius = *options.radius;
  if (options.reach) numbers.reach = *options.reach == "support" ? Reach::support : Reach::anywhere;
  if (options.temperature) numbers.temperature = *options.temperature;
  return kind.make(numbers);
}

std::string trim(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Constraint read_bound(const std::string& text) {
  const auto sign = text.find('=');
  if (sign != std::string::npos && sign > 1 && (text[sign - 1] == '<' || text[sign - 1] == '>')) {
    const std::string signal = trim(text.substr(0, sign - 1));
    const auto with = std::min(text.find(" with ", sign), text.size());
    const auto bound = to_number(trim(text.substr(sign + 1, with - sign - 1)));
    const auto probability = with < text.size() ? to_number(trim(text.substr(with + 6))) : bound;
    if (bound && probability && !signal.empty()) {
      const Constraint total =
          text[sign - 1] == '<' ? at_most(signal, *bound) : at_least(signal, *bound);
      return with < text.size() ? with_probability(total, *probability) : total;
    }
  }
  throw Error(fmt::format(
      "--bound '{}', must read NAME>=X or NAME<=X, for a chance constraint NAME<=X with P", text));
}

std::optional<int> read_horizon(const std::string& text) {
  if (text == "infinite") return {};
  const auto stages = to_number(text);
  if (!stages || *stages < 0 || *stages > 2147483647 || *stages != static_cast<int>(*stages))
    throw Error(fmt::format("--horizon {}, must be a whole number from 0 on, or infinite", text));
  return static_cast<int>(*stages);
}

Start read_distribution(const std::string& text, State states) {
  Start start = Start::uniform(states);
  start.probability.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const auto probability = to_number(trim(text.substr(begin, end - begin)));
    if (!probability)
      throw Error(
          fmt::format("--start {}, must list one number for each state, as in .5:.3:.2", text));
    start.probability.push_back(*probability);
    begin = end + 1;
  }
  if (start.probability.size() != start.states.size())
    throw Error(fmt::format("--start lists {} probabilities, must list {}, one for each state",
                            start.probability.size(), states));
  return start;
}

Start read_start(const std::string& text, State states, const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), text);
  if (named != names.end()) return Start(static_cast<State>(named - names.begin()));
  if (text == "uniform") return Start::uniform(states);
  if (text.find(':') != std::string::npos) return read_distribution(text, states);
  const auto state = to_number(text);
  if (!state || *state < 0 || *state >= states || *state != static_cast<State>(*state))
    throw Error(fmt::format("--start {}, must be a state from 0 to {}{}, uniform, or probabilities",
                            text, states - 1, names.empty() ? "" : " or its name"));
  return Start(static_cast<State>(*state));
}

constexpr const char* kProblem = "File, or built-in problem such as river_swim(start=3)";

void add_terms(CommandLine& verb, ProblemOptions& options) {
  verb.add_option("--set", options.set,
                  fmt::format("Uncertainty set: {}", fmt::join(SetKind::names(), ", ")))
      .check(is_one_of(SetKind::names()))
      .group("Terms");
  const auto number = [&](const char* flag, std::optional<double>& value, const char* text) {
    verb.add_option(flag, value, text).check(is_number()).type_name("NUMBER").group("Terms");
  };
  number("--radius", options.radius, "Radius of the set, for every row or state");
  verb.add_option("--reach", options.reach, "Where tv may put mass: anywhere or support")
      .check(is_one_of({"anywhere", "support"}))
      .group("Terms");
  number("--temperature", options.temperature, "Temperature of set tilt");
  verb.add_option("--scope", options.scope,
                  "Whose the radius of tv, chi2 and kl is: row, or state (its rows share it)")
      .check(is_one_of({"row", "state"}))
      .group("Terms");
  verb.add_option(
          "--bound", options.bounds,
          "Constraint NAME>=X or NAME<=X, or \"NAME<=X with P\" to keep it with probability "
          "P; replaces those of the problem; may be repeated")
      .repeated()
      .group("Terms");
  verb.add_option("--reward,--maximise", options.reward,
                  "Signal to maximise in place of the reward; none: there is no reward")
      .type_name("NAME")
      .group("Terms");
  verb.add_option("--minimise", options.minimise, "Signal to minimise in place of a reward")
      .type_name("NAME")
      .group("Terms");
  verb.add_option("--horizon", options.horizon, "Number of decisions, or infinite").group("Terms");
  number("--discount", options.discount, "Discount, in (0, 1]");
  verb.add_option("--start", options.start,
                  "State (number or name), uniform, or probabilities .5:.3:.2")
      .group("Terms");
  verb.add_option("--groups", options.groups,
                  "Who picks the member where an outcome leads to a group of states: adversarial, "
                  "nature; helpful, the policy")
      .check(is_one_of({"adversarial", "helpful"}))
      .group("Terms");
  verb.add_option("--posterior", options.posterior,
                  "What becomes of a CSV file with samples of its rows (idoutcome): their mean, "
                  "with a set that holds them all, or scenarios, of which nature picks")
      .check(is_one_of({"mean", "scenarios"}))
      .group("Terms");
}

}  // namespace

void add_problem(CommandLine& verb, ProblemOptions& options, const std::string& name) {
  const char* what = name == "ENV" ? "Built-in problem, such as river_swim(horizon=10)" : kProblem;
  verb.add_option(name, options.problem, what).required().type_name("");
  add_terms(verb, options);
}

void add_optional_problem(CommandLine& verb, ProblemOptions& options) {
  verb.add_option("PROBLEM", options.problem, kProblem).type_name("");
  add_terms(verb, options);
}

void add_nature(CommandLine& verb, ProblemOptions& options) {
  verb.add_option("--nature", options.nature,
                  "adversarial: worst cases over the set; helpful: best cases, without constraints "
                  "to solve for")
      .check(is_one_of({"adversarial", "helpful"}))
      .group("Terms");
}

void add_solution(CommandLine& verb, std::string& path) {
  verb.add_option("SOLUTION", path, "File that solve -o wrote").required().type_name("");
}

void replace_terms(Terms& terms, State states, const std::vector<std::string>& state_names,
                   const ProblemOptions& options) {
  if (options.horizon) terms.horizon = read_horizon(*options.horizon);
  if (options.discount) terms.discount = *options.discount;
  if (options.start) terms.start = read_start(*options.start, states, state_names);
  if (options.nature) terms.helpful_nature = *options.nature == "helpful";
  if (options.groups) terms.helpful_groups = *options.groups == "helpful";
  if (!options.bounds.empty()) terms.constraints.clear();
  for (const std::string& bound : options.bounds) terms.constraints.push_back(read_bound(bound));
  if (options.set || options.radius || options.reach || options.temperature || options.scope)
    terms.uncertainty = read_uncertainty(terms.uncertainty, options);
}

Objective objective(const ProblemOptions& options) {
  if (options.reward && options.minimise)
    throw Error(fmt::format("--reward {} and --minimise {}, must be one of them", *options.reward,
                            *options.minimise));
  if (options.minimise) return {.signal = *options.minimise, .minimise = true};
  if (options.reward == "none") return {.none = true};
  return {.signal = options.reward.value_or("")};
}

namespace {

// The draft with its terms as the flags have them.
Draft with_flags(const ProblemOptions& options) {
  Draft draft = read_source(options);
  replace_terms(draft.terms, draft.model.states(), draft.model.arrays().state_names, options);
  return draft;
}

Problem pose_named(Draft draft, const Objective& what, const std::string& name) {
  try {
    return pose(std::move(draft), what);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

Problem read_problem(const ProblemOptions& options) {
  const Objective what = objective(options);
  return pose_named(with_flags(options), what, options.problem);
}

bool is_complete(const Draft& draft) { return draft.terms.horizon || draft.terms.discount < 1; }

Draft read_draft(const ProblemOptions& options) {
  Objective what = objective(options);
  Draft draft = with_flags(options);
  const bool complete = is_complete(draft), rewarded = draft.rewarded || what.chosen();
  if (!complete) draft.terms.horizon = draft.model.stages();  // so that the rest can be checked
  if (!rewarded) what.none = true;
  Draft checked = pose_named(std::move(draft), what, options.problem).given();
  if (!complete) checked.terms.horizon.reset();
  checked.rewarded = rewarded;
  return checked;
}

void add_partition(CommandLine& verb, ProblemOptions& options) {
  verb.add_option(
          "--partition", options.partition,
          "Which states a rank owns: blocks (unless given), or metis, so that less is sent, "
          "where that saves a tenth")
      .check(is_one_of({"blocks", "metis"}))
      .group("Execution");
}

PartitionOptions partition_options(const ProblemOptions& options,
                                   std::optional<NeededStates>& needed) {
  if (options.partition != "metis") return {};
  return {partition_by_metis(), [&needed](const NeededStates& found) { needed = found; }};
}

Problem read_subproblem(const ProblemOptions& options, std::optional<NeededStates>& needed) {
  const PartitionOptions how = partition_options(options, needed);
  Communicator& ranks = processes();
  if (ranks.size() == 1) return read_problem(options);
  const auto change = [&](Terms& terms, State states, const std::vector<std::string>& names) {
    replace_terms(terms, states, names, options);
  };
  if (names_a_file(options.problem))
    return load_subproblem(options.problem, ranks, change, how, objective(options));
  const Problem whole = read_problem(options);
  return subproblem(whole, make_partition(whole.model(), ranks, how), ranks.rank());
}

std::string needed_text(const NeededStates& needed, double bytes_of_state) {
  const auto text = [&](std::int64_t states) {
    const auto count = static_cast<double>(states);
    return count_text(count) + " states" +
           (bytes_of_state > 0 ? fmt::format(" ({})", memory_text(count * bytes_of_state)) : "");
  };
  return fmt::format("In a stage ranks send the values of {} in blocks, of {} by METIS{}",
                     text(needed.blocks), text(needed.partition),
                     needed.partitioned ? "" : ": blocks are kept");
}

void tell_needed(const std::optional<NeededStates>& needed) {
  if (needed && processes().rank() == 0) fmt::print(stderr, "{}\n", needed_text(*needed));
}

Json needed_json(const NeededStates& needed) {
  return {{"blocks", needed.blocks},
          {"metis", needed.partition},
          {"partition", needed.partitioned ? "metis" : "blocks"}};
}

}  // namespace redoubt::app
