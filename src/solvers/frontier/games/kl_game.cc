#include "solvers/frontier/games/kl_game.h"

#include <algorithm>
#include <cmath>

#include "numerics/infinity.h"
#include "numerics/tilted_rows.h"

namespace redoubt::internal {

void KlGame::solve(const RowGame& game, std::span<const int> directions, const GameHistory& history,
                   std::vector<GameEnd>& ends) {
  begin_row(game, directions, history);
  leave_out_hopeless(game, ends);
  begin(game);
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
      const double bound = own_of(n) + problem_->discount() * bound_[n];
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

void KlGame::begin(const RowGame& game) {
  const int lanes = game.lanes(2);
  radius_ = std::get<KL>(problem_->uncertainty()).radius.of(game.row);
  for (int j = 0; j < 2; ++j) {
    for (auto* array : {&exponent_[j], &share_[j], &point_[j]}) make_room(*array, at(places_));
    for (auto* array : {&cold_[j], &mean_[j]}) make_room(*array, stride_);
    make_room(moments_[j], static_cast<std::size_t>(kMoments) * stride_);
  }
  for (auto* array : {&exchange_, &smooth_, &value_, &most_}) make_room(*array, stride_);
  make_room(corner_, at(places_));

  lanes_.resize(open_.size());
  for (std::size_t m = 0; m < lanes_.size(); ++m) {
    Lane& lane = lanes_[m];
    lane.number = open_[m];
    lane.direction = directions_[lane.number];
    for (int j = 0; j < 2; ++j) lane.weight[j] = game.weights[j * lanes + lane.number];
    lane.tolerance = game.tolerance[lane.number] / problem_->discount();
    lane.log_price = game.ahead->log_price[lane.direction];
    lane.steps = 0;
    lane.restarted = lane.careful = lane.based = false;
    lane.smooth = 1;
  }
}

void KlGame::start(const RowGame& game) {
  const int lanes = static_cast<int>(lanes_.size());
  chosen_.clear();
  for (const Lane& lane : lanes_) chosen_.push_back(lane.direction);
  find_nominal_moments(game, chosen_, corner_.data());
  for (int n = 0; n < lanes; ++n) {
    Lane& lane = lanes_[n];
    const WarmStart* known = find_warm_start(game, lane.direction);
    for (int j = 0; j < 2; ++j) {
      lane.mean[j] = nominal_[n].mean[j];
      // A temperature times the radius is what its signal loses by not being colder.
      lane.coldest[j] = std::log(4 * radius_ * lane.weight[j] / lane.tolerance);
      const double variance = std::max(1e-300, nominal_[n].square[j] - lane.mean[j] * lane.mean[j]);
      const double guess = known ? known->level[j] : 0.5 * std::log(2 * radius_ / variance);
      lane.at[j] = lane.weight[j] > 0 ? std::min(guess, lane.coldest[j]) : 0.0;
    }
    lane.at[2] = known ? known->exchange : -lane.log_price;
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
    const auto begin = at(i);
    stand_on_curve({.lanes = lanes,
                    .corners = game.ahead->corners_of(game.places[i]),
                    .last = inner_last_[i],
                    .shift = {extra_[i * 2], extra_[i * 2 + 1]},
                    .cold = {cold_[0].data(), cold_[1].data()},
                    .mean = {mean_[0].data(), mean_[1].data()},
                    .exchange = exchange_.data(),
                    .smooth = smooth_.data(),
                    .corner = corner_.data() + begin,
                    .first_guess = first,
                    .value = {point_[0].data() + begin, point_[1].data() + begin},
                    .exponent = {exponent_[0].data() + begin, exponent_[1].data() + begin},
                    .share = {share_[0].data() + begin, share_[1].data() + begin}});
    if (probability_[i] > 0) continue;
    for (auto& exponent : exponent_) std::fill_n(exponent.begin() + begin, stride_, -1e30);
  }
}

// The worst kernels where the places stand, and how they change with the three numbers.
void KlGame::tilt() {
  const TiltedRows rows{places_,
                        static_cast<int>(lanes_.size()),
                        stride_,
                        probability_.data(),
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
  SupportSum sum = sum_over_points(lanes);
  sum.guess = corner_.data();
  sum_supports(sum, most_.data());
  bool look = look_this_round(round);
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
  WarmStart& known = warm_starts_->warm_starts[lane.direction];
  known = {.level = {lane.at[0], lane.at[1]}, .exchange = lane.at[2], .known = true};
  remember_kernel(lane.direction, n);
}

void KlGame::finish(int n, GameEnd& end) {
  end.value = own_of(n) + problem_->discount() * value_[n];
  end.gap = problem_->discount() * (most_[n] - value_[n]);
  end.promises.resize(places_);
  for (int i = 0; i < places_; ++i) {
    end.promises[i] = {point_[1][at(i, n)], static_cast<std::int32_t>(corner_[at(i, n)])};
  }
  remember(n);
  end.kernel.resize(static_cast<std::size_t>(places_) * 2);
  for (int i = 0; i < places_; ++i) {
    for (int j = 0; j < 2; ++j) end.kernel[i * 2 + j] = kernel_[j][at(i, n)];
  }
}

void KlGame::keep(const std::vector<int>& open) {
  for (std::size_t m = 0; m < open.size(); ++m) lanes_[m] = lanes_[open[m]];
  for (int i = 0; i < places_; ++i) {
    std::int64_t* corner = corner_.data() + at(i);
    for (std::size_t m = 0; m < open.size(); ++m) corner[m] = corner[open[m]];
  }
  lanes_.resize(open.size());
}

}  // namespace redoubt::internal
