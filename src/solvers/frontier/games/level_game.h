#pragma once

#include "numerics/level_rows.h"
#include "solvers/frontier/games/row_lanes.h"

namespace redoubt::internal {

// The game with one constraint against bounds on probabilities, and against total variation without
// landings. The worst kernel of a signal takes mass from all values above a level and gives it to
// those below; where many values stand at the level, which is where the places go, it is not known
// how much of each. So nature's kernel is sought close to one that she has, the centre: masses then
// fall in straight lines around the level, and each place answers levels in closed form. What is
// left is a concave function of one or two levels for each signal, climbed by Newton's method. Its
// best kernel becomes the next centre (the proximal point method), which ends at the saddle point
// itself; and as a game begins at the kernel that the row ended with before, it is mostly there at
// once. Against a chi-square ball kernels fall in straight lines anyway: a level and the distance
// over which they fall are sought of each signal, and no centre is needed. Lanes are compacted as
// they end.
class LevelGame : private RowLanes {
 public:
  LevelGame(const Problem& problem, std::span<const Channel> channels)
      : RowLanes(problem, channels), rows_(problem) {}

  static bool plays(const Uncertainty& set);

  // Lane n of the game is direction directions[n] of the warm starts.
  void solve(const RowGame& game, std::span<const int> directions, const GameHistory& history,
             std::vector<GameEnd>& ends);
  double evaluations() const { return rows_.evaluations() + evaluations_; }

 private:
  static constexpr int kMostLevels = 2 * kMostParts;

  // What the search knows of one lane.
  struct Lane {
    int number;                 // in the game
    int direction;              // of the stage
    double weight[2];           // of the direction
    double mean[2], spread[2];  // of the values where the nominal row leads
    double smooth;              // how much the corners of the curves are smoothed, from 1 to 0
    double level[kMostLevels];
    double closest[2];  // log of a distance that is as good as zero, of a ball
    double enough;      // what may be missing of a kernel that becomes the centre
    double bound;       // of anything, the least so far
    // The line search: its base, step, rise at the base, and the share of the step.
    double base[kMostLevels], step[kMostLevels], rise, share;
    bool searching, recentred;
  };

  void describe_row(const RowGame& game);
  void start(const RowGame& game);
  void measure_values(const RowGame& game);
  void split_mass(int place, std::size_t lane, int signal, double mass);
  double first_level(int level) const;
  double level_at(const Lane& lane, int level, double known) const;
  double known_of(const Lane& lane, int level) const;
  void line_up();
  void answer(const RowGame& game, bool first);
  void weigh();
  void judge(const RowGame& game, int round);
  bool ended(const RowGame& game, int n, int round) const;
  double gap_of(int n) const;
  void step(int n, int round);
  bool free(const Lane& lane, int level, double missing) const;
  bool shorten(Lane& lane, const double* missing) const;
  void hold_back(Lane& lane) const;
  void climb(Lane& lane, int n, const double* missing) const;
  double added(const Lane& lane, int level) const;
  double largest_share(const double* missing, const Lane& lane) const;
  void remember(int n);
  void finish(int n, GameEnd& end);
  void keep(const std::vector<int>& open);
  int levels() const { return 2 * each_; }
  double unit_of(const Lane& lane, int level) const {  // of a level
    return ball_ && level % each_ == 1 ? 1 : lane.spread[level / each_];
  }

  RowEvaluator rows_;
  double evaluations_ = 0;
  bool ball_ = false;  // chi-square: the second level of a signal is the logarithm of a distance
  int parts_ = 1, each_ = 1;  // parts of a kernel, and levels of a signal
  int width_ = 0;             // lanes that are played, padded by the last one
  double radius_ = 0;
  std::vector<double> base_;
  std::vector<LevelPart> part_[kMostParts];
  double target_[kMostParts] = {}, room_[kMostParts] = {};
  std::vector<Lane> lanes_;
  std::vector<int> chosen_;  // their directions
  // What the lanes have in common with the kernels, one array each: [lane].
  std::vector<double> steep_[2], level_[2][kMostParts], smooth_;
  std::vector<double> rest_[2][kMostParts], held_[2][kMostParts];  // [place][lane]
  std::vector<std::int64_t> corner_;                               // [place][lane]
  std::vector<std::vector<double>> points_;  // where each place stands: [signal][lane]
  std::vector<const double*> value_[2];      // of each place
  std::vector<double> price_, give_;         // [place][lane]
  std::vector<double> missing_, curvature_;  // [level][lane], [pair of levels][lane]
  std::vector<double> worst_, most_;         // [signal][lane]; that the kernels leave of the points
};

}  // namespace redoubt::internal
