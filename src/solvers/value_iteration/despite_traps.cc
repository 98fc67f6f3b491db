#include <algorithm>
#include <limits>

#include "evaluation/stationary.h"
#include "evaluation/until_end.h"
#include "model/support.h"
#include "policy/stage_builder.h"
#include "solvers/value_iteration/value_iteration.h"

namespace redoubt::internal {
namespace {

constexpr int kFirstSweeps = 100, kMostPolicies = 1000, kMostRaises = 10000;
constexpr double kBetter = 1e-12;  // of the largest value: by more than rounding

class DespiteTraps {
 public:
  DespiteTraps(const Problem& problem, Channel channel, Workers& workers)
      : problem_(problem),
        model_(problem.model()),
        channel_(channel),
        workers_(workers),
        support_(model_, problem.uncertainty()),
        rows_(all_rows(model_)),
        all_(problem, channel, rows_, UntilEnd::Choice::best, workers),
        values_(model_.states(), 0.0),
        actions_(first_actions(model_)) {}

  ValueIteration run() {
    sweep_from_nothing();
    int policies = 0;
    do {
      workers_.check();
      follow();
    } while (++policies < kMostPolicies && improve());
    ValueIteration result;
    result.sweeps = policies;
    result.scale = scale();
    result.error = most_above();
    result.row_evaluations = evaluations_ + all_.evaluations();
    result.values = values_;
    result.policy = pure_policy(actions_);
    return result;
  }

 private:
  double scale() const { return *std::max_element(values_.begin(), values_.end()); }

  // What is reached within some decisions is a first policy, which comes to what it is worth.
  void sweep_from_nothing() {
    for (int sweep = 0; sweep < kFirstSweeps && improve(); ++sweep)
      for (State s = 0; s < model_.states(); ++s) values_[s] = std::max(values_[s], best_[s]);
  }

  // Rows change only where another one is clearly better than what the policy has. Such a policy is
  // not trapped where the last one was not: within a trap the values of the last one would be the
  // same everywhere, and rise nowhere.
  bool improve() {
    const std::vector<double>& worth = all_.worths(values_);
    const double clearly = kBetter * std::max(scale(), std::numeric_limits<double>::min());
    best_ = values_;
    bool better = false;
    for (State s = 0; s < model_.states(); ++s) {
      for (auto i = rows_.begin[s]; i < rows_.begin[s + 1]; ++i) {
        if (worth[i] <= best_[s] + clearly) continue;
        best_[s] = worth[i];
        actions_[s] = static_cast<std::int32_t>(rows_.rows[i] - model_.row_begin(0, s));
        better = true;
      }
    }
    return better;
  }

  void follow() {
    TakenRows taken;
    take_rows(model_, actions_, taken);
    taken_ = without_rows(taken, trapped_states(problem_, channel_, taken));
    std::fill(values_.begin(), values_.end(), 0.0);
    UntilEnd totals(problem_, channel_, taken_, UntilEnd::Choice::mixed, workers_);
    std::vector<std::int32_t> first(values_.size(), 0);
    totals.find(values_, first);
    least_step_ = totals.least_step();
    evaluations_ += totals.evaluations();
  }

  // How many decisions the policy takes, whatever nature does, until it ends or is trapped.
  std::vector<double> decisions() {
    UntilEnd longest(problem_, {-1, 0.0}, taken_, UntilEnd::Choice::mixed, workers_, -1.0);
    std::vector<double> found(values_.size(), 0.0);
    std::vector<std::int32_t> first(values_.size(), 0);
    longest.find(found, first);
    evaluations_ += longest.evaluations();
    for (double& count : found) count = 1 - count;
    return found;
  }

  // Values at least zero that no row raises bound every policy from above, whatever traps there
  // are. They are raised until no row does: each is clearly worth less or, without any rounding,
  // nature can keep it for nothing among states of no larger value.
  double most_above() {
    const std::vector<double> nothing(values_.size(), 0.0);
    if (std::vector<double> above = nothing; scale() == 0 && raise(0, above) && above == nothing)
      return 0;
    const std::vector<double> more = decisions();
    const double most = *std::max_element(more.begin(), more.end());
    const double size = std::max(scale(), std::numeric_limits<double>::min());
    for (double each = least_step_ + 4e-15 * size; each * most <= 1e-2 * size; each *= 8) {
      std::vector<double> above = values_;
      for (State s = 0; s < model_.states(); ++s)
        if (actions_[s] >= 0) above[s] += each * more[s];
      if (!raise(each, above)) continue;
      double error = 0;
      for (State s = 0; s < model_.states(); ++s) error = std::max(error, above[s] - values_[s]);
      return error;
    }
    return std::numeric_limits<double>::infinity();
  }

  bool raise(double each, std::vector<double>& above) {
    for (int n = 0; n < kMostRaises; ++n) {
      workers_.check();
      const std::vector<double>& worth = all_.worths(above);
      bool raised = false;
      for (State s = 0; s < model_.states(); ++s) {
        double needed = above[s];
        for (auto i = rows_.begin[s]; i < rows_.begin[s + 1]; ++i)
          if (worth[i] > above[s] - each / 4)
            needed = std::max(needed, std::min(worth[i] + each, level(rows_.rows[i], above)));
        raised |= needed > above[s];
        above[s] = needed;
      }
      if (!raised) return true;
    }
    return false;
  }

  // The least value such that nature can keep a row, for nothing, among states of no larger one.
  double level(Row row, const std::vector<double>& above) const {
    std::vector<double> levels;
    const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
    const std::vector<double>& extra = model_.outcome_values(channel_.signal);
    if (model_.value(channel_.signal, row) != 0) return std::numeric_limits<double>::infinity();
    const auto pays = [&](std::int64_t i) { return !extra.empty() && extra[i] != 0; };
    for (auto i = begin; i < end; ++i)
      if (!pays(i)) levels.push_back(above[model_.arrays().next[i]]);
    std::sort(levels.begin(), levels.end());
    const auto inside = [&](State to, double most) {
      for (auto i = begin; i < end; ++i)
        if (model_.arrays().next[i] == to && pays(i)) return false;
      return above[to] <= most;
    };
    for (const double most : levels)
      if (support_.may_stay(row, [&](State to) { return inside(to, most); })) return most;
    return std::numeric_limits<double>::infinity();
  }

  const Problem& problem_;
  const Model& model_;
  Channel channel_;
  Workers& workers_;
  Support support_;
  TakenRows rows_;
  UntilEnd all_;  // sweeps over all rows
  std::vector<double> values_, best_;
  std::vector<std::int32_t> actions_;
  TakenRows taken_;  // by the policy, where it is not trapped
  double least_step_ = 0, evaluations_ = 0;
};

}  // namespace

ValueIteration most_despite_traps(const Problem& problem, Channel channel, Workers& workers) {
  return DespiteTraps(problem, channel, workers).run();
}

}  // namespace redoubt::internal
