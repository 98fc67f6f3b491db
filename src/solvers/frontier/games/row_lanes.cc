#include "solvers/frontier/games/row_lanes.h"

#include <algorithm>
#include <cmath>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

// What the bounds of two directions say of one that lies between them.
double mixed(const double (&low)[2], double low_bound, const double (&high)[2], double high_bound,
             const double (&at)[2]) {
  const double area = low[0] * high[1] - low[1] * high[0];
  return ((at[0] * high[1] - at[1] * high[0]) * low_bound +
          (low[0] * at[1] - low[1] * at[0]) * high_bound) /
         area;
}

}  // namespace

void RowLanes::begin_row(const RowGame& game, std::span<const int> directions,
                         const GameHistory& history) {
  const Model& model = problem_->model();
  const auto first = model.outcome_begin(game.row);
  directions_ = directions;
  warm_starts_ = history.own;
  later_ = history.later;
  places_ = static_cast<int>(game.places.size());
  stride_ = padded_lanes(game.lanes(2));
  probability_.assign(places_, 0.0);
  extra_.assign(static_cast<std::size_t>(places_) * 2, 0.0);
  for (int i = 0; i < places_ - game.landing; ++i)
    probability_[i] = model.arrays().probability[first + i];
  for (int j = 0; j < 2; ++j) {
    const Channel& channel = channels_[j];
    own_[j] = channel.sign * model.value(channel.signal, game.row);
    for (int i = 0; i < places_ - game.landing; ++i)
      extra_[i * 2 + j] =
          channel.sign * model.outcome_value(channel.signal, first + i) / problem_->discount();
    make_room(weight_[j], stride_);
    make_room(kernel_[j], at(places_));
  }
  make_room(bound_, stride_);
  buckets_ = &game.ahead->buckets;
  inner_.resize(places_);
  outer_.resize(places_);
  inner_last_.resize(places_);
  for (int i = 0; i < places_; ++i) {
    inner_[i] = &game.ahead->corners_of(game.places[i])->reward;
    inner_last_[i] = (*game.curves)[game.places[i]].corners() - 1;
    outer_[i] = &game.ahead->bounds_of(game.places[i])->reward;
  }
  warm_starts_->kernels.resize(warm_starts_->warm_starts.size() * places_ * 2);
}

// A game begins where that of the next stage ended at the nearest price that was played for there.
const WarmStart* RowLanes::find_warm_start(const RowGame& game, int direction) {
  WarmStart& warm_start = warm_starts_->warm_starts[direction];
  if (warm_start.known) return &warm_start;
  if (!later_) return nullptr;
  const auto known = [&](int n) { return later_->warm_starts[n].known; };
  const std::vector<double>& prices = game.next->directions().prices();
  const int ray = static_cast<int>(prices.size());
  int from = game.ahead->nearest[direction];
  const double log_price = game.ahead->log_price[direction];
  const bool between = std::isfinite(log_price);  // zero and the ray say nothing of other prices
  if (between) {
    int low = from, high = from + 1;
    while (low > 0 && !known(low)) --low;
    while (high < ray && !known(high)) ++high;
    if (low == 0 && high == ray) return nullptr;
    const double price = std::exp(log_price);
    from = high == ray || (low > 0 && price - prices[low] <= prices[high] - price) ? low : high;
  }
  if (!known(from)) return nullptr;
  warm_start = later_->warm_starts[from];
  if (between) warm_start.exchange += std::log(prices[from]) - log_price;
  const auto copy = [&](const std::vector<float>& of_later, std::vector<float>& own, int each) {
    const std::size_t size = each, begin = from * size, to = direction * size;
    if (of_later.size() < begin + size || own.size() < to + size) return;
    std::copy_n(of_later.begin() + begin, size, own.begin() + to);
  };
  copy(later_->kernels, warm_starts_->kernels, places_ * 2);
  copy(later_->beyond, warm_starts_->beyond, places_);
  return &warm_start;
}

void RowLanes::remember_kernel(int direction, std::size_t lane) {
  float* kept = kept_kernel(direction);
  for (int i = 0; i < places_; ++i) {
    for (int j = 0; j < 2; ++j)
      kept[i * 2 + j] = static_cast<float>(kernel_[j][at(i, lane)] - probability_[i]);
  }
}

// What was moved is kept in single precision. Both ways are made the same amount, and less by more
// than they were rounded: then it is inside the set again, which is convex and holds p.
void RowLanes::restore_kernel(int direction, std::size_t lane) {
  constexpr double kKept = 1 - 1e-6;
  const float* kept = kept_kernel(direction);
  for (int j = 0; j < 2; ++j) {
    double up = 0, down = 0;
    for (int i = 0; i < places_; ++i) {
      const double moved = kept[i * 2 + j];
      (moved > 0 ? up : down) += std::abs(moved);
    }
    const double amount = kKept * std::min(up, down);
    const double rise = up > 0 ? amount / up : 0, fall = down > 0 ? amount / down : 0;
    for (int i = 0; i < places_; ++i) {
      const double moved = kept[i * 2 + j];
      kernel_[j][at(i, lane)] = probability_[i] + moved * (moved > 0 ? rise : fall);
    }
  }
}

// The kernels that told a lane hopeless are likely to tell it again. Bounds are convex between the
// directions, so the lanes between two that have been looked at are often settled without a look.
void RowLanes::leave_out_hopeless(const RowGame& game, std::vector<GameEnd>& ends) {
  constexpr int kBlock = 8;
  const int lanes = game.lanes(2);
  block_ends_.clear();
  for (int n = 0; n < lanes; ++n) {
    ends[n].lose(kInfinity);
    if (n % kBlock == 0 || n == lanes - 1) block_ends_.push_back(n);
  }
  look(game, block_ends_, ends);
  const auto hopeless = [&](int n) { return ends[n].bound <= game.beat[n]; };
  open_.clear();
  const auto weights = [&](int n, double(&to)[2]) {
    for (int j = 0; j < 2; ++j) to[j] = game.weights[j * lanes + n];
  };
  for (int low = 0, high; low + 1 < lanes; low = high) {
    high = std::min(low + kBlock, lanes - 1);
    double at_low[2], at_high[2], between[2];
    weights(low, at_low);
    weights(high, at_high);
    for (int n = low + 1; n < high; ++n) {
      weights(n, between);
      ends[n].lose(mixed(at_low, ends[low].bound, at_high, ends[high].bound, between));
      if (!hopeless(n)) open_.push_back(n);
    }
  }
  look(game, open_, ends);
  open_.clear();
  for (int n = 0; n < lanes; ++n) {
    if (!hopeless(n)) open_.push_back(n);
  }
}

void RowLanes::find_nominal_moments(const RowGame& game, std::span<const int> directions,
                                    std::int64_t* corner) {
  const auto all = static_cast<std::int64_t>(game.ahead->nearest.size());
  nominal_.assign(directions.size(), {});
  for (int i = 0; i < places_; ++i) {
    const CurveCorner* corners = game.ahead->corners_of(game.places[i]);
    const std::int64_t* best = game.ahead->best.data() + game.places[i] * all;
    for (std::size_t n = 0; n < directions.size(); ++n) {
      const std::int64_t of_lane = corner[at(i, n)] = best[directions[n]];
      const double value[2] = {corners[of_lane].reward + extra_[i * 2],
                               corners[of_lane].utility + extra_[i * 2 + 1]};
      for (int j = 0; j < 2; ++j) {
        nominal_[n].mean[j] += probability_[i] * value[j];
        nominal_[n].square[j] += probability_[i] * value[j] * value[j];
      }
    }
  }
}

// What the kernels that a lane remembers leave of anything.
void RowLanes::look(const RowGame& game, const std::vector<int>& chosen,
                    std::vector<GameEnd>& ends) {
  const int lanes = game.lanes(2);
  looked_.clear();
  for (const int n : chosen) {
    if (game.beat[n] == -kInfinity || !find_warm_start(game, directions_[n])) continue;
    const auto to = looked_.size();
    looked_.push_back(n);
    for (int j = 0; j < 2; ++j) weight_[j][to] = game.weights[j * lanes + n];
    restore_kernel(directions_[n], to);
  }
  add_bounds(static_cast<int>(looked_.size()));
  for (std::size_t m = 0; m < looked_.size(); ++m)
    ends[looked_[m]].lose(own_of(m) + problem_->discount() * bound_[m]);
}

// No policy has more than this to the kernels: the bounds of all places in the directions that they
// make.
void RowLanes::add_bounds(int lanes) {
  SupportSum sum = sum_over(lanes, outer_, sizeof(SupportEntry) / sizeof(double));
  sum.bucket_entry = buckets_->entry.data();
  sum.first_bucket = buckets_->first;
  sum.last_bucket = buckets_->last;
  sum_supports(sum, bound_.data());
}

// What the first lanes have of tables whose entries take so many numbers.
SupportSum RowLanes::sum_over(int lanes, const std::vector<const double*>& tables,
                              int entry) const {
  return {.places = places_,
          .lanes = lanes,
          .stride = stride_,
          .weight = {weight_[0].data(), weight_[1].data()},
          .kernel = {kernel_[0].data(), kernel_[1].data()},
          .extra = extra_.data(),
          .table = tables.data(),
          .size = entry};
}

}  // namespace redoubt::internal
