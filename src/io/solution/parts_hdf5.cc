#include "io/solution/parts_hdf5.h"

#include "policy/stage_arrays.h"

namespace redoubt::internal::io {
namespace {

template <class Visit>
void for_each_trace_column(Visit visit) {
  visit("iteration", &Trace::iteration);
  visit("row_evaluations", &Trace::row_evaluations);
  visit("seconds", &Trace::seconds);
  visit("reward", &Trace::reward);
  visit("bound", &Trace::bound);
}

}  // namespace

std::vector<Policy::Stage> read_stages(const hdf5::Input& in, const std::string& prefix) {
  const auto memory = in.read<std::int32_t>(prefix + "memory");
  std::vector<Policy::Stage> stages(memory.size());
  for (std::size_t h = 0; h < memory.size(); ++h) stages[h].memory = memory[h];
  for_each_stage_array(
      [&](const char* name, auto array) { read_member(in, prefix + name, stages, array); });
  return stages;
}

void write_trace(hdf5::Output& out, const std::string& prefix, const Trace& trace) {
  for_each_trace_column(
      [&](const char* name, auto column) { out.write(prefix + name, trace.*column); });
  out.write_parts<double>(
      prefix + "constraints", trace.constraints.size(),
      [&](std::size_t i) -> const std::vector<double>& { return trace.constraints[i]; });
}

Trace read_trace(const hdf5::Input& in, const std::string& prefix) {
  Trace trace;
  for_each_trace_column(
      [&](const char* name, auto column) { trace.*column = in.read<double>(prefix + name); });
  trace.constraints = in.read_lists<double>(prefix + "constraints");
  return trace;
}

}  // namespace redoubt::internal::io
