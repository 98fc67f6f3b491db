#include "solvers/frontier/sets/joint_promises.h"

#include <algorithm>
#include <cmath>

#include "model/submodel.h"
#include "numerics/infinity.h"
#include "numerics/simplex.h"
#include "numerics/small_lp.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

using Vector = std::array<double, Directions::kMostSignals>;

constexpr double kRounding = 1e-12;  // of the range of a signal

// A point of a state, and what a landing there is worth with it.
struct StatePoint {
  State state = 0;  // in the whole model
  std::int32_t lane = 0;
  Vector value{};
};

// All states, and what they can keep together.
class Joint {
 public:
  using Points = std::span<const StatePoint>;

  Joint(int signals, std::vector<Points> states) : signals_(signals), states_(std::move(states)) {
    low_.fill(kInfinity);
    Vector high;
    high.fill(-kInfinity);
    for (const Points& points : states_) {
      for (const StatePoint& point : points) {
        for (int j = 0; j < signals_; ++j) {
          low_[j] = std::min(low_[j], point.value[j]);
          high[j] = std::max(high[j], point.value[j]);
        }
      }
    }
    range_.fill(1);
    for (int j = 0; j < signals_; ++j)
      if (high[j] > low_[j]) range_[j] = high[j] - low_[j];
    mixtures_.resize(states_.size());
  }

  // The best promise in a direction: that of a few states, to which the one that keeps it least is
  // added until all keep it.
  Vector promise(const double* direction) {
    std::vector<std::size_t> few = {least(direction)};
    Vector promised{};
    for (;;) {
      promised = promise_of(few, direction);
      std::size_t worst = states_.size();
      double most = kRounding;
      for (std::size_t s = 0; s < states_.size(); ++s) {
        if (std::find(few.begin(), few.end(), s) != few.end()) continue;
        const double missed = keep(s, promised);
        if (missed > most) most = missed, worst = s;
      }
      if (worst == states_.size()) break;
      few.push_back(worst);
    }
    Vector kept;
    kept.fill(kInfinity);
    for (std::size_t s = 0; s < states_.size(); ++s) {
      Vector sum{};
      for (const MemoryMove& move : mixtures_[s])
        for (int j = 0; j < signals_; ++j) sum[j] += move.weight * states_[s][move.memory].value[j];
      for (int j = 0; j < signals_; ++j) kept[j] = std::min(kept[j], sum[j]);
    }
    return kept;
  }

  // How a state keeps the last promise: moves to its points, by their place in the list.
  const std::vector<MemoryMove>& mixture(std::size_t state) const { return mixtures_[state]; }

 private:
  // The state whose best point is worth least.
  std::size_t least(const double* direction) const {
    std::size_t found = 0;
    double low = kInfinity;
    for (std::size_t s = 0; s < states_.size(); ++s) {
      double most = -kInfinity;
      for (const StatePoint& point : states_[s]) {
        double value = 0;
        for (int j = 0; j < signals_; ++j) value += direction[j] * point.value[j];
        most = std::max(most, value);
      }
      if (most < low) low = most, found = s;
    }
    return found;
  }

  // In units of the ranges, from the least on.
  double scaled(const StatePoint& point, int j) const {
    return (point.value[j] - low_[j]) / range_[j];
  }

  // The best promise of some states.
  Vector promise_of(const std::vector<std::size_t>& few, const double* direction) {
    int columns = signals_;
    for (const std::size_t s : few) columns += static_cast<int>(states_[s].size());
    simplex_.begin(columns, static_cast<int>(few.size()) * (signals_ + 1));
    double size = 0;
    for (int j = 0; j < signals_; ++j) size += direction[j] * range_[j];
    for (int j = 0; j < signals_; ++j) simplex_.objective(j) = direction[j] * range_[j] / size;
    int column = signals_, row = 0;
    for (const std::size_t s : few) {
      for (int j = 0; j < signals_; ++j) simplex_.entry(row + j, j) = 1;
      for (const StatePoint& point : states_[s]) {
        for (int j = 0; j < signals_; ++j) simplex_.entry(row + j, column) = -scaled(point, j);
        simplex_.entry(row + signals_, column++) = 1;
      }
      simplex_.limit(row + signals_) = 1;
      row += signals_ + 1;
    }
    simplex_.solve();
    column = signals_;
    for (const std::size_t s : few) {
      std::vector<MemoryMove>& mixture = mixtures_[s];
      mixture.clear();
      double sum = 0;
      for (std::size_t n = 0; n < states_[s].size(); ++n) {
        const double weight = simplex_.value(column++);
        if (weight > kRounding) mixture.push_back({static_cast<std::int32_t>(n), weight});
        sum += weight > kRounding ? weight : 0;
      }
      if (mixture.empty()) mixture = {{0, 1.0}}, sum = 1;
      for (MemoryMove& move : mixture) move.weight /= sum;
    }
    Vector promised{};
    for (int j = 0; j < signals_; ++j) promised[j] = low_[j] + range_[j] * simplex_.value(j);
    return promised;
  }

  // By how much a state misses a promise, in units of the ranges, and its mixture.
  double keep(std::size_t state, const Vector& promised) {
    const Points& points = states_[state];
    std::vector<MemoryMove>& mixture = mixtures_[state];
    for (std::size_t n = 0; n < points.size(); ++n) {
      bool keeps = true;
      for (int j = 0; j < signals_; ++j)
        keeps = keeps && points[n].value[j] >= promised[j] - kRounding * range_[j];
      if (!keeps) continue;
      mixture = {{static_cast<std::int32_t>(n), 1.0}};
      return 0;
    }
    std::vector<std::vector<double>> values(signals_);
    for (int j = 0; j < signals_; ++j)
      for (const StatePoint& point : points)
        values[j].push_back((point.value[j] - promised[j]) / range_[j]);
    const std::vector<double> reward(points.size(), 0.0), nothing(signals_, 0.0);
    const ConstrainedMix found =
        best_constrained_mix_of_many({reward, {values.begin(), values.end()}, nothing});
    mixture.clear();
    for (std::size_t n = 0; n < points.size(); ++n)
      if (found.weight[n] > 0) mixture.push_back({static_cast<std::int32_t>(n), found.weight[n]});
    return found.shortfall;
  }

  int signals_;
  std::vector<Points> states_;
  Vector low_{}, range_{};
  std::vector<std::vector<MemoryMove>> mixtures_;  // of each state
  Simplex simplex_;
};

// All points of the states on all ranks, in the order of states.
std::vector<StatePoint> points_of_all(const Landings& landings, const TradeOffs& table) {
  const Model& model = landings.model();
  std::vector<StatePoint> own;
  for (State place = 0; place < model.own_states(); ++place) {
    const State s = model.own(place);
    for (const std::int32_t k : undominated(table, s)) {
      StatePoint& point = own.emplace_back(StatePoint{whole_number(model, s), k, {}});
      for (int j = 0; j < table.directions().signals(); ++j)
        point.value[j] = table.points(s, j)[k] + landings.worth(s, j);
    }
  }
  std::vector<StatePoint> all = all_gather_lists(landings.ranks(), std::move(own));
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.state < b.state; });
  return all;
}

// Whether all states look at a direction.
std::vector<double> looked_at_by_all(const Landings& landings, const TradeOffs& table) {
  const Model& model = landings.model();
  const std::int64_t size = table.directions().size();
  std::vector<double> all(size, 1.0);
  for (State place = 0; place < model.own_states(); ++place)
    for (std::int64_t k = 0; k < size; ++k)
      if (!std::isfinite(table.bounds(model.own(place))[k])) all[k] = 0;
  min_over_ranks(landings.ranks(), all);
  return all;
}

// A promise, and how each own state keeps it.
struct Kept {
  Vector value{};
  std::vector<std::vector<MemoryMove>> moves;
};

int best_of(const std::vector<Kept>& kept, const std::vector<int>& found, const double* direction,
            int signals) {
  int best = found.front();
  double most = -kInfinity;
  for (const int k : found) {
    double value = 0;
    for (int j = 0; j < signals; ++j) value += direction[j] * kept[k].value[j];
    if (value > most) most = value, best = k;
  }
  return best;
}

State number_or_none(const Model& model, State whole) {
  return model.arrays().submodel ? find_in_submodel(*model.arrays().submodel, whole) : whole;
}

}  // namespace

void find_joint_promises(const Landings& landings, TradeOffs& table, LandingPlans& plans,
                         Workers& workers) {
  const Model& model = landings.model();
  const Directions& directions = table.directions();
  const int size = directions.size(), signals = directions.signals();
  const std::vector<StatePoint> points = points_of_all(landings, table);
  const std::vector<double> looked_at = looked_at_by_all(landings, table);
  std::vector<Joint::Points> lists;
  for (auto at = points.begin(); at != points.end();) {
    const auto end =
        std::find_if(at, points.end(), [&](const auto& one) { return one.state != at->state; });
    lists.emplace_back(at, end);
    at = end;
  }
  Joint joint(signals, lists);
  std::vector<Kept> kept(size);
  std::vector<int> found;
  for (int k = 0; k < size; ++k) {
    workers.check();
    if (looked_at[k] == 0) continue;
    found.push_back(k);
    kept[k].value = joint.promise(directions.weights_of(k));
    kept[k].moves.resize(model.own_states());
    for (std::size_t n = 0; n < lists.size(); ++n) {
      const State s = number_or_none(model, lists[n].front().state);
      if (s < 0 || !model.owns(s)) continue;
      for (const MemoryMove& move : joint.mixture(n))
        kept[k].moves[model.own_place(s)].push_back({lists[n][move.memory].lane, move.weight});
    }
  }
  for (int k = 0; k < size; ++k) {
    const Kept& best = kept[best_of(kept, found, directions.weights_of(k), signals)];
    for (int j = 0; j < signals; ++j) table.points(model.states(), j)[k] = best.value[j];
    for (const std::vector<MemoryMove>& list : best.moves) {
      plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
      plans.moves.insert(plans.moves.end(), list.begin(), list.end());
    }
  }
}

}  // namespace redoubt::internal
