#include "environments/environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "model/set_traits.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

std::optional<int> read_horizon(const Parameters& parameters) {
  const auto stages =
      parameters.integer_or("infinite", "horizon", 0, std::numeric_limits<int>::max());
  if (!stages) return {};
  return static_cast<int>(*stages);
}

// An infinite horizon needs a discount, a finite one does not: asking for a horizon alone means the
// plain total.
double read_discount(const Parameters& parameters, bool finite) {
  return finite && !parameters.given("discount") ? 1.0 : parameters.number("discount");
}

Start read_start(const Parameters& parameters, State states) {
  if (parameters.text("start").find(':') == std::string::npos) {
    const auto state = parameters.integer_or("uniform", "start", 0, states - 1);
    return state ? Start(static_cast<State>(*state)) : Start::uniform(states);
  }
  Start start = Start::uniform(states);
  start.probability = parameters.numbers("start", ':');
  if (start.probability.size() != start.states.size())
    parameters.refuse("start",
                      fmt::format("must list {} probabilities, one for each state", states));
  return start;
}

// A parameter that the chosen set does not have would be ignored in silence.
void check_meaning(const Parameters& parameters, const std::string& name, bool has_meaning) {
  if (parameters.given(name) && !has_meaning)
    parameters.refuse(name, "has no meaning for set " + parameters.text("set"));
}

Uncertainty read_uncertainty(const Parameters& parameters) {
  const SetKind& kind = *SetKind::find(parameters.choice("set", SetKind::names()));
  check_meaning(parameters, "radius", kind.radius || kind.name == "interval");
  check_meaning(parameters, "reach", kind.reach);
  check_meaning(parameters, "temperature", kind.temperature);
  check_meaning(parameters, "scope", kind.scope);
  SetKind::Numbers numbers;
  if (kind.radius) numbers.radius = parameters.number("radius");
  if (kind.temperature) numbers.temperature = parameters.number("temperature");
  if (kind.reach && parameters.choice("reach", {"anywhere", "support"}) == "support")
    numbers.reach = Reach::support;
  if (kind.scope && parameters.choice("scope", {"row", "state"}) == "state")
    numbers.scope = Scope::state;
  return kind.make(numbers);
}

// Interval sets take their bounds from the model: each probability, give or take the radius. A ball
// around them has the same radius.
Model with_intervals(const Model& model, double radius) {
  ModelArrays arrays = model.arrays();
  for (const double p : arrays.probability) {
    arrays.lower.push_back(std::max(0.0, p - radius));
    arrays.upper.push_back(std::min(1.0, p + radius));
  }
  return Model(std::move(arrays));
}

}  // namespace

EnvironmentInfo describe(const Environment& environment) {
  const Environment::Defaults& defaults = environment.defaults;
  EnvironmentInfo info{environment.name, environment.description, environment.parameters};
  const auto add = [&](std::string name, std::string value, std::string description) {
    info.parameters.push_back({std::move(name), std::move(value), std::move(description)});
  };
  const bool cost = environment.sense == Sense::at_most;
  add("horizon", defaults.horizon, "number of decisions, or infinite");
  add("discount", defaults.discount,
      defaults.horizon == "infinite" ? "in (0, 1]; 1 when only a finite horizon is given"
                                     : "in (0, 1]; must be below 1 for an infinite horizon");
  add("start", defaults.start, "a state number, uniform, or probabilities of all states: .5:.3:.2");
  add("bound", defaults.bound,
      cost ? "the worst-case total cost must stay at or below it"
           : "the worst-case total utility must reach it");
  add("set", defaults.set, fmt::format("uncertainty set: {}", fmt::join(SetKind::names(), ", ")));
  add("radius", defaults.radius, "of the set; interval: each probability give or take this much");
  add("reach", defaults.reach, "where tv may put mass: anywhere or support");
  add("temperature", defaults.temperature, "of set tilt");
  add("scope", "row", "whose the radius of tv, chi2 and kl is: each row's, or shared by a state's");
  return info;
}

Problem make(const Environment& environment, const EnvironmentId& id) {
  const Parameters parameters(describe(environment), id);
  Terms terms;
  terms.horizon = read_horizon(parameters);
  terms.discount = read_discount(parameters, terms.horizon.has_value());
  terms.uncertainty = read_uncertainty(parameters);
  const double bound = parameters.number("bound");
  Model model = environment.model(parameters);
  terms.start = read_start(parameters, model.states());
  terms.constraints = {{model.arrays().signals.front().name, environment.sense, bound}};
  if (needs_bounds(terms.uncertainty))
    model = with_intervals(model, parameters.number("radius", 0, 1));
  return Problem(std::move(model), std::move(terms));
}

}  // namespace redoubt::internal
