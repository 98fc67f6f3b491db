#pragma once

#include "io/solution/hdf5.h"
#include "redoubt/solution.h"

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

}  // namespace redoubt::internal::io
