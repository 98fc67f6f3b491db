#include "evaluation/mixed_landings.h"

#include <algorithm>
#include <limits>
#include <map>

#include "parallel/collectives.h"
#include "sets/row.h"

namespace redoubt::internal {

bool draws_budgets(std::span<const BudgetAxis> axes) {
  return std::any_of(axes.begin(), axes.end(), [](const BudgetAxis& axis) {
    return axis.rounding == Rounding::mixed && !axis.exact;
  });
}

bool landings_move_apart(const Model& model, std::span<const BudgetAxis> axes,
                         Communicator& ranks) {
  return draws_budgets(axes) || any_rank(ranks, arrivals_move_budgets(model, axes));
}

std::vector<std::vector<double>> earned_by_landings(const Model& model,
                                                    std::span<const BudgetAxis> axes, int stage,
                                                    Communicator& ranks) {
  const auto sort = [](std::vector<std::vector<double>>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  std::vector<std::vector<double>> all;
  std::vector<double> earned(axes.size()), mine;
  for (Row row = model.row_begin(stage, 0); row < model.row_end(stage, model.states() - 1); ++row) {
    earned_on_axes(model, axes, row, -1, earned);
    if (all.empty() || all.back() != earned) all.push_back(earned);
  }
  sort(all);
  for (const auto& each : all) mine.insert(mine.end(), each.begin(), each.end());
  const std::vector<double> gathered = all_gather_lists(ranks, std::move(mine));
  all.clear();
  for (auto from = gathered.begin(); from != gathered.end(); from += std::ssize(axes))
    all.emplace_back(from, from + std::ssize(axes));
  sort(all);
  return all;
}

MixedLandings::MixedLandings(const Problem& problem, std::span<const BudgetAxis> axes,
                             Workers& workers, bool counts_losses)
    : problem_(&problem),
      axes_(axes),
      group_(&workers),
      counts_losses_(counts_losses),
      needed_(lands_anywhere(problem) &&
              landings_move_apart(problem.model(), axes, workers.ranks())) {}

void MixedLandings::find_alike() {
  const Model& model = problem_->model();
  std::map<std::vector<double>, std::vector<State>> alike;
  for (State s = 0; s < model.states(); ++s) {
    std::vector<double> arrival;
    for (const BudgetAxis& axis : axes_)
      arrival.push_back(axis.sign * model.arrival_value(axis.signal, s));
    alike[arrival].push_back(s);
  }
  for (auto& [arrival, states] : alike) alike_.push_back(std::move(states));
}

void MixedLandings::find(int stage, std::span<const Channel> channels, const Values& values) {
  const Model& model = problem_->model();
  if (model.stages() > 1 || earned_.empty())
    earned_ = earned_by_landings(model, axes_, stage, group_->ranks());
  if (alike_.empty()) find_alike();
  arrays_ = static_cast<int>(channels.size());
  stride_ = padded_lanes(memory_states(axes_, stage));
  const auto entries = std::ssize(earned_);
  least_.assign(entries * arrays_ * stride_, 0.0);
  std::vector<Worker> workers(group_->count());
  const double nanoseconds = 2.0 * static_cast<double>(least_.size()) * model.states();
  group_->for_each(entries, nanoseconds, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (auto entry = begin; entry < end; ++entry)
      find_one(stage, entry, channels, values, workers[worker]);
  });
  min_over_ranks(group_->ranks(), least_);
  // Of 0 and -0 the least is the first: which one that is must not depend on the order of states.
  for (double& least : least_) least += 0.0;
}

// Over the states that this rank knows.
void MixedLandings::find_one(int stage, std::size_t entry, std::span<const Channel> channels,
                             const Values& values, Worker& worker) {
  const std::int32_t count = memory_states(axes_, stage);
  double* all = least_.data() + static_cast<std::int64_t>(entry) * arrays_ * stride_;
  for (int array = 0; array < arrays_; ++array)
    std::fill_n(all + array * stride_, count, std::numeric_limits<double>::max());
  for (const std::vector<State>& states : alike_) {
    worker.earned = earned_[entry];
    for (std::size_t a = 0; a < axes_.size(); ++a)
      worker.earned[a] +=
          axes_[a].sign * problem_->model().arrival_value(axes_[a].signal, states.front());
    move_budgets(axes_, stage, worker.earned, {0, count}, worker.moves);
    worker.mixture.resize(count);
    for (int array = 0; array < arrays_; ++array) {
      const bool loses = counts_losses_ && array > 0 && worker.moves.corners == 1;
      const double* loss = loses ? worker.moves.loss.data() + (array - 1) * count : nullptr;
      for (const State s : states) {
        mix(values(array, s), count, worker);
        const double worth = arrival_worth(*problem_, channels[array], s);
        double* least = all + array * stride_;
        for (std::int32_t m = 0; m < count; ++m)
          least[m] = std::min(least[m], worker.mixture[m] + worth - (loss ? loss[m] : 0.0));
      }
    }
  }
}

// What the moves make of the values of a state.
void MixedLandings::mix(const double* there, std::int32_t count, Worker& worker) {
  std::fill(worker.mixture.begin(), worker.mixture.end(), 0.0);
  for (int corner = 0; corner < worker.moves.corners; ++corner) {
    const auto* memory = worker.moves.memory.data() + std::int64_t{corner} * count;
    const auto* weight = worker.moves.weight.data() + std::int64_t{corner} * count;
    for (std::int32_t m = 0; m < count; ++m) worker.mixture[m] += weight[m] * there[memory[m]];
  }
}

const double* MixedLandings::least(Row row, int array) const {
  std::vector<double> earned(axes_.size());
  earned_on_axes(problem_->model(), axes_, row, -1, earned);
  const auto entry = std::lower_bound(earned_.begin(), earned_.end(), earned) - earned_.begin();
  return least_.data() + (entry * arrays_ + array) * stride_;
}

}  // namespace redoubt::internal
