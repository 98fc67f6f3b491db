#include "model/goals.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <vector>

#include "redoubt/goal.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr std::array<std::string_view, 7> kWords = {"reach", "avoid", "until", "steps",
                                                    "to",    "total", "of"};

struct Word {
  std::string text;
  bool quoted = false;
  bool is(std::string_view word) const { return !quoted && text == word; }
  bool names() const {
    return quoted || std::find(kWords.begin(), kWords.end(), text) == kWords.end();
  }
};

std::string quote(std::string_view name) {
  const bool plain = !name.empty() && name.find_first_of(" \"\\\t\n") == std::string_view::npos &&
                     Word{std::string(name)}.names();
  if (plain) return std::string(name);
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// None when a quote has no end.
std::optional<std::vector<Word>> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    Word word{"", text[i] == '"'};
    if (!word.quoted) {
      const std::size_t end = std::min(text.find(' ', i), text.size());
      word.text = text.substr(i, end - i);
      i = end;
    } else {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
        if (i < text.size()) word.text += text[i];
      }
      if (i >= text.size()) return {};
      ++i;
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

std::string reach(std::string_view label) { return "reach " + quote(label); }
std::string avoid(std::string_view label) { return "avoid " + quote(label); }
std::string until(std::string_view before, std::string_view label) {
  return quote(before) + " until " + quote(label);
}
std::string steps_to(std::string_view label) { return "steps to " + quote(label); }
std::string total_until(std::string_view signal, std::string_view label) {
  return "total of " + quote(signal) + " until " + quote(label);
}

std::optional<Goal> internal::parse_goal(std::string_view text) {
  const auto words = words_of(text);
  if (!words) return {};
  const auto& w = *words;
  using Kind = Goal::Kind;
  if (w.size() == 2 && w[0].is("reach") && w[1].names()) return Goal{Kind::reach, w[1].text};
  if (w.size() == 2 && w[0].is("avoid") && w[1].names()) return Goal{Kind::avoid, w[1].text};
  if (w.size() == 3 && w[0].is("steps") && w[1].is("to") && w[2].names())
    return Goal{Kind::steps, w[2].text};
  if (w.size() == 3 && w[1].is("until") && w[0].names() && w[2].names())
    return Goal{Kind::until, w[2].text, w[0].text};
  if (w.size() == 5 && w[0].is("total") && w[1].is("of") && w[2].names() && w[3].is("until") &&
      w[4].names())
    return Goal{Kind::total, w[4].text, {}, w[2].text};
  return {};
}

}  // namespace redoubt

namespace redoubt::internal {
namespace {

std::vector<char> states_of(const Model& model, const std::string& name, const std::string& words) {
  const Label* label = model.find_label(name);
  if (label == nullptr) {
    std::vector<std::string> known;
    for (const Label& one : model.arrays().labels) known.push_back(one.name);
    throw Error(
        fmt::format("'{}' speaks of label '{}', the model has {}", words, name,
                    known.empty() ? "no labels" : fmt::format("{}", fmt::join(known, ", "))));
  }
  std::vector<char> member(model.states(), 0);
  for (const State s : label->states) member[s] = 1;
  return member;
}

void check_terms(const DecidedGoal& goal, const Model& model, const Terms& terms) {
  require(!model.arrays().submodel, "'{}' on {} ranks, must run on one", goal.name,
          model.arrays().submodel ? model.arrays().submodel->ranks : 1);
  require(goal.goal.kind == Goal::Kind::total || terms.discount == 1,
          "'{}' with discount {}, must be 1: {} not discounted", goal.name, terms.discount,
          goal.is_probability() ? "probabilities are" : "steps are");
}

DecidedGoal find_goal(const std::string& words, const Model& model, const Terms& terms,
                      State ordinary, std::vector<std::vector<char>>& ends) {
  DecidedGoal found{words, *parse_goal(words)};
  check_terms(found, model, terms);
  found.at_label = states_of(model, found.goal.label, words);
  std::vector<char> end = found.at_label;
  if (found.goal.kind == Goal::Kind::until) {
    const std::vector<char> before = states_of(model, found.goal.before, words);
    for (State s = 0; s < ordinary; ++s) end[s] |= !before[s];
  }
  if (found.goal.kind == Goal::Kind::total && found.goal.signal != "reward") {
    found.signal = model.signal_index(found.goal.signal);
    require(found.signal >= 0, "'{}' speaks of signal '{}', the model has no signal of that name",
            words, found.goal.signal);
  }
  const auto same = std::find(ends.begin(), ends.end(), end);
  found.end = static_cast<int>(same - ends.begin());
  if (same == ends.end()) ends.push_back(std::move(end));
  return found;
}

}  // namespace

bool is_goal(const Model& model, const std::string& words) {
  return model.signal_index(words) < 0 && parse_goal(words).has_value();
}

bool speaks_of_goals(const Model& model, const Terms& terms) {
  return is_goal(model, terms.objective.signal) ||
         std::any_of(terms.constraints.begin(), terms.constraints.end(),
                     [&](const Constraint& c) { return is_goal(model, c.signal); });
}

GoalSets find_goals(const Model& model, const Terms& terms, State ordinary) {
  GoalSets sets;
  sets.ordinary = ordinary;
  const auto look_at = [&](const std::string& words) {
    if (!is_goal(model, words)) {
      sets.nothing_else = false;
      return;
    }
    const bool known = std::any_of(sets.goals.begin(), sets.goals.end(),
                                   [&](const DecidedGoal& goal) { return goal.name == words; });
    if (!known) sets.goals.push_back(find_goal(words, model, terms, ordinary, sets.ends));
  };
  for (const Constraint& constraint : terms.constraints) look_at(constraint.signal);
  if (!terms.objective.none) look_at(terms.objective.signal);  // nothing chosen: the reward counts
  return sets;
}

}  // namespace redoubt::internal
