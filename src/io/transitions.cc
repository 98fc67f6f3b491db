#include "io/transitions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "support/require.h"

namespace redoubt::internal::io {
namespace {

template <class Value>
void permute(std::vector<Value>& values, const std::vector<std::size_t>& order) {
  if (values.empty()) return;
  std::vector<Value> out;
  out.reserve(order.size());
  for (const auto i : order) out.push_back(values[i]);
  values = std::move(out);
}

auto key(const Transitions& t, std::size_t i) {
  return std::tuple(t.stage.empty() ? 0 : t.stage[i], t.state[i], t.action[i]);
}

// By stage, state and action; files mostly are so already.
void sort(Transitions& t) {
  std::size_t sorted = 1;
  while (sorted < t.size() && !(key(t, sorted) < key(t, sorted - 1))) ++sorted;
  if (sorted >= t.size()) return;
  std::vector<std::size_t> order(t.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return key(t, i) < key(t, j); });
  for (auto* numbers : {&t.stage, &t.state, &t.action, &t.next}) permute(*numbers, order);
  for (auto* values : {&t.probability, &t.reward, &t.lower, &t.upper}) permute(*values, order);
  for (auto& values : t.signals) permute(values, order);
}

template <class Value>
void repeat(std::vector<Value>& values, int times) {
  const auto count = values.size();
  values.resize(count * times);
  for (int t = 1; t < times; ++t) std::copy_n(values.begin(), count, values.begin() + t * count);
}

void repeat_offsets(std::vector<std::int64_t>& offsets, int times) {
  const auto count = offsets.size() - 1;
  const auto total = offsets.back();
  offsets.reserve(count * times + 1);
  for (int t = 1; t < times; ++t) {
    for (std::size_t i = 1; i <= count; ++i) offsets.push_back(offsets[i] + t * total);
  }
}

}  // namespace

void assemble(Transitions t, ModelArrays& a) {
  sort(t);
  a.state_rows.assign(static_cast<std::size_t>(a.states) * a.stages + 1, 0);
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (i == 0 || key(t, i) != key(t, i - 1)) {
      const auto [stage, state, action] = key(t, i);
      ++a.state_rows[static_cast<std::size_t>(stage) * a.states + state + 1];
      a.action.push_back(action);
      a.row_outcomes.push_back(static_cast<std::int64_t>(i));
    }
    const auto first = a.row_outcomes.back();
    require(std::isnan(t.probability[i]) == std::isnan(t.probability[first]),
            "some outcomes of (state {}, action {}) have a probability and some only bounds, must "
            "be the same for all",
            t.state[i], t.action[i]);
  }
  a.row_outcomes.push_back(static_cast<std::int64_t>(t.size()));
  std::partial_sum(a.state_rows.begin(), a.state_rows.end(), a.state_rows.begin());
  a.next = std::move(t.next);
  a.probability = std::move(t.probability);
  a.outcome_reward = std::move(t.reward);
  for (std::size_t s = 0; s < a.signals.size(); ++s) a.signals[s].outcome = std::move(t.signals[s]);
  a.lower = std::move(t.lower);
  a.upper = std::move(t.upper);
  place_between_bounds(a);
}

void place_between_bounds(ModelArrays& a) {
  for (std::size_t row = 0; row + 1 < a.row_outcomes.size() && !a.lower.empty(); ++row) {
    const auto begin = a.row_outcomes[row], end = a.row_outcomes[row + 1];
    double low = 0, high = 0;
    bool bounded = true;
    for (auto i = begin; i < end; ++i) {
      if (std::isnan(a.lower[i])) a.lower[i] = a.upper[i] = a.probability[i];
      bounded = bounded && std::isnan(a.probability[i]);
      low += a.lower[i];
      high += a.upper[i];
    }
    if (!bounded) continue;
    const double share = high > low ? std::clamp((1 - low) / (high - low), 0.0, 1.0) : 0.0;
    for (auto i = begin; i < end; ++i)
      a.probability[i] = a.lower[i] + share * (a.upper[i] - a.lower[i]);
  }
}

void repeat_for_stages(ModelArrays& a, int stages) {
  repeat_offsets(a.state_rows, stages);
  repeat_offsets(a.row_outcomes, stages);
  repeat(a.action, stages);
  repeat(a.next, stages);
  for (auto* values : {&a.probability, &a.reward, &a.outcome_reward, &a.lower, &a.upper})
    repeat(*values, stages);
  for (Signal& s : a.signals) {
    repeat(s.row, stages);
    repeat(s.outcome, stages);
  }
  a.stages = stages;
}

}  // namespace redoubt::internal::io
