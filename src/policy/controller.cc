#include "redoubt/controller.h"

#include <vector>

#include "model/require.h"
#include "model/row_name.h"
#include "policy/draw.h"
#include "policy/moves.h"

namespace redoubt {

struct Controller::Episode {
  const Problem& problem;
  const Policy& policy;
  RandomStream random;
  int stage = 0;
  State state = -1;  // -1: not known yet
  std::int32_t memory = 0;
  std::int32_t action = -1;  // position of the last action; -1: none since the last observation
  std::vector<MemoryMove> moves = {};

  bool ended() const { return !problem.infinite() && stage >= problem.horizon(); }
  Row row_of(std::int32_t position) const {
    return problem.model().row_begin(stage, state) + position;
  }
  std::int32_t position_of(std::int32_t action_number) const;
  void moves_to(std::int32_t position, State next);
  void go(State next);
};

Controller::Controller(const Problem& problem, const Policy& policy, std::uint64_t seed,
                       std::uint64_t stream) {
  check_policy(problem, policy);
  episode_ = std::make_unique<Episode>(Episode{problem, policy, RandomStream(seed, stream)});
}
Controller::Controller(Controller&&) noexcept = default;
Controller& Controller::operator=(Controller&&) noexcept = default;
Controller::~Controller() = default;

int Controller::stage() const { return episode_->stage; }
std::int32_t Controller::memory() const { return episode_->memory; }
bool Controller::ended() const { return episode_->ended(); }

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
    e.moves = start_memory(e.policy, state);
    e.memory = draw_memory(e.random, e.moves);
    e.state = state;
  }
  const Policy::Stage& here = e.policy.at(e.stage);
  e.action = draw_action(e.random, here, here.begin(state) + e.memory);
  return model.arrays().action[e.row_of(e.action)];
}

std::int32_t Controller::Episode::position_of(std::int32_t action_number) const {
  const Model& model = problem.model();
  require(state >= 0, "nothing was done yet; call act first");
  for (Row row = model.row_begin(stage, state); row < model.row_end(stage, state); ++row) {
    if (model.arrays().action[row] == action_number)
      return static_cast<std::int32_t>(row - model.row_begin(stage, state));
  }
  throw Error(fmt::format("action {}, state {} has no such action", action_number,
                          model.state_name(state)));
}

// The memory moves of everything that a state can mean, which must be the same.
void Controller::Episode::moves_to(std::int32_t position, State next) {
  const Model& model = problem.model();
  const Row row = row_of(position);
  require(next >= 0 && next < model.states(), "next state {}, must be in 0..{}", next,
          model.states() - 1);
  const Decision taken = decision(policy, stage, state, memory, position);
  const auto begin = model.outcome_begin(row), end = model.outcome_end(row);
  const auto* tv = std::get_if<TV>(&problem.uncertainty());
  const bool lands = tv && tv->reach == Reach::anywhere && !model.lists(row, next);
  std::vector<MemoryMove> found, other;
  for (auto i = begin; i < end + (lands ? 1 : 0); ++i) {
    if (i < end && model.arrays().next[i] != next) continue;
    memory_moves(problem, policy, taken, i - begin, next, other);
    require(found.empty() || found == other,
            "several outcomes of {} lead to state {} and the policy remembers them differently: "
            "observe the outcome, not the state",
            RowName{model, row}, model.state_name(next));
    found.swap(other);
  }
  require(!found.empty(), "next state {}, {} never leads there", model.state_name(next),
          RowName{model, row});
  moves = std::move(found);
}

void Controller::Episode::go(State next) {
  memory = draw_memory(random, moves);
  state = next;
  action = -1;
  ++stage;
}

void Controller::observe(State next) {
  Episode& e = *episode_;
  require(e.action >= 0, "nothing was done since the last observation; call act first");
  e.moves_to(e.action, next);
  e.go(next);
}

void Controller::observe(std::int32_t action, State next) {
  Episode& e = *episode_;
  e.moves_to(e.position_of(action), next);
  e.go(next);
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
