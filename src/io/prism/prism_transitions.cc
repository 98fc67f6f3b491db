#include <limits>

#include "io/prism/prism_parts.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {

State state_of(const TextLines& lines, std::string_view word, State states) {
  const auto state = count_of(word);
  if (!state || *state >= states)
    lines.fail(lines.line(), fmt::format("its state must be a whole number in 0..{}", states - 1));
  return static_cast<State>(*state);
}

PrismTransitions::PrismTransitions(const PrismPart& part) : bytes_(part.text.size()) {
  file_.bytes = bytes_;
  const bool known = part.type.empty() || part.type == "MDP" || part.type == "DTMC" ||
                     part.type == "IMDP" || part.type == "IDTMC";
  require(known, "a model of type {}, must be an MDP or a DTMC, with probabilities or intervals",
          excerpt(part.type));
  TextLines lines(part.text, part.line);
  read_size(lines);
  while (lines.next_filled()) read_line(lines);
  ModelArrays& a = file_.arrays;
  if (!sized_) {
    State most = static_cast<State>(a.state_rows.size()) - 2;
    for (const State next : a.next) most = std::max(most, next);
    a.states = most + 1;
  }
  require(a.states >= 1, "has no transitions, must have at least one");
  a.state_rows.resize(static_cast<std::size_t>(a.states) + 1, a.state_rows.back());
  const auto choices = static_cast<std::int64_t>(a.action.size());
  const auto branches = static_cast<std::int64_t>(a.next.size());
  require(choices_ < 0 || choices_ == choices, "{} choices, must be {}, which the first line says",
          choices, choices_);
  require(branches_ < 0 || branches_ == branches,
          "{} transitions, must be {}, which the first line says", branches, branches_);
}

// n c m of an MDP, n m of a chain; or a word, of Storm.
void PrismTransitions::read_size(TextLines& lines) {
  lines.next_filled();
  const auto words = words_of(lines.line());
  require(!words.empty(), "is empty, must begin with the numbers of states and transitions");
  if (words.size() == 1 && (words[0] == "mdp" || words[0] == "dtmc")) {
    nondeterministic_ = words[0] == "mdp";
    return;
  }
  std::vector<std::int64_t> counts;
  for (const auto word : words) {
    const auto count = count_of(word);
    if (!count) lines.fail(lines.line(), "must be the numbers of states, choices and transitions");
    counts.push_back(*count);
  }
  if (counts.size() == 4)
    lines.fail(lines.line(), "must be three numbers: observations mean that states are hidden");
  if (counts.size() < 2 || counts.size() > 4)
    lines.fail(lines.line(), "must be the numbers of states, choices and transitions");
  constexpr std::int64_t most = std::numeric_limits<State>::max() - 1;
  if (counts[0] < 1 || counts[0] > most)
    lines.fail(lines.line(), fmt::format("must begin with a number of states in 1..{}", most));
  require_plausible(counts[0], "states", bytes_);
  file_.arrays.states = static_cast<State>(counts[0]);
  nondeterministic_ = counts.size() == 3;
  if (nondeterministic_) choices_ = counts[1];
  branches_ = counts.back();
  sized_ = true;
}

Bounds PrismTransitions::probability(const TextLines& lines, std::string_view text) {
  const auto bounds = bounds_of(text);
  if (!bounds) lines.fail(lines.line(), "its probability must be a finite number or an interval");
  file_.intervals = file_.intervals || text.starts_with('[');
  return *bounds;
}

// Opens the choice of a state that a line belongs to, unless it is open.
void PrismTransitions::go_to(TextLines& lines, State state, std::int64_t choice,
                             std::string_view label) {
  ModelArrays& a = file_.arrays;
  const auto current = static_cast<State>(a.state_rows.size()) - 2;
  if (state < current) lines.fail(lines.line(), "must come in the order of states");
  require_plausible(std::int64_t{state} + 1, "states", bytes_);
  while (static_cast<State>(a.state_rows.size()) - 2 < state) file_.begin_state();
  const auto open = a.state_rows.back() - a.state_rows.end()[-2];  // choices of the state
  if (choice == open) return file_.begin_choice(label);
  if (choice + 1 != open)
    lines.fail(lines.line(), fmt::format("must be choice {} or {} of its state: choices come in "
                                         "order",
                                         open - 1, open));
  if (a.action_names[a.action.back()] != label)
    lines.fail(lines.line(),
               "must have the action of the line before, which is of the same choice");
}

// "i k j x [a]", or "i j x [a]" of a chain, or a row "i x:j x:j [a]".
void PrismTransitions::read_line(TextLines& lines) {
  const auto words = words_of(lines.line());
  if (words.size() > 1 && words[1].find(':') != std::string_view::npos)
    return read_row(lines, words);
  const std::size_t needed = nondeterministic_ ? 4 : 3;
  if (words.size() != needed && words.size() != needed + 1)
    lines.fail(lines.line(), nondeterministic_
                                 ? "must read STATE CHOICE TARGET PROBABILITY [ACTION]"
                                 : "must read STATE TARGET PROBABILITY [ACTION]");
  const std::int64_t states = sized_ ? file_.arrays.states : std::numeric_limits<State>::max() - 1;
  const auto state = count_of(words[0]), choice = nondeterministic_ ? count_of(words[1]) : 0,
             target = count_of(words[needed - 2]);
  if (!state || !choice || !target || *state >= states || *target >= states)
    lines.fail(lines.line(), fmt::format("its states must be whole numbers in 0..{}", states - 1));
  const std::string_view label = words.size() > needed ? words.back() : std::string_view();
  go_to(lines, static_cast<State>(*state), *choice, label);
  file_.add_branch(static_cast<State>(*target), probability(lines, words[needed - 1]));
}

void PrismTransitions::read_row(TextLines& lines, const std::vector<std::string_view>& words) {
  const State states = sized_ ? file_.arrays.states : std::numeric_limits<State>::max() - 1;
  const State state = state_of(lines, words[0], states);
  const bool named = words.back().find(':') == std::string_view::npos;
  ModelArrays& a = file_.arrays;
  const bool again = std::int64_t{state} + 2 == static_cast<std::int64_t>(a.state_rows.size());
  const auto choice = again ? a.state_rows.back() - a.state_rows.end()[-2] : 0;
  go_to(lines, state, choice, named ? words.back() : std::string_view());
  for (std::size_t i = 1; i + (named ? 1 : 0) < words.size(); ++i) {
    const auto colon = words[i].rfind(':');
    const auto target =
        colon == std::string_view::npos ? std::nullopt : count_of(words[i].substr(colon + 1));
    if (!target || *target >= states)
      lines.fail(words[i],
                 fmt::format("must read PROBABILITY:TARGET with a target in 0..{}", states - 1));
    file_.add_branch(static_cast<State>(*target), probability(lines, words[i].substr(0, colon)));
  }
}

}  // namespace redoubt::internal::io
