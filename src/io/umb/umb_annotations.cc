#include "io/umb/umb_annotations.h"

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_set>

#include "io/explicit/explicit_model.h"
#include "io/umb/umb_values.h"
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

// A variable, or bits between variables where the name is empty.
struct PackedVariable {
  std::string name;
  int bits = 0;
  bool truth = false, sign = false;
  std::int64_t offset = 0;  // added to the stored number
};

// None where some variable is neither a whole number nor a truth value.
std::optional<std::vector<PackedVariable>> read_variables(const JsonNode& list) {
  std::vector<PackedVariable> variables;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonNode one = list.at(i);
    PackedVariable variable;
    if (const auto padding = one.find("padding")) {
      variable.bits = static_cast<int>(padding->integer(0, 1 << 20));
    } else {
      variable.name = one.at("name").text();
      const JsonNode type = one.at("type");
      const std::string kind = type.at("type").text();
      if (kind != "bool" && kind != "int" && kind != "uint") return {};
      const auto size = type.find("size");
      variable.bits = size ? static_cast<int>(size->integer(1, 64)) : kind == "bool" ? 1 : 64;
      variable.truth = kind == "bool";
      variable.sign = kind == "int";
      if (const auto offset = one.find("offset"))
        variable.offset = offset->integer(-(std::int64_t{1} << 62), std::int64_t{1} << 62);
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

// Bits begin..begin+count-1, the lowest first.
std::uint64_t bits_at(std::string_view bytes, std::uint64_t begin, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    const auto at = begin + i;
    const auto byte = static_cast<unsigned char>(bytes[at / 8]);
    value |= std::uint64_t{(byte >> (at % 8)) & 1U} << i;
  }
  return value;
}

std::string value_text(const PackedVariable& variable, std::uint64_t bits) {
  if (variable.truth) return bits != 0 ? "true" : "false";
  if (variable.sign && variable.bits < 64 && (bits >> (variable.bits - 1)) != 0)
    bits |= ~std::uint64_t{0} << variable.bits;
  // Modulo 2^64, as files of large numbers may have it.
  const auto sum = bits + static_cast<std::uint64_t>(variable.offset);
  return fmt::format("{}", static_cast<std::int64_t>(sum));
}

void reorder_rows(ModelArrays& a, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> branches, offsets{0};
  for (const auto c : order) {
    for (auto b = a.row_outcomes[c]; b < a.row_outcomes[c + 1]; ++b) branches.push_back(b);
    offsets.push_back(static_cast<std::int64_t>(branches.size()));
  }
  const auto pick = [](auto& values, const std::vector<std::int64_t>& from) {
    auto old = std::move(values);
    values.clear();
    if (old.empty()) return;
    for (const auto i : from) values.push_back(old[i]);
  };
  pick(a.action, order);
  pick(a.reward, order);
  pick(a.next, branches);
  for (auto* values : {&a.probability, &a.outcome_reward, &a.lower, &a.upper})
    pick(*values, branches);
  for (Signal& s : a.signals) {
    pick(s.row, order);
    pick(s.outcome, branches);
  }
  a.row_outcomes = std::move(offsets);
}

// Whether the actions of a state come in order, each once: nearly always.
bool ascend(const ModelArrays& a, std::size_t state) {
  const auto begin = a.action.begin() + a.state_rows[state];
  const auto end = a.action.begin() + a.state_rows[state + 1];
  return std::adjacent_find(begin, end, std::greater_equal<>()) == end;
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

void read_valuations(umb::Members& members, const JsonNode& index, ModelArrays& arrays) {
  const std::string member = "valuations/states/valuations.bin";
  const auto valuations = index.find("valuations");
  const auto states = valuations ? valuations->find("states") : std::nullopt;
  const auto classes = states ? states->find("classes") : std::nullopt;
  if (!classes || classes->size() != 1 || !members.has(member)) return;
  const JsonNode one = classes->at(std::size_t{0});
  const auto variables = read_variables(one.at("variables"));
  if (!variables) return;
  std::uint64_t bits = 0;
  for (const PackedVariable& variable : *variables) bits += variable.bits;
  const std::string bytes = members.text(member);
  const auto count = static_cast<std::uint64_t>(arrays.states);
  require(bits % 8 == 0 && bytes.size() == count * (bits / 8),
          "{}: {} bytes for {} states of {} bits, must be whole bytes for each", member,
          bytes.size(), count, bits);
  std::vector<std::string> names;
  std::unordered_set<std::string> distinct;
  for (std::uint64_t s = 0; s < count; ++s) {
    std::string name;
    auto at = s * bits;
    for (const PackedVariable& variable : *variables) {
      if (!variable.name.empty())
        name += fmt::format("{}{}={}", name.empty() ? "" : ", ", variable.name,
                            value_text(variable, bits_at(bytes, at, variable.bits)));
      at += variable.bits;
    }
    if (!distinct.insert(name).second) return;
    names.push_back(std::move(name));
  }
  arrays.state_names = std::move(names);
}

std::int32_t most_repeats(const ModelArrays& a) {
  std::int32_t most = 0;
  std::map<std::int32_t, std::int32_t> seen;
  for (std::size_t s = 0; s + 1 < a.state_rows.size(); ++s) {
    if (ascend(a, s)) continue;
    seen.clear();
    for (auto c = a.state_rows[s]; c < a.state_rows[s + 1]; ++c)
      most = std::max(most, seen[a.action[c]]++);
  }
  return most;
}

void tell_apart(ModelArrays& a, std::int32_t repeats) {
  const auto actions = static_cast<std::int32_t>(a.action_names.size());
  std::map<std::int32_t, std::int32_t> seen;
  for (std::size_t s = 0; s + 1 < a.state_rows.size(); ++s) {
    seen.clear();
    for (auto c = a.state_rows[s]; c < a.state_rows[s + 1]; ++c)
      a.action[c] += actions * seen[a.action[c]]++;
  }
  for (std::int32_t again = 1; again <= repeats; ++again) {
    for (std::int32_t action = 0; action < actions; ++action)
      a.action_names.push_back(fmt::format("{} ({})", a.action_names[action], again + 1));
  }
}

void number_actions(ModelArrays& a) {
  a.action_names.clear();
  for (std::size_t s = 0; s + 1 < a.state_rows.size(); ++s) {
    std::iota(a.action.begin() + a.state_rows[s], a.action.begin() + a.state_rows[s + 1], 0);
  }
}

void sort_actions(ModelArrays& a) {
  std::vector<std::int64_t> order;  // empty: it is the right one
  for (std::size_t s = 0; s + 1 < a.state_rows.size(); ++s) {
    if (ascend(a, s)) continue;
    if (order.empty()) {
      order.resize(a.action.size());
      std::iota(order.begin(), order.end(), 0);
    }
    std::sort(order.begin() + a.state_rows[s], order.begin() + a.state_rows[s + 1],
              [&](auto i, auto j) { return a.action[i] < a.action[j]; });
  }
  if (!order.empty()) reorder_rows(a, order);
}

}  // namespace redoubt::internal::io
