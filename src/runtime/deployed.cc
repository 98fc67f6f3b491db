#include "redoubt/deployed.h"

#include <algorithm>

#include "policy/draw.h"
#include "support/file.h"
#include "support/json_node.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

template <class Value>
std::vector<Value> numbers_of(const JsonNode& root, const char* key, std::int64_t least,
                              std::int64_t most) {
  const JsonNode list = root.at(key);
  std::vector<Value> values(list.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<Value>(list.at(i).integer(least, most));
  return values;
}

std::vector<double> weights_of(const JsonNode& root, const std::string& key, std::size_t size) {
  const JsonNode list = root.at(key);
  if (list.size() != size) list.fail(fmt::format("must have {} entries", size));
  std::vector<double> weights(size);
  for (std::size_t i = 0; i < size; ++i) {
    weights[i] = list.at(i).number();
    if (!(weights[i] >= 0 && weights[i] <= 1 + 1e-9)) list.at(i).fail("must be in [0, 1]");
  }
  return weights;
}

// Offsets of `lists` lists that have `total` entries together.
std::vector<std::int64_t> offsets_of(const JsonNode& root, const std::string& key,
                                     std::size_t lists, std::size_t total) {
  auto offsets = numbers_of<std::int64_t>(root, key.c_str(), 0, kMost);
  const bool good = offsets.size() == lists + 1 && offsets.front() == 0 &&
                    offsets.back() == static_cast<std::int64_t>(total) &&
                    std::is_sorted(offsets.begin(), offsets.end());
  require(good, "{} must have {} entries, start at 0, never decrease and end at {}", key, lists + 1,
          total);
  return offsets;
}

DeployedPolicy::Moves moves_of(const JsonNode& root, const std::string& what, std::size_t lists) {
  DeployedPolicy::Moves moves;
  moves.memory = numbers_of<std::int32_t>(root, (what + "_memory").c_str(), 0, INT32_MAX);
  moves.weight = weights_of(root, what + "_weight", moves.memory.size());
  moves.begin = offsets_of(root, what + "_begin", lists, moves.memory.size());
  return moves;
}

std::vector<std::string> names_of(const JsonNode& root, const char* key, std::int64_t count) {
  const JsonNode list = root.at(key);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) names.push_back(list.at(i).text());
  require(names.empty() || static_cast<std::int64_t>(names.size()) >= count,
          "{} has {} entries, must have none or {}", key, names.size(), count);
  return names;
}

void read(const JsonNode& root, DeployedPolicy& p) {
  require_format(root, "redoubt-policy", 1);
  p.states = static_cast<State>(root.at("states").integer(1, INT32_MAX - 1));
  p.actions = static_cast<std::int32_t>(root.at("actions").integer(0, INT32_MAX - 1));
  if (!root.at("horizon").is_null())
    p.horizon = static_cast<int>(root.at("horizon").integer(0, INT32_MAX - 1));
  p.stages = static_cast<int>(root.at("stages").integer(p.horizon == 0 ? 0 : 1, INT32_MAX - 1));
  p.start_state = numbers_of<State>(root, "start_state", 0, p.states - 1);
  p.choice_action = numbers_of<std::int32_t>(root, "choice_action", 0, p.actions - 1);
  p.choice_weight = weights_of(root, "choice_weight", p.choice_action.size());
  p.outcome_next = numbers_of<State>(root, "outcome_next", -1, p.states - 1);
  p.outcome_number = numbers_of<std::int32_t>(root, "outcome_number", 0, INT32_MAX);
  require(p.outcome_number.size() == p.outcome_next.size(),
          "outcome_number has {} entries, must have {}", p.outcome_number.size(),
          p.outcome_next.size());
  p.outcome_begin =
      offsets_of(root, "outcome_begin", p.choice_action.size(), p.outcome_next.size());
  const std::size_t nodes = root.at("choice_begin").size();
  p.choice_begin = offsets_of(root, "choice_begin", nodes - (nodes > 0), p.choice_action.size());
  const auto places = static_cast<std::size_t>(p.stages) * p.states;
  p.node_begin = offsets_of(root, "node_begin", places, nodes - 1);
  p.start = moves_of(root, "start", p.start_state.size());
  p.move = moves_of(root, "move", p.outcome_next.size());
  const std::size_t plans = root.at("plan_begin").size();
  p.plan = moves_of(root, "plan", plans - (plans > 0));
  p.state_names = names_of(root, "state_names", p.states);
  p.action_names = names_of(root, "action_names", p.actions);
}

std::size_t drawn(RandomStream& random, const std::vector<double>& weight, std::int64_t first,
                  std::int64_t end) {
  return first + draw(random, end - first, [&](std::size_t i) { return weight[first + i]; });
}

}  // namespace

DeployedPolicy::DeployedPolicy(const std::filesystem::path& path) {
  try {
    const Json text = parse_json(read_file(path));
    read(JsonNode(text), *this);
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.starts_with(path.string()) ? what : path.string() + ": " + what);
  }
}

std::string DeployedPolicy::state_name(State state) const {
  return state_names.empty() ? std::to_string(state) : state_names[state];
}
std::string DeployedPolicy::action_name(std::int32_t action) const {
  return action_names.empty() ? std::to_string(action) : action_names[action];
}

struct DeployedController::Episode {
  const DeployedPolicy& policy;
  RandomStream random;
  int stage = 0;
  State state = -1;
  std::int32_t memory = 0;
  std::int64_t choice = -1;  // the last one; -1: none since the last observation

  // Drawn from the list of an entry, and found to be a memory state of the stage.
  std::int32_t draw_memory(const DeployedPolicy::Moves& moves, std::int64_t entry) {
    const auto first = moves.begin[entry], end = moves.begin[entry + 1];
    require(first < end, "entry {} of the policy's moves is empty, must have a memory state",
            entry);
    return moves.memory[drawn(random, moves.weight, first, end)];
  }
  std::int64_t place(int at, State s) const {
    return std::int64_t{std::min(at, policy.stages - 1)} * policy.states + s;
  }
  bool over(int at) const { return policy.horizon && at >= *policy.horizon; }
  std::int64_t node(int at, State s, std::int32_t m) const {
    const auto first = policy.node_begin[place(at, s)], end = policy.node_begin[place(at, s) + 1];
    require(m < end - first, "memory {} of state {} at stage {}, the policy has {}", m,
            policy.state_name(s), at, end - first);
    return first + m;
  }
  std::int64_t outcome_to(State next, std::optional<std::int32_t> number) const;
};

DeployedController::DeployedController(const DeployedPolicy& policy, std::uint64_t seed,
                                       std::uint64_t stream)
    : episode_(std::make_unique<Episode>(Episode{policy, RandomStream(seed, stream)})) {}
DeployedController::DeployedController(DeployedController&&) noexcept = default;
DeployedController::~DeployedController() = default;

int DeployedController::stage() const { return episode_->stage; }
std::int32_t DeployedController::memory() const { return episode_->memory; }
bool DeployedController::started() const { return episode_->choice >= 0; }
bool DeployedController::ended() const {
  const Episode& e = *episode_;
  if (e.over(e.stage)) return true;
  if (e.state < 0) return false;
  const auto node = e.node(e.stage, e.state, e.memory);
  return e.policy.choice_begin[node] == e.policy.choice_begin[node + 1];
}

void DeployedController::start() {
  episode_->stage = 0;
  episode_->state = -1;
  episode_->memory = 0;
  episode_->choice = -1;
}

std::int32_t DeployedController::act(State state) {
  Episode& e = *episode_;
  const DeployedPolicy& p = e.policy;
  require(!e.over(e.stage), "stage {}, the horizon is over", e.stage);
  require(state >= 0 && state < p.states, "state {}, must be in 0..{}", state, p.states - 1);
  require(e.state < 0 || state == e.state, "state {}, the last observation led to state {}",
          p.state_name(state), e.state < 0 ? "" : p.state_name(e.state));
  std::int32_t memory = e.memory;
  if (e.state < 0) {
    const auto found = std::find(p.start_state.begin(), p.start_state.end(), state);
    require(found != p.start_state.end(), "state {}, no episode begins there", p.state_name(state));
    memory = e.draw_memory(p.start, found - p.start_state.begin());
  }
  const auto node = e.node(e.stage, state, memory);
  const auto first = p.choice_begin[node], end = p.choice_begin[node + 1];
  require(first < end, "state {} is terminal, there is nothing to do", p.state_name(state));
  e.memory = memory;
  e.state = state;
  e.choice = static_cast<std::int64_t>(drawn(e.random, p.choice_weight, first, end));
  return p.choice_action[e.choice];
}

// The entry that an observation means.
std::int64_t DeployedController::Episode::outcome_to(State next,
                                                     std::optional<std::int32_t> number) const {
  std::int64_t found = -1, elsewhere = -1;
  bool listed = false;
  for (auto i = policy.outcome_begin[choice]; i < policy.outcome_begin[choice + 1]; ++i) {
    if (policy.outcome_next[i] < 0) elsewhere = i;
    if (policy.outcome_next[i] != next) continue;
    listed = true;
    if (number && policy.outcome_number[i] != *number) continue;
    require(found < 0,
            "state {}, several outcomes of action {} lead there and the policy remembers them "
            "differently: give the number of the outcome",
            policy.state_name(next), policy.action_name(policy.choice_action[choice]));
    found = i;
  }
  if (!listed) found = elsewhere;
  require(found >= 0, "state {}, {}action {} of state {} never leads there",
          policy.state_name(next), listed ? fmt::format("outcome {} of ", *number) : "",
          policy.action_name(policy.choice_action[choice]), policy.state_name(state));
  return found;
}

void DeployedController::observe(State next, std::optional<std::int32_t> outcome) {
  Episode& e = *episode_;
  const DeployedPolicy& p = e.policy;
  require(e.choice >= 0, "nothing was done since the last observation");
  require(next >= 0 && next < p.states, "state {}, must be in 0..{}", next, p.states - 1);
  const std::int64_t entry = e.outcome_to(next, outcome);
  std::int32_t memory = 0;
  if (p.outcome_next[entry] >= 0) {
    memory = e.draw_memory(p.move, entry);
  } else {
    const auto first = p.move.begin[entry];
    const std::int64_t plan = first < p.move.begin[entry + 1] ? p.move.memory[first] : -1;
    const auto at = plan * p.states + next;
    require(plan >= 0 && at + 1 < static_cast<std::int64_t>(p.plan.begin.size()),
            "plan {}, the policy has {}", plan, (p.plan.begin.size() - 1) / p.states);
    memory = e.draw_memory(p.plan, at);
  }
  if (!e.over(e.stage + 1)) e.node(e.stage + 1, next, memory);
  e.memory = memory;
  e.state = next;
  e.choice = -1;
  ++e.stage;
}

}  // namespace redoubt
