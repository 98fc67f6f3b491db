#include "io/umb/umb_annotations.h"

#include "io/explicit/explicit_model.h"
#include "io/umb/umb_index.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt::internal::io {
namespace {

// Calls visit(id, description) for each annotation of a group; false: there is no such group.
template <class Visit>
bool for_each_annotation(const JsonNode& index, const char* group_name, Visit visit) {
  const auto annotations = index.find("annotations");
  const auto group = annotations ? annotations->find(group_name) : std::nullopt;
  if (!group) return false;
  group->for_each_member("must be an object", visit);
  return true;
}

void add_choice_rewards(std::vector<double> values, Signal& signal) {
  for (std::size_t c = 0; c < signal.row.size(); ++c) values[c] += signal.row[c];
  signal.row = std::move(values);
}

void add_state_rewards(const std::string& member, const umb::Ranges& states,
                       const std::vector<double>& values, const ModelArrays& a, Signal& signal) {
  signal.row.resize(a.row_outcomes.size() - 1, 0.0);
  std::size_t slot = 0;
  for (const umb::Range& range : states) {
    for (std::int64_t s = range.begin; s < range.end; ++s, ++slot) {
      const bool last = slot + 1 >= a.state_rows.size();  // after the last stage: no choices
      const auto begin = last ? 0 : a.state_rows[slot], end = last ? 0 : a.state_rows[slot + 1];
      require(begin < end || values[slot] == 0,
              "{}[{}] = {}, must be 0: the state has no choice, so nothing is earned in it", member,
              s, values[slot]);
      for (auto c = begin; c < end; ++c) signal.row[c] += values[slot];
    }
  }
}

Signal read_reward(umb::Members& members, const std::string& id, const JsonNode& node,
                   const UmbRows& rows, const ModelArrays& a) {
  const auto alias = node.find("alias");
  Signal signal{alias ? alias->text() : id, {}, {}};
  const JsonNode applies_to = node.at("applies-to");
  for (std::size_t i = 0; i < applies_to.size(); ++i) {
    const std::string to = applies_to.at(i).text();
    const std::string member = umb::annotation("rewards", id, to);
    const auto load = [&](const UmbEntries& entries) {
      auto values = members.values(member, entries.count, node.at("type"), entries.own);
      for (std::size_t n = 0; n < values.upper.size(); ++n)  // Storm writes numbers as [x, x]
        require(values.lower[n] == values.upper[n],
                "{}: interval [{}, {}], must be a number: its ends must be equal", member,
                values.lower[n], values.upper[n]);
      return std::move(values.lower);
    };
    if (to == "branches")
      signal.outcome = load(rows.branches);
    else if (to == "choices")
      add_choice_rewards(load(rows.choices), signal);
    else if (to == "states")
      add_state_rewards(member, rows.states.own, load(rows.states), a, signal);
    else
      applies_to.at(i).fail("must be states, choices or branches");
  }
  return signal;
}

}  // namespace

bool read_rewards(umb::Members& members, const JsonNode& index, const UmbRows& rows,
                  ModelArrays& arrays) {
  const bool any =
      for_each_annotation(index, "rewards", [&](const std::string& id, const JsonNode& node) {
        arrays.signals.push_back(read_reward(members, id, node, rows, arrays));
      });
  return any && naming(umb::index, [&] { return take_reward(arrays); });
}

void read_labels(umb::Members& members, const JsonNode& index, std::int64_t states,
                 ModelArrays& arrays) {
  for_each_annotation(index, umb::labels_group, [&](const std::string& id, const JsonNode& node) {
    const std::string member = umb::annotation(umb::labels_group, id, "states");
    if (!members.has(member)) return;
    if (const auto type = node.find("type"); type && type->at("type").text() != "bool")
      type->at("type").fail("must be \"bool\"");
    const auto alias = node.find("alias");
    Label label{alias ? alias->text() : id, members.bits(member, states)};
    while (!label.states.empty() && label.states.back() >= arrays.states) label.states.pop_back();
    arrays.labels.push_back(std::move(label));
  });
}

}  // namespace redoubt::internal::io
