#include "redoubt/worst_kernel.h"

#include <algorithm>
#include <unordered_map>

#include "model/machine.h"
#include "model/require.h"
#include "policy/evaluation.h"
#include "policy/moves.h"

namespace redoubt {

Nature nature_of(const Problem& problem, std::string_view word) {
  if (word == "nominal") return {};
  if (word == "worst-reward") return {Nature::Against::reward};
  std::string known = "nominal, worst-reward";
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    const std::string& signal = problem.constraints()[c].signal;
    if (word == "worst-" + signal) return {Nature::Against::constraint, c};
    known += ", worst-" + signal;
  }
  throw Error(fmt::format("nature '{}', must be one of {}", word, known));
}

struct WorstKernel::Shared {
  const Problem& problem;
  const Policy& policy;
  int channel = -1;  // -1: nominal
  EvaluationPass pass;
  std::vector<std::int64_t> first_node;  // of each stage of the pass, counted over all stages

  int last_stage() const { return static_cast<int>(first_node.size()) - 1; }
  double next_value(int stage, State state, const std::vector<MemoryMove>& moves) const {
    const auto& values = pass.values[std::min(stage + 1, static_cast<int>(pass.values.size()) - 1)];
    const auto all = values.size() / pass.channels.size();
    double sum = 0;
    for (const MemoryMove& move : moves) {
      sum += move.weight * values[channel * all + node_of(policy, stage + 1, state, move.memory)];
    }
    return sum;
  }
};

struct WorstKernel::Own {
  explicit Own(const Problem& problem) : rows(problem) {}
  RowEvaluator rows;
  std::unordered_map<std::int64_t, RowDistribution> known;
  std::vector<const double*> next;
  std::vector<double> minimiser;
  std::vector<MemoryMove> moves;
};

namespace {

constexpr std::size_t kMostKnown = 1 << 20;  // choices kept for reuse, by each thread

int stages_of(const Problem& problem, const Policy& policy) {
  return problem.infinite() ? static_cast<int>(policy.stages.size()) : problem.horizon();
}

void check_memory(const Problem& problem, const Policy& policy) {
  double nodes = 0;
  for (int h = 0; h <= stages_of(problem, policy); ++h)
    nodes += static_cast<double>(node_count(policy, h));
  const double bytes = 8 * nodes * (2.0 + static_cast<double>(problem.constraints().size()));
  require(bytes <= 0.75 * machine_memory(),
          "the values of all stages need {:.3g} GB, this machine has {:.3g} GB: give the policy "
          "fewer memory states",
          bytes / 1e9, machine_memory() / 1e9);
}

}  // namespace

WorstKernel::WorstKernel(const Problem& problem, const Policy& policy, Nature nature,
                         const Execution& execution)
    : own_(std::make_unique<Own>(problem)) {
  check_policy(problem, policy);
  auto shared = std::make_shared<Shared>(Shared{problem, policy, -1, {}, {}});
  if (nature.against != Nature::Against::nothing) {
    const auto constraints = static_cast<int>(problem.constraints().size());
    if (nature.against == Nature::Against::constraint) {
      require(nature.constraint >= 0 && nature.constraint < constraints,
              "nature against constraint {}, the problem has {}", nature.constraint, constraints);
    }
    check_memory(problem, policy);
    shared->channel = nature.against == Nature::Against::reward ? 0 : nature.constraint + 1;
    Workers workers(execution.threads);
    shared->pass = evaluate(problem, policy, workers, true);
  }
  std::int64_t nodes = 0;
  for (int h = 0; h < stages_of(problem, policy); ++h) {
    shared->first_node.push_back(nodes);
    nodes += node_count(policy, h);
  }
  shared_ = std::move(shared);
}

WorstKernel::WorstKernel(const WorstKernel& other)
    : shared_(other.shared_), own_(std::make_unique<Own>(other.shared_->problem)) {}
WorstKernel::~WorstKernel() = default;

const RowDistribution& WorstKernel::at(int stage, State state, std::int32_t memory,
                                       std::int32_t action) {
  const Model& model = shared_->problem.model();
  const auto node = shared_->first_node[std::min(stage, shared_->last_stage())] +
                    node_of(shared_->policy, stage, state, memory);
  const auto key = node * model.most_actions() + action;
  if (const auto found = own_->known.find(key); found != own_->known.end()) return found->second;
  if (own_->known.size() >= kMostKnown) own_->known.clear();
  return own_->known[key] = choose(stage, state, memory, action);
}

RowDistribution WorstKernel::choose(int stage, State state, std::int32_t memory,
                                    std::int32_t action) {
  const Model& model = shared_->problem.model();
  const Row row = model.row_begin(stage, state) + action;
  const auto begin = model.outcome_begin(row);
  const auto outcomes = static_cast<int>(model.outcome_end(row) - begin);
  const double* nominal = model.arrays().probability.data() + begin;
  RowDistribution chosen{{nominal, nominal + outcomes}};
  if (shared_->channel < 0) return chosen;

  const Decision d = decision(shared_->policy, stage, state, memory, action);
  own_->next.resize(outcomes);
  for (int i = 0; i < outcomes; ++i) {
    const State next = model.arrays().next[begin + i];
    memory_moves(shared_->problem, shared_->policy, d, i, next, own_->moves);
    double* lane = own_->rows.buffer(i, 1);
    std::fill_n(lane, kLaneBlock, shared_->next_value(stage, next, own_->moves));
    own_->next[i] = lane;
  }
  double floor[kLaneBlock], value[kLaneBlock];
  if (own_->rows.needs_floor()) {
    for (State s = 0; s < model.states(); ++s) {
      if (model.lists(row, s)) continue;
      memory_moves(shared_->problem, shared_->policy, d, outcomes, s, own_->moves);
      const double landed = shared_->next_value(stage, s, own_->moves);
      if (chosen.landing_state >= 0 && landed >= floor[0]) continue;
      chosen.landing_state = s;
      std::fill_n(floor, kLaneBlock, landed);
    }
  }
  own_->minimiser.assign(static_cast<std::size_t>(outcomes + 1) * kLaneBlock, 0.0);
  own_->rows.worst(row, {&shared_->pass.channels[shared_->channel], 1}, 1, own_->next.data(),
                   chosen.landing_state < 0 ? nullptr : floor, value, own_->minimiser.data());
  for (int i = 0; i < outcomes; ++i) chosen.probability[i] = own_->minimiser[i * kLaneBlock];
  chosen.landing = own_->minimiser[static_cast<std::size_t>(outcomes) * kLaneBlock];
  if (chosen.landing <= 0) chosen.landing = 0, chosen.landing_state = -1;
  chosen.value = value[0];
  return chosen;
}

MarkovKernel worst_kernel(const Problem& problem, const Policy& policy, Nature nature,
                          const Execution& execution) {
  require(policy.memory_states() == 1, "the policy has {} memory states, must have one",
          policy.memory_states());
  const Model& model = problem.model();
  WorstKernel kernel(problem, policy, nature, execution);
  MarkovKernel result;
  for (int h = 0; h < stages_of(problem, policy); ++h) {
    auto& probability = result.probability.emplace_back(model.arrays().probability);
    auto& landing = result.landing.emplace_back(model.rows(), 0.0);
    auto& landing_state = result.landing_state.emplace_back(model.rows(), -1);
    for (State s = 0; s < model.states(); ++s) {
      for (Row row = model.row_begin(h, s); row < model.row_end(h, s); ++row) {
        const RowDistribution& chosen =
            kernel.at(h, s, 0, static_cast<std::int32_t>(row - model.row_begin(h, s)));
        std::copy(chosen.probability.begin(), chosen.probability.end(),
                  probability.begin() + model.outcome_begin(row));
        landing[row] = chosen.landing;
        landing_state[row] = chosen.landing_state;
      }
    }
  }
  return result;
}

}  // namespace redoubt
