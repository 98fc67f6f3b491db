#include "model/goal_sets.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "model/goals.h"
#include "support/require.h"

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
