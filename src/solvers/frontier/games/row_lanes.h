#pragma once

#include "bellman/row_evaluator.h"
#include "solvers/frontier/games/game.h"
#include "solvers/frontier/games/warm_starts.h"

namespace redoubt::internal {

// What the games with one constraint have in common, whatever the set: the row as its lanes see it,
// what kernels leave of the next sets, and the kernels that the games of the row ended with before.
// Arrays are [lane] or [place][lane] with `stride_` lanes for each place.
class RowLanes {
 protected:
  RowLanes(const Problem& problem, std::span<const Channel> channels)
      : problem_(&problem), channels_(channels) {}

  // Lane n of the game is direction directions[n] of the warm starts.
  void begin_row(const RowGame& game, std::span<const int> directions, const GameHistory& history);

  // Where a lane stands, if that is known.
  const WarmStart* find_warm_start(const RowGame& game, int direction);
  void remember_kernel(int direction, std::size_t lane);
  void restore_kernel(int direction, std::size_t lane);
  float* kept_kernel(int direction) const {  // less the nominal row: [place][signal]
    return warm_starts_->kernels.data() + static_cast<std::size_t>(direction) * places_ * 2;
  }

  // `open_` has the lanes that this leaves; the bounds of the others say that the row does not
  // matter.
  void leave_out_hopeless(const RowGame& game, std::vector<GameEnd>& ends);

  // What `kernel_` leaves of anything, in the first lanes, to `bound_`; and of the points.
  void add_bounds(int lanes);
  SupportSum sum_over_points(int lanes) const {
    return sum_over(lanes, inner_, sizeof(CurveCorner) / sizeof(double));
  }
  // Of each signal at the best corners for the nominal row, each lane in its direction of the
  // stage; `corner` receives them, [place][lane].
  struct NominalMoments {
    double mean[2] = {0, 0}, square[2] = {0, 0};
  };
  void find_nominal_moments(const RowGame& game, std::span<const int> directions,
                            std::int64_t* corner);
  bool look_this_round(int round) const { return (round & (round - 1)) == 0; }
  double own_of(std::size_t lane) const {  // what the row itself is worth
    return weight_[0][lane] * own_[0] + weight_[1][lane] * own_[1];
  }
  float* beyond(int direction) const {
    return warm_starts_->beyond.data() + static_cast<std::size_t>(direction) * places_;
  }
  std::size_t at(int place, std::size_t lane = 0) const {
    return static_cast<std::size_t>(place) * stride_ + lane;
  }

  const Problem* problem_;
  std::span<const Channel> channels_;
  std::span<const int> directions_;  // of the lanes of the game
  int places_ = 0, stride_ = 0;
  std::vector<double> probability_;  // of each place, that of a landing is zero
  double own_[2] = {0, 0};           // the row's own value of each signal
  std::vector<double> extra_;        // outcome values: [place][signal]
  RowWarmStarts* warm_starts_ = nullptr;
  std::vector<int> open_;
  std::vector<NominalMoments> nominal_;  // of each lane
  std::vector<double> weight_[2], kernel_[2], bound_;
  std::vector<const double*> inner_, outer_;  // tables of each place
  std::vector<std::int32_t> inner_last_;

 private:
  void look(const RowGame& game, const std::vector<int>& chosen, std::vector<GameEnd>& ends);
  SupportSum sum_over(int lanes, const std::vector<const double*>& tables, int entry) const;

  const RowWarmStarts* later_ = nullptr;
  const PriceBuckets* buckets_ = nullptr;  // of the outer tables
  std::vector<int> block_ends_, looked_;
};

// Makes room for at least so many numbers.
template <class Array>
void make_room(Array& array, std::size_t size) {
  if (array.size() < size) array.resize(size);
}

}  // namespace redoubt::internal
