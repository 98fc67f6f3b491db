#include "solvers/frontier/search/refine.h"

#include <algorithm>
#include <cmath>

#include "numerics/exact_sum.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

// Beyond this price the reward does not count any more.
constexpr double kHighest = 1e100;
constexpr int kMostParts = 11;  // that an interval is cut into at once

// An interval cut into n parts loses 1/n^2 of what it lost. The fewest prices that bring the sum to
// the target cut an interval into parts in proportion to the cube root of its loss. This is their
// ratio.
double parts_per_root(double sum_of_roots, double target) {
  return std::sqrt(sum_of_roots / target);
}

// The prices that cut the interval between price n and the next, or the ray, into parts. Those of
// the last interval spread around the price that asks for them.
void cut(const std::vector<double>& list, std::size_t n, int parts,
         const GapAttribution::Interval& interval, std::vector<double>& prices) {
  const bool last = n + 1 == list.size();
  const double low = list[n], mean = interval.weighted_price / interval.loss;
  const double high = last ? 2 * mean - low : list[n + 1];
  for (int m = 1; m < parts; ++m) {
    const double price = parts == 2 ? mean : low + (high - low) * m / parts;
    const double apart = 1e-13 * price;  // closer ones are the same
    if (price - prices.back() > apart && (last ? price < kHighest : high - price > apart))
      prices.push_back(price);
  }
}

// One stage of refine_grids.
class StageGrid {
 public:
  StageGrid(const GapAttribution& gaps, int stage, const StagePlan& before, const Model& model)
      : model_(model),
        intervals_(gaps.intervals[stage]),
        before_(before),
        old_(before.directions.prices()),
        count_(static_cast<int>(old_.size())),
        states_(model.own_states()),
        loss_(gaps.state_loss[stage].data()),
        visits_(gaps.visits[stage].data()) {}

  // Of the losses of all states.
  void add_roots(ExactSum& sum, double unit) const {
    for (State s = 0; s < states_; ++s) {
      for (int low = 0, high; low < count_; low = high) {
        high = next(s, low);
        sum.add(std::cbrt(loss_of(s, low, high)), unit);
      }
    }
  }

  // Into how many parts each interval is to be cut for the state that asks for most.
  std::vector<int> parts(double ratio) {
    ratio_ = ratio;
    std::vector<int> parts(count_, 1);
    for (State s = 0; s < states_; ++s) {
      for (int low = 0, high; low < count_; low = high) {
        high = next(s, low);
        const int each = (parts_of(s, low, high) + high - low - 1) / (high - low);
        for (int n = low; n < high; ++n) parts[n] = std::max(parts[n], each);
      }
    }
    return parts;
  }

  PriceGrid make(const std::vector<int>& parts, int most) const {
    std::vector<double> prices;
    std::vector<int> place;  // of the old directions in the new list
    for (int n = 0; n < count_; ++n) {
      place.push_back(static_cast<int>(prices.size()));
      prices.push_back(old_[n]);
      const auto room = most - static_cast<int>(prices.size()) - (count_ - 1 - n);
      if (intervals_[n].loss > 0) cut(old_, n, std::min(parts[n], room + 1), intervals_[n], prices);
    }
    place.push_back(static_cast<int>(prices.size()));
    PriceGrid grid{Directions::of_prices(prices), {}, {}, false};
    grid.looks_at.assign(std::int64_t{states_} * grid.directions.size(), 0);
    grid.visits.assign(grid.looks_at.size(), 0.0);
    for (State s = 0; s < states_; ++s) look(s, place, grid);
    return grid;
  }

 private:
  bool looked_at(State state, int k) const {
    return std::isfinite(before_.tolerance[std::int64_t{state} * before_.directions.size() + k]);
  }
  int next(State state, int k) const {  // direction that the state looks at
    for (++k; k < count_ && !looked_at(state, k);) ++k;
    return k;
  }
  double loss_of(State state, int low, int high) const {
    double loss = 0;
    const double* losses = loss_ + std::int64_t{model_.own(state)} * count_;
    for (int n = low; n < high; ++n) loss += losses[n];
    return loss;
  }
  int parts_of(State state, int low, int high) const {
    const double parts = ratio_ * std::cbrt(loss_of(state, low, high));
    return parts < kMostParts ? std::max(1, static_cast<int>(std::lround(parts))) : kMostParts;
  }

  void look(State state, const std::vector<int>& place, PriceGrid& grid) const {
    const double* visits = visits_ + std::int64_t{model_.own(state)} * before_.directions.size();
    char* looks_at = grid.looks_at.data() + std::int64_t{state} * grid.directions.size();
    double* expected = grid.visits.data() + std::int64_t{state} * grid.directions.size();
    for (int low = 0, high; low < count_; low = high) {
      high = next(state, low);
      const int from = place[low], to = place[high];
      const int parts = std::min(parts_of(state, low, high), to - from);
      grid.finer |= parts > 1;
      const double share = 0.25 * (visits[low] + visits[high]) / parts;
      for (int part = 0; part <= parts; ++part) {
        const int k = from + (2 * part * (to - from) + parts) / (2 * parts);
        looks_at[k] = 1;
        expected[k] += part == 0 || part == parts ? share : 2 * share;
      }
    }
    expected[0] += 0.5 * visits[0];
    expected[place[count_]] += 0.5 * visits[count_];
  }

  const Model& model_;
  const std::vector<GapAttribution::Interval>& intervals_;
  const StagePlan& before_;
  const std::vector<double>& old_;
  int count_;                     // of old prices
  State states_;                  // of our own; a state below is the place of one
  const double *loss_, *visits_;  // of all states of the model
  double ratio_ = 0;              // parts for each unit of a loss's cube root
};

}  // namespace

std::vector<double> first_prices() {
  std::vector<double> prices = {0, 1.0 / 64};
  for (int step = 0; step < 7; ++step) prices.push_back(prices.back() * std::sqrt(8.0));  // to 22.6
  return prices;
}

std::vector<double> prices_around(double price, double deviation, int stages) {
  constexpr int kFewest = 6;       // to each side
  constexpr double kApart = 0.25;  // the logarithms of two prices, over kStages stages or fewer
  constexpr double kStages = 20;
  const double apart = kApart * std::sqrt(std::min(1.0, kStages / stages));
  const int half = std::max(kFewest, static_cast<int>(std::lround(deviation / apart)));
  std::vector<double> prices = {0};
  for (int n = -half; n <= half; ++n) prices.push_back(price * std::exp(deviation * n / half));
  return prices;
}

std::vector<PriceGrid> refine_grids(const GapAttribution& gaps, double target, int most,
                                    const std::vector<StagePlan>& before, const Model& model,
                                    Workers& workers) {
  Communicator& ranks = workers.ranks();
  std::vector<StageGrid> stages;
  const double unit = ExactSum::unit_for(std::cbrt(gaps.between_prices) + 1e-100);
  ExactSum own_roots, roots;
  for (std::size_t h = 0; h < before.size(); ++h) {
    workers.check();
    stages.emplace_back(gaps, static_cast<int>(h), before[h], model);
    stages.back().add_roots(own_roots, unit);
  }
  for (const ExactSum& part : all_gather_one(ranks, own_roots)) roots.add(part);
  std::vector<int> own;
  for (StageGrid& stage : stages) {
    workers.check();
    const std::vector<int> parts = stage.parts(parts_per_root(roots.value(unit), target));
    own.insert(own.end(), parts.begin(), parts.end());
  }
  const std::vector<int> all = all_gather<int>(ranks, own);
  for (std::size_t n = 0; n < all.size(); ++n)
    own[n % own.size()] = std::max(own[n % own.size()], all[n]);
  std::vector<PriceGrid> grids;
  auto begin = own.begin();
  for (std::size_t h = 0; h < before.size(); ++h) {
    workers.check();
    const auto end = begin + static_cast<std::ptrdiff_t>(before[h].directions.prices().size());
    grids.push_back(stages[h].make({begin, end}, most));
    begin = end;
  }
  return grids;
}

}  // namespace redoubt::internal
