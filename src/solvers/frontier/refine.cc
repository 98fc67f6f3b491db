#include "solvers/frontier/refine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/frontier/demand_sums.h"

namespace redoubt {
namespace {

// Parts of a direction that carry less than this share of the whole are not followed.
constexpr double kNegligible = 1e-12;

// Prices added to one interval at once. With several constraints all combinations of their prices
// are directions, so they are added one by one.
constexpr int kMostAdded = 6;

// How a direction that lies between listed ones goes on.
enum class Via {
  listed,  // as the listed directions that its bound is made of: shows where the present gap comes
           // from
  itself,  // unchanged, by the action and kernels of a listed neighbour: shows where the directions
           // of a finer grid would lead
};

// Where the last direction stood that came to a place from the same row: the next one is close.
struct Hint {
  int direction = 0, corner = 0;
};

class Follow {
 public:
  Follow(const Problem& problem, const Landings& landings,
         const std::vector<const FrontierStage*>& stages, StateBackup& backup, Via via,
         const Root& root, std::span<const double> scales)
      : problem_(problem),
        landings_(landings),
        stages_(stages),
        states_(problem.model().states()),
        signals_(stages.front()->table.directions().signals()),
        backup_(backup),
        via_(via),
        sums_(stages, weights_of(root), scales) {
    for (const FrontierStage* stage : stages) {
      const Directions& directions = stage->table.directions();
      demand_.left_out_loss.emplace_back(std::int64_t{states_} * directions.size(), 0.0);
      auto& states = demand_.state_loss.emplace_back();
      if (signals_ == 2) states.assign(states_ * directions.prices(0).size(), 0.0);
    }
  }

  Demand run(const Root& root, Exchange& exchange) {
    expect(0);
    const Model& model = problem_.model();
    std::vector<double> q(signals_);
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const State s = problem_.start().states[i];
      if (s < model.own_begin() || s >= model.own_end()) continue;
      q[0] = problem_.start().probability[i];
      for (std::size_t c = 0; c < root.prices.size(); ++c) q[c + 1] = q[0] * root.prices[c];
      Hint hint;
      arrive(0, s, q.data(), hint);
    }
    for (int h = 0; h + 1 < static_cast<int>(stages_.size()); ++h) step(h, exchange);
    for (std::vector<double>& losses : demand_.state_loss) bring_to_owners(model, exchange, losses);
    sums_.finish(exchange.ranks(), demand_);
    return std::move(demand_);
  }

 private:
  void expect(int stage) {
    const TradeOffs& table = stages_[stage]->table;
    arriving_.assign(states_ * table.directions().size() * static_cast<std::size_t>(signals_), 0.0);
  }

  double gap(int stage, std::int64_t place, int k) const {
    const TradeOffs& table = stages_[stage]->table;
    return table.bounds(place)[k] - table.along(place, k, k);
  }

  // The listed directions that q is made of.
  void split(int stage, const double* q, Hint& hint, Directions::Parts& parts) const {
    const Directions& directions = stages_[stage]->table.directions();
    if (signals_ != 2) return directions.split(q, parts);
    parts.count = 0;
    const Directions::Pair pair = directions.split(q[0], q[1], hint.direction);
    if (pair.low_weight > 0) parts.add(pair.low, pair.low_weight);
    if (pair.high_weight > 0) parts.add(pair.high, pair.high_weight);
  }

  // The most that the points of a place are worth in a direction.
  double best_inside(int stage, std::int64_t place, const double* q, Hint& hint) const {
    if (signals_ == 2) {  // the corner of the curve where its price passes that of the direction
      const Curve& curve = stages_[stage]->curves[place];
      const int last = curve.corners() - 1;
      int corner = std::min(hint.corner, last);
      while (corner < last && curve.price[corner] * q[0] < q[1]) ++corner;
      while (corner > 0 && curve.price[corner - 1] * q[0] >= q[1]) --corner;
      hint.corner = corner;
      return q[0] * curve.reward[corner] + q[1] * curve.utility[corner];
    }
    const TradeOffs& table = stages_[stage]->table;
    double most = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < table.directions().size(); ++k) {
      double value = 0;
      for (int j = 0; j < signals_; ++j) value += q[j] * table.points(place, j)[k];
      most = std::max(most, value);
    }
    return most;
  }

  // A part of the direction, of weight q, comes to a place of a stage: notes what is lost there
  // because q lies between listed directions. Returns the gap of the place in its direction.
  double arrive(int stage, std::int64_t place, const double* q, Hint& hint) {
    const TradeOffs& table = stages_[stage]->table;
    Directions::Parts parts;
    split(stage, q, hint, parts);
    if (parts.count == 0) return 0;
    double outer = 0, inherited = 0;
    for (int n = 0; n < parts.count; ++n) {
      outer += parts.weight[n] * table.bounds(place)[parts.direction[n]];
      inherited += parts.weight[n] * gap(stage, place, parts.direction[n]);
    }
    const double inside = best_inside(stage, place, q, hint);
    const double loss = std::max(0.0, outer - inside - inherited);
    sums_.add_loss(loss);
    if (q[0] > kNegligible) {
      sums_.add_mass(stage, q[0]);
      for (int c = 0; c + 1 < signals_; ++c) note(stage, place, c, q[c + 1] / q[0], loss);
    }
    if (place >= states_) {
      for (int n = 0; n < parts.count; ++n)
        land(stage, static_cast<int>(place - states_), parts.direction[n], parts.weight[n]);
    } else if (via_ == Via::listed || q[0] <= kNegligible) {
      for (int n = 0; n < parts.count; ++n)
        go_on(stage, place, parts.direction[n], parts.weight[n]);
    } else {
      const auto largest =
          std::max_element(parts.weight.begin(), parts.weight.begin() + parts.count);
      double* arriving = at(stage, place, parts.direction[largest - parts.weight.begin()]);
      for (int j = 0; j < signals_; ++j) arriving[j] += sums_.weight(j, q[j]);
    }
    return outer - inside;
  }

  double* at(int stage, std::int64_t state, int k) {
    return arriving_.data() + (state * stages_[stage]->table.directions().size() + k) * signals_;
  }

  void go_on(int stage, std::int64_t state, int k, double weight) {
    const Directions& directions = stages_[stage]->table.directions();
    for (int j = 0; j < signals_; ++j)
      at(stage, state, k)[j] += sums_.weight(j, weight * directions.weight(k, j));
  }

  // A direction comes to a landing. Its bound there is a sum of bounds of states; what that leaves
  // open beyond their own gaps is lost between the prices of the states whose curves meet.
  void land(int stage, int landing, int k, double weight) {
    const FrontierStage& here = *stages_[stage];
    double open = gap(stage, states_ + landing, k);
    for (const LandingPart& part : bound_parts(landings_, landing, here.table, k)) {
      open -= part.weight * gap(stage, part.state, part.direction);
      go_on(stage, part.state, part.direction, weight * part.weight);
    }
    if (signals_ != 2 || open <= 0) return;
    const double utility = here.table.points(states_ + landing, 1)[k];
    const double reward = here.table.points(states_ + landing, 0)[k];
    for (State s = 0; s < states_; ++s) {
      if (!landings_.covers(landing, s)) continue;
      const Curve& curve = here.curves[s];
      const auto above = std::upper_bound(curve.utility.begin(), curve.utility.end(), utility) -
                         curve.utility.begin();
      if (above == 0 || above == curve.corners()) continue;
      const double own =
          curve.reward[above - 1] - curve.price[above - 1] * (utility - curve.utility[above - 1]);
      if (own - reward > 1e-9 * std::max(1.0, std::abs(reward))) continue;
      note(stage, s, 0, curve.price[above - 1], weight * open);
    }
  }

  void note(int stage, std::int64_t place, int constraint, double price, double loss) {
    const std::vector<double>& prices = stages_[stage]->table.directions().prices(constraint);
    const auto n = std::upper_bound(prices.begin(), prices.end(), price) - prices.begin() - 1;
    if (prices[n] == price) return;
    sums_.add_interval(stage, constraint, n, loss, price);
    if (signals_ != 2) return;
    loss = sums_.state_loss(loss);
    // A finer grid at a landing is one at all of its states.
    for (State s = 0; s < states_; ++s) {
      if (s == place ||
          (place >= states_ && landings_.covers(static_cast<int>(place - states_), s)))
        demand_.state_loss[stage][s * prices.size() + n] += loss;
    }
  }

  void step(int stage, Exchange& exchange) {
    const Model& model = problem_.model();
    const int size = stages_[stage]->table.directions().size();
    bring_to_owners(model, exchange, arriving_);
    leaving_.swap(arriving_);
    expect(stage + 1);
    for (State s = model.own_begin(); s < model.own_end(); ++s) {
      for (std::int32_t k = 0; k < size; ++k) {
        const double* q = leaving_.data() + (std::int64_t{s} * size + k) * signals_;
        if (std::any_of(q, q + signals_, [](double weight) { return weight > 0; }))
          step_direction(stage, s, k, q);
      }
    }
  }

  // All that has come to a direction of a state goes on by the action and the kernels that its
  // bound comes from.
  void step_direction(int stage, State state, std::int32_t k, const double* q) {
    const FrontierStage& here = *stages_[stage];
    const Model& model = problem_.model();
    if (model.row_begin(stage, state) == model.row_end(stage, state)) return;
    const Causes& causes = here.causes[state];
    const double weight = k < here.table.directions().rays_begin()
                              ? q[0]
                              : q[k - here.table.directions().rays_begin() + 1];
    if (causes.action[k] < 0) {
      demand_.left_out_loss[stage][std::int64_t{state} * here.table.directions().size() + k] +=
          weight * std::max(0.0, gap(stage, state, k));
      return;
    }
    const Row row = model.row_begin(stage, state) + causes.action[k];
    const float* kernel = causes.kernels.data() + causes.slot[k];
    const std::span<const std::int64_t> places = backup_.places_of(row);
    hints_.resize(std::max(hints_.size(), places.size()));
    double part[Directions::kMostConstraints + 1];
    double open = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (int j = 0; j < signals_; ++j)
        part[j] = problem_.discount() * q[j] * kernel[i * signals_ + j];
      open += arrive(stage + 1, places[i], part, hints_[i]);
    }
    // What is open here beyond what is open there is for a longer game to close.
    sums_.add_games(std::max(0.0, weight * gap(stage, state, k) - open));
  }

  const Problem& problem_;
  const Landings& landings_;
  const std::vector<const FrontierStage*>& stages_;
  State states_;
  int signals_;
  StateBackup& backup_;
  Via via_;
  Demand demand_;
  DemandSums sums_;
  std::vector<double> arriving_, leaving_;  // directions: [state][direction][signal]
  std::vector<Hint> hints_;                 // of each place of the row at hand
};

}  // namespace

Demand find_demand(const Problem& problem, const Landings& landings,
                   const std::vector<const FrontierStage*>& stages, const Root& root,
                   std::span<const double> scales, StateBackup& backup, Exchange& exchange) {
  const auto follow = [&](Via via) {
    return Follow(problem, landings, stages, backup, via, root, scales).run(root, exchange);
  };
  Demand demand = follow(Via::listed);
  const Demand finer = follow(Via::itself);
  for (std::size_t h = 0; h < demand.intervals.size(); ++h) {
    for (std::size_t c = 0; c < demand.intervals[h].size(); ++c) {
      for (std::size_t n = 0; n < demand.intervals[h][c].size(); ++n) {
        Demand::Interval& interval = demand.intervals[h][c][n];
        const Demand::Interval& other = finer.intervals[h][c][n];
        const double loss = std::max(interval.loss, other.loss);
        // The price that a finer grid would need, unless all that is lost there is rounding.
        if (other.loss > 1e-3 * interval.loss) interval = other;
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
        const int added =
            std::min(prices[h].size() == 1 ? kMostAdded : 1,
                     static_cast<int>(std::lround(parts_per_root * std::cbrt(interval.loss))) - 1);
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
                                const Directions& after, State first) {
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
      const auto& left_out = demand.left_out_loss[stage];
      const auto& lost = demand.state_loss[stage];
      active[s * after.size() + k] =
          old[at] == prices[k]
              ? active_before[known] || left_out[first * before.size() + known] > negligible
              : lost[(first + s) * old.size() + at] > negligible;
    }
  }
  return active;
}

}  // namespace redoubt
