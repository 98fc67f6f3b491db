#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/until_end.h"
#include "evaluation/without_traps.h"
#include "model/ends.h"
#include "policy/stage_builder.h"
#include "redoubt/advanced/merged_states.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {
namespace {

constexpr int kMostKernels = 1000, kMostImprovements = 1000, kSweepsBefore = 100;
constexpr double kClearly = 1e-12;  // of the largest value: by more than rounding

class ByKernels {
 public:
  ByKernels(const Problem& problem, Channel channel, Workers& workers)
      : problem_(problem),
        model_(problem.model()),
        channel_(channel),
        workers_(workers),
        rows_(all_rows(model_)),
        sweeps_(problem, channel, rows_, UntilEnd::Choice::best, workers),
        landing_(rows_.rows.size(), 0) {
    for (const Row row : rows_.rows) {
      const double* first = model_.arrays().probability.data();
      kernel_.emplace_back(first + model_.outcome_begin(row), first + model_.outcome_end(row));
      if (sweeps_.lands()) kernel_.back().push_back(0);
    }
  }

  ValueIteration run() {
    ValueIteration result;
    do {
      workers_.check();
      play_against_kernel(result);
    } while (++result.sweeps < kMostKernels && worsen_kernel(result.values));
    result.scale = scale_of(result.values);
    find_policy(result);
    bound_from_above(result);
    result.row_evaluations += evaluations_ + sweeps_.evaluations();
    return result;
  }

 private:
  static double scale_of(const std::vector<double>& values) {
    double scale = std::numeric_limits<double>::min();
    for (const double value : values) scale = std::max(scale, std::abs(value));
    return scale;
  }
  double pays(Row row, std::int64_t outcome) const {
    return channel_.sign *
           (model_.value(channel_.signal, row) + model_.outcome_value(channel_.signal, outcome));
  }
  double pays_landing(Row row, State to) const {
    return channel_.sign *
           (model_.value(channel_.signal, row) + model_.arrival_value(channel_.signal, to));
  }

  // Calls visit(next, probability, paid) for all that the kernel makes of a listed row.
  template <class Visit>
  void for_each_outcome(std::int64_t listed, const Visit& visit) const {
    const Row row = rows_.rows[listed];
    const std::vector<double>& mass = kernel_[listed];
    const auto first = model_.outcome_begin(row), last = model_.outcome_end(row);
    for (auto i = first; i < last; ++i)
      if (mass[i - first] > 0) visit(model_.arrays().next[i], mass[i - first], pays(row, i));
    if (sweeps_.lands() && mass.back() > 0)
      visit(landing_[listed], mass.back(), pays_landing(row, landing_[listed]));
  }

  // The model of the kernel, from every state. Without nature its end components are one state
  // each.
  Problem against_kernel() const {
    ModelArrays arrays;
    arrays.states = model_.states();
    arrays.state_rows = model_.arrays().state_rows;
    arrays.action = model_.arrays().action;
    arrays.row_outcomes = {0};
    for (std::size_t r = 0; r < kernel_.size(); ++r) {
      double reward = 0;
      for_each_outcome(static_cast<std::int64_t>(r),
                       [&](State next, double probability, double paid) {
                         arrays.next.push_back(next);
                         arrays.probability.push_back(probability);
                         reward += probability * paid;
                       });
      arrays.reward.push_back(reward);
      arrays.row_outcomes.push_back(static_cast<std::int64_t>(arrays.next.size()));
    }
    Terms terms;
    terms.horizon = std::nullopt;
    terms.discount = 1;
    terms.start = Start::uniform(model_.states());
    terms.uncertainty = Nominal{};
    return {Model(std::move(arrays)), std::move(terms)};
  }

  void play_against_kernel(ValueIteration& result) const {
    const Problem alone = against_kernel();
    const ValueIteration found = value_iteration(alone, Channel{}, workers_);
    const MergedStates* merged = alone.merged();
    result.values.resize(model_.states());
    for (State s = 0; s < model_.states(); ++s)
      result.values[s] = found.values[merged != nullptr ? merged->state[s] : s];
    result.error = found.error;
    result.row_evaluations += found.row_evaluations;
  }

  // Where nothing is ever added, nobody has more than nothing.
  void bound_from_above(ValueIteration& result) const {
    const Support support(model_, problem_.uncertainty());
    const bool only_takes = only_adds(model_, support, {"", channel_.signal, -channel_.sign});
    for (double& value : result.values) {
      value += result.error;
      if (only_takes) value = std::min(value, 0.0);
    }
    result.error = 0;
  }

  // Only where that is clearly worse: such a kernel lets no policy stay where the last one did not.
  bool worsen_kernel(const std::vector<double>& values) {
    const std::vector<double>& worst = sweeps_.answers(values);
    const double clearly = kClearly * scale_of(values);
    bool worse = false;
    for (std::size_t r = 0; r < kernel_.size(); ++r) {
      double worth = 0;
      for_each_outcome(static_cast<std::int64_t>(r),
                       [&](State next, double probability, double paid) {
                         worth += probability * (paid + values[next]);
                       });
      if (!(worst[r] < worth - clearly)) continue;
      const std::span<const double> answer = sweeps_.answer(static_cast<std::int64_t>(r));
      kernel_[r].assign(answer.begin(), answer.end());
      landing_[r] = sweeps_.landing();
      worse = true;
    }
    return worse;
  }

  // ---- policies ----

  struct Evaluated {
    std::vector<std::int32_t> actions;
    std::vector<double> values;
    double at_start = 0;
  };
  Evaluated evaluated(std::vector<std::int32_t> actions) {
    Evaluated policy{std::move(actions), {}, 0};
    TakenRows taken;
    take_rows(model_, policy.actions, taken);
    policy.values = totals_of(problem_, taken, channel_, workers_, evaluations_);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i)
      policy.at_start +=
          problem_.start().probability[i] * policy.values[problem_.start().states[i]];
    return policy;
  }

  // Takes rows that are worth clearly more than `least`, the best of them; whether there were any.
  bool take_better(const std::vector<double>& values, const std::vector<double>& least,
                   std::vector<std::int32_t>& actions) {
    const std::vector<double>& worth = sweeps_.worths(values);
    const double clearly = kClearly * scale_of(values);
    bool better = false;
    for (State s = 0; s < model_.states(); ++s) {
      double best = least[s] + clearly;
      for (auto i = rows_.begin[s]; i < rows_.begin[s + 1]; ++i) {
        if (worth[i] <= best) continue;
        best = worth[i];
        actions[s] = static_cast<std::int32_t>(rows_.rows[i] - model_.row_begin(0, s));
        better = true;
      }
    }
    return better;
  }
  // What is best now: greedy.
  std::vector<std::int32_t> greedy(const std::vector<double>& values) {
    std::vector<std::int32_t> actions = first_actions(model_);
    const std::vector<double> none(values.size(), -std::numeric_limits<double>::infinity());
    take_better(values, none, actions);
    return actions;
  }
  // What is best before a horizon, of equally good rows the one that was so first: it goes where
  // something is earned.
  std::vector<std::int32_t> before_horizon() {
    std::vector<std::int32_t> actions = first_actions(model_);
    std::vector<double> values(model_.states(), 0.0);
    for (int sweep = 0; sweep < kSweepsBefore; ++sweep) {
      const std::vector<double> worth = sweeps_.worths(values);
      const auto taken = [&](State s) {
        return actions[s] < 0 ? 0.0 : worth[rows_.begin[s] + actions[s]];
      };
      std::vector<double> next(values.size());
      for (State s = 0; s < model_.states(); ++s) next[s] = taken(s);
      take_better(values, next, actions);
      for (State s = 0; s < model_.states(); ++s) next[s] = taken(s);
      values.swap(next);
    }
    return actions;
  }

  void find_policy(ValueIteration& result) {
    Evaluated best = evaluated(greedy(result.values));
    if (Evaluated other = evaluated(before_horizon()); other.at_start > best.at_start)
      best = std::move(other);
    for (int n = 0; n < kMostImprovements; ++n) {
      workers_.check();
      std::vector<std::int32_t> actions = best.actions;
      if (!take_better(best.values, best.values, actions)) break;
      Evaluated next = evaluated(std::move(actions));
      if (next.at_start < best.at_start) break;
      best = std::move(next);
    }
    result.policy = pure_policy(best.actions);
  }

  const Problem& problem_;
  const Model& model_;
  Channel channel_;
  Workers& workers_;
  TakenRows rows_;
  UntilEnd sweeps_;                          // over all rows
  std::vector<std::vector<double>> kernel_;  // of each row; behind it, if any, what lands
  std::vector<State> landing_;               // and where
  double evaluations_ = 0;
};

}  // namespace

ValueIteration most_by_kernels(const Problem& problem, Channel channel, Workers& workers) {
  return ByKernels(problem, channel, workers).run();
}

ValueIteration least_with_traps(const Problem& problem, Channel channel, Workers& workers) {
  const TakenProblem made = without_traps(problem, all_rows(problem.model()), WhoPicks::nature);
  ValueIteration found = shortest_path(made.problem, channel, workers, true);
  found.values.resize(problem.model().states());
  found.policy = {};
  return found;
}

}  // namespace redoubt::internal
