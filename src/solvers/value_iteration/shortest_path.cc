#include "solvers/value_iteration/shortest_path.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bellman/steps.h"
#include "evaluation/stationary.h"
#include "model/end_components.h"
#include "model/select_rows.h"
#include "policy/pure_stage.h"
#include "solvers/value_iteration/best_rows.h"

namespace redoubt::internal {
namespace {

constexpr double kNoise = 1e-12;  // of the largest value: what worst cases are exact to
constexpr int kMostPolicies = 10000;

class ShortestPath {
 public:
  ShortestPath(const Problem& problem, Channel channel, Workers& workers)
      : problem_(problem),
        model_(problem.model()),
        channel_(channel),
        workers_(workers),
        exchange_(model_, workers.ranks()),
        best_(problem, channel, workers, exchange_, false),
        sweep_(problem, workers, exchange_) {}

  ValueIteration run() {
    begin_with_any_end();
    values_.assign(model_.states(), 0.0);
    do {
      follow();
    } while (improve() && ++result_.sweeps < kMostPolicies);
    result_.policy.states = model_.states();
    result_.policy.repeats_last = true;
    result_.policy.stages = {pure_stage(actions_)};
    result_.scale = scale_;
    result_.error = bound_error();
    result_.values = std::move(values_);
    result_.row_evaluations = best_.evaluations() + sweep_.evaluations();
    return std::move(result_);
  }

 private:
  bool terminal(State s) const { return model_.row_begin(0, s) == model_.row_end(0, s); }

  void begin_with_any_end() {
    const Support support(model_, problem_.uncertainty());
    std::vector<char> ends(model_.states(), 0);
    for (State s = 0; s < model_.states(); ++s) ends[s] = terminal(s);
    const SureReach sure = sure_reach(model_, support, ends);
    for (State s = 0; s < model_.states(); ++s)
      actions_.push_back(
          static_cast<std::int32_t>(terminal(s) ? -1 : sure.row[s] - model_.row_begin(0, s)));
  }

  // The values become those of the policy.
  void follow() {
    find_taken_rows(model_, 0, pure_stage(actions_), taken_);
    StationaryValues stationary(sweep_, contraction_of(sweep_, taken_));
    const Bracket found = stationary.improve(taken_, channel_, values_,
                                             [](double scale) { return 0.1 * kNoise * scale; });
    shift_states(model_, exchange_, found.middle(), values_);
    width_ = found.width();
  }

  // Another action where it is better beyond rounding.
  bool improve() {
    workers_.check_together();
    std::vector<std::int32_t> best;
    const Residual residual = best_.step(0, values_, better_, best);
    scale_ = std::max({std::abs(residual.least), std::abs(residual.most), most_paid()});
    const double noise = kNoise * scale_ + width_;
    bool changed = false;
    for (State s = 0; s < model_.states(); ++s) {
      if (terminal(s) || better_[s] <= values_[s] + noise || best[s] == actions_[s]) continue;
      actions_[s] = best[s];
      changed = true;
    }
    return changed;
  }

  // By how much the values must be raised, at most, for a bound that no sweep raises: each state by
  // the same for every decision that rows which are nearly as good as the best may still take.
  // Worse rows lose more than that. Infinite where no such bound was found.
  double bound_error() {
    for (double share = 1e-4; share > 1e-11; share /= 10) {
      const std::vector<char> near = rows_within(share * scale_);
      const Support support(model_, problem_.uncertainty());
      if (!end_components(model_, support, Keep::by_some_kernel, near).states.empty()) continue;
      const std::vector<double> steps = most_steps(only(near), workers_);
      const double most = *std::max_element(steps.begin(), steps.end());
      std::vector<std::int32_t> unused;
      for (double each = 1e-3 * kNoise * scale_ + width_; each * most < share * scale_; each *= 4) {
        std::vector<double> above = values_;
        for (State s = 0; s < model_.states(); ++s)
          if (!terminal(s)) above[s] += each * steps[s];
        const Residual residual = best_.step(0, above, better_, unused);
        if (residual.high <= 4e-16 * scale_) return each * most;
      }
    }
    return std::numeric_limits<double>::infinity();
  }

  double most_paid() const {
    double most = 0;
    for (Row row = 0; row < model_.rows(); ++row) {
      for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i)
        most = std::max(most, std::abs(model_.value(channel_.signal, row) +
                                       model_.outcome_value(channel_.signal, i)));
    }
    return most;
  }

  std::vector<char> rows_within(double loss) {
    RowBatch batch(problem_);
    std::vector<Row> rows(model_.rows());
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<double> worth(rows.size());
    const double floor =
        batch.needs_floor() ? worst_landing(problem_, channel_, workers_.ranks(), values_) : 0;
    batch.worst(rows, channel_, values_.data(), floor, worth.data());
    std::vector<char> near(rows.size(), 0);
    for (State s = 0; s < model_.states(); ++s) {
      for (Row row = model_.row_begin(0, s); row < model_.row_end(0, s); ++row)
        near[row] = worth[row] >= values_[s] - loss;
    }
    return near;
  }

  Problem only(const std::vector<char>& rows) const {
    ModelArrays arrays = model_.arrays();
    Ranges ranges;
    std::vector<Row> count = {0};
    for (State s = 0; s < model_.states(); ++s) {
      for (Row row = model_.row_begin(0, s); row < model_.row_end(0, s); ++row)
        if (rows[row]) ranges.emplace_back(row, row + 1);
      count.push_back(static_cast<Row>(ranges.size()));
    }
    Terms terms = problem_.terms();
    select_radii(terms, ranges);
    ModelArrays picked = select_rows(arrays, ranges, model_.states());
    picked.state_rows = std::move(count);
    return {Model(std::move(picked)), std::move(terms)};
  }

  const Problem& problem_;
  const Model& model_;
  Channel channel_;
  Workers& workers_;
  Exchange exchange_;
  BestRows best_;
  TakenSweep sweep_;
  TakenRows taken_;
  std::vector<std::int32_t> actions_;
  std::vector<double> values_, better_;
  double width_ = 0, scale_ = 0;
  ValueIteration result_;
};

}  // namespace

ValueIteration shortest_path(const Problem& problem, Channel channel, Workers& workers) {
  return ShortestPath(problem, channel, workers).run();
}

}  // namespace redoubt::internal
