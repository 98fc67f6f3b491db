#include "io/file.h"
#include "io/hdf5.h"
#include "io/policy_structure.h"
#include "io/seal.h"
#include "io/solution_summary.h"
#include "model/require.h"
#include "redoubt/io.h"

namespace redoubt {
namespace io {
namespace {

// Every array of a stage, by name.
template <class Visit>
void for_each_stage_array(Visit visit) {
  using Stage = Policy::Stage;
  visit("node_begin", &Stage::node_begin);
  visit("mixed", &Stage::mixed);
  visit("choice_begin", &Stage::choice_begin);
  visit("choice_action", &Stage::choice_action);
  visit("choice_weight", &Stage::choice_weight);
  visit("outcome_slot", &Stage::outcome_slot);
  visit("move_begin", &Stage::move_begin);
  visit("moves", &Stage::moves);
  visit("landing_begin", &Stage::landing_begin);
  visit("landing_moves", &Stage::landing_moves);
}
template <class Visit>
void for_each_axis_array(Visit visit) {
  visit("low", &BudgetAxis::low);
  visit("cells", &BudgetAxis::cells);
  visit("slack", &BudgetAxis::slack);
}
template <class Visit>
void for_each_trace_column(Visit visit) {
  visit("trace/iteration", &Trace::iteration);
  visit("trace/row_evaluations", &Trace::row_evaluations);
  visit("trace/seconds", &Trace::seconds);
  visit("trace/reward", &Trace::reward);
  visit("trace/bound", &Trace::bound);
}

// The list of one array for each element, under one name; and back.
template <class Owner, class Value>
void write_member(hdf5::Output& out, const std::string& name, const std::vector<Owner>& owners,
                  std::vector<Value> Owner::*array) {
  out.write_parts<Value>(name, owners.size(), [&](std::size_t i) -> const std::vector<Value>& {
    return owners[i].*array;
  });
}
template <class Owner, class Value>
void read_member(const hdf5::Input& in, const std::string& name, std::vector<Owner>& owners,
                 std::vector<Value> Owner::*array) {
  in.read_parts<Value>(name, owners.size(), [&](std::size_t i, std::vector<Value> values) {
    owners[i].*array = std::move(values);
  });
}

void write_policy(hdf5::Output& out, const Policy& policy) {
  std::vector<std::int32_t> memory;
  for (const Policy::Stage& stage : policy.stages) memory.push_back(stage.memory);
  out.write("policy/stages/memory", memory);
  for_each_stage_array([&](const char* name, auto array) {
    write_member(out, std::string("policy/stages/") + name, policy.stages, array);
  });
  for_each_axis_array([&](const char* name, auto array) {
    write_member(out, std::string("policy/budget/") + name, policy.budget, array);
  });
  out.write("policy/start_states", policy.start_states);
  out.write("policy/start_begin", policy.start_begin);
  out.write("policy/start_moves", policy.start_moves);
}

void read_policy(const hdf5::Input& in, Policy& policy) {
  const auto memory = in.read<std::int32_t>("policy/stages/memory");
  policy.stages.resize(memory.size());
  for (std::size_t h = 0; h < memory.size(); ++h) policy.stages[h].memory = memory[h];
  for_each_stage_array([&](const char* name, auto array) {
    read_member(in, std::string("policy/stages/") + name, policy.stages, array);
  });
  for_each_axis_array([&](const char* name, auto array) {
    read_member(in, std::string("policy/budget/") + name, policy.budget, array);
  });
  policy.start_states = in.read<State>("policy/start_states");
  policy.start_begin = in.read<std::int64_t>("policy/start_begin");
  policy.start_moves = in.read<MemoryMove>("policy/start_moves");
}

void write_curve(hdf5::Output& out, const std::vector<CurvePoint>& curve) {
  std::vector<double> rewards;
  std::vector<std::int32_t> memory;
  for (const CurvePoint& point : curve) {
    rewards.push_back(point.reward);
    memory.push_back(point.memory);
  }
  out.write("curve/reward", rewards);
  out.write("curve/memory", memory);
  write_member(out, "curve/constraints", curve, &CurvePoint::constraints);
}

void read_curve(const hdf5::Input& in, std::vector<CurvePoint>& curve) {
  const auto rewards = in.read<double>("curve/reward");
  const auto memory = in.read<std::int32_t>("curve/memory");
  require(memory.size() == rewards.size(), "curve/memory has {} values, must have {}",
          memory.size(), rewards.size());
  curve.resize(rewards.size());
  for (std::size_t i = 0; i < rewards.size(); ++i) {
    curve[i].reward = rewards[i];
    curve[i].memory = memory[i];
  }
  read_member(in, "curve/constraints", curve, &CurvePoint::constraints);
}

void write_content(hdf5::Output& out, const Solution& s) {
  const std::string summary = write_summary(s);
  out.write("summary", std::vector<char>(summary.begin(), summary.end()));
  write_policy(out, s.policy);
  for_each_trace_column([&](const char* name, auto column) { out.write(name, s.trace.*column); });
  out.write_parts<double>(
      "trace/constraints", s.trace.constraints.size(),
      [&](std::size_t i) -> const std::vector<double>& { return s.trace.constraints[i]; });
  write_curve(out, s.curve);
}

Solution read_solution(const std::filesystem::path& path) {
  check_seal(path);
  const hdf5::QuietErrors quiet;
  const hdf5::Input in(path);
  const auto text = in.read<char>("summary");
  const Json summary = parse_json({text.data(), text.size()});
  Solution s = read_summary(Node(summary));
  read_policy(in, s.policy);
  for_each_trace_column(
      [&](const char* name, auto column) { s.trace.*column = in.read<double>(name); });
  in.read_parts<double>("trace/constraints", s.trace.constraints.size(),
                        [&](std::size_t i, std::vector<double> values) {
                          s.trace.constraints[i] = std::move(values);
                        });
  read_curve(in, s.curve);
  check_structure(s.policy);
  return s;
}

}  // namespace
}  // namespace io

void save_solution(const Solution& solution, const std::filesystem::path& path) {
  io::write_sealed(path, [&](io::hdf5::Output& out) { io::write_content(out, solution); });
}

Solution load_solution(const std::filesystem::path& path) {
  return io::naming(path.string(), [&] { return io::read_solution(path); });
}

}  // namespace redoubt
