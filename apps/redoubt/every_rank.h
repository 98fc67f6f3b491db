#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "processes.h"
#include "redoubt/policy.h"

namespace redoubt::app {

// A value of each rank; all of them ask.
template <class Value>
std::vector<Value> of_every_rank(const Value& mine) {
  const auto all = processes().gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<Value> values(processes().size());
  std::memcpy(values.data(), all.data(), all.size());
  return values;
}

// The most that any state has, on any rank.
inline std::int64_t memory_states(const Policy& policy) {
  const auto all = of_every_rank(static_cast<double>(policy.memory_states()));
  return static_cast<std::int64_t>(*std::max_element(all.begin(), all.end()));
}

}  // namespace redoubt::app
