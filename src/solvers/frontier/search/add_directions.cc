#include <algorithm>
#include <bit>
#include <cmath>

#include "model/submodel.h"
#include "parallel/collectives.h"
#include "solvers/frontier/search/refine.h"

// Directions of several constraints, where the gap comes from.
namespace redoubt::internal {
namespace {

constexpr int kAllFaces = 4;     // constraints whose directions leave out any signals at first
constexpr double kSame = 1e-5;   // a distance that makes no difference
constexpr double kClose = 0.25;  // of the distance to what a state looks at: as good as there

// A direction that a state asks for.
struct Wanted {
  State state = 0;        // in the whole model
  std::int32_t side = 0;  // direction * signals + signal
  double apart = 0;       // how far it is from all that the state looks at
  std::array<double, Directions::kMostSignals> weights{};

  bool before(const Wanted& other) const {
    return state < other.state || (state == other.state && side < other.side);
  }
};

// Shares of what directions count, signal by signal.
double distance(const double* a, const double* b, std::span<const double> scales) {
  double size_a = 0, size_b = 0, sum = 0;
  for (std::size_t j = 0; j < scales.size(); ++j)
    size_a += a[j] * scales[j], size_b += b[j] * scales[j];
  for (std::size_t j = 0; j < scales.size(); ++j)
    sum += std::abs(a[j] / size_a - b[j] / size_b) * scales[j];
  return sum;
}

// One stage of add_directions.
class NextDirections {
 public:
  NextDirections(const StagePlan& before, const Problem& problem, std::span<const double> scales,
                 int most)
      : before_(before),
        model_(problem.model()),
        start_(problem.start()),
        scales_(scales),
        most_(most),
        weights_(before.directions.weights()) {}

  // Of all ranks, in the order of states.
  std::vector<Wanted> wanted(const std::vector<GapAttribution::Near>& near, double least,
                             Communicator& ranks) const {
    std::vector<Wanted> own;
    const std::int64_t size = before_.directions.size();
    for (State place = 0; place < model_.own_states(); ++place) {
      const State s = model_.own(place);
      const std::int64_t sides = size * static_cast<std::int64_t>(scales_.size());
      for (std::int64_t side = 0; side < sides; ++side) {
        const GapAttribution::Near& here = near[s * sides + side];
        if (here.loss <= least) continue;
        Wanted& asked = own.emplace_back(
            Wanted{whole_number(model_, s), static_cast<std::int32_t>(side), 2, here.which});
        leave_out_negligible(asked.weights);
        for (int other = 0; other < size; ++other) {
          if (looked_at(place, other))
            asked.apart = std::min(
                asked.apart,
                distance(asked.weights.data(), before_.directions.weights_of(other), scales_));
        }
        if (asked.apart <= kSame) own.pop_back();
      }
    }
    std::vector<Wanted> all = all_gather_lists(ranks, std::move(own));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.before(b); });
    return all;
  }

  // The number of the direction that a wish is given, in the list so far; -1: there is no room.
  int choose(const Wanted& asked) {
    const int signals = static_cast<int>(scales_.size());
    const int listed = static_cast<int>(weights_.size()) / signals;
    int nearest = -1;
    double least = asked.apart;
    for (int k = 0; k < listed; ++k) {
      const double apart = distance(asked.weights.data(), weights_.data() + k * signals, scales_);
      if (apart < least) least = apart, nearest = k;
    }
    if (nearest >= 0 && least <= kClose * asked.apart) return nearest;
    if (listed >= most_) return nearest;
    const auto lead = std::find_if(asked.weights.begin(), asked.weights.end(),
                                   [](double weight) { return weight > 0; });
    for (int j = 0; j < signals; ++j) weights_.push_back(asked.weights[j] / *lead);
    return listed;
  }

  PriceGrid make(const std::vector<Wanted>& wanted, const std::vector<int>& chosen, bool first,
                 const std::vector<double>& visits) const {
    const int signals = static_cast<int>(scales_.size());
    PriceGrid grid{Directions(signals - 1, weights_), {}, {}, false};
    const std::int64_t size = grid.directions.size(), old = before_.directions.size();
    grid.looks_at.assign(model_.own_states() * size, 0);
    grid.visits.assign(grid.looks_at.size(), 0.0);
    std::vector<int> place_of;  // of each direction of the list in the new order
    for (std::size_t k = 0; k * signals < weights_.size(); ++k)
      place_of.push_back(grid.directions.find(weights_.data() + k * signals));
    for (State place = 0; place < model_.own_states(); ++place) {
      for (std::int64_t k = 0; k < old; ++k) {
        if (!looked_at(place, k)) continue;
        grid.looks_at[place * size + place_of[k]] = 1;
        grid.visits[place * size + place_of[k]] = visits[model_.own(place) * old + k];
      }
    }
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (chosen[n] < 0) continue;
      const auto look = [&](State place) {
        char& looks_at = grid.looks_at[place * size + place_of[chosen[n]]];
        double& from = grid.visits[place * size + place_of[wanted[n].side / signals]];
        grid.finer |= looks_at == 0;
        looks_at = 1;
        grid.visits[place * size + place_of[chosen[n]]] += 0.5 * from;
        from *= 0.5;
      };
      for_each_own_place(wanted[n].state, first, look);
    }
    return grid;
  }

 private:
  // Signals that hardly count.
  void leave_out_negligible(std::array<double, Directions::kMostSignals>& weights) const {
    double size = 0;
    for (std::size_t j = 0; j < scales_.size(); ++j) size += weights[j] * scales_[j];
    for (std::size_t j = 0; j < scales_.size(); ++j)
      if (weights[j] * scales_[j] < kSame * size) weights[j] = 0;
  }
  bool looked_at(State place, std::int64_t k) const {
    return std::isfinite(before_.tolerance[std::int64_t{place} * before_.directions.size() + k]);
  }

  // Of a state that asks. At the first stage the states of the start look at the same directions.
  template <class Visit>
  void for_each_own_place(State whole, bool first, Visit visit) const {
    const auto is_asking = [&](State s) { return whole_number(model_, s) == whole; };
    const bool all = first && std::any_of(start_.states.begin(), start_.states.end(), is_asking);
    for (State place = 0; place < model_.own_states(); ++place) {
      const State s = model_.own(place);
      const bool starts =
          all && std::find(start_.states.begin(), start_.states.end(), s) != start_.states.end();
      if (starts || is_asking(s)) visit(place);
    }
  }

  const StagePlan& before_;
  const Model& model_;
  const Start& start_;
  std::span<const double> scales_;
  int most_;
  std::vector<double> weights_;  // [direction][signal], the new ones last
};

}  // namespace

Directions directions_around(const std::vector<double>& prices,
                             const std::vector<double>& deviation) {
  const int constraints = static_cast<int>(prices.size()), signals = constraints + 1;
  std::vector<double> centre = {1}, weights;
  centre.insert(centre.end(), prices.begin(), prices.end());
  const auto add = [&](auto weight) {
    for (int j = 0; j < signals; ++j) weights.push_back(weight(j));
  };
  for (unsigned signs = 0; signs < 1U << signals; ++signs) {  // those that leave some signals out
    const int count = std::popcount(signs);
    if (count == signals || count == 2 || (count > 2 && constraints <= kAllFaces))
      add([&](int j) { return signs >> j & 1 ? centre[j] : 0.0; });
  }
  const auto moved = [&](int j, int by) {
    return j == 0 ? 1.0 : centre[j] * std::exp(by * deviation[j - 1]);
  };
  for (const int by : {-1, 1}) {
    add([&](int j) { return moved(j, by); });
    for (int which = 1; which < signals; ++which)
      add([&](int j) { return moved(j, j == which ? by : 0); });
  }
  return {constraints, weights};
}

std::vector<PriceGrid> add_directions(const GapAttribution& gaps, double least, int most,
                                      const std::vector<StagePlan>& before, const Problem& problem,
                                      std::span<const double> scales, Workers& workers) {
  std::vector<PriceGrid> grids;
  for (std::size_t h = 0; h < before.size(); ++h) {
    workers.check_together();
    NextDirections next(before[h], problem, scales, most);
    const std::vector<Wanted> wanted = next.wanted(gaps.near[h], least, workers.ranks());
    std::vector<int> chosen;
    for (const Wanted& asked : wanted) chosen.push_back(next.choose(asked));
    grids.push_back(next.make(wanted, chosen, h == 0, gaps.visits[h]));
  }
  return grids;
}

}  // namespace redoubt::internal
