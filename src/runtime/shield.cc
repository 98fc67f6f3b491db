#include "redoubt/shield.h"

#include <algorithm>

#include "model/row_name.h"
#include "policy/draw.h"
#include "runtime/observation.h"
#include "runtime/promise_sets.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;

struct Shield::Episode {
  PromiseSets sets;
  RandomStream random;
  int stage = 0;
  State state = -1;  // -1: not known yet
  Promise promise = {};
  std::optional<ShieldBranch> taken = {};  // none since the last observation
  std::int64_t steps = 0, corrected = 0;

  const Model& model() const { return sets.problem().model(); }
  bool ended() const {
    const Problem& problem = sets.problem();
    return !problem.infinite() && stage >= problem.horizon();
  }
  Row row_of(std::int32_t position) const { return model().row_begin(stage, state) + position; }
  std::int32_t position_of(std::int32_t action) const;
  void go(State next, Promise promised);
};

Shield::Shield(const Problem& problem, const Policy& policy, std::uint64_t seed,
               std::uint64_t stream, const Execution& execution)
    : episode_(std::make_unique<Episode>(
          Episode{PromiseSets(problem, policy, execution), RandomStream(seed, stream)})) {}
Shield::Shield(Shield&&) noexcept = default;
Shield::~Shield() = default;

int Shield::stage() const { return episode_->stage; }
bool Shield::ended() const { return episode_->ended(); }
std::int64_t Shield::steps() const { return episode_->steps; }
std::int64_t Shield::corrected() const { return episode_->corrected; }
std::vector<double> Shield::promise() const {
  std::vector<double> promised = episode_->promise;
  for (std::size_t c = 0; c < promised.size(); ++c)
    promised[c] = episode_->sets.sign(static_cast<int>(c)) * promised[c] + 0.0;  // no -0
  return promised;
}

void Shield::start() {
  episode_->stage = 0;
  episode_->state = -1;
  episode_->promise.clear();
  episode_->taken.reset();
}

std::vector<Permission> Shield::allowed(State state) {
  Episode& e = *episode_;
  const Model& model = e.model();
  require(!e.ended(), "stage {}, the horizon is over; start again", e.stage);
  require(state >= 0 && state < model.states(), "state {}, must be in 0..{}", state,
          model.states() - 1);
  require(e.state < 0 || state == e.state, "state {}, the last observation led to state {}", state,
          e.state);
  require(!e.taken, "an action was taken; observe what it led to");
  if (e.state < 0) {
    e.promise = e.sets.at_start(state);
    e.state = state;
  }
  std::vector<Permission> permissions;
  for (Row row = model.row_begin(e.stage, state); row < model.row_end(e.stage, state); ++row) {
    const auto position = static_cast<std::int32_t>(row - model.row_begin(e.stage, state));
    const double largest = e.sets.largest(e.stage, state, e.promise, position);
    if (largest > 0) permissions.push_back({model.arrays().action[row], largest});
  }
  return permissions;
}

std::int32_t Shield::Episode::position_of(std::int32_t action) const {
  for (Row row = model().row_begin(stage, state); row < model().row_end(stage, state); ++row) {
    if (model().arrays().action[row] == action)
      return static_cast<std::int32_t>(row - model().row_begin(stage, state));
  }
  throw Error(
      fmt::format("action {}, state {} has no such action", action, model().state_name(state)));
}

std::int32_t Shield::take(std::int32_t action) {
  Episode& e = *episode_;
  require(e.state >= 0, "no state is known yet; call allowed first");
  require(!e.ended(), "stage {}, the horizon is over; start again", e.stage);
  require(!e.taken, "an action was taken; observe what it led to");
  const std::int32_t wanted = e.position_of(action);
  std::vector<ShieldBranch> branches = e.sets.propose(e.stage, e.state, e.promise, wanted);
  const std::size_t drawn =
      draw(e.random, branches.size(), [&](std::size_t b) { return branches[b].probability; });
  e.taken = std::move(branches[drawn]);
  ++e.steps;
  if (e.taken->action != wanted) ++e.corrected;
  return e.model().arrays().action[e.row_of(e.taken->action)];
}

void Shield::Episode::go(State next, Promise promised) {
  promise = std::move(promised);
  state = next;
  taken.reset();
  ++stage;
}

void Shield::observe(State next, const ObservedSignals& signals) {
  Episode& e = *episode_;
  require(e.taken.has_value(), "nothing was done since the last observation; call take first");
  const Model& model = e.model();
  require(next >= 0 && next < model.states(), "next state {}, must be in 0..{}", next,
          model.states() - 1);
  check_signals(model, signals);
  const Row row = e.row_of(e.taken->action);
  const Meaning means = meaning_of(e.sets.problem(), row, next, signals);
  require_meaning(model, row, next, means);
  Promise promised = e.sets.after(e.stage, e.state, *e.taken, means.outcomes[0], next);
  for (const std::int64_t outcome : means.outcomes) {
    const Promise other = e.sets.after(e.stage, e.state, *e.taken, outcome, next);
    if (other.size() == 1) promised = std::max(promised, other);  // the larger keeps both
    require(other.size() <= 1 || other == promised,
            "several outcomes of {} lead to state {} and leave different promises: observe the "
            "outcome, or the signals of the step, not the state alone",
            RowName{model, row}, model.state_name(next));
  }
  e.go(next, std::move(promised));
}

void Shield::observe_outcome(std::int32_t outcome) {
  Episode& e = *episode_;
  require(e.taken.has_value(), "nothing was done since the last observation; call take first");
  const Row row = e.row_of(e.taken->action);
  const auto begin = e.model().outcome_begin(row), end = e.model().outcome_end(row);
  require(outcome >= 0 && outcome < end - begin, "outcome {} of {}, must be in 0..{}", outcome,
          RowName{e.model(), row}, end - begin - 1);
  const State next = e.model().arrays().next[begin + outcome];
  e.go(next, e.sets.after(e.stage, e.state, *e.taken, outcome, next));
}

}  // namespace redoubt
