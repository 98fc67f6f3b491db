#include "solvers/value_iteration/changed_states.h"

#include "bellman/row_evaluator.h"
#include "model/set_traits.h"

namespace redoubt::internal {
namespace {

// So that a list of them is shorter than the list of all by more than it takes to keep it.
bool are_few(std::size_t count, std::size_t states) { return 4 * count <= 3 * states; }

// Calls visit(state, next state) for each outcome. Of equal ones in a row, those of different
// actions, the first.
template <class Visit>
void for_each_lead(const Model& model, std::vector<State>& last, Visit visit) {
  last.assign(model.states(), -1);
  for (State state = 0; state < model.states(); ++state) {
    const auto begin = model.outcome_begin(model.row_begin(0, state));
    const auto end = model.outcome_begin(model.row_end(0, state));
    for (auto i = begin; i < end; ++i) {
      const State next = model.arrays().next[i];
      if (last[next] == state) continue;
      last[next] = state;
      visit(state, next);
    }
  }
}

}  // namespace

ChangedStates::ChangedStates(const Problem& problem)
    : model_(&problem.model()),
      possible_(model_->stages() == 1 && !model_->arrays().submodel && !lands_anywhere(problem) &&
                !shares_radius(problem)) {}

double ChangedStates::bytes(const Model& model) {
  if (model.stages() > 1 || model.arrays().submodel) return 0;
  return sizeof(State) * static_cast<double>(model.outcomes()) + 32.0 * model.states();
}

void ChangedStates::compare(const std::vector<double>& before, const std::vector<double>& after,
                            State count) {
  listed_ = true;
  few_ = possible_ && are_few(static_cast<std::size_t>(count), after.size());
  if (!few_) return;
  changed_.clear();
  for (std::size_t s = 0; s < after.size(); ++s)
    if (before[s] != after[s]) changed_.push_back(static_cast<State>(s));
}

// States that have stopped changing stay on the list until they are half of it: it is often the
// same from step to step, and evaluating more than need be changes nothing.
std::span<const State> ChangedStates::affected() {
  constexpr int kStepsBeforeClosing = 4;
  if (leading_.begin.empty()) find_leading();
  if (listed_ && covered_.size() > 2 * changed_.size() + 8) start_again();
  if (closed_) return affected_;
  const bool longer = cover(changed_);
  same_ = longer ? 0 : same_ + 1;
  if (same_ >= kStepsBeforeClosing && !cover(std::vector<State>(affected_))) close();
  return affected_;
}

void ChangedStates::start_again() {
  for (const State state : covered_) is_covered_[state] = 0;
  for (const State state : affected_) is_affected_[state] = 0;
  covered_.clear();
  affected_.clear();
  closed_ = false;
  same_ = 0;
}

// True when that affects states that were not affected before.
bool ChangedStates::cover(const std::vector<State>& states) {
  const std::size_t before = affected_.size();
  for (const State state : states) {
    if (is_covered_[state]) continue;
    is_covered_[state] = 1;
    covered_.push_back(state);
    for (const State from : leading_[state]) {
      if (is_affected_[from]) continue;
      is_affected_[from] = 1;
      affected_.push_back(from);
    }
  }
  return affected_.size() > before;
}

// Nothing but affected states leads to affected ones: the list need not be looked at again. It is
// gone through in the order of the model from here on.
void ChangedStates::close() {
  closed_ = true;
  ++lists_;
  affected_.clear();
  for (State s = 0; s < model_->states(); ++s)
    if (is_affected_[s]) affected_.push_back(s);
}

// Without a branch on which states have changed, which nobody can predict: an entry that does not
// belong on the list is written over by the next one.
void ChangedStates::update(std::span<const double> found, std::vector<double>& values) {
  constexpr int kStepsBetweenLists = 16;  // of one that is closed: only its length matters
  listed_ = !closed_ || ++updates_ % kStepsBetweenLists == 0;
  if (!listed_) {
    for (std::size_t i = 0; i < affected_.size(); ++i) values[affected_[i]] = found[i];
    return;
  }
  changed_.resize(affected_.size());
  State* list = changed_.data();
  std::size_t count = 0;
  for (std::size_t i = 0; i < affected_.size(); ++i) {
    const State state = affected_[i];
    list[count] = state;
    count += values[state] != found[i];
    values[state] = found[i];
  }
  changed_.resize(count);
  few_ = are_few(affected_.size(), values.size());
}

void ChangedStates::find_leading() {
  std::vector<State> last;
  is_covered_.assign(model_->states(), 0);
  is_affected_.assign(model_->states(), 0);
  leading_ = grouped<State>(model_->states(), [&](auto visit) {
    for_each_lead(*model_, last, [&](State state, State next) { visit(next, state); });
  });
}

}  // namespace redoubt::internal
