#include "solvers/frontier/games/averaged_response_game.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace redoubt::internal {
void AveragedResponseGame::solve(const RowGame& game, std::vector<GameEnd>& ends) {
  ends_ = &ends;
  begin(game);
  for (round_ = 0; round_ < game.rounds && lanes_ > 0;) {
    const double step = 2.0 / (round_ + 2.0);
    answer_kernels(game, step);
    answer_points(game);
    ++round_;
    drop_settled(game);
    if (round_ < game.rounds) move_kernels(step);
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    find_bound(game, lane);
    harvest(lane);
  }
}

void AveragedResponseGame::begin(const RowGame& game) {
  const Model& model = problem_->model();
  const int signals = static_cast<int>(channels_.size());
  const int places = static_cast<int>(game.places.size());
  const auto first = model.outcome_begin(game.row);
  lanes_ = all_ = static_cast<int>(game.weights.size()) / signals;
  played_.assign(all_, 0);
  weights_.assign(game.weights.begin(), game.weights.end());
  lane_.resize(lanes_);
  std::iota(lane_.begin(), lane_.end(), 0);
  padded_ = padded_lanes(signals * lanes_);
  if (static_cast<int>(points_.size()) < places) points_.resize(places);
  pointers_.resize(places);
  kernel_.resize(static_cast<std::size_t>(model.most_outcomes() + 1) * padded_);
  answer_.resize(kernel_.size());
  for (int i = 0; i < places; ++i) {
    if (static_cast<int>(points_[i].size()) < padded_) points_[i].resize(padded_);
    std::fill_n(points_[i].begin(), padded_, 0.0);
    pointers_[i] = points_[i].data();
    const bool landing = game.landing && i == places - 1;
    std::fill_n(kernel_.begin() + std::int64_t{i} * padded_, padded_,
                landing ? 0.0 : model.arrays().probability[first + i]);
  }
  result_.resize(padded_);
  bound_.assign(lanes_, std::numeric_limits<double>::infinity());
  value_.assign(lanes_, -std::numeric_limits<double>::infinity());
  near_.assign(static_cast<std::size_t>(places) * lanes_, 0);
  history_.clear();
}

// Every place answers the average kernels by its best point in the direction that they make of the
// lane's.
void AveragedResponseGame::answer_kernels(const RowGame& game, double step) {
  const Model& model = problem_->model();
  const int signals = static_cast<int>(channels_.size());
  const int places = static_cast<int>(game.places.size());
  const double discount = problem_->discount();
  support_.assign(lanes_, 0.0);
  inner_.assign(lanes_, 0.0);
  history_.resize(history_.size() + static_cast<std::size_t>(places) * all_);
  for (int i = 0; i < places; ++i) answer_place(game, i, step);
  for (int j = 0; j < signals; ++j) {
    const auto& outcome_values = model.outcome_values(channels_[j].signal);
    const double own = channels_[j].sign * model.value(channels_[j].signal, game.row) / discount;
    for (int lane = 0; lane < lanes_; ++lane) {
      double earned = own;
      if (!outcome_values.empty()) {
        for (int i = 0; i < places - game.landing; ++i) {
          const double extra =
              channels_[j].sign * outcome_values[model.outcome_begin(game.row) + i] / discount;
          earned += kernel_[std::int64_t{i} * padded_ + j * lanes_ + lane] * extra;
        }
      }
      support_[lane] += weights_[j * lanes_ + lane] * earned;
      inner_[lane] += weights_[j * lanes_ + lane] * earned;
    }
  }
}

void AveragedResponseGame::answer_place(const RowGame& game, int place, double step) {
  const int signals = game.next->directions().signals();
  const double* kernel = kernel_.data() + std::int64_t{place} * padded_;
  double q[Directions::kMostSignals];
  std::int32_t* history = history_.data() + history_.size() -
                          (game.places.size() - static_cast<std::size_t>(place)) * all_;
  for (int lane = 0; lane < lanes_; ++lane) {
    for (int j = 0; j < signals; ++j)
      q[j] = weights_[j * lanes_ + lane] * kernel[j * lanes_ + lane];
    std::int32_t best = 0;
    inner_[lane] += game.supports->inside(game.places[place], q, best);
    for (int j = 0; j < signals; ++j) {
      double& average = points_[place][j * lanes_ + lane];
      average += step * (game.next->points(game.places[place], j)[best] - average);
    }
    history[lane_[lane]] = best;
  }
}

// With several constraints the bound of the average kernels takes more than all else of a round,
// and is found when a lane may be settled by it.
void AveragedResponseGame::find_bound(const RowGame& game, int lane) {
  const int signals = static_cast<int>(channels_.size());
  double q[Directions::kMostSignals];
  Directions::Parts parts;
  double sum = support_[lane];
  for (std::size_t i = 0; i < game.places.size(); ++i) {
    for (int j = 0; j < signals; ++j)
      q[j] = weights_[j * lanes_ + lane] * kernel_[i * padded_ + j * lanes_ + lane];
    int& near = near_[i * lanes_ + lane];
    if (near == 0 && lane > 0) near = near_[i * lanes_ + lane - 1];
    sum += game.supports->outside(game.places[i], q, near, parts);
  }
  bound_[lane] = std::min(bound_[lane], problem_->discount() * sum);
}

// Nature answers the average points, for each signal on its own; what she leaves is guaranteed.
void AveragedResponseGame::answer_points(const RowGame& game) {
  const int signals = static_cast<int>(channels_.size());
  const int places = static_cast<int>(game.places.size());
  rows_.worst(game.row, channels_, signals * lanes_, pointers_.data(),
              game.landing ? pointers_[places - 1] : nullptr, result_.data(), answer_.data());
  for (int lane = 0; lane < lanes_; ++lane) {
    double sum = 0;
    for (int j = 0; j < signals; ++j)
      sum += weights_[j * lanes_ + lane] * result_[j * lanes_ + lane];
    value_[lane] = sum;
  }
}

void AveragedResponseGame::move_kernels(double step) {
  const auto count = static_cast<std::int64_t>(pointers_.size()) * padded_;
  for (std::int64_t n = 0; n < count; ++n) kernel_[n] += step * (answer_[n] - kernel_[n]);
}

// The gap of the game is measured with the achievable points on both sides: what the next stage
// does not know of its own sets is not for this row to find out.
bool AveragedResponseGame::settled(const RowGame& game, int lane) const {
  return gap_now(lane) <= game.tolerance[lane_[lane]] || bound_[lane] <= game.beat[lane_[lane]];
}

void AveragedResponseGame::harvest(int lane) {
  const auto signals = channels_.size();
  GameEnd& found = (*ends_)[lane_[lane]];
  found.bound = bound_[lane];
  found.value = value_[lane];
  found.gap = gap_now(lane);
  found.kernel.resize(pointers_.size() * signals);
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    for (std::size_t j = 0; j < signals; ++j)
      found.kernel[i * signals + j] = kernel_[i * padded_ + j * lanes_ + lane];
  }
  played_[lane_[lane]] = round_;
}

// Lanes that are settled stop playing as soon as that leaves whole blocks of lanes empty.
void AveragedResponseGame::drop_settled(const RowGame& game) {
  const int signals = static_cast<int>(channels_.size());
  std::vector<int>& keep = keep_;
  keep.clear();
  const bool look = round_ > 1 && std::has_single_bit(static_cast<unsigned>(round_));
  for (int lane = 0; lane < lanes_; ++lane) {
    if (look || gap_now(lane) <= game.tolerance[lane_[lane]]) find_bound(game, lane);
    if (!settled(game, lane)) keep.push_back(lane);
  }
  const int left = static_cast<int>(keep.size());
  if (left > 0 && padded_lanes(signals * left) == padded_) return;
  for (int lane = 0, next = 0; lane < lanes_; ++lane) {
    if (next < left && keep[next] == lane) {
      ++next;
    } else {
      harvest(lane);
    }
  }
  const int padded = padded_lanes(signals * left);
  const auto compact = [&](const double* values, double* target) {  // [signal][lane], fewer lanes
    for (int j = 0; j < signals; ++j) {
      for (int n = 0; n < left; ++n) target[j * left + n] = values[j * lanes_ + keep[n]];
    }
  };
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    compact(points_[i].data(), points_[i].data());
    compact(kernel_.data() + i * padded_, kernel_.data() + i * padded);
    compact(answer_.data() + i * padded_, answer_.data() + i * padded);
    for (int n = 0; n < left; ++n) near_[i * left + n] = near_[i * lanes_ + keep[n]];
  }
  compact(weights_.data(), weights_.data());
  for (int n = 0; n < left; ++n) {
    lane_[n] = lane_[keep[n]];
    bound_[n] = bound_[keep[n]];
    value_[n] = value_[keep[n]];
    inner_[n] = inner_[keep[n]];
    support_[n] = support_[keep[n]];
  }
  lanes_ = left;
  padded_ = padded;
}

void AveragedResponseGame::mixture(int place, int lane, std::vector<MemoryMove>& moves) const {
  const auto places = pointers_.size();
  const std::size_t first = moves.size();
  const int rounds = played_[lane];
  const double all = 0.5 * rounds * (rounds + 1);  // steps 2 / (t + 2) weigh round t by t + 1
  for (int t = 0; t < rounds; ++t) {
    const std::int32_t point = history_[(t * places + place) * all_ + lane];
    const auto found = std::find_if(moves.begin() + first, moves.end(),
                                    [&](const MemoryMove& m) { return m.memory == point; });
    if (found == moves.end()) {
      moves.push_back({point, (t + 1) / all});
    } else {
      found->weight += (t + 1) / all;
    }
  }
}

}  // namespace redoubt::internal
