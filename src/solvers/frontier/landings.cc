#include "solvers/frontier/landings.h"

#include <algorithm>
#include <limits>
#include <map>

namespace redoubt {
namespace {

// Plans take room for every landing, direction and state; beyond this many landings times states
// all rows share one landing.
constexpr std::int64_t kMostPlanned = 20000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The upper bounds of an intersection: nature may send each part of a direction to the state where
// it is worth least, so the least bound over the states at the listed directions, and between them
// the convex combination of two that is lower still.
void bound_landing(const Landings& landings, int landing, TradeOffs& table) {
  const Directions& directions = table.directions();
  double* bounds = table.bounds(landings.states() + landing);
  std::fill_n(bounds, directions.size(), kInfinity);
  for (State s = 0; s < landings.states(); ++s) {
    if (!landings.covers(landing, s)) continue;
    const double* own = table.bounds(s);
    for (int k = 0; k < directions.size(); ++k) bounds[k] = std::min(bounds[k], own[k]);
  }
  if (directions.constraints() != 1) return;
  // With one constraint, directions between two others are sums of them: (1, p) = w (1, low) + (1 -
  // w) (1, high), or with the ray.
  const int last = directions.rays_begin() - 1;
  const std::vector<double>& price = directions.prices(0);
  for (int k = 1; k <= last; ++k) {
    for (int low = 0; low < k; ++low) {
      for (int high = k + 1; high <= last + 1; ++high) {
        const bool ray = high == last + 1;
        const double share =
            ray ? price[k] - price[low] : (price[k] - price[low]) / (price[high] - price[low]);
        bounds[k] =
            std::min(bounds[k], (ray ? 1.0 : 1 - share) * bounds[low] + share * bounds[high]);
      }
    }
  }
}

// The most reward that every covered state can guarantee together with this utility.
double common_reward(const Landings& landings, int landing, const std::vector<Curve>& curves,
                     const TradeOffs& table, double utility, std::vector<MemoryMove>& moves) {
  double least = kInfinity;
  for (State s = 0; s < landings.states(); ++s) {
    if (!landings.covers(landing, s)) continue;
    moves.clear();
    mix_for_utility(curves[s], utility, moves);
    double reward = 0;
    for (const MemoryMove& move : moves) reward += move.weight * table.points(s, 0)[move.memory];
    least = std::min(least, reward);
  }
  return least;
}

// The largest utility that every covered state can guarantee, and the smallest at which one of them
// would have to give up reward.
std::pair<double, double> utility_range(const Landings& landings, int landing,
                                        const std::vector<Curve>& curves) {
  double low = kInfinity, high = kInfinity;
  for (State s = 0; s < landings.states(); ++s) {
    if (!landings.covers(landing, s)) continue;
    low = std::min(low, curves[s].utility.front());
    high = std::min(high, curves[s].utility.back());
  }
  return {std::min(low, high), high};
}

// One constraint: the best common promise in every direction, by a search along the utility, in
// which the common reward is concave.
void promise_along_curve(const Landings& landings, int landing, const std::vector<Curve>& curves,
                         TradeOffs& table) {
  const Directions& directions = table.directions();
  const auto place = landings.states() + landing;
  const auto [low, high] = utility_range(landings, landing, curves);
  std::vector<MemoryMove> moves;
  for (int k = 0; k < directions.size(); ++k) {
    const auto worth = [&](double utility) {
      return directions.weight(k, 0) *
                 common_reward(landings, landing, curves, table, utility, moves) +
             directions.weight(k, 1) * utility;
    };
    double from = low, to = high;
    for (int step = 0; step < 60 && to - from > 1e-13 * (std::abs(from) + std::abs(to)); ++step) {
      const double left = from + (to - from) / 3, right = to - (to - from) / 3;
      if (worth(left) < worth(right)) {
        from = left;
      } else {
        to = right;
      }
    }
    double best = from;
    for (const double utility : {low, to, high})
      best = worth(utility) > worth(best) ? utility : best;
    table.points(place, 0)[k] = common_reward(landings, landing, curves, table, best, moves);
    table.points(place, 1)[k] = best;
  }
}

// Several constraints, or none: every state keeps its own point of the same direction.
void promise_by_direction(const Landings& landings, int landing, TradeOffs& table) {
  const auto place = landings.states() + landing;
  for (int j = 0; j < table.directions().signals(); ++j) {
    double* points = table.points(place, j);
    std::fill_n(points, table.directions().size(), kInfinity);
    for (State s = 0; s < landings.states(); ++s) {
      if (!landings.covers(landing, s)) continue;
      for (int k = 0; k < table.directions().size(); ++k)
        points[k] = std::min(points[k], table.points(s, j)[k]);
    }
  }
}

}  // namespace

Landings::Landings(const Problem& problem) : states_(problem.model().states()) {
  const auto* tv = std::get_if<TV>(&problem.uncertainty());
  if (!tv || tv->reach != Reach::anywhere) return;
  const Model& model = problem.model();
  std::map<std::vector<bool>, int> known;
  row_landing_.assign(model.rows(), -1);
  for (Row row = 0; row < model.rows(); ++row) {
    std::vector<bool> listed(states_);
    for (State s = 0; s < states_; ++s) listed[s] = model.lists(row, s);
    if (std::all_of(listed.begin(), listed.end(), [](bool b) { return b; })) continue;
    row_landing_[row] = known.try_emplace(listed, static_cast<int>(known.size())).first->second;
    if (static_cast<std::int64_t>(known.size()) * states_ > kMostPlanned) break;
  }
  if (static_cast<std::int64_t>(known.size()) * states_ > kMostPlanned) {
    row_landing_.assign(model.rows(), 0);
    listed_.assign(1, std::vector<bool>(states_, false));
    return;
  }
  listed_.resize(known.size());
  for (const auto& [listed, landing] : known) listed_[landing] = listed;
}

double Landings::most(const Problem& problem) {
  const auto* tv = std::get_if<TV>(&problem.uncertainty());
  if (!tv || tv->reach != Reach::anywhere) return 0;
  const Model& model = problem.model();
  return static_cast<double>(std::min<std::int64_t>(
      model.rows(), std::max<std::int64_t>(1, kMostPlanned / model.all_states())));
}

std::vector<LandingPart> bound_parts(const Landings& landings, int landing, const TradeOffs& table,
                                     int direction) {
  const Directions& directions = table.directions();
  const auto least = [&](int k) {
    State best = -1;
    for (State s = 0; s < landings.states(); ++s) {
      if (landings.covers(landing, s) && (best < 0 || table.bounds(s)[k] < table.bounds(best)[k]))
        best = s;
    }
    return best;
  };
  const double* bounds = table.bounds(landings.states() + landing);
  std::vector<LandingPart> parts = {{least(direction), direction, 1.0}};
  if (directions.constraints() != 1 || direction == directions.rays_begin()) return parts;
  const double single = table.bounds(parts[0].state)[direction];
  double most = 1e-12 * std::max(1.0, std::abs(single));  // by how much two parts are better
  const int last = directions.rays_begin() - 1;
  const std::vector<double>& price = directions.prices(0);
  for (int low = 0; low < direction; ++low) {
    for (int high = direction + 1; high <= last + 1; ++high) {
      const double rise = price[direction] - price[low];
      const double share = high > last ? rise : rise / (price[high] - price[low]);
      const double keep = high > last ? 1.0 : 1 - share;
      const double better = single - keep * bounds[low] - share * bounds[high];
      if (better <= most) continue;
      most = better;
      parts = {{least(low), low, keep}, {least(high), high, share}};
    }
  }
  return parts;
}

LandingPlans land(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table) {
  LandingPlans plans;
  const bool one = table.directions().constraints() == 1;
  for (int landing = 0; landing < landings.count(); ++landing) {
    bound_landing(landings, landing, table);
    one ? promise_along_curve(landings, landing, curves, table)
        : promise_by_direction(landings, landing, table);
    for (int k = 0; k < table.directions().size(); ++k) {
      for (State s = 0; s < landings.states(); ++s) {
        plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
        if (!landings.covers(landing, s)) continue;
        if (one) {
          mix_for_utility(curves[s], table.points(landings.states() + landing, 1)[k], plans.moves);
        } else {
          plans.moves.push_back({k, 1.0});
        }
      }
    }
  }
  if (landings.count() > 0) plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
  return plans;
}

}  // namespace redoubt
