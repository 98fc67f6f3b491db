#include "redoubt/shield.h"

#include <algorithm>
#include <span>

#include "model/row_name.h"
#include "policy/draw.h"
#include "redoubt/given_policy.h"
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
  State given(State s) const {
    const Problem& problem = sets.problem();
    return has_given_policy(problem) ? problem.given_state()[s] : s;
  }
  State given_states() const {
    const Problem& problem = sets.problem();
    return has_given_policy(problem) ? problem.given().model.states() : problem.model().states();
  }
  // Of some states of the problem, the one that stands for a given state; -1: none.
  template <class States>
  State standing_for(State of_given, const States& states) const {
    for (const State s : states)
      if (given(s) == of_given) return s;
    return -1;
  }
  State next_state(State of_given) const;
  void go(State next, Promise promised);
};

Shield::Shield(const Problem& problem, const Policy& policy, std::uint64_t seed,
               std::uint64_t stream, const Execution& execution) {
  require(problem.merged() == nullptr,
          "a shield where states of the model have become one, every policy must come to an end");
  require(problem.given().model.factors() == 0,
          "a shield on a model with {} factors, which nobody sees, must have none",
          problem.given().model.factors());
  episode_ = std::make_unique<Episode>(
      Episode{PromiseSets(problem, policy, execution), RandomStream(seed, stream)});
}
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

std::vector<Permission> Shield::allowed(State given) {
  Episode& e = *episode_;
  const Model& model = e.model();
  require(!e.ended(), "stage {}, the horizon is over; start again", e.stage);
  const State count = e.given_states();
  require(given >= 0 && given < count, "state {}, must be in 0..{}", given, count - 1);
  require(e.state < 0 || given == e.given(e.state),
          "state {}, the last observation led to state {}", given,
          e.state < 0 ? -1 : e.given(e.state));
  require(!e.taken, "an action was taken; observe what it led to");
  if (e.state < 0) {
    const State begins = e.standing_for(given, e.sets.problem().start().states);
    require(begins >= 0, "state {}, no episode begins there", given);
    e.promise = e.sets.at_start(begins);
    e.state = begins;
  }
  const State state = e.state;
  std::vector<Permission> permissions;
  for (Row row = model.row_begin(e.stage, state); row < model.row_end(e.stage, state); ++row) {
    const auto position = static_cast<std::int32_t>(row - model.row_begin(e.stage, state));
    const double largest = e.sets.largest(e.stage, state, e.promise, position);
    if (largest > 0) permissions.push_back({model.arrays().action[row], largest});
  }
  return permissions;
}

std::int32_t Shield::take(std::int32_t action) {
  Episode& e = *episode_;
  require(e.state >= 0, "no state is known yet; call allowed first");
  require(!e.ended(), "stage {}, the horizon is over; start again", e.stage);
  require(!e.taken, "an action was taken; observe what it led to");
  const std::int32_t wanted = position_of(e.model(), e.stage, e.state, action);
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

// What is decided by an arrival depends on nothing else. An arrival that the row does not list
// keeps its number.
State Shield::Episode::next_state(State of_given) const {
  const State count = given_states();
  require(of_given >= 0 && of_given < count, "next state {}, must be in 0..{}", of_given,
          count - 1);
  const Row row = row_of(taken->action);
  const State* next = model().arrays().next.data();
  const State found = standing_for(
      of_given, std::span(next + model().outcome_begin(row), next + model().outcome_end(row)));
  const bool same = model().states() == count;
  require(found >= 0 || same, "next state {}, {} never leads there", of_given,
          RowName{model(), row});
  return found >= 0 ? found : of_given;
}

void Shield::observe(State given, const ObservedSignals& signals) {
  Episode& e = *episode_;
  require(e.taken.has_value(), "nothing was done since the last observation; call take first");
  const Model& model = e.model();
  const State next = e.next_state(given);
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
