#pragma once

#include "bellman/row_evaluator.h"
#include "solvers/frontier/games/game.h"

namespace redoubt::internal {

// Where nature stands at the end of a game, in three numbers: the logarithm of the inverse
// temperature of each signal, and the rate at which her kernels exchange the two.
struct KlWarmStart {
  double log_cold[2] = {0, 0};
  double exchange = 0;
  bool known = false;
};

// Where nature stands in the games of one row, in each direction, with the kernels of the last
// round: [direction][place][signal]. Neither changes much from one stage to the next, so a game
// begins where the last one of the row ended, and most rows that do not matter are told by the
// kernels that told it before.
struct KlWarmStarts {
  std::vector<KlWarmStart> warm_starts;
  std::vector<float> kernels;
};

// Those of each state and action of one stage. Forgetting them keeps their memory for another one.
using StageWarmStarts = std::vector<std::vector<KlWarmStarts>>;
inline void forget(StageWarmStarts& warm_starts, State states) {
  warm_starts.resize(states);
  for (auto& actions : warm_starts) {
    for (KlWarmStarts& row : actions) row.warm_starts.clear();
  }
}

struct KlHistory {
  KlWarmStarts* own = nullptr;          // of this stage
  const KlWarmStarts* later = nullptr;  // of the next one, if it has the same rows
};

// The game against the Kullback-Leibler ball with one constraint. The worst kernel of a signal is
// p exp(-cold * value) up to its sum, so two inverse temperatures and one rate of exchange decide
// where every place stands on its curve, each on its own and in closed form. Three equations are
// left: both kernels are on the surface of the ball, and the exchange is that of their sums. With
// the exchange right for given temperatures, the value of the game is concave in the temperatures;
// so Newton's method is made safe by solving for the exchange first and never letting the value
// fall. Corners make steps overshoot, so the curves are smoothed at first: where their prices are
// dense, which is nearly everywhere, the answer of the smooth ones is as good as that of the sharp
// ones. Lanes are compacted as they end.
class KlGame {
 public:
  KlGame(const Problem& problem, std::span<const Channel> channels)
      : problem_(&problem), channels_(channels) {}

  // Lane n of the game is direction directions[n] of the warm starts.
  void solve(const RowGame& game, std::span<const int> directions, const KlHistory& history,
             std::vector<GameEnd>& ends);
  double evaluations() const { return evaluations_; }

 private:
  // Moments as they are laid out in one array; see numerics/tilted_rows.h.
  enum Moment { kLogSum, kDivergence, kLogSumBy, kDivergenceBy = kLogSumBy + 3, kMoments = 8 };

  // What the search knows of one lane.
  struct Lane {
    int number;         // in the game
    int direction;      // of the stage
    double weight[2];   // of the direction
    double tolerance;   // of the gap, without the discount
    double log_price;   // of the direction; infinite when only one signal counts
    double mean[2];     // about which values are measured
    double coldest[2];  // log of an inverse temperature that is as good as infinite
    double at[3];       // where it is: both log_cold, exchange
    double smooth;      // how much the corners of the curves are smoothed, from 1 to 0
    int steps;          // of Newton's method in all three
    double best[3], value, residual;  // the best so far; the base of the line search
    bool restarted, careful, based;   // solves for the exchange first; and has done so once
    double low, high, stride;         // of the exchange at these temperatures
    double step[3], log_sum[2];       // of the line search, and the sums at its base
  };
  // The equations at a lane, linearised: rows are both divergences (relative) and the exchange.
  struct Equations {
    double residual[3], by[3][3];
  };

  void begin(const RowGame& game, std::span<const int> directions);
  void make_room();
  bool find_warm_start(const RowGame& game, int direction);
  void leave_out_hopeless(const RowGame& game, std::vector<GameEnd>& ends);
  void look(const RowGame& game, const std::vector<int>& chosen, std::vector<GameEnd>& ends);
  void start(const RowGame& game);
  void line_up();
  void take_places(const RowGame& game, bool first);
  void tilt();
  void judge(const RowGame& game, int round);
  bool ended(const RowGame& game, int n, int round) const;
  void add_bounds(int lanes);
  SupportSum sum_over(int lanes, const std::vector<const double*>& tables, std::size_t entry) const;
  float* kept_kernel(int direction) const {  // [place][signal]
    return warm_starts_->kernels.data() + static_cast<std::size_t>(direction) * places_ * 2;
  }
  double own_of(const Lane& lane) const {
    return lane.weight[0] * own_[0] + lane.weight[1] * own_[1];
  }
  double value_of(int n) const;
  Equations linearise(int n) const;
  static double largest(const Equations& e);
  void step(int n);
  void restart(int n, Lane& lane, const Equations& e) const;
  void step_together(int n, Lane& lane, const Equations& e);
  void step_carefully(int n, Lane& lane, const Equations& e, double value);
  void move(Lane& lane) const;
  void finish(int n, GameEnd& end);
  void remember(int n);
  void keep(const std::vector<int>& open);

  const Problem* problem_;
  std::span<const Channel> channels_;
  double evaluations_ = 0;
  int places_ = 0, stride_ = 0;  // lanes for which the arrays have room
  double radius_ = 0;
  const double* probability_ = nullptr;
  double own_[2] = {0, 0};     // the row's own value of each signal
  std::vector<double> extra_;  // outcome values: [place][signal]
  std::vector<Lane> lanes_;
  KlWarmStarts* warm_starts_ = nullptr;
  const KlWarmStarts* later_ = nullptr;
  std::vector<int> open_, block_ends_, looked_;
  // What the lanes have in common with the search, one array each: [lane].
  std::vector<double> weight_[2], cold_[2], mean_[2], exchange_, smooth_;
  std::vector<std::int64_t> corner_;  // [place][lane]
  std::vector<double> point_[2];      // where each place stands: [place][lane]
  std::vector<double> exponent_[2], share_[2], kernel_[2];  // as in numerics/tilted_rows.h
  std::vector<double> moments_[2];                          // [which][lane]
  std::vector<double> value_, most_,
      bound_;  // that the kernels leave of the points, and of anything
  std::vector<const double*> inner_, outer_;  // tables of each place
  std::vector<std::int32_t> inner_last_;
  const PriceBuckets* buckets_ = nullptr;  // of the outer ones
};

}  // namespace redoubt::internal
