#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "io/json/json_model.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

Start read_start_list(const JsonNode& list, const ModelArrays& model) {
  list.require_size(model.states, "state");
  Start start;
  for (State s = 0; s < model.states; ++s) {
    start.states.push_back(s);
    start.probability.push_back(list.at(s).number());
  }
  return start;
}

Start read_start_object(const JsonNode& object, const Names& states) {
  Start start;
  object.for_each_member("", [&](const std::string& state, const JsonNode& probability) {
    start.states.push_back(states.find(object, state));
    start.probability.push_back(probability.number());
  });
  return start;
}

Start read_start(const JsonNode& node, const ModelArrays& model) {
  if (node.raw().is_array()) return read_start_list(node, model);
  const Names states(model.states, model.state_names);
  if (node.raw().is_object()) return read_start_object(node, states);
  return Start(states.read(node));
}

Constraint read_constraint(const JsonNode& node) {
  node.allow_only({"signal", "at_least", "at_most", "probability"});
  const auto least = node.find("at_least"), most = node.find("at_most");
  if (least.has_value() == most.has_value()) node.fail("must have either at_least or at_most");
  Constraint c{node.at("signal").text(), least ? Sense::at_least : Sense::at_most,
               (least ? *least : *most).number()};
  if (const auto probability = node.find("probability")) c.probability = probability->number();
  return c;
}

Objective read_objective(const JsonNode& node) {
  node.allow_only({"maximise", "minimise"});
  const auto most = node.find("maximise"), least = node.find("minimise");
  if (most.has_value() == least.has_value()) node.fail("must have either maximise or minimise");
  return {.signal = (most ? *most : *least).text(), .minimise = least.has_value()};
}

// Which of two words: true for the second.
bool read_word(const JsonNode& node, std::string_view first, std::string_view second) {
  const std::string text = node.text();
  if (text != first && text != second)
    node.fail(fmt::format("must be \"{}\" or \"{}\"", first, second));
  return text == second;
}

void add_numbers(const JsonNode& node, std::vector<double>& numbers) {
  if (!node.raw().is_array()) return numbers.push_back(node.number());
  for (std::size_t i = 0; i < node.size(); ++i) add_numbers(node.at(i), numbers);
}

// One number; one for each row in the order of the model, or nested as the reward is; for scope
// state one for each state, or for each stage a list of them.
Radius read_radius(const JsonNode& node, const ModelArrays& model, Scope scope) {
  if (scope == Scope::state && node.raw().is_array()) {
    if (table_depth(node.raw()) > 2)
      node.fail("must be a number, one for each state, or for each stage one for each state");
    std::vector<double> radii;
    add_numbers(node, radii);
    return Radius::of_states(std::move(radii));
  }
  switch (table_depth(node.raw())) {
    case 0:
      return node.number();
    case 1: {
      std::vector<double> radii;
      add_numbers(node, radii);
      return radii;
    }
    default:
      return read_table(node, model);
  }
}

Uncertainty read_uncertainty(const JsonNode& node, const ModelArrays& model) {
  const SetKind* kind = SetKind::find(node.at("set").text());
  if (kind == nullptr)
    node.at("set").fail(fmt::format("must be one of {}", fmt::join(SetKind::names(), ", ")));
  std::vector<std::string_view> keys = {"set"};
  if (kind->radius) keys.emplace_back("radius");
  if (kind->reach) keys.emplace_back("reach");
  if (kind->temperature) keys.emplace_back("temperature");
  if (kind->scope) keys.emplace_back("scope");
  node.allow_only(keys);
  SetKind::Numbers numbers;
  if (const auto scope = node.find("scope"))
    numbers.scope = read_word(*scope, "row", "state") ? Scope::state : Scope::row;
  if (kind->radius) numbers.radius = read_radius(node.at("radius"), model, numbers.scope);
  if (const auto reach = node.find("reach"))
    numbers.reach = read_word(*reach, "anywhere", "support") ? Reach::support : Reach::anywhere;
  if (kind->temperature) numbers.temperature = node.at("temperature").number();
  return kind->make(numbers);
}

}  // namespace

std::optional<int> read_horizon(const JsonNode& root) {
  const auto node = root.find("horizon");
  if (!node || node->is_null()) return std::nullopt;
  return static_cast<int>(node->integer(0, std::numeric_limits<int>::max()));
}

Side read_side(const JsonNode& root, std::size_t bytes) {
  require_format(root, "redoubt-terms", 1);
  root.allow_only({"format", "version", "states", "actions", "horizon", "discount", "start",
                   "constraints", "uncertainty", "arrivals", "labels", "objective", "nature",
                   "groups", "helpful_groups", "factors", "nominal"});
  Side side;
  if (const auto states = root.find("states")) side.states.emplace(*states, "states", 1, bytes);
  if (const auto actions = root.find("actions"))
    side.actions.emplace(*actions, "actions", 0, bytes);
  side.horizon = read_horizon(root);
  side.groups = read_count(root, "groups");
  side.factors = read_count(root, "factors");
  return side;
}

State read_count(const JsonNode& root, const char* key) {
  const auto node = root.find(key);
  return node ? static_cast<State>(node->integer(0, std::numeric_limits<State>::max())) : 0;
}

void read_arrivals(const JsonNode& root, ModelArrays& model) {
  const auto arrivals = root.find("arrivals");
  if (!arrivals) return;
  const Names states(model.states, model.state_names);
  const auto read = [&](const std::string& name, const JsonNode& values) {
    const auto named = [&](const Signal& signal) { return signal.name == name; };
    const auto signal = std::find_if(model.signals.begin(), model.signals.end(), named);
    if (name != "reward" && signal == model.signals.end())
      values.fail("must be of the reward or of one of the signals");
    auto& to = name == "reward" ? model.arrival_reward : signal->arrival;
    to.assign(model.states, 0.0);
    values.for_each_member("must be an object of states and numbers",
                           [&](const std::string& state, const JsonNode& value) {
                             to[states.find(values, state)] = value.number();
                           });
  };
  arrivals->for_each_member("must be an object of signals and values", read);
}

void read_labels(const JsonNode& root, ModelArrays& model) {
  const auto labels = root.find("labels");
  if (!labels) return;
  const Names states(model.states, model.state_names);
  const auto read = [&](const std::string& name, const JsonNode& list) {
    Label label{name};
    for (std::size_t n = 0; n < list.size(); ++n) label.states.push_back(states.read(list.at(n)));
    model.labels.push_back(std::move(label));
  };
  labels->for_each_member("must be an object of names and lists of states", read);
}

Terms read_terms(const JsonNode& root, const ModelArrays& model) {
  Terms terms;
  terms.horizon = read_horizon(root);
  if (const auto discount = root.find("discount")) terms.discount = discount->number();
  if (const auto start = root.find("start")) terms.start = read_start(*start, model);
  if (const auto list = root.find("constraints")) {
    for (std::size_t i = 0; i < list->size(); ++i)
      terms.constraints.push_back(read_constraint(list->at(i)));
  }
  if (const auto set = root.find("uncertainty")) terms.uncertainty = read_uncertainty(*set, model);
  if (const auto objective = root.find("objective")) terms.objective = read_objective(*objective);
  if (const auto nature = root.find("nature"))
    terms.helpful_nature = read_word(*nature, "adversarial", "helpful");
  if (const auto groups = root.find("helpful_groups")) terms.helpful_groups = groups->flag();
  return terms;
}

}  // namespace redoubt::internal::io
