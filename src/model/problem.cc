#include "redoubt/problem.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "model/canonicalize.h"
#include "model/ends.h"
#include "model/goals.h"
#include "model/row_name.h"
#include "model/set_traits.h"
#include "model/two_stages.h"
#include "redoubt/objective.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

void check_start(const Start& start, State states) {
  require(start.states.size() == start.probability.size(),
          "start has {} states and {} probabilities, must be equally many", start.states.size(),
          start.probability.size());
  double sum = 0;
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    require(start.states[i] >= 0 && start.states[i] < states, "start state {}, must be in 0..{}",
            start.states[i], states - 1);
    require(start.probability[i] >= 0 && start.probability[i] <= 1 + 1e-9,
            "start probability {} of state {}, must be in [0, 1]", start.probability[i],
            start.states[i]);
    sum += start.probability[i];
  }
  const double tolerance =
      1e-9 * static_cast<double>(std::max<std::size_t>(1, start.states.size()));
  require(std::abs(sum - 1) <= tolerance,
          "start probabilities sum to {}, must sum to 1 within {:g}", sum, tolerance);
}

void check_constraint(const Constraint& c, const Model& model) {
  require(model.signal_index(c.signal) >= 0,
          "constraint on signal '{}', the model has no signal of that name", c.signal);
  require(std::isfinite(c.bound), "bound {} of the constraint on '{}', must be finite", c.bound,
          c.signal);
  require(!c.probability || (*c.probability > 0 && *c.probability <= 1),
          "probability {} of the constraint on '{}', must be in (0, 1]", c.probability.value_or(0),
          c.signal);
}

void check_radius(const Radius& radius, const Model& model, Scope scope) {
  require(radius.rows.empty() || static_cast<Row>(radius.rows.size()) == model.rows(),
          "{} radii for {} rows, must be one for each row", radius.rows.size(), model.rows());
  require(radius.states.empty() || scope == Scope::state,
          "{} radii of states with scope row, must be one for each row", radius.states.size());
  const auto valid = [](double r) { return r >= 0 && std::isfinite(r); };
  require(valid(radius.all), "radius = {}, must be finite and at least 0", radius.all);
  for (std::size_t r = 0; r < radius.rows.size(); ++r) {
    require(valid(radius.rows[r]), "radius {} of {}, must be finite and at least 0", radius.rows[r],
            RowName{model, static_cast<Row>(r)});
  }
}

template <class Set>
void check_set(const Set& set, const Model& model) {
  if constexpr (requires { set.scope; })
    check_radius(set.radius, model, set.scope);
  else if constexpr (requires { set.radius; })
    check_radius(set.radius, model, Scope::row);
  if constexpr (requires { set.temperature; })
    require(set.temperature > 0 && std::isfinite(set.temperature),
            "temperature = {}, must be positive and finite", set.temperature);
  if constexpr (std::is_same_v<Set, Interval> || std::is_same_v<Set, Composed>)
    require(
        !model.arrays().lower.empty() || model.rows() == 0,
        "set {} on a model without intervals, must have lower and upper bounds for its outcomes",
        name(Uncertainty(set)));
}

void check_helpful(const Terms& terms) {
  if (!terms.helpful_nature) return;
  require(!std::holds_alternative<Tilt>(terms.uncertainty),
          "set tilt with nature helpful, must be a set of distributions");
  for (const Constraint& c : terms.constraints)
    require(!c.probability, "a chance constraint on '{}' with nature helpful, must be left out",
            c.signal);
}

// A landing that becomes an outcome of its row would be within the bounds of none.
void check_landings(const Terms& terms) {
  if (!lands_anywhere(terms.uncertainty) || !needs_bounds(terms.uncertainty)) return;
  for (const Constraint& c : terms.constraints)
    require(!c.probability,
            "a chance constraint on '{}' with set {} and reach anywhere, must have reach support",
            c.signal, name(terms.uncertainty));
}

std::string signals_text(const Model& model) {
  std::vector<std::string> names;
  for (const Signal& signal : model.arrays().signals) names.push_back(signal.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

[[noreturn]] void fail_without_reward(const Model& model) {
  throw Error(fmt::format(
      "nothing is called the reward, must be chosen: {}reward none says that there is none",
      model.signals() == 0
          ? ""
          : fmt::format("reward NAME or minimise NAME, of {}; ", signals_text(model))));
}

std::vector<double> times(double sign, std::vector<double> values) {
  for (double& value : values) value *= sign;
  return values;
}

}  // namespace

Start internal::canonical_start(const Start& start, State states) {
  check_start(start, states);
  std::map<State, double> mass;
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    if (start.probability[i] > 0) mass[start.states[i]] += start.probability[i];
  }
  Start out;
  for (const auto& [state, probability] : mass) {
    out.states.push_back(state);
    out.probability.push_back(probability);
  }
  const double sum = std::accumulate(out.probability.begin(), out.probability.end(), 0.0);
  if (std::abs(sum - 1) > 4e-16 * static_cast<double>(mass.size())) {
    for (double& p : out.probability) p /= sum;
  }
  return out;
}

Constraint at_least(std::string signal, double bound) {
  return {std::move(signal), Sense::at_least, bound};
}
Constraint at_most(std::string signal, double bound) {
  return {std::move(signal), Sense::at_most, bound};
}

Start Start::uniform(State count) {
  Start start;
  start.states.resize(count);
  std::iota(start.states.begin(), start.states.end(), 0);
  start.probability.assign(count, 1.0 / count);
  return start;
}

Problem::Problem(Model model, Terms terms) : model_(std::move(model)), terms_(std::move(terms)) {
  const double discount = terms_.discount;
  require(discount > 0 && discount <= 1, "discount = {}, must be in (0, 1]", discount);
  require(!terms_.horizon || *terms_.horizon >= 0, "horizon = {}, must be at least 0",
          terms_.horizon.value_or(0));
  const int stages = model_.stages();
  require(stages == 1 || terms_.horizon.value_or(-1) == stages,
          "the model has rows for {} stages, the horizon must be {} (it is {})", stages, stages,
          terms_.horizon ? fmt::format("{}", *terms_.horizon) : "infinite");
  terms_.start = canonical_start(terms_.start, model_.states());
  spread_radii_of_states(model_, terms_.uncertainty);
  std::visit([&](const auto& set) { check_set(set, model_); }, terms_.uncertainty);
  check_helpful(terms_);
  check_landings(terms_);
  const State ordinary = model_.ordinary();
  if (ordinary < model_.states()) {
    TwoStages made =
        model_.groups() > 0 ? with_groups(model_, terms_) : with_factors(model_, terms_);
    become(std::move(made.model), std::move(made.terms), std::move(made.state));
  }
  Unfinished unfinished;
  if (speaks_of_goals(model_, terms_)) {
    WithGoals made = with_goals(model_, terms_, ordinary);
    unfinished = std::move(made.unfinished);
    become(std::move(made.model), std::move(made.terms), std::move(made.state));
  }
  model_ = with_objective(model_, std::exchange(terms_.objective, {}));
  for (const Constraint& c : terms_.constraints) check_constraint(c, model_);
  if (undiscounted()) find_ends(unfinished.states, unfinished.may_miss);
  for (const Constraint& c : terms_.constraints)
    constraint_signals_.push_back(model_.signal_index(c.signal));
}

// The states of what the problem becomes are those of what it was before.
void Problem::become(Model model, Terms terms, std::vector<State> state) {
  if (!given_) given_ = std::make_shared<const Draft>(Draft{model_, terms_});
  for (State& s : state)
    if (!given_state_.empty()) s = given_state_[s];
  model_ = std::move(model);
  terms_ = std::move(terms);
  given_state_ = std::move(state);
}

Problem Problem::with_known_ends(Model model, Terms terms) {
  const bool undiscounted = !terms.horizon && terms.discount == 1;
  if (undiscounted) terms.discount = 0.5;  // for which no ends are sought
  Problem problem(std::move(model), std::move(terms));
  if (!undiscounted) return problem;
  problem.terms_.discount = 1;
  problem.found_steps_ = std::make_shared<std::atomic<double>>(0.0);
  return problem;
}

Problem Problem::earning(Model model, Terms terms) const {
  Problem problem = with_known_ends(std::move(model), std::move(terms));
  problem.improper_ = improper_;
  problem.traps_ = traps_;
  return problem;
}

Problem Problem::with(Terms terms) const {
  if (model_.arrays().submodel) return with_known_ends(model_, std::move(terms));
  return {model_, std::move(terms)};
}

void Problem::find_ends(const std::vector<char>& unfinished, bool may_miss) {
  require(!model_.arrays().submodel, "no discount and no horizon on {} ranks, must run on one",
          model_.arrays().submodel ? model_.arrays().submodel->ranks : 1);
  require(!std::holds_alternative<Tilt>(terms_.uncertainty),
          "set tilt with no discount and no horizon, must have one of them");
  require(scope_of(terms_.uncertainty) == Scope::row,
          "set {} of scope state with no discount and no horizon, must have one of them",
          name(terms_.uncertainty));
  std::vector<AskedTotal> totals = {{"reward", -1, 1.0}};
  for (const Constraint& c : terms_.constraints) {
    require(!c.probability,
            "the chance constraint on '{}' has an infinite horizon, must have a finite one",
            c.signal);
    totals.push_back(
        {c.signal, model_.signal_index(c.signal), c.sense == Sense::at_least ? 1.0 : -1.0});
  }
  found_steps_ = std::make_shared<std::atomic<double>>(0.0);
  std::optional<WithEnds> found = with_ends(model_, terms_, totals, {unfinished, may_miss});
  if (!found) return;
  improper_ = !found->proper;
  traps_ = found->traps;
  if (found->state.empty()) return;
  found->merged->given_state = given_state_;
  merged_ = std::move(found->merged);
  become(std::move(found->model), std::move(found->terms), std::move(found->state));
  terms_.start = canonical_start(terms_.start, model_.states());
}

Problem pose(Draft draft, const Objective& objective) {
  if (objective.chosen()) draft.terms.objective = objective;
  if (!is_goal(draft.model, draft.terms.objective.signal))
    draft.model =
        with_objective(draft.model, std::exchange(draft.terms.objective, {}), draft.rewarded);
  return {std::move(draft.model), std::move(draft.terms)};
}

Model with_objective(const Model& model, const Objective& objective, bool rewarded) {
  if (!rewarded && !objective.chosen()) fail_without_reward(model);
  if (!objective.chosen()) return model;
  require(!objective.none || objective.signal.empty(),
          "objective none and signal '{}', must be one of them", objective.signal);
  ModelArrays arrays = model.arrays();
  arrays.reward.clear();
  arrays.outcome_reward.clear();
  arrays.arrival_reward.clear();
  if (!objective.none) {
    const int chosen = model.signal_index(objective.signal);
    require(chosen >= 0, "reward '{}', must be a signal of the model, which has {}",
            objective.signal, model.signals() == 0 ? "none" : signals_text(model));
    const double sign = objective.minimise ? -1 : 1;
    arrays.reward = times(sign, arrays.signals[chosen].row);
    arrays.outcome_reward = times(sign, arrays.signals[chosen].outcome);
    arrays.arrival_reward = times(sign, arrays.signals[chosen].arrival);
  }
  return Model(std::move(arrays));
}

}  // namespace redoubt
