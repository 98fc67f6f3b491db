#include "solvers/frontier/games/kl_game.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/infinity.h"
#include "numerics/tilted_rows.h"
#include "sets/row.h"

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

void KlGame::solve(const RowGame& game, std::span<const int> directions, const KlHistory& history,
                   std::vector<GameEnd>& ends) {
  warm_starts_ = history.own;
  later_ = history.later;
  begin(game, directions);
  leave_out_hopeless(game, ends);
  start(game);
  for (int round = 1; !lanes_.empty(); ++round) {
    line_up();
    take_places(game, round == 1);
    tilt();
    judge(game, round);
    open_.clear();
    for (int n = 0; n < static_cast<int>(lanes_.size()); ++n) {
      const Lane& lane = lanes_[n];
      GameEnd& end = ends[lane.number];
      const double bound = own_of(lane) + problem_->discount() * bound_[n];
      if (bound <= game.beat[lane.number]) {  // the row does not matter
        end.lose(bound);
        remember(n);
      } else if (ended(game, n, round)) {
        end.bound = bound;
        finish(n, end);
      } else {
        step(n);
        open_.push_back(n);
      }
    }
    keep(open_);
  }
}

void KlGame::begin(const RowGame& game, std::span<const int> directions) {
  const Model& model = problem_->model();
  const auto first = model.outcome_begin(game.row);
  const int lanes = game.lanes(2);
  places_ = static_cast<int>(game.places.size());
  stride_ = padded_lanes(lanes);
  radius_ = std::get<KL>(problem_->uncertainty()).radius.of(game.row);
  probability_ = model.arrays().probability.data() + first;
  extra_.resize(static_cast<std::size_t>(places_) * 2);
  for (int j = 0; j < 2; ++j) {
    own_[j] = channels_[j].sign * model.value(channels_[j].signal, game.row);
    for (int i = 0; i < places_; ++i)
      extra_[i * 2 + j] = channels_[j].sign * model.outcome_value(channels_[j].signal, first + i) /
                          problem_->discount();
  }
  buckets_ = &game.ahead->buckets;
  make_room();
  for (int i = 0; i < places_; ++i) {
    inner_[i] = &game.ahead->corners_of(game.places[i])->reward;
    inner_last_[i] = (*game.curves)[game.places[i]].corners() - 1;
    outer_[i] = &game.ahead->bounds_of(game.places[i])->reward;
  }
  warm_starts_->kernels.resize(warm_starts_->warm_starts.size() * places_ * 2);

  lanes_.resize(lanes);
  for (int n = 0; n < lanes; ++n) {
    Lane& lane = lanes_[n];
    lane.number = n;
    lane.direction = directions[n];
    for (int j = 0; j < 2; ++j) lane.weight[j] = game.weights[j * lanes + n];
    lane.tolerance = game.tolerance[n] / problem_->discount();
    lane.log_price = game.ahead->log_price[lane.direction];
    lane.steps = 0;
    lane.restarted = lane.careful = lane.based = false;
    lane.smooth = 1;
  }
}

void KlGame::make_room() {
  const auto room = [](auto& array, std::size_t size) {
    if (array.size() < size) array.resize(size);
  };
  const auto all = static_cast<std::size_t>(places_) * stride_;
  for (int j = 0; j < 2; ++j) {
    for (auto* array : {&exponent_[j], &share_[j], &kernel_[j], &point_[j]}) room(*array, all);
    for (auto* array : {&weight_[j], &cold_[j], &mean_[j]}) room(*array, stride_);
    room(moments_[j], static_cast<std::size_t>(kMoments) * stride_);
  }
  for (auto* array : {&exchange_, &smooth_, &value_, &most_, &bound_}) room(*array, stride_);
  room(corner_, all);
  for (auto* table : {&inner_, &outer_}) room(*table, places_);
  room(inner_last_, places_);
}

// Where a lane stands, if that is known. A game begins where that of the next stage ended at the
// nearest price that was played for there.
bool KlGame::find_warm_start(const RowGame& game, int direction) {
  KlWarmStart& warm_start = warm_starts_->warm_starts[direction];
  if (warm_start.known || !later_) return warm_start.known;
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
    if (low == 0 && high == ray) return false;
    const double price = std::exp(log_price);
    from = high == ray || (low > 0 && price - prices[low] <= prices[high] - price) ? low : high;
  }
  if (!known(from)) return false;
  warm_start = later_->warm_starts[from];
  if (between) warm_start.exchange += std::log(prices[from]) - log_price;
  const int size = places_ * 2;
  std::copy_n(later_->kernels.data() + static_cast<std::size_t>(from) * size, size,
              kept_kernel(direction));
  return true;
}

// The kernels that told a lane hopeless are likely to tell it again. Bounds are convex between the
// directions, so the lanes between two that have been looked at are often settled without a look.
void KlGame::leave_out_hopeless(const RowGame& game, std::vector<GameEnd>& ends) {
  constexpr int kBlock = 8;
  const int lanes = static_cast<int>(lanes_.size());
  block_ends_.clear();
  for (int n = 0; n < lanes; ++n) {
    ends[n].lose(kInfinity);
    if (n % kBlock == 0 || n == lanes - 1) block_ends_.push_back(n);
  }
  look(game, block_ends_, ends);
  const auto hopeless = [&](int n) { return ends[n].bound <= game.beat[n]; };
  open_.clear();
  for (int low = 0, high; low + 1 < lanes; low = high) {
    high = std::min(low + kBlock, lanes - 1);
    for (int n = low + 1; n < high; ++n) {
      ends[n].lose(mixed(lanes_[low].weight, ends[low].bound, lanes_[high].weight, ends[high].bound,
                         lanes_[n].weight));
      if (!hopeless(n)) open_.push_back(n);
    }
  }
  look(game, open_, ends);
  open_.clear();
  for (int n = 0; n < lanes; ++n) {
    if (!hopeless(n)) open_.push_back(n);
  }
  for (std::size_t m = 0; m < open_.size(); ++m) lanes_[m] = lanes_[open_[m]];
  lanes_.resize(open_.size());
}

// What the kernels that a lane remembers leave of anything. They are kept in single precision: made
// to sum to one and moved towards p by more than they were rounded, they are inside the ball again.
void KlGame::look(const RowGame& game, const std::vector<int>& chosen, std::vector<GameEnd>& ends) {
  constexpr double kKept = 1 - 1e-5;
  looked_.clear();
  for (const int n : chosen) {
    const Lane& lane = lanes_[n];
    if (game.beat[n] == -kInfinity || !find_warm_start(game, lane.direction)) continue;
    const auto to = looked_.size();
    looked_.push_back(n);
    const float* kept = kept_kernel(lane.direction);
    for (int j = 0; j < 2; ++j) {
      weight_[j][to] = lane.weight[j];
      double sum = 0;
      for (int i = 0; i < places_; ++i) sum += kept[i * 2 + j];
      const double scale = kKept / sum;
      for (int i = 0; i < places_; ++i)
        kernel_[j][static_cast<std::size_t>(i) * stride_ + to] =
            scale * kept[i * 2 + j] + (1 - kKept) * probability_[i];
    }
  }
  add_bounds(static_cast<int>(looked_.size()));
  for (std::size_t m = 0; m < looked_.size(); ++m) {
    const int n = looked_[m];
    ends[n].lose(own_of(lanes_[n]) + problem_->discount() * bound_[m]);
  }
}

// No policy has more than this to the kernels: the bounds of all places in the directions that they
// make.
void KlGame::add_bounds(int lanes) {
  SupportSum sum = sum_over(lanes, outer_, sizeof(SupportEntry));
  sum.bucket_entry = buckets_->entry.data();
  sum.first_bucket = buckets_->first;
  sum.last_bucket = buckets_->last;
  sum_supports(sum, bound_.data());
}

// What the first lanes have of tables whose entries take so many bytes.
SupportSum KlGame::sum_over(int lanes, const std::vector<const double*>& tables,
                            std::size_t entry) const {
  return {.places = places_,
          .lanes = lanes,
          .stride = stride_,
          .weight = {weight_[0].data(), weight_[1].data()},
          .kernel = {kernel_[0].data(), kernel_[1].data()},
          .extra = extra_.data(),
          .table = tables.data(),
          .size = static_cast<int>(entry / sizeof(double))};
}

void KlGame::start(const RowGame& game) {
  const int lanes = static_cast<int>(lanes_.size());
  // The mean and variance that every signal has where the nominal row leads.
  std::vector<double>& square = moments_[0];  // not in use yet
  std::fill_n(square.begin(), 2 * lanes, 0.0);
  for (Lane& lane : lanes_) lane.mean[0] = lane.mean[1] = 0;
  const auto directions = static_cast<std::int64_t>(game.ahead->nearest.size());
  for (int i = 0; i < places_; ++i) {
    const CurveCorner* corners = game.ahead->corners_of(game.places[i]);
    const std::int64_t* best = game.ahead->best.data() + game.places[i] * directions;
    for (int n = 0; n < lanes; ++n) {
      Lane& lane = lanes_[n];
      const std::int64_t corner = best[lane.direction];
      corner_[static_cast<std::size_t>(i) * stride_ + n] = corner;
      const double value[2] = {corners[corner].reward + extra_[i * 2],
                               corners[corner].utility + extra_[i * 2 + 1]};
      for (int j = 0; j < 2; ++j) {
        lane.mean[j] += probability_[i] * value[j];
        square[j * lanes + n] += probability_[i] * value[j] * value[j];
      }
    }
  }
  for (int n = 0; n < lanes; ++n) {
    Lane& lane = lanes_[n];
    const bool known = find_warm_start(game, lane.direction);
    const KlWarmStart& warm_start = warm_starts_->warm_starts[lane.direction];
    for (int j = 0; j < 2; ++j) {
      // A temperature times the radius is what its signal loses by not being colder.
      lane.coldest[j] = std::log(4 * radius_ * lane.weight[j] / lane.tolerance);
      const double variance = std::max(1e-300, square[j * lanes + n] - lane.mean[j] * lane.mean[j]);
      const double guess = known ? warm_start.log_cold[j] : 0.5 * std::log(2 * radius_ / variance);
      lane.at[j] = lane.weight[j] > 0 ? std::min(guess, lane.coldest[j]) : 0.0;
    }
    lane.at[2] = known ? warm_start.exchange : -lane.log_price;
    if (!std::isfinite(lane.log_price)) lane.at[2] = lane.log_price < 0 ? 1e30 : -1e30;
  }
}

// What the search knows of the lanes, as the kernels take it.
void KlGame::line_up() {
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    const Lane& lane = lanes_[n];
    for (int j = 0; j < 2; ++j) {
      weight_[j][n] = lane.weight[j];
      cold_[j][n] = std::exp(lane.at[j]);
      mean_[j][n] = lane.mean[j];
    }
    exchange_[n] = lane.at[2];
    smooth_[n] = lane.smooth;
  }
}

// Every place goes to where its curve trades at the price that the kernels make of it: along an
// edge the logarithm of the price that they make falls in a straight line.
void KlGame::take_places(const RowGame& game, bool first) {
  const int lanes = static_cast<int>(lanes_.size());
  evaluations_ += 2.0 * lanes;
  for (int i = 0; i < places_; ++i) {
    const auto at = static_cast<std::size_t>(i) * stride_;
    stand_on_curve({.lanes = lanes,
                    .corners = game.ahead->corners_of(game.places[i]),
                    .last = inner_last_[i],
                    .shift = {extra_[i * 2], extra_[i * 2 + 1]},
                    .cold = {cold_[0].data(), cold_[1].data()},
                    .mean = {mean_[0].data(), mean_[1].data()},
                    .exchange = exchange_.data(),
                    .smooth = smooth_.data(),
                    .corner = corner_.data() + at,
                    .first_guess = first,
                    .value = {point_[0].data() + at, point_[1].data() + at},
                    .exponent = {exponent_[0].data() + at, exponent_[1].data() + at},
                    .share = {share_[0].data() + at, share_[1].data() + at}});
    if (probability_[i] > 0) continue;
    for (auto& exponent : exponent_) std::fill_n(exponent.begin() + at, stride_, -1e30);
  }
}

// The worst kernels where the places stand, and how they change with the three numbers.
void KlGame::tilt() {
  const TiltedRows rows{places_,
                        static_cast<int>(lanes_.size()),
                        stride_,
                        probability_,
                        {exponent_[0].data(), exponent_[1].data()},
                        {share_[0].data(), share_[1].data()},
                        radius_};
  TiltMoments moments[2];
  for (int j = 0; j < 2; ++j) {
    const auto part = [&](int which) { return moments_[j].data() + which * stride_; };
    moments[j] = {part(kLogSum),
                  part(kDivergence),
                  {part(kLogSumBy), part(kLogSumBy + 1), part(kLogSumBy + 2)},
                  {part(kDivergenceBy), part(kDivergenceBy + 1), part(kDivergenceBy + 2)},
                  kernel_[j].data()};
  }
  tilt_rows(rows, moments);
}

// What the kernels leave of the points of all places, and of anything. The latter is looked at when
// a lane ends, and now and then, because a lane also ends when its row turns out not to matter.
void KlGame::judge(const RowGame& game, int round) {
  const int lanes = static_cast<int>(lanes_.size());
  SupportSum sum = sum_over(lanes, inner_, sizeof(CurveCorner));
  sum.guess = corner_.data();
  sum_supports(sum, most_.data());
  bool look = (round & (round - 1)) == 0;
  for (int n = 0; n < lanes; ++n) {
    value_[n] = value_of(n);
    look |= ended(game, n, round);
  }
  if (look) {
    add_bounds(lanes);
  } else {
    std::fill_n(bound_.begin(), lanes, kInfinity);
  }
}

bool KlGame::ended(const RowGame& game, int n, int round) const {
  return most_[n] - value_[n] <= lanes_[n].tolerance || round >= game.rounds;
}

// What the points guarantee at these temperatures; at the best ones it is their worst case.
double KlGame::value_of(int n) const {
  const Lane& lane = lanes_[n];
  double value = 0;
  for (int j = 0; j < 2; ++j) {
    if (lane.weight[j] <= 0) continue;
    const double log_sum = moments_[j][kLogSum * stride_ + n];
    value += lane.weight[j] * (lane.mean[j] - (log_sum + radius_) / cold_[j][n]);
  }
  return value;
}

void KlGame::remember(int n) {
  const Lane& lane = lanes_[n];
  warm_starts_->warm_starts[lane.direction] = {{lane.at[0], lane.at[1]}, lane.at[2], true};
  float* kept = kept_kernel(lane.direction);
  for (int i = 0; i < places_; ++i) {
    for (int j = 0; j < 2; ++j)
      kept[i * 2 + j] = static_cast<float>(kernel_[j][static_cast<std::size_t>(i) * stride_ + n]);
  }
}

void KlGame::finish(int n, GameEnd& end) {
  const Lane& lane = lanes_[n];
  end.value = own_of(lane) + problem_->discount() * value_[n];
  end.gap = problem_->discount() * (most_[n] - value_[n]);
  end.promises.resize(places_);
  for (int i = 0; i < places_; ++i) {
    const auto at = static_cast<std::size_t>(i) * stride_ + n;
    end.promises[i] = {point_[1][at], static_cast<std::int32_t>(corner_[at])};
  }
  remember(n);
  end.kernel.resize(static_cast<std::size_t>(places_) * 2);
  for (int i = 0; i < places_; ++i) {
    for (int j = 0; j < 2; ++j)
      end.kernel[i * 2 + j] = kernel_[j][static_cast<std::size_t>(i) * stride_ + n];
  }
}

void KlGame::keep(const std::vector<int>& open) {
  for (std::size_t m = 0; m < open.size(); ++m) lanes_[m] = lanes_[open[m]];
  for (int i = 0; i < places_; ++i) {
    std::int64_t* corner = corner_.data() + static_cast<std::size_t>(i) * stride_;
    for (std::size_t m = 0; m < open.size(); ++m) corner[m] = corner[open[m]];
  }
  lanes_.resize(open.size());
}

}  // namespace redoubt::internal
