#include "io/umb/umb_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace redoubt::internal::io {
namespace {

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
