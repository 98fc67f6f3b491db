#include "solvers/frontier/games/kept_kernels.h"

#include <algorithm>
#include <cmath>

#include "bellman/steps.h"
#include "numerics/infinity.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

constexpr double kShareLeft = 0.001;  // of the change of the first sweep

}  // namespace

KeptKernels::KeptKernels(const Problem& problem, std::span<const Channel> channels,
                         const FrontierStage& stage, StateBackup& backup)
    : model_(&problem.model()), problem_(&problem), directions_(stage.table.directions()) {
  lane_begin_.push_back(0);
  row_begin_.push_back(0);
  begin_.push_back(0);
  for (State place = 0; place < model_->own_states(); ++place) {
    const State s = model_->own(place);
    const Causes& causes = stage.causes[s];
    auto rival = causes.rivals.begin();
    for (int k = 0; k < directions_.size(); ++k) {
      if (causes.action[k] < 0) continue;
      lanes_.push_back(k);
      rest_.push_back(causes.rest[k]);
      const auto add = [&](std::int32_t action, double, const double* kernels) {
        const Row row = model_->row_begin(0, s) + action;
        add_row(channels, stage, row, backup.places_of(row), k, kernels);
      };
      for_each_cause(causes, k, add);
      for (; rival != causes.rivals.end() && rival->direction == k; ++rival)
        add(rival->action, 1.0, causes.kernels.data() + rival->slot);
      row_begin_.push_back(static_cast<std::int64_t>(earned_.size()));
    }
    lane_begin_.push_back(static_cast<std::int64_t>(lanes_.size()));
  }
}

// Reward and priced utilities of a row under the kernels, and the directions that they make of this
// one, written by those that are listed.
void KeptKernels::add_row(std::span<const Channel> channels, const FrontierStage& stage, Row row,
                          std::span<const std::int64_t> places, int direction,
                          const double* kernel) {
  const Directions& directions = directions_;
  const int signals = directions.signals();
  const auto outcomes = model_->outcome_end(row) - model_->outcome_begin(row);
  double earned = 0;
  for (int j = 0; j < signals; ++j) {
    const Channel& channel = channels[j];
    double own = channel.sign * model_->value(channel.signal, row);
    for (std::int64_t i = 0; i < outcomes; ++i)
      own += kernel[i * signals + j] * channel.sign *
             model_->outcome_value(channel.signal, model_->outcome_begin(row) + i);
    earned += directions.weight(direction, j) * own;
  }
  double q[Directions::kMostSignals];
  Directions::Parts parts;
  int near = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (int j = 0; j < signals; ++j)
      q[j] = directions.weight(direction, j) * kernel[i * signals + j];
    split(stage, places[i], q, near, parts);
    for (int n = 0; n < parts.count; ++n) {
      column_.push_back(places[i] * directions.size() + parts.direction[n]);
      weight_.push_back(problem_->discount() * parts.weight[n]);
    }
  }
  earned_.push_back(earned);
  begin_.push_back(static_cast<std::int64_t>(column_.size()));
}

KeptKernels::Change KeptKernels::sweep(const std::vector<double>& next, std::vector<double>& bounds,
                                       std::span<const double> units, Exchange& exchange,
                                       Workers& workers) const {
  const std::int64_t size = directions_.size();
  std::vector<Change> changes(workers.count(), {kInfinity, -kInfinity});
  const auto run = [&](State begin, State end, int worker) {
    Change change = changes[worker];
    for (State place = begin; place < end; ++place) {
      const auto first = lane_begin_[place], last = lane_begin_[place + 1];
      if (first == last) continue;  // terminal
      const auto at = std::int64_t{model_->own(place)} * size;
      for (auto lane = first; lane < last; ++lane) {
        double most = rest_[lane];
        for (auto row = row_begin_[lane]; row < row_begin_[lane + 1]; ++row) {
          double sum = earned_[row];
          for (auto e = begin_[row]; e < begin_[row + 1]; ++e) sum += weight_[e] * next[column_[e]];
          most = std::max(most, sum);
        }
        const int k = lanes_[lane];
        bounds[at + k] = most;
        const double by = (most - next[at + k]) / units[k];
        change.low = std::min(change.low, by);
        change.high = std::max(change.high, by);
      }
      fill_bounds(directions_, {lanes_.data() + first, lanes_.data() + last}, bounds.data() + at);
    }
    changes[worker] = change;
  };
  exchange.sweep_ranges(workers, static_cast<double>(column_.size()),
                        {bounds.data(), size, 1, 0, size}, run);
  Change all{kInfinity, -kInfinity};
  for (const Change& each : changes)
    all = {std::min(all.low, each.low), std::max(all.high, each.high)};
  return {min_over_ranks(workers.ranks(), all.low), max_over_ranks(workers.ranks(), all.high)};
}

// Sweeps lower bounds that hold to bounds that hold. When all of them fall by nearly the same, what
// is left of their fall is known about: a jump there is right if one more sweep raises nothing, and
// what it raises at most, again and again with the discount, is all that it can be wrong by.
void KeptKernels::lower(std::span<const double> scales, Exchange& exchange, Workers& workers,
                        TradeOffs& table) const {
  const std::int64_t size = directions_.size(), places = table.places();
  std::vector<double> units(size, 0.0);  // what one more of every signal adds to a direction
  for (int k = 0; k < size; ++k) {
    for (int j = 0; j < directions_.signals(); ++j)
      units[k] += directions_.weight(k, j) * scales[j];
  }
  std::vector<double> bounds(places * size);
  for (std::int64_t p = 0; p < places; ++p)
    std::copy_n(table.bounds(p), size, bounds.begin() + p * size);
  std::vector<double> better = bounds;
  const double discount = contraction(*problem_, workers);
  const auto most = 1 + static_cast<std::int64_t>(std::log(kShareLeft) / std::log(discount));
  Change change{};
  double first = 0;
  for (std::int64_t sweeps = 0; sweeps < most; ++sweeps) {
    workers.check_together();
    change = sweep(bounds, better, units, exchange, workers);
    bounds.swap(better);
    if (sweeps == 0) first = change.high - change.low;
    if (change.high - change.low <= kShareLeft * first) break;
  }
  const double rest = discount / (1 - discount);
  const auto shifted = [&](const std::vector<double>& from, double by) {
    std::vector<double> result = from;
    for (State place = 0; place < model_->own_states(); ++place) {
      if (lane_begin_[place] == lane_begin_[place + 1]) continue;
      const auto at = std::int64_t{model_->own(place)} * size;
      for (int k = 0; k < size; ++k) result[at + k] += by * units[k];
    }
    exchange.update({result.data(), size, 1, 0, size});
    return result;
  };
  if (change.high < 0) {  // every bound falls by that much, or more
    const std::vector<double> jumped = shifted(bounds, rest * change.high);
    std::vector<double> checked = jumped;
    const Change found = sweep(jumped, checked, units, exchange, workers);
    checked = shifted(checked, rest * std::max(0.0, found.high));
    for (std::size_t n = 0; n < bounds.size(); ++n) bounds[n] = std::min(bounds[n], checked[n]);
  }
  for (std::int64_t p = 0; p < places; ++p) {
    for (int k = 0; k < size; ++k)
      table.bounds(p)[k] = std::min(table.bounds(p)[k], bounds[p * size + k]);
  }
}

}  // namespace redoubt::internal
