#include "redoubt/worst_kernel.h"

#include <algorithm>
#include <unordered_map>

#include "bellman/state_batch.h"
#include "evaluation/chance_value.h"
#include "evaluation/evaluation.h"
#include "evaluation/nature_in_traps.h"
#include "model/set_traits.h"
#include "parallel/memory_limit.h"
#include "policy/memory_update.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

bool internal::is_chance(const Problem& problem, Nature nature) {
  const auto constraints = static_cast<int>(problem.constraints().size());
  return nature.against == Nature::Against::constraint && nature.constraint >= 0 &&
         nature.constraint < constraints &&
         problem.constraints()[nature.constraint].probability.has_value();
}

Nature nature_of(const Problem& problem, std::string_view word) {
  if (word == "nominal") return {};
  if (word == "worst-reward") return {Nature::Against::reward};
  std::string known = "nominal, worst-reward";
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    const std::string& signal = problem.constraints()[c].signal;
    const bool chance = problem.constraints()[c].probability.has_value();
    if (word == "worst-" + signal || (chance && word == "chance-" + signal))
      return {Nature::Against::constraint, c};
    known += (chance ? ", chance-" : ", worst-") + signal;
  }
  throw Error(fmt::format("nature '{}', must be one of {}", word, known));
}

// Nature against a chance constraint looks at the remaining budget: it plays on the augmented
// problem.
struct WorstKernel::Lowered {
  AugmentedProblem augmented;
  PolicyOnAugmented lowered;
};

struct WorstKernel::Shared {
  const Problem& problem;
  const Policy& policy;
  std::shared_ptr<const Lowered> lowered;  // null unless against a chance constraint
  int channel = -1;                        // -1: nominal
  EvaluationPass pass;
  std::vector<std::int64_t> first_node;  // of each stage of the pass, counted over all stages
  std::optional<NatureInTraps> in_traps;
  std::vector<int> nominal_traps;  // of each node of the last stage

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
  explicit Own(const Problem& problem) : rows(problem) {
    if (shares_radius(problem)) states.emplace(problem);
  }
  RowEvaluator rows;
  std::optional<StateBatch> states;  // where the rows of a state share a radius
  std::unordered_map<std::int64_t, RowDistribution> known;
  std::vector<const double*> next;
  std::vector<double> minimiser;
  std::vector<MemoryMove> moves;
  std::unique_ptr<WorstKernel> on_augmented;
  RowDistribution answer;

  struct After {  // next values of a row's outcomes, and of the worst landing
    std::vector<double> next;
    double floor = 0;
    State landing_state = -1;
  };
  double landed(const Shared& shared, const Decision& d, State in);
  // `guided`: not what outcomes are worth, but where nature wants to go in a trap.
  After what_follows(const Shared& shared, const Decision& d, bool guided);
  static double value_of(const Shared& shared, Row row, const After& after,
                         const RowDistribution& chosen);
  RowDistribution choose_shared(const Shared& shared, const Decision& d);
};

namespace {

constexpr std::size_t kMostKnown = 1 << 20;  // choices kept for reuse, by each thread

int stages_to_decide(const Problem& problem, const Policy& policy) {
  return problem.infinite() ? static_cast<int>(policy.stages.size()) : problem.horizon();
}

void check_memory(const Problem& problem, const Policy& policy) {
  double nodes = 0;
  for (int h = 0; h <= stages_to_decide(problem, policy); ++h)
    nodes += static_cast<double>(node_count(policy, h));
  const double bytes = 8 * nodes * (2.0 + static_cast<double>(problem.constraints().size()));
  MemoryPlan plan;
  plan.values = bytes;
  require_memory(plan, one_process(), 0, "keeping the values of all stages",
                 "give the policy fewer memory states");
}

}  // namespace

WorstKernel::WorstKernel(const Problem& problem, const Policy& policy, Nature nature,
                         const Execution& execution)
    : own_(std::make_unique<Own>(problem)) {
  check_policy(problem, policy);
  auto shared = std::make_shared<Shared>(Shared{problem, policy, nullptr, -1, {}, {}, {}, {}});
  if (nature.against != Nature::Against::nothing) {
    const auto constraints = static_cast<int>(problem.constraints().size());
    if (nature.against == Nature::Against::constraint) {
      require(nature.constraint >= 0 && nature.constraint < constraints,
              "nature against constraint {}, the problem has {}", nature.constraint, constraints);
    }
    Stopwatch watch(execution);
    Workers workers(execution.threads, one_process(), &watch);
    if (is_chance(problem, nature)) {
      auto lowered =
          std::make_shared<Lowered>(Lowered{augment_one(problem, nature.constraint, workers), {}});
      lowered->lowered = to_augmented_with_nodes(lowered->augmented, policy, workers);
      const Execution rest = watch.rest();
      own_->on_augmented =
          std::make_unique<WorstKernel>(lowered->augmented.problem, lowered->lowered.policy,
                                        Nature{Nature::Against::constraint, 0}, rest);
      shared->lowered = std::move(lowered);
      shared_ = std::move(shared);
      return;
    }
    check_memory(problem, policy);
    shared->channel = nature.against == Nature::Against::reward ? 0 : nature.constraint + 1;
    shared->pass = evaluate(problem, policy, workers, true);
    if (problem.traps()) find_traps(*shared);
  } else if (problem.traps()) {
    shared->nominal_traps = traps_of_nodes(problem, policy, Nominal{});
  }
  std::int64_t nodes = 0;
  for (int h = 0; h < stages_to_decide(problem, policy); ++h) {
    shared->first_node.push_back(nodes);
    nodes += node_count(policy, h);
  }
  shared_ = std::move(shared);
}

WorstKernel::WorstKernel(const WorstKernel& other)
    : shared_(other.shared_), own_(std::make_unique<Own>(other.shared_->problem)) {
  if (other.own_->on_augmented)
    own_->on_augmented = std::make_unique<WorstKernel>(*other.own_->on_augmented);
}
WorstKernel::~WorstKernel() = default;

const RowDistribution& WorstKernel::at(int stage, State state, std::int32_t memory,
                                       std::int32_t action) {
  if (shared_->lowered) return own_->answer = choose_on_augmented(stage, state, memory, action);
  const Model& model = shared_->problem.model();
  const auto node = shared_->first_node[std::min(stage, shared_->last_stage())] +
                    node_of(shared_->policy, stage, state, memory);
  const auto key = node * model.most_actions() + action;
  if (const auto found = own_->known.find(key); found != own_->known.end()) return found->second;
  if (own_->known.size() >= kMostKnown) own_->known.clear();
  return own_->known[key] = choose(stage, state, memory, action);
}

void WorstKernel::find_traps(Shared& shared) {
  const std::vector<double>& values = shared.pass.values.back();
  const auto count = values.size() / shared.pass.channels.size();
  shared.in_traps.emplace(shared.problem, shared.policy, shared.pass.channels[shared.channel],
                          std::span(values).subspan(shared.channel * count, count));
}

bool WorstKernel::keeps(int stage, State state, std::int32_t memory) const {
  if (stage < shared_->last_stage()) return false;
  const auto node = node_of(shared_->policy, stage, state, memory);
  if (shared_->in_traps) return shared_->in_traps->stays(node);
  return !shared_->nominal_traps.empty() && shared_->nominal_traps[node] >= 0;
}

// The answer for the one pair of this state and a budget in which the policy has this memory.
RowDistribution WorstKernel::choose_on_augmented(int stage, State state, std::int32_t memory,
                                                 std::int32_t action) {
  const AugmentedProblem& augmented = shared_->lowered->augmented;
  const auto& nodes = shared_->lowered->lowered.nodes[stage];
  const std::string& signal = shared_->problem.constraints()[augmented.chance[0]].signal;
  const AugmentedNode* found = nullptr;
  std::int32_t place = 0;  // among the nodes of its augmented state
  for (std::size_t n = 0, first = 0; n < nodes.size(); ++n) {
    if (nodes[n].state != nodes[first].state) first = n;
    if (augmented.state[nodes[n].state] != state || nodes[n].memory != memory) continue;
    require(!found,
            "the policy does not remember the budget of the chance constraint on '{}', on which "
            "nature's choice depends: memory {} of state {} at stage {} has several",
            signal, memory, shared_->problem.model().state_name(state), stage);
    found = &nodes[n];
    place = static_cast<std::int32_t>(n - first);
  }
  require(found != nullptr, "the policy never comes to state {} with memory {} at stage {}",
          shared_->problem.model().state_name(state), memory, stage);
  const RowDistribution& there = own_->on_augmented->at(stage, found->state, place, action);
  const Model& model = shared_->problem.model();
  const Model& wide = augmented.problem.model();
  const Row row = model.row_begin(stage, state) + action;
  const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
  RowDistribution chosen{std::vector<double>(outcomes, 0.0)};
  const auto first = wide.outcome_begin(wide.row_begin(stage, found->state) + action);
  for (std::size_t i = 0; i < there.probability.size(); ++i) {
    const auto outcome = augmented.outcome[first + i];
    if (outcome < outcomes) {
      chosen.probability[outcome] = there.probability[i];
    } else if (there.probability[i] > 0) {  // total variation puts what it moves on one outcome
      chosen.landing = there.probability[i];
      chosen.landing_state = augmented.state[wide.arrays().next[first + i]];
    }
  }
  chosen.value = there.value + augmented.kept[0][found->state];
  return chosen;
}

double WorstKernel::Own::landed(const Shared& shared, const Decision& d, State in) {
  const Model& model = shared.problem.model();
  const Row row = model.row_begin(d.stage, d.state) + d.action;
  memory_moves(shared.problem, shared.policy, d, model.outcome_end(row) - model.outcome_begin(row),
               in, moves);
  return shared.next_value(d.stage, in, moves) +
         arrival_worth(shared.problem, shared.pass.channels[shared.channel], in);
}

WorstKernel::Own::After WorstKernel::Own::what_follows(const Shared& shared, const Decision& d,
                                                       bool guided) {
  const Model& model = shared.problem.model();
  const Row row = model.row_begin(d.stage, d.state) + d.action;
  const auto begin = model.outcome_begin(row), outcomes = model.outcome_end(row) - begin;
  After after;
  for (std::int64_t i = 0; i < outcomes; ++i) {
    const State to = model.arrays().next[begin + i];
    memory_moves(shared.problem, shared.policy, d, i, to, moves);
    after.next.push_back(guided ? shared.in_traps->guide(d, i, to)
                                : shared.next_value(d.stage, to, moves));
  }
  after.floor = after.next.front();  // where there is nowhere else to land: without effect
  for (State s = 0; rows.needs_floor() && s < model.states(); ++s) {
    if (model.lists(row, s)) continue;
    const double worth = guided ? shared.in_traps->guide(d, outcomes, s) : landed(shared, d, s);
    if (after.landing_state >= 0 && worth >= after.floor) continue;
    after.landing_state = s;
    after.floor = worth;
  }
  return after;
}

// What a row earns under a distribution that nature has chosen.
double WorstKernel::Own::value_of(const Shared& shared, Row row, const After& after,
                                  const RowDistribution& chosen) {
  const Model& model = shared.problem.model();
  const Channel channel = shared.pass.channels[shared.channel];
  const double discount = shared.problem.discount();
  double value =
      channel.sign * model.value(channel.signal, row) + discount * chosen.landing * after.floor;
  for (std::size_t i = 0; i < after.next.size(); ++i) {
    const auto outcome = model.outcome_begin(row) + static_cast<std::int64_t>(i);
    const double earned = channel.sign * model.outcome_value(channel.signal, outcome);
    value += chosen.probability[i] * (earned + discount * after.next[i]);
  }
  return value;
}

// Nature answers all actions of the node at once; one that is not taken keeps its row.
RowDistribution WorstKernel::Own::choose_shared(const Shared& shared, const Decision& d) {
  const Model& model = shared.problem.model();
  const Policy::Stage& decisions = shared.policy.at(d.stage);
  const Row first = model.row_begin(d.stage, d.state);
  std::vector<Row> taken = {first + d.action};  // before the others
  std::vector<double> weights = {0};
  for_each_choice(decisions, decisions.begin(d.state) + d.memory,
                  [&](std::int32_t action, double weight) {
                    if (action == d.action) {
                      weights[0] += weight;
                    } else if (weight > 0) {
                      taken.push_back(first + action);
                      weights.push_back(weight);
                    }
                  });
  struct Next {
    std::vector<After> after;
    double operator()(int, std::int64_t choice, int outcome, State) const {
      return after[choice].next[outcome];
    }
    double floor(int, std::int64_t choice) const { return after[choice].floor; }
  } following;
  for (const Row row : taken)
    following.after.push_back(what_follows(
        shared,
        decision(shared.policy, d.stage, d.state, d.memory, static_cast<std::int32_t>(row - first)),
        false));
  const After& after = following.after[0];
  const StateItem item{0, static_cast<int>(taken.size()), shared.pass.channels[shared.channel]};
  RowDistribution chosen;
  double total = 0;
  states->worst({&item, 1}, {taken.data(), weights.data()}, following, &total, true,
                [&](int, const StateLanes& lanes, int lane) {
                  for (std::size_t i = 0; i < after.next.size(); ++i)
                    chosen.probability.push_back(lanes.chosen(lane, 0, static_cast<int>(i)));
                  chosen.landing = std::max(0.0, lanes.landing(lane, 0));
                });
  if (chosen.landing > 0) chosen.landing_state = after.landing_state;
  chosen.value = value_of(shared, taken[0], after, chosen);
  return chosen;
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
  if (own_->states) return own_->choose_shared(*shared_, d);
  const bool trapped = shared_->in_traps && stage >= shared_->last_stage() &&
                       shared_->in_traps->contains(node_of(shared_->policy, stage, state, memory));
  const Own::After after = own_->what_follows(*shared_, d, trapped);
  own_->next.resize(outcomes);
  for (int i = 0; i < outcomes; ++i) {
    double* lane = own_->rows.buffer(i, 1);
    std::fill_n(lane, kLaneBlock, after.next[i]);
    own_->next[i] = lane;
  }
  double floor[kLaneBlock], value[kLaneBlock];
  chosen.landing_state = after.landing_state;
  std::fill_n(floor, kLaneBlock, after.floor);
  own_->minimiser.assign(static_cast<std::size_t>(outcomes + 1) * kLaneBlock, 0.0);
  own_->rows.worst(row, {&shared_->pass.channels[shared_->channel], 1}, 1, own_->next.data(),
                   chosen.landing_state < 0 ? nullptr : floor, value, own_->minimiser.data());
  for (int i = 0; i < outcomes; ++i) chosen.probability[i] = own_->minimiser[i * kLaneBlock];
  chosen.landing = own_->minimiser[static_cast<std::size_t>(outcomes) * kLaneBlock];
  if (chosen.landing <= 0) chosen.landing = 0, chosen.landing_state = -1;
  chosen.value = value[0];
  if (!trapped) return chosen;
  Own::After follows = own_->what_follows(*shared_, d, false);
  if (chosen.landing_state >= 0) follows.floor = own_->landed(*shared_, d, chosen.landing_state);
  chosen.value = Own::value_of(*shared_, row, follows, chosen);
  return chosen;
}

MarkovKernel worst_kernel(const Problem& problem, const Policy& policy, Nature nature,
                          const Execution& execution) {
  require(policy.memory_states() == 1, "the policy has {} memory states, must have one",
          policy.memory_states());
  const Model& model = problem.model();
  WorstKernel kernel(problem, policy, nature, execution);
  MarkovKernel result;
  for (int h = 0; h < stages_to_decide(problem, policy); ++h) {
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
