#include "solvers/frontier/sets/landings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bellman/row_evaluator.h"
#include "model/submodel.h"
#include "numerics/infinity.h"
#include "parallel/collectives.h"
#include "solvers/frontier/sets/joint_promises.h"

namespace redoubt::internal {
namespace {

// Every value becomes the least of all ranks' values.
std::vector<double> least_of(const Landings& landings, std::vector<double> values) {
  min_over_ranks(landings.ranks(), values);
  return values;
}

// Where landings stand in a table.
std::int64_t place_of(const Landings& landings) { return landings.model().states(); }

template <class Visit>
void for_each_own(const Landings& landings, Visit visit) {
  const Model& model = landings.model();
  for (State own = 0; own < model.own_states(); ++own) visit(model.own(own));
}

// Where the least bounds are; of equal ones in the first state.
std::vector<LandingPlans::Least> find_least(const Landings& landings, const TradeOffs& table) {
  using Least = LandingPlans::Least;
  const int size = table.directions().size();
  const auto before = [](const Least& a, const Least& b) {
    return a.bound < b.bound || (a.bound == b.bound && a.state < b.state);
  };
  const Least none{kInfinity, 0, std::numeric_limits<State>::max()};
  std::vector<Least> own(size, none);
  for_each_own(landings, [&](State s) {
    for (int k = 0; k < size; ++k) {
      double worth = 0;
      for (int j = 0; j < table.directions().signals(); ++j)
        worth += table.directions().weight(k, j) * landings.worth(s, j);
      const double bound = table.bounds(s)[k] + worth;
      const double gap = table.bounds(s)[k] - table.along(s, k, k);
      const Least here{bound, gap, whole_number(landings.model(), s)};
      if (before(here, own[k])) own[k] = here;
    }
  });
  const auto all = all_gather<Least>(landings.ranks(), own);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Least& least = own[i % own.size()];
    if (before(all[i], least)) least = all[i];
  }
  return own;
}

// The upper bounds of an intersection: nature may send each part of a direction to the state where
// it is worth least, so the least bound over the states at the listed directions, and between them
// the convex combination of two that is lower still. With one constraint, (1, p) = w (1, low) + (1
// - w) (1, high), or (1, low) and some of the ray: the lower convex envelope of the least bounds
// over the prices, which rises no faster than the ray.
std::vector<int> envelope(const LandingPlans::Least* least, const std::vector<double>& price) {
  const int ray = static_cast<int>(price.size());
  const auto rises = [&](int low, int high) {
    return high == ray ? least[ray].bound
                       : (least[high].bound - least[low].bound) / (price[high] - price[low]);
  };
  std::vector<int> corners;
  for (int k = 0; k <= ray; ++k) {
    const auto above = [&](int low, int corner) {
      return least[corner].bound >= least[low].bound + rises(low, k) * (price[corner] - price[low]);
    };
    while (corners.size() >= 2 && above(corners[corners.size() - 2], corners.back()))
      corners.pop_back();
    corners.push_back(k);
  }
  return corners;
}

void bound_landing(const LandingPlans::Least* least, std::int64_t place, TradeOffs& table,
                   LandingPart* parts) {
  const Directions& directions = table.directions();
  double* bounds = table.bounds(place);
  for (int k = 0; k < directions.size(); ++k) {
    bounds[k] = least[k].bound;
    parts[2 * k] = {k, 1.0};
    parts[2 * k + 1] = {k, 0.0};
  }
  if (directions.constraints() != 1) return;
  const std::vector<double>& price = directions.prices();
  const std::vector<int> corners = envelope(least, price);
  for (std::size_t n = 0; n + 1 < corners.size(); ++n) {
    const int low = corners[n], high = corners[n + 1];
    const bool ray = high == directions.rays_begin();
    for (int k = low + 1; k < high; ++k) {
      const double rise = price[k] - price[low];
      const double share = ray ? rise : rise / (price[high] - price[low]);
      const double keep = ray ? 1.0 : 1 - share;
      const double chord = keep * least[low].bound + share * least[high].bound;
      if (bounds[k] - chord <= 1e-12 * std::max(1.0, std::abs(bounds[k]))) continue;  // rounding
      bounds[k] = chord;
      // Along an edge all directions are alike: the nearest above shows best where to look closer.
      if (k + 1 < directions.rays_begin()) {
        const double part = rise / (price[k + 1] - price[low]);
        parts[2 * k] = {low, 1 - part};
        parts[2 * k + 1] = {k + 1, part};
      } else {
        parts[2 * k] = {low, keep};
        parts[2 * k + 1] = {high, share};
      }
    }
  }
}

// One constraint: the best common promise of all states in every direction. The reward that all can
// guarantee together with a utility is concave in it; where tangents at both ends of an interval
// meet is the next place to look at, until it lies on them. All searches go step by step together,
// because the states are on all ranks.
class CommonPromises {
 public:
  CommonPromises(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table,
                 Workers& workers)
      : landings_(landings), curves_(curves), table_(table), workers_(workers) {}

  void find() {
    begin();
    std::vector<double> asked;
    for (int step = 0; step < 60; ++step) {
      asked.clear();
      for (Search& search : searches_)
        if (narrow(search)) asked.push_back(search.next);
      if (asked.empty()) break;
      const std::vector<Common> found = common_rewards(asked);
      auto at = found.begin();
      for (Search& search : searches_)
        if (search.open) take(*at++, search);
    }
    for (const Search& search : searches_) {
      const Common& best =
          value(search, search.from) >= value(search, search.to) ? search.from : search.to;
      table_.points(place_of(landings_), 0)[search.direction] = best.reward;
      table_.points(place_of(landings_), 1)[search.direction] = best.utility;
    }
  }

 private:
  // The most reward that every state can guarantee together with a utility, and what one more unit
  // of utility adds to it (a tangent from above).
  struct Common {
    double utility, reward, slope;
  };
  struct Search {
    int direction;
    Common from, to;
    double next = 0;
    bool open = true;
  };

  double weight(const Search& search, int signal) const {
    return table_.directions().weight(search.direction, signal);
  }
  double value(const Search& search, const Common& at) const {
    return weight(search, 0) * at.reward + weight(search, 1) * at.utility;
  }
  double slope(const Search& search, const Common& at) const {
    return weight(search, 0) * at.slope + weight(search, 1);
  }

  // Between the smallest utility at which one of the states would have to give up reward, and the
  // largest that every state can guarantee.
  void begin() {
    std::vector<double> ends(2, kInfinity);
    for_each_own(landings_, [&](State s) {
      const std::vector<double>& utility = curves_[s].utility;
      const double worth = landings_.worth(s, 1);
      ends[0] = std::min(ends[0], utility.front() + worth);
      ends[1] = std::min(ends[1], utility.back() + worth);
    });
    ends = least_of(landings_, std::move(ends));
    ends[0] = std::min(ends[0], ends[1]);
    const std::vector<Common> known = common_rewards(ends);
    for (int k = 0; k < table_.directions().size(); ++k)
      searches_.push_back({k, known[0], known[1]});
  }

  std::vector<Common> common_rewards(const std::vector<double>& utilities) const {
    std::vector<double> least(utilities.size(), kInfinity), slopes(utilities.size(), kInfinity);
    std::vector<MemoryMove> moves;
    for (std::size_t q = 0; q < utilities.size(); ++q) {
      workers_.check();
      for_each_own(landings_, [&](State s) {
        const double utility = utilities[q] - landings_.worth(s, 1);
        moves.clear();
        mix_for_utility(curves_[s], utility, moves);
        double reward = landings_.worth(s, 0);
        for (const MemoryMove& move : moves)
          reward += move.weight * table_.points(s, 0)[move.memory];
        if (reward > least[q]) return;
        slopes[q] = reward < least[q] ? slope_at(curves_[s], utility)
                                      : std::min(slopes[q], slope_at(curves_[s], utility));
        least[q] = reward;
      });
    }
    const std::vector<double> rewards = least_of(landings_, least);
    for (std::size_t q = 0; q < least.size(); ++q)
      if (least[q] > rewards[q]) slopes[q] = kInfinity;  // of a state on another rank
    slopes = least_of(landings_, std::move(slopes));
    std::vector<Common> found;
    for (std::size_t q = 0; q < utilities.size(); ++q)
      found.push_back({utilities[q], rewards[q], slopes[q]});
    return found;
  }

  static double slope_at(const Curve& curve, double utility) {
    const auto above = std::lower_bound(curve.utility.begin(), curve.utility.end(), utility) -
                       curve.utility.begin();
    if (above == 0 || curve.price.empty()) return 0;
    return -curve.price[std::min<std::int64_t>(above, curve.corners() - 1) - 1];
  }

  // Where to look next; false when the best is at one of the ends.
  bool narrow(Search& search) const {
    const Common &from = search.from, &to = search.to;
    const double rise = slope(search, from), fall = slope(search, to);
    search.open =
        search.open && rise > 0 && fall < 0 &&
        to.utility - from.utility > 1e-13 * (std::abs(from.utility) + std::abs(to.utility));
    if (!search.open) return false;
    const double apart = value(search, to) - value(search, from);
    search.next = (apart + rise * from.utility - fall * to.utility) / (rise - fall);
    search.open = search.next > from.utility && search.next < to.utility;
    return search.open;
  }

  void take(const Common& found, Search& search) const {
    const double tangent = value(search, search.from) +
                           slope(search, search.from) * (found.utility - search.from.utility);
    const double here = value(search, found);
    if (tangent - here <= 1e-14 * std::abs(tangent)) {
      search.from = search.to = found;
      search.open = false;
    } else {
      (slope(search, found) > 0 ? search.from : search.to) = found;
    }
  }

  const Landings& landings_;
  const std::vector<Curve>& curves_;
  TradeOffs& table_;
  Workers& workers_;
  std::vector<Search> searches_;
};

// No constraints: every state keeps its own point.
void promise_by_direction(const Landings& landings, TradeOffs& table) {
  const std::int64_t size = table.directions().size(), signals = table.directions().signals();
  std::vector<double> least(signals * size, kInfinity);
  for_each_own(landings, [&](State s) {
    for (int j = 0; j < signals; ++j)
      for (int k = 0; k < size; ++k)
        least[j * size + k] =
            std::min(least[j * size + k], table.points(s, j)[k] + landings.worth(s, j));
  });
  least = least_of(landings, std::move(least));
  for (int j = 0; j < signals; ++j)
    std::copy_n(least.data() + j * size, size, table.points(place_of(landings), j));
}

}  // namespace

Landings::Landings(const Problem& problem, Communicator& ranks)
    : model_(&problem.model()), ranks_(&ranks), anywhere_(lands_anywhere(problem)) {
  const std::vector<Channel> channels = channels_of(problem);
  const bool any = std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
    return !model_->arrival_values(channel.signal).empty();
  });
  if (!anywhere_ || !any) return;
  for (const Channel& channel : channels) {
    std::vector<double>& worth = worth_.emplace_back(model_->states());
    for (State s = 0; s < model_->states(); ++s) worth[s] = arrival_worth(problem, channel, s);
  }
}

LandingPlans land(const Landings& landings, const std::vector<Curve>& curves, TradeOffs& table,
                  Workers& workers) {
  LandingPlans plans;
  if (!landings.anywhere()) return plans;
  const int size = table.directions().size();
  plans.least = find_least(landings, table);
  plans.parts.resize(2 * plans.least.size());
  bound_landing(plans.least.data(), place_of(landings), table, plans.parts.data());
  if (table.directions().constraints() > 1) {
    find_joint_promises(landings, table, plans, workers);
    plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
    return plans;
  }
  const bool one = table.directions().constraints() == 1;
  if (one)
    CommonPromises(landings, curves, table, workers).find();
  else
    promise_by_direction(landings, table);
  const double* utility = table.points(place_of(landings), one ? 1 : 0);
  for (int k = 0; k < size; ++k) {
    workers.check();
    for_each_own(landings, [&](State s) {
      plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
      if (one)
        mix_for_utility(curves[s], utility[k] - landings.worth(s, 1), plans.moves);
      else
        plans.moves.push_back({k, 1.0});
    });
  }
  plans.begin.push_back(static_cast<std::int64_t>(plans.moves.size()));
  return plans;
}

}  // namespace redoubt::internal
