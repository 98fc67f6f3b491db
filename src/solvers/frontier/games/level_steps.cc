#include <algorithm>
#include <cmath>

#include "solvers/frontier/games/level_game.h"

// How a lane of the game by levels looks for them.
namespace redoubt::internal {
namespace {

// A step that overshoots by more of its rise is shortened, unless it is this short.
constexpr double kOvershot = 0.3, kLeastShare = 1e-3;
// Longest steps: of a level, in spreads, and of the logarithm of a distance.
constexpr double kLongestLevelStep = 0.6, kLongestLog = 1.5;
// Shares of the targets that are missing: of a centre less and less, or steps from one to the next
// could go to and fro; and with so little that the answer of the smooth curves is not good enough,
// sharper ones are next, and at last sharp ones.
constexpr double kEnoughFalls = 0.5, kLeastEnough = 1e-6, kLevelsSettled = 1e-3;
constexpr double kLeastSmoothLevels = 0.01;
// What is added to the curvature, as a share of that of a row whose values all move along.
constexpr double kAdded = 1e-3;

}  // namespace

void LevelGame::step(int n, int round) {
  Lane& lane = lanes_[n];
  double missing[kMostLevels];
  for (int a = 0; a < levels(); ++a) {
    const double found = missing_[static_cast<std::size_t>(a) * stride_ + n];
    missing[a] = free(lane, a, found) ? found : 0;
  }
  lane.recentred = false;
  const double largest = largest_share(missing, lane);
  const bool settled = largest < kLevelsSettled && round > 1;
  if (!settled && lane.searching && shorten(lane, missing)) return;
  climb(lane, n, missing);
  lane.recentred = !ball_ && largest <= lane.enough;
  if (lane.recentred) lane.enough = std::max(kEnoughFalls * lane.enough, kLeastEnough);
  if (settled) lane.smooth = lane.smooth > kLeastSmoothLevels ? lane.smooth / 4 : 0;
  lane.searching = !lane.recentred && !settled;  // or it is another function from here on
}

// False where there is nothing to gain from a level.
bool LevelGame::free(const Lane& lane, int level, double missing) const {
  const int j = level / each_;
  if (lane.weight[j] <= 0) return false;
  return !ball_ || level % each_ == 0 || missing > 0 || lane.level[level] > lane.closest[j];
}

// The largest share of its target that a level misses.
double LevelGame::largest_share(const double* missing, const Lane& lane) const {
  double largest = 0;
  for (int a = 0; a < levels(); ++a) {
    double scale = lane.weight[a / each_] * target_[a % each_];
    if (ball_ && a % each_ == 1) scale *= std::exp(lane.level[a]);
    if (scale > 0) largest = std::max(largest, std::abs(missing[a]) / scale);
  }
  return largest;
}

// A distance from the ball that is as good as zero is close enough.
void LevelGame::hold_back(Lane& lane) const {
  for (int j = 0; ball_ && j < 2; ++j)
    lane.level[j * 2 + 1] = std::max(lane.level[j * 2 + 1], lane.closest[j]);
}

// Where a step went too far, to where the rise along it would end in a straight line.
bool LevelGame::shorten(Lane& lane, const double* missing) const {
  double rise = 0;
  for (int a = 0; a < levels(); ++a) rise += missing[a] * lane.step[a];
  if (rise >= -kOvershot * lane.rise || lane.share < kLeastShare) return false;
  lane.share *= std::clamp(lane.rise / (lane.rise - rise), 0.1, 0.9);
  for (int a = 0; a < levels(); ++a) lane.level[a] = lane.base[a] + lane.share * lane.step[a];
  hold_back(lane);
  return true;
}

// What makes the curvature definite where nothing gives way.
double LevelGame::added(const Lane& lane, int level) const {
  const double weight = lane.weight[level / each_];
  if (weight <= 0) return 1;
  if (ball_ && level % each_ == 1) return kAdded * weight * radius_ * std::exp(lane.level[level]);
  return kAdded * weight * room_[level % each_] / lane.spread[level / each_];
}

// Newton's method; the curvature is positive semidefinite, and a little is added.
void LevelGame::climb(Lane& lane, int n, const double* missing) const {
  const int size = levels();
  double a[kMostLevels][kMostLevels + 1];
  bool fixed[kMostLevels] = {};
  for (int r = 0, pair = 0; r < size; ++r) {
    for (int c = 0; c <= r; ++c, ++pair)
      a[r][c] = a[c][r] = curvature_[static_cast<std::size_t>(pair) * stride_ + n];
    a[r][r] += added(lane, r);
    if (free(lane, r, missing_[static_cast<std::size_t>(r) * stride_ + n])) continue;
    fixed[r] = true;
  }
  for (int r = 0; r < size; ++r) {
    a[r][size] = missing[r];
    for (int c = 0; c < size; ++c)
      if (r != c && (fixed[r] || fixed[c])) a[r][c] = 0;
  }
  for (int c = 0; c < size; ++c) {
    for (int r = c + 1; r < size; ++r) {
      const double factor = a[r][c] / a[c][c];
      for (int k = c; k <= size; ++k) a[r][k] -= factor * a[c][k];
    }
  }
  double longest = 1;
  for (int c = size - 1; c >= 0; --c) {
    double sum = a[c][size];
    for (int k = c + 1; k < size; ++k) sum -= a[c][k] * lane.step[k];
    lane.step[c] = sum / a[c][c];
    longest = std::max(
        longest, std::abs(lane.step[c]) /
                     ((ball_ && c % 2 == 1 ? kLongestLog : kLongestLevelStep) * unit_of(lane, c)));
  }
  lane.rise = 0;
  lane.share = 1;
  for (int c = 0; c < size; ++c) {
    lane.step[c] /= longest;
    lane.rise += missing[c] * lane.step[c];
    lane.base[c] = lane.level[c];
    lane.level[c] += lane.step[c];
  }
  hold_back(lane);
}

}  // namespace redoubt::internal
