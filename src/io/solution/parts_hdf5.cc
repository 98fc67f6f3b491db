#include "io/solution/parts_hdf5.h"

#include <algorithm>
#include <cmath>

#include "policy/stage_arrays.h"
#include "support/require.h"

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

void check_offsets(const std::vector<std::int64_t>& offsets, std::size_t count, std::size_t total,
                   const char* what, int stage) {
  require(offsets.size() == count + 1 && offsets.front() == 0 &&
              std::is_sorted(offsets.begin(), offsets.end()) &&
              offsets.back() == static_cast<std::int64_t>(total),
          "{} of stage {} of the policy has {} entries, must have {}, from 0 up to {}", what, stage,
          offsets.size(), count + 1, total);
}

void check_moves(const std::vector<MemoryMove>& moves, const char* what, int stage) {
  for (const MemoryMove& move : moves) {
    require(move.memory >= 0 && move.weight >= 0 && move.weight <= 1 + 1e-9,
            "{} of stage {} of the policy lead to memory {} with weight {}, must be at least 0 and "
            "a probability",
            what, stage, move.memory, move.weight);
  }
}

std::int64_t count_nodes(const Policy::Stage& stage, State states, int h) {
  require(stage.memory >= 1, "memory states {} of stage {} of the policy, must be at least 1",
          stage.memory, h);
  if (stage.node_begin.empty()) return std::int64_t{states} * stage.memory;
  const auto nodes = stage.node_begin.back();
  require(nodes >= 0, "nodes {} of stage {} of the policy, must be at least 0", nodes, h);
  check_offsets(stage.node_begin, states, nodes, "node_begin", h);
  return nodes;
}

void check_axis(const BudgetAxis& axis) {
  require(axis.step > 0 && std::isfinite(axis.step), "budget step {}, must be positive", axis.step);
  require(!axis.cells.empty() && axis.low.size() == axis.cells.size(),
          "a budget axis has {} cells and {} lows, must be equally many and at least one",
          axis.cells.size(), axis.low.size());
  for (const auto cells : axis.cells)
    require(cells >= 1, "{} cells of a budget axis, must be at least 1", cells);
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

void check_structure(const Policy::Stage& stage, State states, int h) {
  const std::int64_t nodes = count_nodes(stage, states, h);
  const std::size_t choices = stage.choice_action.size();
  if (stage.mixed.empty()) {
    check_offsets(stage.choice_begin, nodes, choices, "choice_begin", h);
  } else {
    require(static_cast<std::int64_t>(stage.mixed.size()) == nodes && choices == 0 &&
                stage.choice_begin.empty(),
            "stage {} of the policy has {} decisions, must have {}", h, stage.mixed.size(), nodes);
  }
  require(stage.choice_weight.size() == choices,
          "stage {} of the policy has {} actions and {} weights, must be equally many", h, choices,
          stage.choice_weight.size());
  for (std::size_t c = 0; c < choices; ++c) {
    require(stage.choice_action[c] >= 0 && stage.choice_weight[c] >= 0 &&
                stage.choice_weight[c] <= 1 + 1e-9,
            "action {} with weight {} at stage {} of the policy, must be at least 0 and a "
            "probability",
            stage.choice_action[c], stage.choice_weight[c], h);
  }
  if (!stage.move_begin.empty())
    check_offsets(stage.move_begin, stage.move_begin.size() - 1, stage.moves.size(), "move_begin",
                  h);
  require(stage.outcome_slot.empty() || stage.outcome_slot.size() == choices,
          "outcome_slot of stage {} of the policy has {} entries, must have {}", h,
          stage.outcome_slot.size(), choices);
  for (const auto slot : stage.outcome_slot) {
    require(slot >= 0 && slot + 1 < static_cast<std::int64_t>(stage.move_begin.size()),
            "outcome slot {} of stage {} of the policy, must be below {}", slot, h,
            static_cast<std::int64_t>(stage.move_begin.size()) - 1);
  }
  if (!stage.landing_begin.empty())
    check_offsets(stage.landing_begin, stage.landing_begin.size() - 1, stage.landing_moves.size(),
                  "landing_begin", h);
  check_moves(stage.moves, "moves", h);
  check_moves(stage.landing_moves, "landing moves", h);
}

void check_structure(const Policy& policy) {
  for (int h = 0; h < static_cast<int>(policy.stages.size()); ++h)
    check_structure(policy.stages[h], policy.states, h);
  for (const BudgetAxis& axis : policy.budget) check_axis(axis);
  if (!policy.start_states.empty())
    check_offsets(policy.start_begin, policy.start_states.size(), policy.start_moves.size(),
                  "start_begin", 0);
  check_moves(policy.start_moves, "start moves", 0);
}

}  // namespace redoubt::internal::io
