#pragma once

#include "solvers/frontier/games/row_lanes.h"

namespace redoubt::internal {

// The game with one constraint against any set. Nature's kernels answer where the places stand, and
// the places answer the kernels; each side is the average of its answers so far, later ones
// weighing more. A place stands on its curve at the average utility, which is no less than the
// average point. The game of a row goes on where that of the next stage ended, so that its averages
// are over the rounds of many stages.
class CurveGame : private RowLanes {
 public:
  CurveGame(const Problem& problem, std::span<const Channel> channels)
      : RowLanes(problem, channels), rows_(problem) {}

  // Lane n of the game is direction directions[n] of the warm starts.
  void solve(const RowGame& game, std::span<const int> directions, const GameHistory& history,
             std::vector<GameEnd>& ends);
  double evaluations() const { return rows_.evaluations(); }

 private:
  struct Lane {
    int number, direction;
    double rounds;  // that its averages are over
    double bound;   // of anything, the least so far
    bool ended;
  };

  void start(const RowGame& game);
  void pad();
  void move_points(const RowGame& game);
  void answer_points(const RowGame& game);
  void judge(const RowGame& game, int round, std::vector<GameEnd>& ends);
  void finish(std::size_t n, GameEnd& end);
  void remember(const RowGame& game, std::size_t n);
  void move_kernels();
  void leave_out_ended();
  double* reward(int place) { return points_[place].data(); }  // of where a place stands: [lane]
  double* utility(int place) { return points_[place].data() + width_; }

  RowEvaluator rows_;
  std::vector<Lane> lanes_;
  int width_ = 0;  // lanes that are played, a multiple of eight: the last one fills what is left
  std::vector<std::vector<double>> points_;  // of each place: [signal][lane]
  std::vector<const double*> pointers_;
  std::vector<std::int64_t> best_, corner_;  // of each place and lane: its best corner, and its own
  std::vector<double> step_, most_, value_;
  std::vector<double> answer_, result_;  // nature's: [place][signal][lane]
  std::vector<std::size_t> keep_;
};

}  // namespace redoubt::internal
