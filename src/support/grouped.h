#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace redoubt::internal {

// Values by their keys 0..keys-1, those of one key behind those of the key before it.
template <class Value>
struct Grouped {
  std::vector<std::int64_t> begin;  // of each key, and the end
  std::vector<Value> values;

  std::span<const Value> operator[](std::int64_t key) const {
    return std::span(values).subspan(begin[key], begin[key + 1] - begin[key]);
  }
};

// for_each(visit) calls visit(key, value) for every value, and is called twice: values of a key
// keep the order in which they come.
template <class Value, class ForEach>
Grouped<Value> grouped(std::int64_t keys, const ForEach& for_each) {
  Grouped<Value> groups;
  groups.begin.assign(keys + 1, 0);
  for_each([&](std::int64_t key, const Value&) { ++groups.begin[key + 1]; });
  for (std::int64_t key = 0; key < keys; ++key) groups.begin[key + 1] += groups.begin[key];
  groups.values.resize(groups.begin.back());
  std::vector<std::int64_t> at(groups.begin.begin(), groups.begin.end() - 1);
  for_each([&](std::int64_t key, const Value& value) { groups.values[at[key]++] = value; });
  return groups;
}

}  // namespace redoubt::internal
