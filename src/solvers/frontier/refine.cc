#include "solvers/frontier/refine.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace redoubt {
namespace {

// Parts of a direction that carry less than this share of the whole are not followed.
constexpr double kNegligible = 1e-12;

// How a direction that lies between listed ones goes on.
enum class Via {
  listed,  // as the listed directions that its bound is made of: shows where the present gap comes
           // from
  itself,  // unchanged, from the point that is best for it: shows where the directions of a finer
           // grid would lead
};

class Follow {
 public:
  Follow(const Problem& problem, const std::vector<const FrontierStage*>& stages,
         const std::vector<const std::vector<char>*>& active, StateBackup& backup, Via via)
      : problem_(problem),
        stages_(stages),
        active_(active),
        signals_(stages.front()->table.directions().signals()),
        backup_(backup),
        via_(via) {
    for (const FrontierStage* stage : stages) {
      auto& lists = demand_.intervals.emplace_back();
      for (int c = 0; c + 1 < signals_; ++c)
        lists.emplace_back(stage->table.directions().prices(c).size());
      demand_.left_out_loss.emplace_back(
          problem.model().states() * static_cast<std::size_t>(stage->table.directions().size()),
          0.0);
      auto& states = demand_.state_loss.emplace_back();
      if (signals_ == 2)
        states.assign(stage->table.places() * stage->table.directions().prices(0).size(), 0.0);
    }
  }

  Demand run(const Root& root) {
    arriving_.assign(
        stages_.front()->table.places() * stages_.front()->table.directions().size() * signals_,
        0.0);
    std::vector<double> q(signals_);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      q[0] = problem_.start().probability[i];
      for (std::size_t c = 0; c < root.prices.size(); ++c) q[c + 1] = q[0] * root.prices[c];
      arrive(0, problem_.start().states[i], q.data());
    }
    for (int h = 0; h + 1 < static_cast<int>(stages_.size()); ++h) step(h);
    return std::move(demand_);
  }

 private:
  // A part of the direction, of weight q, comes to a place of a stage: what is lost there because q
  // lies between listed directions. Returns the whole gap at q.
  double arrive(int stage, std::int64_t place, const double* q) {
    const TradeOffs& table = stages_[stage]->table;
    const Directions& directions = table.directions();
    directions.split(q, parts_);
    if (parts_.count == 0) return 0;
    double outer = 0, inherited = 0, inner = -std::numeric_limits<double>::infinity();
    int best = 0;
    for (int n = 0; n < parts_.count; ++n) {
      const int k = parts_.direction[n];
      outer += parts_.weight[n] * table.bounds(place)[k];
      inherited += parts_.weight[n] * (table.bounds(place)[k] - table.along(place, k, k));
      double value = 0;
      for (int j = 0; j < signals_; ++j) value += q[j] * table.points(place, j)[k];
      if (value > inner) inner = value, best = k;
      if (via_ == Via::listed) {
        for (int j = 0; j < signals_; ++j) {
          arriving_[(place * directions.size() + k) * signals_ + j] +=
              parts_.weight[n] * directions.weight(k, j);
        }
      }
    }
    const double loss = std::max(0.0, outer - inner - inherited);
    demand_.between_prices += loss;
    if (q[0] > kNegligible) {
      if (via_ == Via::itself) {
        for (int j = 0; j < signals_; ++j)
          arriving_[(place * directions.size() + best) * signals_ + j] += q[j];
      }
      demand_.mass += q[0];
      for (int c = 0; c + 1 < signals_; ++c) note(stage, place, c, q[c + 1] / q[0], loss);
    }
    return outer - inner;
  }

  void note(int stage, std::int64_t place, int constraint, double price, double loss) {
    const std::vector<double>& prices = stages_[stage]->table.directions().prices(constraint);
    const auto at = std::upper_bound(prices.begin(), prices.end(), price) - prices.begin() - 1;
    if (prices[at] == price) return;
    Demand::Interval& interval = demand_.intervals[stage][constraint][at];
    interval.loss += loss;
    interval.weighted_price += loss * price;
    if (signals_ == 2) demand_.state_loss[stage][place * prices.size() + at] += loss;
  }

  void step(int stage) {
    const TradeOffs& next = stages_[stage + 1]->table;
    const int size = stages_[stage]->table.directions().size();
    leaving_.swap(arriving_);
    arriving_.assign(next.places() * next.directions().size() * signals_, 0.0);
    for (State s = 0; s < problem_.model().states(); ++s) {
      for (std::int32_t k = 0; k < size; ++k) {
        const double* q = leaving_.data() + (std::int64_t{s} * size + k) * signals_;
        if (q[0] > 0 && stages_[stage]->recipes[s].action[k] >= 0) step_point(stage, s, k, q);
      }
    }
  }

  // Parts that have come to the same point go on together.
  void step_point(int stage, State state, std::int32_t k, const double* q) {
    const FrontierStage& here = *stages_[stage];
    const Row row = problem_.model().row_begin(stage, state) + here.recipes[state].action[k];
    const int padded = padded_lanes(signals_);
    kernel_.resize(std::int64_t{problem_.model().most_outcomes() + 1} * padded);
    backup_.evaluate(row, *stages_[stage + 1], here.recipes[state], {&k, 1}, result_,
                     kernel_.data());
    const auto found = backup_.places_of(row);
    places_.assign(found.begin(), found.end());
    part_.resize(signals_);
    double later = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      for (int j = 0; j < signals_; ++j)
        part_[j] = problem_.discount() * q[j] * kernel_[i * padded + j];
      later += arrive(stage + 1, places_[i], part_.data());
    }
    here.table.directions().split(q, parts_);
    double gap = 0;
    for (int n = 0; n < parts_.count; ++n) {
      const int d = parts_.direction[n];
      gap += parts_.weight[n] * (here.table.bounds(state)[d] - here.table.along(state, d, d));
    }
    // What a game leaves open, or, where the direction was left out, what that costs.
    const double rest = std::max(0.0, gap - later);
    const auto at = std::int64_t{state} * here.table.directions().size() + k;
    if (via_ == Via::listed && !(*active_[stage])[at]) {
      demand_.left_out_loss[stage][at] += rest;
    } else {
      demand_.games += rest;
    }
  }

  const Problem& problem_;
  const std::vector<const FrontierStage*>& stages_;
  const std::vector<const std::vector<char>*>& active_;
  int signals_;
  StateBackup& backup_;
  Via via_;
  Demand demand_;
  Directions::Parts parts_;
  std::vector<double> arriving_,
      leaving_;  // directions at each place and point: [place][point][signal]
  std::vector<double> kernel_, result_, part_;
  std::vector<std::int64_t> places_;
};

}  // namespace

Demand find_demand(const Problem& problem, const std::vector<const FrontierStage*>& stages,
                   const std::vector<const std::vector<char>*>& active, const Root& root,
                   StateBackup& backup) {
  Demand demand = Follow(problem, stages, active, backup, Via::listed).run(root);
  const Demand finer = Follow(problem, stages, active, backup, Via::itself).run(root);
  for (std::size_t h = 0; h < demand.intervals.size(); ++h) {
    for (std::size_t c = 0; c < demand.intervals[h].size(); ++c) {
      for (std::size_t n = 0; n < demand.intervals[h][c].size(); ++n) {
        Demand::Interval& interval = demand.intervals[h][c][n];
        const Demand::Interval& other = finer.intervals[h][c][n];
        const double loss = std::max(interval.loss, other.loss);
        if (other.loss > 0) interval = other;  // the price that a finer grid would need
        if (interval.loss > 0) interval.weighted_price *= loss / interval.loss;
        interval.loss = loss;
      }
    }
    for (std::size_t n = 0; n < demand.state_loss[h].size(); ++n) {
      demand.state_loss[h][n] = std::max(demand.state_loss[h][n], finer.state_loss[h][n]);
    }
  }
  return demand;
}

// An interval cut into n parts loses 1/n^2 of what it lost. The fewest prices that bring the sum to
// the target cut an interval into parts in proportion to the cube root of its loss.
void add_prices(const Demand& demand, double target, int most,
                std::vector<std::vector<std::vector<double>>>& prices) {
  double roots = 0;
  for (const auto& stage : demand.intervals) {
    for (const auto& constraint : stage) {
      for (const auto& interval : constraint) roots += std::cbrt(interval.loss);
    }
  }
  const double parts_per_root = std::sqrt(roots / target);
  for (std::size_t h = 0; h < prices.size(); ++h) {
    for (std::size_t c = 0; c < prices[h].size(); ++c) {
      std::vector<double>& list = prices[h][c];
      const auto before = static_cast<int>(list.size());
      for (int n = 0; n < before && static_cast<int>(list.size()) < most; ++n) {
        const Demand::Interval& interval = demand.intervals[h][c][n];
        const int added = std::min(
            3, static_cast<int>(std::lround(parts_per_root * std::cbrt(interval.loss))) - 1);
        if (added < 1) continue;
        const double low = list[n], mean = interval.weighted_price / interval.loss;
        const double high = n + 1 < before ? list[n + 1] : 2 * mean - low;
        for (int m = 1; m <= added; ++m)
          list.push_back(added == 1 ? mean : low + (high - low) * m / (added + 1));
      }
      std::sort(list.begin(), list.end());
      const auto close = [](double a, double b) { return b - a <= 1e-13 * b; };
      list.erase(std::unique(list.begin(), list.end(), close), list.end());
    }
  }
}

std::vector<char> choose_active(const Demand& demand, int stage, double negligible,
                                const Directions& before, const std::vector<char>& active_before,
                                const Directions& after) {
  const auto states = static_cast<std::int64_t>(active_before.size()) / before.size();
  std::vector<char> active(states * after.size(), 1);
  if (after.constraints() != 1) return active;
  const std::vector<double>& old = before.prices(0);
  const std::vector<double>& prices = after.prices(0);
  for (std::int64_t s = 0; s < states; ++s) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < prices.size(); ++k) {
      while (at + 1 < old.size() && old[at + 1] <= prices[k]) ++at;
      const auto known = s * before.size() + static_cast<std::int64_t>(at);
      active[s * after.size() + k] =
          old[at] == prices[k]
              ? active_before[known] || demand.left_out_loss[stage][known] > negligible
              : demand.state_loss[stage][s * old.size() + at] > negligible;
    }
  }
  return active;
}

}  // namespace redoubt
