#include "solvers/frontier/games/curve_game.h"

#include <algorithm>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

// Rounds of other stages that count. With more, games are too slow where the sets change.
constexpr double kMostRemembered = 24;

}  // namespace

void CurveGame::solve(const RowGame& game, std::span<const int> directions,
                      const GameHistory& history, std::vector<GameEnd>& ends) {
  begin_row(game, directions, history);
  warm_starts_->beyond.resize(warm_starts_->warm_starts.size() * places_);
  leave_out_hopeless(game, ends);
  start(game);
  for (int round = 1; !lanes_.empty(); ++round) {
    move_points(game);
    answer_points(game);
    judge(game, round, ends);
    move_kernels();
    leave_out_ended();
  }
}

void CurveGame::start(const RowGame& game) {
  const int lanes = game.lanes(2);
  const auto directions = static_cast<std::int64_t>(game.ahead->nearest.size());
  width_ = padded_lanes(static_cast<int>(open_.size()));
  if (static_cast<int>(points_.size()) < places_) points_.resize(places_);
  for (int i = 0; i < places_; ++i) make_room(points_[i], std::size_t{2} * stride_);
  for (auto* array : {&step_, &most_, &value_}) make_room(*array, stride_);
  for (auto* array : {&best_, &corner_}) make_room(*array, at(places_));
  make_room(answer_, 2 * at(places_ + 1));
  make_room(result_, std::size_t{2} * stride_);
  lanes_.clear();
  for (std::size_t n = 0; n < open_.size(); ++n) {
    const int direction = directions_[open_[n]];
    const WarmStart* known = find_warm_start(game, direction);
    lanes_.push_back({open_[n], direction,
                      known ? std::min<double>(known->rounds, kMostRemembered) : 0.0, kInfinity,
                      false});
    for (int j = 0; j < 2; ++j) {
      weight_[j][n] = game.weights[j * lanes + open_[n]];
      for (int i = 0; i < places_; ++i) kernel_[j][at(i, n)] = probability_[i];
    }
    if (known) restore_kernel(direction, n);
    const bool stood = known && known->rounds > 0;
    for (int i = 0; i < places_; ++i) {
      const std::int64_t corner = game.ahead->best[game.places[i] * directions + direction];
      best_[at(i, n)] = corner_[at(i, n)] = corner;
      reward(i)[n] = game.ahead->corners_of(game.places[i])[corner].reward;
      utility(i)[n] = game.ahead->corners_of(game.places[i])[corner].utility +
                      (stood ? beyond(direction)[i] : 0.0F);
    }
  }
  pad();
}

// What is left of the last block is the last lane again.
void CurveGame::pad() {
  const auto fill = [&](auto* array) {
    std::fill(array + lanes_.size(), array + width_, array[lanes_.size() - 1]);
  };
  if (lanes_.empty()) return;
  for (auto& weight : weight_) fill(weight.data());
  for (int i = 0; i < places_; ++i) {
    for (auto& kernel : kernel_) fill(kernel.data() + at(i));
    for (auto* corners : {&best_, &corner_}) fill(corners->data() + at(i));
    fill(reward(i));
    fill(utility(i));
  }
}

// Every place answers the kernels; what its best points are worth to them is added up.
void CurveGame::move_points(const RowGame& game) {
  for (int n = 0; n < width_; ++n)
    step_[n] = 2 / (lanes_[std::min<std::size_t>(n, lanes_.size() - 1)].rounds + 2);
  for (Lane& lane : lanes_) ++lane.rounds;
  std::fill_n(most_.begin(), width_, 0.0);
  for (int i = 0; i < places_; ++i)
    step_on_curve({.lanes = width_,
                   .corners = game.ahead->corners_of(game.places[i]),
                   .last = inner_last_[i],
                   .shift = {extra_[i * 2], extra_[i * 2 + 1]},
                   .weight = {weight_[0].data(), weight_[1].data()},
                   .kernel = {kernel_[0].data() + at(i), kernel_[1].data() + at(i)},
                   .step = step_.data(),
                   .best = best_.data() + at(i),
                   .corner = corner_.data() + at(i),
                   .reward = reward(i),
                   .utility = utility(i),
                   .sum = most_.data()});
}

// Nature answers where the places stand, for each signal on its own; what she leaves is guaranteed.
void CurveGame::answer_points(const RowGame& game) {
  pointers_.resize(places_);
  for (int i = 0; i < places_; ++i) pointers_[i] = reward(i);
  rows_.worst(game.row, channels_, 2 * width_, pointers_.data(),
              game.landing ? pointers_[places_ - 1] : nullptr, result_.data(), answer_.data());
  for (int n = 0; n < width_; ++n)
    value_[n] = weight_[0][n] * result_[n] + weight_[1][n] * result_[width_ + n];
}

// The gap of the game is measured with the points on both sides: what the next stage does not know
// of its own sets is not for this row to find out. Bounds are looked at when a lane ends, and now
// and then, because a lane also ends when its row turns out not to matter.
void CurveGame::judge(const RowGame& game, int round, std::vector<GameEnd>& ends) {
  const auto gap = [&](std::size_t n) {
    return own_of(n) + problem_->discount() * most_[n] - value_[n];
  };
  const auto last_round = [&](std::size_t n) {
    return gap(n) <= game.tolerance[lanes_[n].number] || round >= game.rounds;
  };
  bool look = look_this_round(round);
  for (std::size_t n = 0; n < lanes_.size() && !look; ++n) look = !lanes_[n].ended && last_round(n);
  if (look) add_bounds(static_cast<int>(lanes_.size()));
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    Lane& lane = lanes_[n];
    if (lane.ended) continue;
    if (look) lane.bound = std::min(lane.bound, own_of(n) + problem_->discount() * bound_[n]);
    GameEnd& end = ends[lane.number];
    if (lane.bound <= game.beat[lane.number]) {
      end.lose(lane.bound);
    } else if (last_round(n)) {
      end.bound = lane.bound;
      end.value = value_[n];
      end.gap = gap(n);
      finish(n, end);
    } else {
      continue;
    }
    lane.ended = true;
    remember(game, n);
  }
}

void CurveGame::finish(std::size_t n, GameEnd& end) {
  end.promises.resize(places_);
  end.kernel.resize(static_cast<std::size_t>(places_) * 2);
  for (int i = 0; i < places_; ++i) {
    end.promises[i] = {utility(i)[n], static_cast<std::int32_t>(corner_[at(i, n)])};
    for (int j = 0; j < 2; ++j) end.kernel[i * 2 + j] = kernel_[j][at(i, n)];
  }
}

void CurveGame::remember(const RowGame& game, std::size_t n) {
  const auto directions = static_cast<std::int64_t>(game.ahead->nearest.size());
  const Lane& lane = lanes_[n];
  WarmStart& known = warm_starts_->warm_starts[lane.direction];
  known.known = true;
  known.rounds = static_cast<float>(lane.rounds);
  remember_kernel(lane.direction, n);
  for (int i = 0; i < places_; ++i) {
    const std::int64_t best = game.ahead->best[game.places[i] * directions + lane.direction];
    beyond(lane.direction)[i] =
        static_cast<float>(utility(i)[n] - game.ahead->corners_of(game.places[i])[best].utility);
  }
}

void CurveGame::move_kernels() {
  for (int i = 0; i < places_; ++i) {
    for (int j = 0; j < 2; ++j) {
      double* kernel = kernel_[j].data() + at(i);
      const double* answer = answer_.data() + (2 * static_cast<std::size_t>(i) + j) * width_;
      for (int n = 0; n < width_; ++n) kernel[n] += step_[n] * (answer[n] - kernel[n]);
    }
  }
}

// As soon as that leaves whole blocks of lanes empty.
void CurveGame::leave_out_ended() {
  keep_.clear();
  for (std::size_t n = 0; n < lanes_.size(); ++n)
    if (!lanes_[n].ended) keep_.push_back(n);
  const int width = padded_lanes(static_cast<int>(keep_.size()));
  if (width == width_) return;
  const auto compact = [&](const auto* from, auto* to) {
    for (std::size_t m = 0; m < keep_.size(); ++m) to[m] = from[keep_[m]];
  };
  compact(lanes_.data(), lanes_.data());
  lanes_.resize(keep_.size());
  for (auto& weight : weight_) compact(weight.data(), weight.data());
  for (int i = 0; i < places_; ++i) {
    for (auto& kernel : kernel_) compact(kernel.data() + at(i), kernel.data() + at(i));
    for (auto* corners : {&best_, &corner_})
      compact(corners->data() + at(i), corners->data() + at(i));
    compact(reward(i), reward(i));
    compact(utility(i), points_[i].data() + width);
  }
  width_ = width;
  pad();
}

}  // namespace redoubt::internal
