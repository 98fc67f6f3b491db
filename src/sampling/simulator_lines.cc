#include "sampling/simulator_lines.h"

#include "support/json_node.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr std::int64_t kMost = 100'000'000;  // rows: a first line is a promise of memory

// A count, or a list of names.
std::int64_t count_or_names(const JsonNode& node, std::vector<std::string>& names) {
  if (!node.raw().is_array()) return node.integer(0, kMost);
  for (std::size_t i = 0; i < node.size(); ++i) names.push_back(node.at(i).text());
  return static_cast<std::int64_t>(names.size());
}

void read_available(const JsonNode& node, std::int64_t actions, SimulatorShape& shape) {
  if (node.size() != static_cast<std::size_t>(shape.states))
    node.fail(fmt::format("must list the actions of each of the {} states", shape.states));
  shape.action.clear();
  shape.state_rows.assign(1, 0);
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (std::size_t state = 0; state < node.size(); ++state) {
      const JsonNode list = node.at(state);
      for (std::size_t i = 0; i < list.size(); ++i)
        shape.action.push_back(static_cast<std::int32_t>(list.at(i).integer(0, actions - 1)));
      shape.state_rows.push_back(shape.rows());
    }
  }
}

// For each state, for each of its actions, the states that may follow.
void read_outcomes(const JsonNode& node, SimulatorShape& shape) {
  if (node.size() != static_cast<std::size_t>(shape.states))
    node.fail(fmt::format("must list what each of the {} states leads to", shape.states));
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (std::size_t state = 0; state < node.size(); ++state) {
      const JsonNode rows = node.at(state);
      const auto slot = static_cast<std::size_t>(stage) * shape.states + state;
      const auto count =
          static_cast<std::size_t>(shape.state_rows[slot + 1] - shape.state_rows[slot]);
      if (rows.size() != count)
        rows.fail(fmt::format("must have a list for each of its {} actions", count));
      for (std::size_t action = 0; action < count; ++action) {
        const JsonNode list = rows.at(action);
        auto& outcomes = shape.outcomes.emplace_back();
        for (std::size_t i = 0; i < list.size(); ++i)
          outcomes.push_back({static_cast<State>(list.at(i).integer(0, shape.states - 1)), {}});
      }
    }
  }
}

void read_ranges(const JsonNode& node, SimulatorShape& shape) {
  std::vector<std::string_view> names = {"reward"};
  names.insert(names.end(), shape.signals.begin(), shape.signals.end());
  node.allow_only(names);
  for (const std::string_view name : names) {
    auto& range = shape.ranges.emplace_back();
    const auto given = node.find(std::string(name));
    if (!given) continue;
    if (given->size() != 2) given->fail("must be two numbers, the least and the most");
    range = {given->at(0).number(), given->at(1).number()};
  }
}

}  // namespace

SimulatorShape read_hello(const std::string& line) {
  const Json json = parse_json(line);
  const JsonNode root(json);
  root.allow_only({"states", "actions", "available", "signals", "horizon", "discount", "start",
                   "stage_dependent", "outcomes", "ranges", "shared_values"});
  Terms terms;
  if (const auto node = root.find("horizon"); node && !node->is_null())
    terms.horizon = static_cast<int>(node->integer(0, 2'000'000'000));
  if (const auto node = root.find("discount")) terms.discount = node->number();
  const auto by_stage = root.find("stage_dependent");
  if (by_stage && !by_stage->raw().is_boolean()) by_stage->fail("must be true or false");
  const bool stages_differ = by_stage && by_stage->raw().get<bool>();
  require(!stages_differ || terms.horizon.value_or(0) > 0,
          "stage_dependent = true without a horizon, must come with one");

  std::vector<std::string> state_names, action_names, signals;
  const auto states = count_or_names(root.at("states"), state_names);
  const auto actions = count_or_names(root.at("actions"), action_names);
  if (const auto node = root.find("signals")) {
    for (std::size_t i = 0; i < node->size(); ++i) signals.push_back(node->at(i).text());
  }
  const double rows = static_cast<double>(states) * static_cast<double>(actions) *
                      (stages_differ ? *terms.horizon : 1);
  require(rows <= static_cast<double>(kMost), "{:g} rows, must be at most {}", rows, kMost);
  SimulatorShape shape =
      regular_shape(static_cast<State>(states), static_cast<std::int32_t>(actions),
                    std::move(signals), stages_differ ? *terms.horizon : 1);
  shape.state_names = std::move(state_names);
  shape.action_names = std::move(action_names);
  if (const auto node = root.find("available")) read_available(*node, actions, shape);
  if (const auto node = root.find("start"))
    terms.start = Start(static_cast<State>(node->integer(0, shape.states - 1)));
  shape.terms = std::move(terms);
  if (const auto node = root.find("outcomes")) read_outcomes(*node, shape);
  if (const auto node = root.find("ranges")) read_ranges(*node, shape);
  if (const auto node = root.find("shared_values")) {
    if (!node->raw().is_boolean()) node->fail("must be true or false");
    shape.shared_values = node->raw().get<bool>();
  }
  shape.check();
  return shape;
}

Answer read_answer(const std::string& line, const SimulatorShape& shape,
                   const std::function<bool(std::int64_t)>& waits) {
  const Json json = parse_json(line);
  const JsonNode root(json);
  root.allow_only({"id", "next", "reward", "signals", "error"});
  const JsonNode id = root.at("id");
  Answer answer{id.integer(0, std::int64_t{1} << 53), {}};
  if (!waits(answer.id)) id.fail("must be the id of a query that waits");
  if (const auto error = root.find("error")) throw Error(error->text());
  Sample& sample = answer.sample;
  sample.next = static_cast<State>(root.at("next").integer(0, shape.states - 1));
  const auto reward = root.find("reward");
  sample.reward = reward ? reward->number() : 0.0;
  if (shape.signals.empty()) return answer;
  const JsonNode signals = root.at("signals");
  for (const std::string& name : shape.signals) sample.signals.push_back(signals.at(name).number());
  return answer;
}

}  // namespace redoubt::internal
