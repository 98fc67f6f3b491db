#include "redoubt/controller.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "evaluation/evaluation.h"
#include "model/row_name.h"
#include "policy/draw.h"
#include "policy/memory_update.h"
#include "redoubt/given_policy.h"
#include "runtime/observation.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

namespace {

bool remembers(const Policy& policy, int stage) {
  return !policy.budget.empty() || !policy.at(stage).outcome_slot.empty();
}

}  // namespace

namespace internal {

// What a policy guarantees from each stage, state and memory on: the worst cases of the reward and
// of the expected total of every constraint's signal. A chance constraint is judged by its expected
// total, too.
class Promises {
 public:
  Promises(const Problem& problem, const Policy& policy)
      : policy_(&policy), channels_(1 + problem.constraints().size()) {
    Terms terms = problem.terms();
    for (Constraint& constraint : terms.constraints) constraint.probability.reset();
    Workers workers(Execution{});
    values_ = evaluate(problem.with(std::move(terms)), policy, workers, true).values;
  }

  // The memory that promises the constraints most: the one whose least promise is the largest, each
  // measured between the least and the largest that any memory of the state makes; of equals, the
  // one with the larger reward, then the first.
  std::int32_t best_memory(int stage, State state) const {
    const int known = std::min(stage, static_cast<int>(values_.size()) - 1);
    const auto memories = static_cast<std::int32_t>(memory_of(*policy_, known, state));
    const auto nodes = node_count(*policy_, known);
    const double* first = values_[known].data() + node_of(*policy_, known, state, 0);
    std::vector<double> least(memories, channels_ == 1 ? 0.0 : 1.0);
    for (std::size_t c = 1; c < channels_; ++c) {
      const double* promised = first + c * nodes;
      const auto [low, high] = std::minmax_element(promised, promised + memories);
      for (std::int32_t m = 0; m < memories && *low < *high; ++m)
        least[m] = std::min(least[m], (promised[m] - *low) / (*high - *low));
    }
    std::int32_t best = 0;
    for (std::int32_t m = 1; m < memories; ++m) {
      if (least[m] > least[best] || (least[m] == least[best] && first[m] > first[best])) best = m;
    }
    return best;
  }

 private:
  const Policy* policy_;
  std::size_t channels_;
  std::vector<std::vector<double>> values_;  // of each stage, [channel][node]
};

}  // namespace internal

struct Controller::Episode {
  const Problem& problem;
  const Policy& policy;
  RandomStream random;
  Unmodelled unmodelled;
  std::int64_t unforeseen = 0;
  std::optional<Promises> promises = {};  // once they are needed
  int stage = 0;
  State state = -1;  // -1: not known yet
  std::int32_t memory = 0;
  std::int32_t action = -1;  // position of the last action; -1: none since the last observation
  std::vector<MemoryMove> moves = {};
  std::shared_ptr<const GivenPolicy> given = {};  // what the problem and the policy are then

  bool ended() const { return !problem.infinite() && stage >= problem.horizon(); }
  Row row_of(std::int32_t position) const {
    return problem.model().row_begin(stage, state) + position;
  }
  std::int32_t position_of(std::int32_t action_number) const {
    require(state >= 0, "nothing was done yet; call act first");
    return internal::position_of(problem.model(), stage, state, action_number);
  }
  bool moves_alike(const Decision& taken, const Meaning& meaning, State next);
  void moves_to(std::int32_t position, State next, const ObservedSignals& signals);
  void take_best_memory(int at, State next);
  void go(State next);
  State factor_towards(std::int32_t position, State next) const;
  void step(std::int32_t position, State next, const ObservedSignals& signals);
};

Controller::Controller(const Problem& problem, const Policy& policy, std::uint64_t seed,
                       std::uint64_t stream, Unmodelled unmodelled) {
  check_policy(problem, policy);
  const RandomStream random(seed, stream);
  if (!has_given_policy(problem)) {
    episode_ = std::make_unique<Episode>(Episode{problem, policy, random, unmodelled});
    return;
  }
  auto given = std::make_shared<const GivenPolicy>(given_policy(problem, policy));
  episode_ = std::make_unique<Episode>(Episode{given->problem, given->policy, random, unmodelled});
  episode_->given = std::move(given);
}
Controller::Controller(Controller&&) noexcept = default;
Controller& Controller::operator=(Controller&&) noexcept = default;
Controller::~Controller() = default;

int Controller::stage() const {
  const Episode& e = *episode_;
  return e.problem.given().model.factors() > 0 ? e.stage / 2 : e.stage;
}
std::int32_t Controller::memory() const { return episode_->memory; }
bool Controller::ended() const { return episode_->ended(); }
std::int64_t Controller::unmodelled() const { return episode_->unforeseen; }

void Controller::start() {
  episode_->stage = 0;
  episode_->state = -1;
  episode_->memory = 0;
  episode_->action = -1;
}

std::int32_t Controller::act(State state) {
  Episode& e = *episode_;
  const Model& model = e.problem.model();
  require(!e.ended(), "stage {}, the horizon is over; start again", e.stage);
  require(state >= 0 && state < model.states(), "state {}, must be in 0..{}", state,
          model.states() - 1);
  require(e.state < 0 || state == e.state, "state {}, the last observation led to state {}", state,
          e.state);
  require(model.row_begin(e.stage, state) < model.row_end(e.stage, state),
          "state {} is terminal, there is nothing to do", model.state_name(state));
  if (e.state < 0) {
    const auto& known = e.policy.start_states;
    const bool starts =
        known.empty() || std::find(known.begin(), known.end(), state) != known.end();
    if (starts || e.unmodelled == Unmodelled::error)
      e.moves = start_memory(e.policy, state);
    else
      ++e.unforeseen, e.take_best_memory(0, state);
    e.memory = draw_memory(e.random, e.moves);
    e.state = state;
  }
  const Policy::Stage& here = e.policy.at(e.stage);
  e.action = draw_action(e.random, here, here.begin(state) + e.memory);
  return model.arrays().action[e.row_of(e.action)];
}

// The memory moves of everything that an observation can mean, if they are the same.
bool Controller::Episode::moves_alike(const Decision& taken, const Meaning& meaning, State next) {
  const bool unknown = policy.budget.empty() && remembers(policy, stage) && taken.choice < 0;
  if (meaning.outcomes.empty() || (unknown && unmodelled == Unmodelled::go_on)) return false;
  std::vector<MemoryMove> found, other;
  for (const std::int64_t outcome : meaning.outcomes) {
    memory_moves(problem, policy, taken, outcome, next, other);
    if (!found.empty() && found != other) return false;
    found.swap(other);
  }
  moves = std::move(found);
  return true;
}

void Controller::Episode::moves_to(std::int32_t position, State next,
                                   const ObservedSignals& signals) {
  const Model& model = problem.model();
  require(next >= 0 && next < model.states(), "next state {}, must be in 0..{}", next,
          model.states() - 1);
  check_signals(model, signals);
  const Row row = row_of(position);
  const Decision taken = decision(policy, stage, state, memory, position);
  const Meaning means =
      meaning_of(problem, row, next, remembers(policy, stage) ? signals : ObservedSignals());
  const bool alike = moves_alike(taken, means, next);
  if (unmodelled == Unmodelled::error) {
    require_meaning(model, row, next, means);
    require(alike,
            "several outcomes of {} lead to state {} and the policy remembers them differently: "
            "observe the outcome, or the signals of the step, not the state alone",
            RowName{model, row}, model.state_name(next));
  }
  if (alike && means.exact) return;
  ++unforeseen;
  if (!policy.budget.empty())
    budget_moves(problem, policy, taken, next, signals, moves);
  else if (!remembers(policy, stage))
    moves.assign(1, {kept_memory(policy, stage, memory), 1.0});
  else if (!alike)
    take_best_memory(stage + 1, next);
}

// Of a state that was not foreseen.
void Controller::Episode::take_best_memory(int at, State next) {
  if (!problem.infinite() && at >= problem.horizon()) {
    moves.assign(1, {0, 1.0});
    return;
  }
  if (memory_of(policy, at, next) > 1 && !promises) promises.emplace(problem, policy);
  moves.assign(1, {promises ? promises->best_memory(at, next) : 0, 1.0});
}

void Controller::Episode::go(State next) {
  memory = draw_memory(random, moves);
  state = next;
  action = -1;
  ++stage;
}

// A factor of the row that may have led to a state; -1: there is none. A policy that does not see
// factors remembers the same whichever it is.
State Controller::Episode::factor_towards(std::int32_t position, State next) const {
  const Model& model = problem.model();
  const Row row = row_of(position);
  const auto begin = model.arrays().next.begin();
  for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
    const Row drawn = model.row_begin(stage + 1, begin[i]);
    const auto first = begin + model.outcome_begin(drawn), last = begin + model.outcome_end(drawn);
    if (std::find(first, last, next) != last) return begin[i];
  }
  return -1;
}

void Controller::Episode::step(std::int32_t position, State next, const ObservedSignals& signals) {
  if (problem.given().model.factors() == 0) {
    moves_to(position, next, signals);
    return go(next);
  }
  require(next >= 0 && !problem.is_factor(std::min(next, problem.model().states() - 1)),
          "next state {}, must be in 0..{}", next, problem.given().model.ordinary() - 1);
  check_signals(problem.model(), signals);
  const Row row = row_of(position);
  State factor = factor_towards(position, next);
  require(factor >= 0 || unmodelled == Unmodelled::go_on, "{} does not lead to state {}",
          RowName{problem.model(), row}, problem.model().state_name(next));
  if (factor < 0) factor = problem.model().arrays().next[problem.model().outcome_begin(row)];
  moves_to(position, factor, {});
  go(factor);
  moves_to(0, next, {});
  go(next);
}

void Controller::observe(State next, const ObservedSignals& signals) {
  Episode& e = *episode_;
  require(e.action >= 0, "nothing was done since the last observation; call act first");
  e.step(e.action, next, signals);
}

void Controller::observe(std::int32_t action, State next, const ObservedSignals& signals) {
  Episode& e = *episode_;
  e.step(e.position_of(action), next, signals);
}

void Controller::observe_outcome(std::int32_t action, std::int32_t outcome) {
  Episode& e = *episode_;
  const Model& model = e.problem.model();
  const auto position = e.position_of(action);
  const Row row = e.row_of(position);
  const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
  require(outcome >= 0 && outcome < outcomes, "outcome {} of {}, must be in 0..{}", outcome,
          RowName{model, row}, outcomes - 1);
  const State next = model.arrays().next[model.outcome_begin(row) + outcome];
  memory_moves(e.problem, e.policy, decision(e.policy, e.stage, e.state, e.memory, position),
               outcome, next, e.moves);
  e.go(next);
}

}  // namespace redoubt
