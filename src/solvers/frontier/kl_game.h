#pragma once

#include "solvers/frontier/game.h"
#include "sweep/row_evaluator.h"

namespace redoubt {

// Where nature stands at the end of a game, in three numbers: the logarithm of the inverse
// temperature of each signal, and the rate at which her kernels exchange the two.
struct KlStand {
  double log_cold[2] = {0, 0};
  double exchange = 0;
  bool known = false;
};

// Where nature stands in the games of one row, in each direction, with the kernels of the last
// round: [direction][place][signal]. Neither changes much from one stage to the next, so a game
// begins where the last one of the row ended, and most rows that do not matter are told by the
// kernels that told it before.
struct KlStands {
  std::vector<KlStand> stands;
  std::vector<float> kernels;
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

  // Lane n of the game is direction directions[n] of the stands.
  void solve(const RowGame& game, std::span<const int> directions, KlStands& stands,
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
    bool careful, based;              // solves for the exchange first; and has done so once
    double low, high, stride;         // of the exchange at these temperatures
    double step[3], log_sum[2];       // of the line search, and the sums at its base
  };
  // The equations at a lane, linearised: rows are both divergences (relative) and the exchange.
  struct Equations {
    double residual[3], by[3][3];
  };

  void begin(const RowGame& game);
  void leave_out_hopeless(const RowGame& game, std::vector<GameEnd>& ends);
  void start(const RowGame& game);
  void take_places(const RowGame& game, bool first);
  void tilt();
  double own_of(const Lane& lane) const {
    return lane.weight[0] * own_[0] + lane.weight[1] * own_[1];
  }
  double value_of(int n) const;
  double most_of(const RowGame& game, int n) const;
  void take_kernel(int n);
  void recall_kernel(int direction);
  double bound_of(const RowGame& game, const Lane& lane);
  double inside(int n, int signal) const;
  Equations linearise(int n) const;
  static double largest(const Equations& e);
  void step(int n, double value);
  void step_together(int n, Lane& lane, const Equations& e);
  void step_carefully(int n, Lane& lane, const Equations& e, double value);
  void move(Lane& lane) const;
  void finish(const RowGame& game, int n, double gap, GameEnd& end);
  void remember(const Lane& lane);
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
  KlStands* stands_ = nullptr;
  std::vector<double> kernel_;  // of the lane at hand, inside the ball: [place][signal]
  std::vector<int> open_, near_;
  std::vector<int> corner_;               // [place][lane]
  std::vector<double> reward_, utility_;  // where each place stands: [place][lane]
  std::vector<double> exponent_[2], share_[2], tilted_[2];  // as in numerics/tilted_rows.h
  std::vector<double> moments_[2];                          // [which][lane]
};

}  // namespace redoubt
