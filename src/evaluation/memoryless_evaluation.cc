#include "evaluation/memoryless_evaluation.h"

#include <algorithm>

#include "evaluation/until_end.h"
#include "evaluation/without_traps.h"
#include "model/submodel.h"

namespace redoubt::internal {

bool is_memoryless(const Policy& policy) {
  return policy.budget.empty() && policy.start_states.empty() &&
         std::all_of(policy.stages.begin(), policy.stages.end(), [](const Policy::Stage& stage) {
           return stage.memory == 1 && stage.node_begin.empty() && stage.outcome_slot.empty();
         });
}

MemorylessEvaluation::MemorylessEvaluation(const Problem& problem, const Policy& policy,
                                           const std::vector<Channel>& channels, Workers& workers,
                                           Exchange& exchange)
    : policy_(&policy), channels_(&channels), sweep_(problem, workers, exchange) {}

double MemorylessEvaluation::bytes() const {
  const Problem& problem = sweep_.problem();
  std::int64_t rows = 0;
  for (std::size_t h = 0; h < policy_->stages.size(); ++h)
    rows =
        std::max(rows, count_taken_rows(problem.model(), static_cast<int>(h), policy_->stages[h]));
  double bytes = bytes_of_taken_rows(problem.model(), rows);
  if (problem.undiscounted())
    bytes += UntilEnd::bytes(problem, static_cast<double>(rows));
  else if (problem.infinite())
    bytes += StationaryValues::bytes(problem, rows);
  return bytes;
}

// Rows differ between stages where the model's do.
void MemorylessEvaluation::find_taken(int stage) {
  const Model& model = sweep_.problem().model();
  const int decisions = policy_->stage_index(stage);
  if (model.stages() == 1 && decisions == decisions_) return;
  find_taken_rows(model, stage, policy_->stages[decisions], taken_);
  decisions_ = decisions;
}

void MemorylessEvaluation::run(int stage, const std::vector<double>& next,
                               std::vector<double>& values) {
  find_taken(stage);
  values.resize(next.size());
  const auto states = static_cast<std::size_t>(sweep_.problem().model().states());
  for (std::size_t c = 0; c < channels_->size(); ++c)
    sweep_.step(taken_, (*channels_)[c], next.data() + c * states, values.data() + c * states);
}

void MemorylessEvaluation::reach_fixed_point(int stage, std::vector<double>& values) {
  constexpr double kAccuracy = 1e-12;  // of the largest value
  find_taken(stage);
  const Model& model = sweep_.problem().model();
  const auto states = static_cast<std::size_t>(model.states());
  if (sweep_.problem().undiscounted()) return follow_to_the_end(values);
  StationaryValues stationary(sweep_);
  for (std::size_t c = 0; c < channels_->size(); ++c) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(c * states);
    std::vector<double> own(first, first + static_cast<std::ptrdiff_t>(states));
    const Bracket found = stationary.improve(taken_, (*channels_)[c], own,
                                             [](int, double scale) { return kAccuracy * scale; });
    shift_states(model, sweep_.exchange(), found.middle(), own);
    std::copy(own.begin(), own.end(), first);
  }
}

// What is reported is proved from below: without a discount nothing says how far off values are.
void MemorylessEvaluation::follow_to_the_end(std::vector<double>& values) {
  const Problem& problem = sweep_.problem();
  const Model& model = problem.model();
  if (problem.improper() && !problem.traps()) require_ends(problem, taken_);
  auto to = values.begin();
  for (const Channel& channel : *channels_) {
    const std::vector<double> found =
        totals_of(problem, taken_, channel, sweep_.workers(), evaluations_);
    for (State s = 0; s < model.states(); ++s) *to++ = found[whole_number(model, s)];
  }
}

}  // namespace redoubt::internal
