#include <algorithm>
#include <cmath>

#include "numerics/infinity.h"
#include "solvers/frontier/games/kl_game.h"

// How a lane of the game against kl looks for its three numbers.
namespace redoubt::internal {
namespace {

constexpr int kStepsTogether = 8;
// Longest steps: of a temperature's logarithm, and of the exchange beyond what follows from it.
constexpr double kLongest = 1.5, kLongestExchange = 3;
// A residual that is no beginning for Newton's method; and the longest step away from there.
constexpr double kFarOff = 1.5, kLongestRestart = 4;
// The exchange is solved for to this accuracy before the temperatures move on.
constexpr double kExchanged = 1e-3;
// What a careful step is shortened by, in the unit of its derivatives.
constexpr double kShortened = 0.2;
// Residuals, all of them logarithms, that are as good as none while the curves are smoothed; and
// how little they are smoothed at last.
constexpr double kSettled = 1e-3, kLeastSmooth = 0.1;

// What a step of the logarithm adds to a number beyond its linear part.
double bend(double step) { return std::expm1(step) - step; }

}  // namespace

double KlGame::largest(const Equations& e) {
  return std::max({std::abs(e.residual[0]), std::abs(e.residual[1]), std::abs(e.residual[2])});
}

KlGame::Equations KlGame::linearise(int n) const {
  const Lane& lane = lanes_[n];
  Equations e{};
  const auto moment = [&](int j, int which) { return moments_[j][which * stride_ + n]; };
  for (int j = 0; j < 2; ++j) {
    const double divergence = std::max(1e-300, moment(j, kDivergence));
    e.residual[j] = std::log(divergence / radius_);
    const bool cold = lane.at[j] >= lane.coldest[j] && e.residual[j] <= 0;
    if (cold || lane.weight[j] <= 0) {  // nothing to gain from this temperature
      e.residual[j] = 0;
      e.by[j][j] = 1;
      continue;
    }
    e.by[j][j] = moment(j, kDivergenceBy) / divergence;
    e.by[j][1 - j] = moment(j, kDivergenceBy + 1) / divergence;
    e.by[j][2] = moment(j, kDivergenceBy + 2) / divergence;
  }
  e.by[2][2] = 1;
  if (!std::isfinite(lane.log_price)) return e;
  e.residual[2] = lane.at[2] - moment(1, kLogSum) + moment(0, kLogSum) + lane.log_price;
  e.by[2][0] = moment(0, kLogSumBy) - moment(1, kLogSumBy + 1);
  e.by[2][1] = moment(0, kLogSumBy + 1) - moment(1, kLogSumBy);
  e.by[2][2] = 1 + moment(0, kLogSumBy + 2) - moment(1, kLogSumBy + 2);
  return e;
}

void KlGame::step(int n) {
  Lane& lane = lanes_[n];
  const double value = value_[n];
  const Equations e = linearise(n);
  if (lane.careful) return step_carefully(n, lane, e, value);
  const double residual = largest(e);
  // (A stage that leads to itself remembers its own games, not those of another stage.)
  const bool of_another = !problem_->infinite() && lane.steps == 0 && !lane.restarted;
  if (of_another && residual > kFarOff) return restart(n, lane, e);
  const bool better = lane.steps == 0 || value > lane.value || residual < 0.5 * lane.residual;
  if (better) {
    std::copy_n(lane.at, 3, lane.best);
    lane.value = value;
    lane.residual = residual;
  }
  ++lane.steps;
  const bool settled = lane.smooth > 0 && residual < kSettled;
  if (better && !settled && lane.steps < kStepsTogether) return step_together(n, lane, e);
  std::copy_n(lane.best, 3, lane.at);
  if (settled) {  // the answer of the smooth curves is not good enough: on with sharper ones
    lane.smooth = lane.smooth > kLeastSmooth ? lane.smooth / 4 : 0;
    lane.steps = 0;
  } else {
    lane.smooth = 0;
    lane.careful = true;
    lane.low = -kInfinity, lane.high = kInfinity, lane.stride = 2;
  }
}

// What was remembered of another game may lead far off, where steps are no guide. The divergence of
// a kernel grows about with the square of its inverse temperature, and the exchange follows from
// both sums, which grow with theirs.
void KlGame::restart(int n, Lane& lane, const Equations& e) const {
  lane.restarted = true;
  double log_sum[2];
  for (int j = 0; j < 2; ++j) {
    const double change = std::clamp(-0.5 * e.residual[j], -kLongestRestart, kLongestRestart);
    lane.at[j] = std::min(lane.at[j] + change, lane.coldest[j]);
    log_sum[j] = moments_[j][kLogSum * stride_ + n] * std::exp(change);
  }
  if (std::isfinite(lane.log_price)) lane.at[2] = log_sum[1] - log_sum[0] - lane.log_price;
}

// Newton's method in all three numbers at once, for lanes that begin near the answer.
void KlGame::step_together(int n, Lane& lane, const Equations& e) {
  double a[3][4];
  for (int r = 0; r < 3; ++r) {
    std::copy_n(e.by[r], 3, a[r]);
    a[r][3] = -e.residual[r];
  }
  for (int c = 0; c < 3; ++c) {
    int pivot = c;
    for (int r = c + 1; r < 3; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]);
    if (std::abs(a[c][c]) < 1e-12) a[c][c] = 1e-12;
    for (int r = c + 1; r < 3; ++r) {
      const double factor = a[r][c] / a[c][c];
      for (int k = c; k < 4; ++k) a[r][k] -= factor * a[c][k];
    }
  }
  for (int c = 2; c >= 0; --c) {
    double sum = a[c][3];
    for (int k = c + 1; k < 3; ++k) sum -= a[c][k] * lane.step[k];
    lane.step[c] = sum / a[c][c];
  }
  const double longest = std::max({kLongest, std::abs(lane.step[0]), std::abs(lane.step[1])});
  for (double& part : lane.step) part *= kLongest / longest;
  for (int j = 0; j < 2; ++j) lane.log_sum[j] = moments_[j][kLogSum * stride_ + n];
  move(lane);
}

// From the best point by the lane's step. Worst cases hardly move with the temperature, so their
// part of the exchange follows the inverse temperature in proportion.
void KlGame::move(Lane& lane) const {
  for (int j = 0; j < 2; ++j) lane.step[j] = std::min(lane.step[j], lane.coldest[j] - lane.best[j]);
  const double bent = lane.log_sum[1] * bend(lane.step[1]) - lane.log_sum[0] * bend(lane.step[0]);
  const double longest = kLongestExchange + std::abs(bent) +
                         std::abs(lane.log_sum[0] * lane.step[0]) +
                         std::abs(lane.log_sum[1] * lane.step[1]);
  lane.step[2] = std::clamp(lane.step[2], -longest, longest);
  for (int j = 0; j < 2; ++j) lane.at[j] = lane.best[j] + lane.step[j];
  if (std::isfinite(lane.log_price)) lane.at[2] = lane.best[2] + lane.step[2] + bent;
}

// The exchange alone, by Newton's method inside a bracket; when it is right, a step of the
// temperatures, which is shortened for as long as it makes the value worse.
void KlGame::step_carefully(int n, Lane& lane, const Equations& e, double value) {
  const bool bracketed = lane.high - lane.low <= 1e-9 * std::max(1.0, std::abs(lane.at[2]));
  if (std::abs(e.residual[2]) > kExchanged && !bracketed) {
    (e.residual[2] > 0 ? lane.high : lane.low) = lane.at[2];
    const double newton = -e.residual[2] / std::max(e.by[2][2], 1e-9);
    double to = lane.at[2] + std::clamp(newton, -lane.stride, lane.stride);
    if (!(to > lane.low && to < lane.high)) to = 0.5 * (lane.low + lane.high);
    lane.stride *= 2;
    lane.at[2] = to;
    return;
  }
  const bool worse = lane.based && value < lane.value - 1e-13 * std::abs(lane.value);
  if (worse && std::max(std::abs(lane.step[0]), std::abs(lane.step[1])) > 1e-9) {
    for (double& part : lane.step) part *= 0.25;
  } else {
    lane.based = true;
    lane.value = value;
    std::copy_n(lane.at, 3, lane.best);
    for (int j = 0; j < 2; ++j) lane.log_sum[j] = moments_[j][kLogSum * stride_ + n];
    // The exchange follows the temperatures. What is left is, up to scale, the negative of a
    // concave function's second derivative; more of it keeps the step an ascent, and short of the
    // next corners.
    const double soft = std::max(e.by[2][2], 1e-6);
    double k[2][2];
    for (int r = 0; r < 2; ++r) {
      for (int c = 0; c < 2; ++c)
        k[r][c] = e.by[r][c] - e.by[r][2] * e.by[2][c] / soft + (r == c ? kShortened : 0.0);
    }
    const double det = k[0][0] * k[1][1] - k[0][1] * k[1][0];
    lane.step[0] =
        det > 0 ? (e.residual[1] * k[0][1] - e.residual[0] * k[1][1]) / det : -e.residual[0];
    lane.step[1] =
        det > 0 ? (e.residual[0] * k[1][0] - e.residual[1] * k[0][0]) / det : -e.residual[1];
    const double longest = std::max({kLongest, std::abs(lane.step[0]), std::abs(lane.step[1])});
    for (int j = 0; j < 2; ++j) lane.step[j] *= kLongest / longest;
    lane.step[2] = -(e.residual[2] + e.by[2][0] * lane.step[0] + e.by[2][1] * lane.step[1]) / soft;
  }
  move(lane);
  lane.low = -kInfinity, lane.high = kInfinity, lane.stride = 2;
}

}  // namespace redoubt::internal
