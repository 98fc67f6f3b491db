#include "io/json/json_model.h"

#include <algorithm>
#include <cmath>

#include "io/transitions.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

constexpr std::size_t most_signals = 1000;  // as a CSV file has columns

// Reads the entries of "transitions", each [state, action, next, p] or an object.
class TransitionReader {
 public:
  TransitionReader(const Names& states, const Names& actions, const std::vector<Signal>& signals,
                   const std::optional<int>& horizon)
      : states_(states), actions_(actions), signals_(signals), horizon_(horizon) {}

  Transitions read(const JsonNode& list) {
    const auto count = list.size();
    out_.reward.assign(count, kAbsent);
    out_.signals.assign(signals_.size(), std::vector<double>());
    for (std::size_t i = 0; i < count; ++i) {
      const JsonNode entry = list.at(i);
      if (entry.raw().is_array())
        read_list(entry);
      else
        read_object(entry);
    }
    return std::move(out_);
  }

 private:
  void read_list(const JsonNode& entry) {
    if (entry.size() != 4) entry.fail("must be [state, action, next, p] or an object");
    place(entry.at(std::size_t{0}), entry.at(1), entry.at(2));
    out_.probability.push_back(entry.at(3).number());
    read_bounds(entry, std::nullopt, std::nullopt);
    read_stage(entry, std::nullopt);
  }

  void read_object(const JsonNode& entry) {
    entry.allow_only(
        {"state", "action", "next", "p", "lower", "upper", "reward", "signals", "stage"});
    place(entry.at("state"), entry.at("action"), entry.at("next"));
    const auto lower = entry.find("lower"), upper = entry.find("upper");
    const bool bounded = lower && upper;
    out_.probability.push_back(bounded && !entry.find("p") ? kAbsent : entry.at("p").number());
    read_bounds(entry, lower, upper);
    read_stage(entry, entry.find("stage"));
    const std::size_t here = out_.size() - 1;
    if (const auto reward = entry.find("reward")) out_.reward[here] = reward->number();
    if (const auto signals = entry.find("signals")) read_signals(*signals, here);
  }

  void place(const JsonNode& state, const JsonNode& action, const JsonNode& next) {
    out_.state.push_back(states_.read(state));
    out_.action.push_back(actions_.read(action));
    out_.next.push_back(states_.read(next));
  }

  // Bounds are rare: their columns begin with the first transition that has them.
  void read_bounds(const JsonNode& entry, const std::optional<JsonNode>& lower,
                   const std::optional<JsonNode>& upper) {
    if (lower.has_value() != upper.has_value())
      entry.fail("must have both lower and upper, or neither");
    if (!lower && out_.lower.empty()) return;
    out_.lower.resize(out_.size() - 1, kAbsent);
    out_.upper.resize(out_.size() - 1, kAbsent);
    out_.lower.push_back(lower ? lower->number() : kAbsent);
    out_.upper.push_back(upper ? upper->number() : kAbsent);
  }

  void read_stage(const JsonNode& entry, const std::optional<JsonNode>& stage) {
    if (stage.has_value() != (out_.stage.size() == out_.size() - 1) && out_.size() > 1)
      entry.fail("must have a stage if and only if the transitions before it have one");
    if (!stage) return;
    if (horizon_.value_or(0) < 1) stage->fail("stages need a finite horizon of at least 1");
    out_.stage.push_back(static_cast<std::int32_t>(stage->integer(0, *horizon_ - 1)));
  }

  void read_signals(const JsonNode& values, std::size_t here) {
    const auto read = [&](const std::string& name, const JsonNode& value) {
      std::size_t s = 0;
      while (s < signals_.size() && signals_[s].name != name) ++s;
      if (s == signals_.size())
        values.fail(
            fmt::format("has '{}', which must be one of the file's \"signals\"", excerpt(name)));
      out_.signals[s].resize(out_.reward.size(), kAbsent);
      out_.signals[s][here] = value.number();
    };
    values.for_each_member("must be an object of signal names and numbers", read);
  }

  const Names& states_;
  const Names& actions_;
  const std::vector<Signal>& signals_;
  const std::optional<int>& horizon_;
  Transitions out_;
};

std::vector<Signal> read_signal_names(const std::optional<JsonNode>& signals) {
  std::vector<Signal> out;
  if (!signals) return out;
  if (!signals->raw().is_object()) signals->fail("must be an object of names and tables");
  if (signals->raw().size() > most_signals)
    signals->fail(fmt::format("must be at most {} signals", most_signals));
  for (const auto& [name, table] : signals->raw().get_ref<const Json::object_t&>())
    out.push_back({name, {}, {}});
  return out;
}

// True when some table has one part for each stage.
bool has_stage_tables(const JsonNode& root) {
  const auto deep = [](const std::optional<JsonNode>& node) {
    return node && table_depth(node->raw()) == 3;
  };
  if (deep(root.find("reward"))) return true;
  if (const auto set = root.find("uncertainty");
      set && set->raw().is_object() && deep(set->find("radius")))
    return true;
  const auto signals = root.find("signals");
  if (!signals) return false;
  for (const auto& [name, table] : signals->raw().get_ref<const Json::object_t&>()) {
    if (table_depth(table) == 3) return true;
  }
  return false;
}

// A transition that does not say what it earns earns what any arrival in its state does.
void earn_by_arrival(Transitions& transitions, const ModelArrays& a) {
  const auto fill = [&](std::vector<double>& values, const std::vector<double>& arrival) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) values[i] = arrival.empty() ? 0.0 : arrival[transitions.next[i]];
    }
  };
  fill(transitions.reward, a.arrival_reward);
  for (std::size_t s = 0; s < a.signals.size(); ++s)
    fill(transitions.signals[s], a.signals[s].arrival);
}

// How many stages the rows of the file are for: 1 unless something in it depends on the stage.
int count_stages(const JsonNode& root, const Transitions& transitions,
                 const std::optional<int>& horizon) {
  const bool staged = !transitions.stage.empty();
  if (!staged && !has_stage_tables(root)) return 1;
  require(horizon.value_or(0) >= 1,
          "the file has a table by stage, state and action; this needs a finite horizon of at "
          "least 1");
  return *horizon;
}

}  // namespace

Model read_model(const JsonNode& root, std::size_t bytes, const std::optional<int>& horizon) {
  const Names states(root.at("states"), "states", 1, bytes);
  const Names actions(root.at("actions"), "actions", 0, bytes);
  const auto signals = root.find("signals");
  ModelArrays a;
  a.states = states.count();
  a.groups = read_count(root, "groups");
  a.factors = read_count(root, "factors");
  a.state_names = states.names();
  a.action_names = actions.names();
  a.signals = read_signal_names(signals);

  const JsonNode list = root.at("transitions");
  const auto values = static_cast<std::int64_t>(list.size() * (1 + a.signals.size()));
  require_plausible(values, "transition values", bytes);
  Transitions transitions = TransitionReader(states, actions, a.signals, horizon).read(list);
  read_arrivals(root, a);
  read_labels(root, a);
  earn_by_arrival(transitions, a);
  const int stages = count_stages(root, transitions, horizon);
  require_plausible(static_cast<std::int64_t>(stages) * a.states, "states of all stages", bytes);
  a.stages = transitions.stage.empty() ? 1 : stages;
  assemble(std::move(transitions), a);
  if (a.stages < stages) {
    require_plausible(stages * values, "transition values of all stages", bytes);
    repeat_for_stages(a, stages);
  }

  if (const auto reward = root.find("reward")) a.reward = read_table(*reward, a);
  if (signals) {
    signals->for_each_member("", [&, s = 0](const auto&, const JsonNode& table) mutable {
      a.signals[s++].row = read_table(table, a);
    });
  }
  return Model(std::move(a));
}

}  // namespace redoubt::internal::io

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

bool names_a_reward(const JsonNode& root) {
  if (root.find("reward") || root.find("objective")) return true;
  if (const auto arrivals = root.find("arrivals"); arrivals && arrivals->find("reward"))
    return true;
  const Json& transitions = root.at("transitions").raw();
  return std::any_of(transitions.begin(), transitions.end(), [](const Json& transition) {
    return transition.is_object() && transition.contains("reward");
  });
}

Draft read_root(const JsonNode& root, std::size_t bytes) {
  require_format(root, "redoubt-problem", 1);
  root.allow_only({"format", "version", "states", "actions", "horizon", "discount", "start",
                   "transitions", "reward", "signals", "constraints", "uncertainty", "arrivals",
                   "labels", "objective", "nature", "groups", "helpful_groups", "factors"});
  Model model = read_model(root, bytes, read_horizon(root));
  Terms terms = read_terms(root, model.arrays());
  return {std::move(model), std::move(terms), names_a_reward(root)};
}

}  // namespace

Draft read_json_draft(std::string_view text, std::string_view name) {
  return naming(name, [&] {
    const Json json = parse_json(text);
    return read_root(JsonNode(json), text.size());
  });
}

}  // namespace internal::io

Problem read_json(std::string_view text, std::string_view name) {
  Draft draft = io::read_json_draft(text, name);
  return naming(name, [&] { return pose(std::move(draft)); });
}

}  // namespace redoubt
