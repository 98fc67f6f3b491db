#include <algorithm>
#include <charconv>

#include "io/json/json_model.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

// The rows of one state, over the given stages, from a list with one entry for each action.
void read_state(const JsonNode& list, const ModelArrays& a, State state, int first_stage,
                int last_stage, std::vector<double>& out) {
  const std::size_t size = list.is_null() ? 0 : list.size();
  std::vector<char> used(size, 0);
  for (int stage = first_stage; stage < last_stage; ++stage) {
    const auto slot = static_cast<std::size_t>(stage) * a.states + state;
    for (Row r = a.state_rows[slot]; r < a.state_rows[slot + 1]; ++r) {
      const auto action = static_cast<std::size_t>(a.action[r]);
      if (action >= size)
        list.fail(fmt::format("must have an entry for action {}, which the state has", action));
      out[r] = list.at(action).number();
      used[action] = 1;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    const JsonNode entry = list.at(i);
    if (!used[i] && !entry.is_null() && entry.number() != 0)
      entry.fail("must be null or 0: no transition gives the state this action");
  }
}

void read_states(const JsonNode& table, const ModelArrays& a, int first_stage, int last_stage,
                 std::vector<double>& out) {
  table.require_size(a.states, "state");
  for (State s = 0; s < a.states; ++s) read_state(table.at(s), a, s, first_stage, last_stage, out);
}

void read_by_state(const JsonNode& list, const ModelArrays& a, std::vector<double>& out) {
  list.require_size(a.states, "state");
  for (State s = 0; s < a.states; ++s) {
    const double value = list.at(s).is_null() ? 0 : list.at(s).number();
    for (int stage = 0; stage < a.stages; ++stage) {
      const auto slot = static_cast<std::size_t>(stage) * a.states + s;
      std::fill(out.begin() + a.state_rows[slot], out.begin() + a.state_rows[slot + 1], value);
    }
  }
}

}  // namespace

int table_depth(const Json& value) {
  if (!value.is_array()) return 0;
  int inner = 0;
  for (const Json& entry : value) inner = std::max(inner, table_depth(entry));
  return 1 + inner;
}

std::vector<double> read_table(const JsonNode& table, const ModelArrays& rows) {
  std::vector<double> out(rows.action.size(), 0.0);
  switch (table_depth(table.raw())) {
    case 0:
      if (!table.is_null()) std::fill(out.begin(), out.end(), table.number());
      break;
    case 1:
      read_by_state(table, rows, out);
      break;
    case 2:
      read_states(table, rows, 0, rows.stages, out);
      break;
    case 3:
      table.require_size(rows.stages, "stage of the horizon");
      for (int stage = 0; stage < rows.stages; ++stage)
        read_states(table.at(stage), rows, stage, stage + 1, out);
      break;
    default:
      table.fail(
          "must be a number, or nested by state, by state and action, or by stage, state "
          "and action");
  }
  return out;
}

Names::Names(const JsonNode& node, std::string_view what, int least, std::size_t bytes) {
  if (!node.raw().is_array()) {
    if (!node.raw().is_number()) node.fail("must be a count or a list of names");
    const auto count = node.integer(least, 0x7FFFFFFE);
    require_plausible(count, what, bytes);
    count_ = static_cast<std::int32_t>(count);
    return;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.size(); ++i) names.push_back(node.at(i).text());
  const auto count = static_cast<std::int32_t>(names.size());
  *this = Names(count, std::move(names));
  if (numbers_.size() != names_.size()) node.fail("names must differ");
  if (count < least) node.fail(fmt::format("must have at least {}", least));
}

Names::Names(std::int32_t count, std::vector<std::string> names)
    : count_(count), names_(std::move(names)) {
  for (std::size_t i = 0; i < names_.size(); ++i)
    numbers_.emplace(names_[i], static_cast<std::int32_t>(i));
}

std::int32_t Names::find(const JsonNode& node, const std::string& name) const {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  std::int32_t number = -1;
  const auto end = std::from_chars(name.data(), name.data() + name.size(), number).ptr;
  if (!names_.empty() || end != name.data() + name.size() || number < 0 || number >= count_)
    node.fail(fmt::format("'{}' must be {}", excerpt(name),
                          names_.empty() ? fmt::format("a whole number in 0..{}", count_ - 1)
                                         : "one of the names or a number"));
  return number;
}

std::int32_t Names::read(const JsonNode& node) const {
  if (node.raw().is_string()) return find(node, node.text());
  return static_cast<std::int32_t>(node.integer(0, count_ - 1));
}

}  // namespace redoubt::internal::io
