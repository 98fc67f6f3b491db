#include "solvers/frontier/static_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "numerics/small_lp.h"
#include "solvers/value_iteration.h"
#include "sweep/exchange.h"

namespace redoubt {
namespace {

// Every bound on the way holds, so that a limit costs nothing but tightness.
constexpr int kMostPrices = 200;
// Of the tolerance: what the prices may leave open, and what an infinite horizon is cut off at.
constexpr double kForPrices = 0.1, kForCut = 0.01;
constexpr double kNearlyDone = 0.99;  // what is left of a solve

using Point = std::vector<double>;  // the reward, and the utility of each constraint

double along(const Point& direction, const double* values) {
  return std::inner_product(direction.begin(), direction.end(), values, 0.0);
}

// The totals of the policy that is best in a direction, against the nominal kernel.
class BestResponse {
 public:
  BestResponse(const Problem& nominal, std::span<const Channel> channels, double tolerance,
               const Execution& execution)
      : problem_(nominal),
        channels_(channels),
        tolerance_(tolerance),
        watch_(execution),
        workers_(execution, &watch_),
        exchange_(nominal.model(), workers_.ranks()),
        stride_(padded_lanes(static_cast<int>(channels.size()))),
        here_(static_cast<std::size_t>(nominal.model().states()) * stride_) {
    for (int w = 0; w < workers_.count(); ++w) rows_.emplace_back(problem_);
  }

  // Returns by how much more another policy may have in this direction: nothing, but for the end of
  // an infinite horizon. Throws Stopped.
  double find(const Point& direction, Point& totals) {
    const double open = problem_.infinite() ? sweep_until_settled(direction) : sweep(direction);
    totals.assign(channels_.size(), 0.0);
    const Start& start = problem_.start();
    for (std::size_t i = 0; i < start.states.size(); ++i) {
      for (std::size_t j = 0; j < totals.size(); ++j)
        totals[j] += start.probability[i] * values(here_, start.states[i])[j];
    }
    return open;
  }

 private:
  const double* values(const std::vector<double>& layer, State state) const {
    return layer.data() + std::int64_t{state} * stride_;
  }

  double sweep(const Point& direction) {
    std::fill(here_.begin(), here_.end(), 0.0);
    for (int stage = problem_.horizon(); stage-- > 0;) step(stage, direction);
    return 0;
  }

  // The policies of neighbouring prices are worth nearly the same, so this goes on from the last.
  double sweep_until_settled(const Point& direction) {
    const double rest = problem_.discount() / (1 - problem_.discount());
    for (;;) {
      step(0, direction);
      double change = 0, scale = 1e-300;
      for (State s = 0; s < problem_.model().states(); ++s) {
        const double value = along(direction, values(here_, s));
        change = std::max(change, std::abs(value - along(direction, values(next_, s))));
        scale = std::max(scale, std::abs(value));
      }
      const double open = rest * agree_on_max(workers_.ranks(), change);
      if (open <= kForCut * tolerance_ * agree_on_max(workers_.ranks(), scale)) return open;
    }
  }

  void step(int stage, const Point& direction) {
    if (watch_.stop(kNearlyDone)) throw Stopped("stopped before there was an answer");
    const Model& model = problem_.model();
    next_.swap(here_);
    here_.assign(next_.size(), 0.0);
    const double work = 40.0 * static_cast<double>(model.outcomes()) / model.stages();
    exchange_.sweep(workers_, {work}, {here_.data(), stride_, 1, 0, stride_},
                    [&](State state, std::int64_t, int worker) {
                      choose(stage, state, direction, rows_[worker]);
                    });
  }

  void choose(int stage, State state, const Point& direction, RowEvaluator& rows) {
    const Model& model = problem_.model();
    const int signals = static_cast<int>(channels_.size());
    double* best = here_.data() + std::int64_t{state} * stride_;
    double most = -std::numeric_limits<double>::infinity();
    thread_local std::vector<const double*> next;
    thread_local std::vector<double> result;
    result.resize(stride_);
    for (Row row = model.row_begin(stage, state); row < model.row_end(stage, state); ++row) {
      next.clear();
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        next.push_back(values(next_, model.arrays().next[i]));
      rows.worst(row, channels_, signals, next.data(), nullptr, result.data());
      const double value = along(direction, result.data());
      if (value <= most) continue;
      most = value;
      std::copy_n(result.begin(), signals, best);
    }
  }

  const Problem& problem_;
  std::span<const Channel> channels_;
  double tolerance_;
  Stopwatch watch_;
  Workers workers_;
  Exchange exchange_;
  std::int64_t stride_;
  std::vector<double> here_, next_;  // [state][signal]
  std::vector<RowEvaluator> rows_;
};

ConstrainedMix best_mix_of(const std::vector<Point>& points, const std::vector<double>& required) {
  std::vector<std::vector<double>> by_signal(1 + required.size());
  for (const Point& point : points) {
    for (std::size_t j = 0; j < point.size(); ++j) by_signal[j].push_back(point[j]);
  }
  return best_constrained_mix({by_signal[0], {by_signal.begin() + 1, by_signal.end()}, required});
}

// Prices the constraints as the best mix of the policies found so far does, finds the best policy
// at these prices, and ends when it is no better than that mix. Where no mix meets the
// requirements, it looks for the policies that come nearest.
class PriceSearch {
 public:
  PriceSearch(const Problem& problem, std::span<const Channel> channels, double tolerance)
      : channels_(channels), tolerance_(tolerance) {
    for (std::size_t c = 0; c < problem.constraints().size(); ++c)
      required_.push_back(channels[c + 1].sign * problem.constraints()[c].bound);
    within_reach_ = required_;
  }

  void run(BestResponse& response, std::optional<double>& bound) {
    Point direction(channels_.size(), 0.0), totals;
    direction[0] = 1;
    for (int n = 0; n < kMostPrices; ++n) {
      const double open = response.find(direction, totals), most = along(direction, totals.data());
      double known = -std::numeric_limits<double>::infinity(), scale = std::abs(most);
      for (const Point& point : points_) known = std::max(known, along(direction, point.data()));
      for (std::size_t c = 0; c < required_.size(); ++c)
        scale = std::max(scale, std::abs(direction[c + 1] * required_[c]));
      const bool for_reward = direction[0] > 0;
      if (for_reward) bound = std::min(bound.value_or(kInfinity), bound_at(direction, most + open));
      const bool better = most - known > (for_reward ? kForPrices * tolerance_ : 1e-9) * scale;
      if (better) points_.push_back(totals);
      if (!better && for_reward) return;
      direction = next_direction(!better);
    }
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  // What no policy exceeds that meets the requirements.
  double bound_at(const Point& direction, double most) const {
    for (std::size_t c = 0; c < required_.size(); ++c) most -= direction[c + 1] * required_[c];
    return most;
  }

  // What no policy reaches is not asked for.
  Point next_direction(bool nothing_nearer) {
    ConstrainedMix mix = best_mix_of(points_, within_reach_);
    double scale = 1;
    for (const double required : required_) scale = std::max(scale, std::abs(required));
    if (mix.shortfall > 1e-12 * scale && nothing_nearer) {
      for (double& required : within_reach_) required -= mix.shortfall;
      mix = best_mix_of(points_, within_reach_);
    }
    const bool reached = mix.shortfall <= 1e-12 * scale;
    Point direction = {reached ? 1.0 : 0.0};
    const std::vector<double>& prices = reached ? mix.price : mix.witness;
    direction.insert(direction.end(), prices.begin(), prices.end());
    return direction;
  }

  std::span<const Channel> channels_;
  double tolerance_;
  std::vector<double> required_, within_reach_;
  std::vector<Point> points_;
};

}  // namespace

StaticBound find_static_bound(const Problem& problem, double tolerance,
                              const Execution& execution) {
  Terms terms = problem.terms();
  terms.uncertainty = Nominal{};
  const Problem nominal = problem.with(std::move(terms));
  std::vector<Channel> channels = {{}};
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c)
    channels.push_back(channel_of(problem, c));
  BestResponse response(nominal, channels, tolerance, execution);
  StaticBound found;
  try {
    PriceSearch(problem, channels, tolerance).run(response, found.reward);
  } catch (const Stopped&) {
    found.stopped = true;
  }
  return found;
}

}  // namespace redoubt
