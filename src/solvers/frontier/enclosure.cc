#include "solvers/frontier/enclosure.h"

#include <algorithm>
#include <cmath>

#include "numerics/small_lp.h"
#include "policy/mixture.h"
#include "policy/unseen_factors.h"
#include "solvers/finish.h"

namespace redoubt::internal {
namespace {

// The problem whose reward is a weighted sum of the channels, without constraints.
Problem weighted(const Problem& problem, const std::vector<Channel>& channels,
                 const std::vector<double>& weights) {
  const Model& model = problem.model();
  ModelArrays arrays = model.arrays();
  const auto sum = [&](auto&& value_of) {
    double total = 0;
    for (std::size_t j = 0; j < channels.size(); ++j)
      total += weights[j] * channels[j].sign * value_of(channels[j].signal);
    return total;
  };
  const auto some = [&](auto&& values_of) {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel& c) { return !values_of(c.signal).empty(); });
  };
  const bool arrivals = some([&](int s) { return model.arrival_values(s); });
  const bool outcomes = arrivals || some([&](int s) { return model.outcome_values(s); });
  arrays.reward.resize(model.rows());
  for (Row row = 0; row < model.rows(); ++row)
    arrays.reward[row] = sum([&](int s) { return model.value(s, row); });
  arrays.outcome_reward.resize(outcomes ? model.outcomes() : 0);
  for (std::size_t i = 0; i < arrays.outcome_reward.size(); ++i)
    arrays.outcome_reward[i] =
        sum([&](int s) { return model.outcome_value(s, static_cast<std::int64_t>(i)); });
  arrays.arrival_reward.resize(arrivals ? model.states() : 0);
  for (std::size_t s = 0; s < arrays.arrival_reward.size(); ++s)
    arrays.arrival_reward[s] =
        sum([&](int signal) { return model.arrival_value(signal, static_cast<State>(s)); });
  Terms terms = problem.terms();
  terms.constraints.clear();
  return {Model(std::move(arrays)), std::move(terms)};
}

class Enclosure {
 public:
  Enclosure(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
            double bound, Workers& workers, BestPolicy& best)
      : problem_(problem),
        extremes_(extremes),
        workers_(workers),
        best_(best),
        bound_(std::min(bound, extremes.most(0, problem.start()))),
        tolerance_{options.tolerance, extremes.most(0, problem.start()) - extremes.least[0]} {
    for (std::size_t j = 0; j < extremes.channels.size(); ++j) {
      policies_.push_back(extremes.best[j].policy);
      totals_.push_back(extremes.totals[j]);
      row_evaluations_ += extremes.best[j].row_evaluations;
    }
  }

  // False: proved that no policy keeps the constraints.
  bool run() {
    constexpr int kMost = 60;
    double price = 0;  // of the only constraint
    for (int round = 0; round < kMost; ++round) {
      const ConstrainedMix mix = best_mix();
      const bool reachable = mix.shortfall <= kReached;
      if (reachable && bound_ - value_of(mix) <= tolerance_.allowed(value_of(mix), bound_)) break;
      std::vector<double> prices = reachable ? mix.price : mix.witness;
      prices.insert(prices.begin(), reachable ? 1.0 : 0.0);
      if (reachable && constraints() == 1) price = prices[1];
      const double beyond = try_prices(prices);
      if (!reachable && beyond < -kReached) return false;
      if (!is_new(prices)) break;
    }
    if (constraints() == 1 && price > 0) lower_bound(price);
    return true;
  }

  // The best mixture is offered to the others, where it keeps the constraints.
  void offer_mixture() {
    const ConstrainedMix mix = best_mix();
    if (mix.shortfall > kReached) return;
    std::vector<Policy> some;
    std::vector<double> weights;
    for (std::size_t n = 0; n < mix.weight.size(); ++n) {
      if (mix.weight[n] <= 0) continue;
      some.push_back(policies_[n]);
      weights.push_back(mix.weight[n]);
    }
    offer(some.size() == 1 ? some.front() : mixture_of(problem_, some, weights));
  }

  void offer(Policy policy) {
    Evaluation evaluation = evaluate(problem_, policy, workers_).evaluation;
    best_.offer({std::move(policy), std::move(evaluation), {}, {}});
  }

  // Takes part in mixtures from now on.
  void add(const Policy& policy) {
    EvaluationPass pass = evaluate(problem_, policy, workers_);
    keep(policy, pass);
    best_.offer({policy, std::move(pass.evaluation), {}, {}});
  }

  void lower_bound_to(double bound) { bound_ = std::min(bound_, bound); }
  double bound() const { return bound_; }
  int tried() const { return tried_; }
  double row_evaluations() const { return row_evaluations_; }
  const GapTolerance& tolerance() const { return tolerance_; }

 private:
  static constexpr double kReached = 1e-12;  // in units of the spreads, as all prices are

  std::size_t constraints() const { return extremes_.required.size(); }
  double scaled(std::size_t n, std::size_t j) const {
    const double required = j > 0 ? extremes_.required[j - 1] : 0;
    return (totals_[n][j] - required) / extremes_.spread[j];
  }

  ConstrainedMix best_mix() const {
    std::vector<std::vector<double>> values(totals_.front().size());
    for (std::size_t n = 0; n < totals_.size(); ++n) {
      for (std::size_t j = 0; j < values.size(); ++j) values[j].push_back(scaled(n, j));
    }
    const std::vector<double> threshold(constraints(), 0.0);
    return best_constrained_mix({values[0], {values.begin() + 1, values.end()}, threshold});
  }
  double value_of(const ConstrainedMix& mix) const {
    double value = 0;
    for (std::size_t n = 0; n < mix.weight.size(); ++n) value += mix.weight[n] * totals_[n][0];
    return value;
  }

  // Adds the robust policy of the weighted sum, and what the bound gains by it. Returns what no
  // policy exceeds of that sum, less what the constraints require.
  double try_prices(const std::vector<double>& prices) {
    workers_.check_together();
    std::vector<double> weights(prices.size());
    for (std::size_t j = 0; j < prices.size(); ++j) weights[j] = prices[j] / extremes_.spread[j];
    ValueIteration found =
        value_iteration(weighted(problem_, extremes_.channels, weights), Channel{}, workers_);
    double most = found.at(problem_.start()) + found.error;
    for (std::size_t c = 0; c < constraints(); ++c) most -= weights[c + 1] * extremes_.required[c];
    if (weights[0] > 0) bound_ = std::min(bound_, most / weights[0]);
    row_evaluations_ += found.row_evaluations;
    add(found.policy);
    ++tried_;
    return most;
  }

  void keep(const Policy& policy, const EvaluationPass& pass) {
    std::vector<double>& totals = totals_.emplace_back();
    totals.push_back(pass.evaluation.reward.worst);
    for (std::size_t c = 0; c < constraints(); ++c)
      totals.push_back(extremes_.channels[c + 1].sign * pass.evaluation.constraints[c].worst);
    policies_.push_back(policy);
    row_evaluations_ += pass.row_evaluations;
  }

  // Whether the last policy is better than all others at these prices.
  bool is_new(const std::vector<double>& prices) const {
    const auto along = [&](std::size_t n) {
      double sum = 0;
      for (std::size_t j = 0; j < prices.size(); ++j) sum += prices[j] * scaled(n, j);
      return sum;
    };
    const std::size_t last = totals_.size() - 1;
    for (std::size_t n = 0; n < last; ++n) {
      if (along(n) >= along(last) - 1e-9) return false;
    }
    return true;
  }

  // The bound is a convex function of the price: golden sections of its logarithm.
  void lower_bound(double price) {
    constexpr double kGolden = 0.6180339887498949;
    double low = std::log(price) - 3, high = std::log(price) + 3;
    const auto at = [&](double log_price) { return try_prices({1.0, std::exp(log_price)}); };
    double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    double at_left = at(left), at_right = at(right);
    constexpr int kSections = 14;
    for (int n = 0; n < kSections; ++n) {
      if (at_left < at_right) {
        high = right, right = left, at_right = at_left;
        left = high - kGolden * (high - low);
        at_left = at(left);
      } else {
        low = left, left = right, at_left = at_right;
        right = low + kGolden * (high - low);
        at_right = at(right);
      }
    }
  }

  const Problem& problem_;
  const Extremes& extremes_;
  Workers& workers_;
  BestPolicy& best_;
  double bound_;
  GapTolerance tolerance_;
  std::vector<Policy> policies_;
  std::vector<std::vector<double>> totals_;  // of each policy, in nature's sign
  double row_evaluations_ = 0;
  int tried_ = 0;
};

// What a search for policies that see factors adds. Of a problem by itself, nothing is known of
// factors.
Solution add_neighbour(const Problem& problem, const FrontierOptions& options, const Execution& run,
                       Enclosure& enclosure) {
  Solution found = frontier(problem.with(problem.terms()), options, run);
  if (found.reward.bound) enclosure.lower_bound_to(*found.reward.bound);
  if (found.status == Status::certified || found.status == Status::feasible)
    enclosure.add(without_factors(problem, found.policy));
  enclosure.offer_mixture();
  return found;
}

}  // namespace

Solution enclose(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
                 double bound, Stopwatch& watch, Workers& workers, BestPolicy& best) {
  Enclosure enclosure(problem, options, extremes, bound, workers, best);
  Solution solution;
  solution.method = "frontier";
  bool open = enclosure.run();
  if (open) {
    enclosure.offer_mixture();
    const Solution found = add_neighbour(problem, options, watch.rest(), enclosure);
    // Who cannot keep the constraints while seeing factors cannot keep them without.
    open = found.status != Status::infeasible;
    solution.row_evaluations += found.row_evaluations;
    if (open) solution.reward.bound = enclosure.bound();
  }
  solution.iterations = enclosure.tried();
  solution.row_evaluations += enclosure.row_evaluations();
  solution.notes.emplace_back(
      "rows share factors that nobody sees: the bracket holds the optimum, and may not be narrowed "
      "to the tolerance");
  if (open && !best.keeps_constraints())
    return stopped(problem, std::move(solution), watch, workers, std::move(best),
                   enclosure.tolerance());
  solution.policy = best.take().policy;
  solution = finished(problem, std::move(solution), watch, workers, enclosure.tolerance());
  if (!open) solution.status = Status::infeasible;
  return solution;
}

}  // namespace redoubt::internal
