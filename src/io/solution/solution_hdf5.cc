#include "io/solution/hdf5.h"
#include "io/solution/parts_hdf5.h"
#include "io/solution/seal.h"
#include "io/solution/stage_pieces.h"
#include "io/solution/stage_slices.h"
#include "policy/stage_arrays.h"
#include "redoubt/io.h"
#include "support/file.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::io {
namespace {

template <class Visit>
void for_each_axis_array(Visit visit) {
  visit("low", &BudgetAxis::low);
  visit("cells", &BudgetAxis::cells);
  visit("slack", &BudgetAxis::slack);
}

void write_policy(hdf5::Output& out, const Policy& policy, const StagePieces& pieces) {
  pieces.leave_room(out, "policy/stages/");
  for_each_axis_array([&](const char* name, auto array) {
    write_member(out, std::string("policy/budget/") + name, policy.budget, array);
  });
  out.write("policy/start_states", policy.start_states);
  out.write("policy/start_begin", policy.start_begin);
  out.write("policy/start_moves", policy.start_moves);
}

// All but the stages.
void read_memory(const hdf5::Input& in, Policy& policy) {
  for_each_axis_array([&](const char* name, auto array) {
    read_member(in, std::string("policy/budget/") + name, policy.budget, array);
  });
  policy.start_states = in.read<State>("policy/start_states");
  policy.start_begin = in.read<std::int64_t>("policy/start_begin");
  policy.start_moves = in.read<MemoryMove>("policy/start_moves");
}

// The stages of a submodel: the decisions of its own states.
void read_stages_of_part(const hdf5::Input& in, Policy& policy, const Model& model) {
  require(policy.states == model.all_states(), "the policy is for {} states, the problem has {}",
          policy.states, model.all_states());
  const StageSlices slices(in, "policy/stages/", policy.states, model.most_outcomes());
  for (int h = 0; h < slices.count(); ++h) {
    policy.stages.push_back(slices.read_own(h, model));
    const Policy::Stage& stage = policy.stages.back();
    require(model.own_states() == 0 || !stage.mixed.empty() || !stage.choice_begin.empty(),
            "stage {} has no decisions", h);
  }
  policy.states = model.own_states();
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

void write_content(hdf5::Output& out, const Solution& s, State states, const StagePieces& pieces) {
  const std::string summary = write_summary(s, states);
  out.write("summary", std::vector<char>(summary.begin(), summary.end()));
  write_policy(out, s.policy, pieces);
  write_trace(out, "trace/", s.trace);
  write_curve(out, s.curve);
}

// Of a submodel, what belongs to its states; of none, everything.
Solution read_solution(const std::filesystem::path& path, const Model* part) {
  check_seal(path);
  const hdf5::QuietErrors quiet;
  const hdf5::Input in(path);
  require(!in.has("work"), "is a checkpoint, must be a solution");
  const auto text = in.read<char>("summary");
  const Json summary = parse_json({text.data(), text.size()});
  Solution s = read_summary(JsonNode(summary));
  require(s.policy.states >= 1, "the policy is for {} states, must be at least 1", s.policy.states);
  if (part == nullptr)
    s.policy.stages = read_stages(in, "policy/stages/");
  else
    read_stages_of_part(in, s.policy, *part);
  read_memory(in, s.policy);
  const auto columns = s.trace.constraints.size();
  s.trace = read_trace(in, "trace/");
  s.trace.constraints.resize(columns);  // those without a value are not in the file
  read_curve(in, s.curve);
  check_structure(s.policy);
  return s;
}

void save(const Solution& solution, const std::filesystem::path& path, const Owners& owners,
          const StageStore* store) {
  const Policy& policy = solution.policy;
  const State states = owners.model ? owners.model->all_states() : policy.states;
  const StagePieces pieces(policy.stages, policy.states, owners, store);
  if (!pieces.writes()) return pieces.fill({});
  write_sealed(
      path, [&](hdf5::Output& out) { write_content(out, solution, states, pieces); },
      [&](const std::filesystem::path& file) { pieces.fill(file); });
}

}  // namespace
}  // namespace internal::io

void save_solution(const Solution& solution, const std::filesystem::path& path) {
  io::save(solution, path, {}, nullptr);
}

void save_solution(const Solution& solution, const std::filesystem::path& path, const Model& model,
                   const Execution& execution) {
  Owners owners{.model = &model};
  if (execution.ranks) owners.ranks = execution.ranks;
  io::save(solution, path, owners, execution.stages);
}

Solution load_solution(const std::filesystem::path& path) {
  return naming(path.string(), [&] { return io::read_solution(path, nullptr); });
}

Solution load_solution(const std::filesystem::path& path, const Model& model) {
  return naming(path.string(), [&] {
    return io::read_solution(path, model.arrays().submodel ? &model : nullptr);
  });
}

}  // namespace redoubt
