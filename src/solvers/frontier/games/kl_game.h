#pragma once

#include "solvers/frontier/games/row_lanes.h"

namespace redoubt::internal {

// The game against the Kullback-Leibler ball with one constraint. The worst kernel of a signal is
// p exp(-cold * value) up to its sum, so two inverse temperatures and one rate of exchange decide
// where every place stands on its curve, each on its own and in closed form. Three equations are
// left: both kernels are on the surface of the ball, and the exchange is that of their sums. With
// the exchange right for given temperatures, the value of the game is concave in the temperatures;
// so Newton's method is made safe by solving for the exchange first and never letting the value
// fall. Corners make steps overshoot, so the curves are smoothed at first: where their prices are
// dense, which is nearly everywhere, the answer of the smooth ones is as good as that of the sharp
// ones. Lanes are compacted as they end.
class KlGame : private RowLanes {
 public:
  KlGame(const Problem& problem, std::span<const Channel> channels) : RowLanes(problem, channels) {}

  // Lane n of the game is direction directions[n] of the warm starts.
  void solve(const RowGame& game, std::span<const int> directions, const GameHistory& history,
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

  void begin(const RowGame& game);
  void start(const RowGame& game);
  void line_up();
  void take_places(const RowGame& game, bool first);
  void tilt();
  void judge(const RowGame& game, int round);
  bool ended(const RowGame& game, int n, int round) const;
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

  double evaluations_ = 0;
  double radius_ = 0;
  std::vector<Lane> lanes_;
  std::vector<int> chosen_;  // their directions
  // What the lanes have in common with the search, one array each: [lane].
  std::vector<double> cold_[2], mean_[2], exchange_, smooth_;
  std::vector<std::int64_t> corner_;            // [place][lane]
  std::vector<double> point_[2];                // where each place stands: [place][lane]
  std::vector<double> exponent_[2], share_[2];  // as in numerics/tilted_rows.h
  std::vector<double> moments_[2];              // [which][lane]
  std::vector<double> value_, most_;            // that the kernels leave of the points
};

}  // namespace redoubt::internal
