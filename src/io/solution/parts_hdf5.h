#pragma once

#include <string>

#include "io/solution/hdf5.h"
#include "redoubt/policy.h"
#include "redoubt/solution.h"
#include "support/json_node.h"

// Parts of a solution that checkpoints have, too, under names that begin with `prefix`.
namespace redoubt::internal::io {

std::vector<Policy::Stage> read_stages(const hdf5::Input& in, const std::string& prefix);

void write_trace(hdf5::Output& out, const std::string& prefix, const Trace& trace);
Trace read_trace(const hdf5::Input& in, const std::string& prefix);

// The list of one array for each element, under one name; and back.
template <class Owner, class Value>
void write_member(hdf5::Output& out, const std::string& name, const std::vector<Owner>& owners,
                  std::vector<Value> Owner::*array) {
  out.write_parts<Value>(name, owners.size(), [&](std::size_t i) -> const std::vector<Value>& {
    return owners[i].*array;
  });
}
template <class Owner, class Array>
void read_member(const hdf5::Input& in, const std::string& name, std::vector<Owner>& owners,
                 Array Owner::*array) {
  using Value = typename Array::value_type;
  in.read_parts<Value>(name, owners.size(), [&](std::size_t i, std::vector<Value> values) {
    owners[i].*array = std::move(values);
  });
}

// Everything about a solution that is not a long array, as JSON: status, numbers, notes, budget
// axes.
std::string write_summary(const Solution& solution, State states);

// The arrays of the policy, its axes, the trace and the curve are read elsewhere.
Solution read_summary(const JsonNode& root);

// Throws an Error unless every index inside the policy points to something inside the policy. What
// depends on a problem is checked by check_policy.
void check_structure(const Policy& policy);

// The same for one of its stages, or what that has of so many states.
void check_structure(const Policy::Stage& stage, State states, int h);

}  // namespace redoubt::internal::io
