#include "numerics/tilted_rows.h"

#include "numerics/kernels/kernels.h"
#include "numerics/vector_math.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

[[gnu::always_inline]] inline void tilt(const TiltedRows& rows, const TiltMoments& to, int j,
                                        int lane) {
  const double* own = rows.exponent[j] + lane;
  const double* other = rows.exponent[1 - j] + lane;
  const double* share = rows.share[j] + lane;
  double* tilted = to.tilted + lane;
  Lanes top = load(own);
  for (int i = 1; i < rows.outcomes; ++i) top = max(top, load(own + i * rows.stride));

  Lanes sum = 0.0, mean = 0.0;
  Lanes by_own = 0.0, by_other = 0.0, by_share = 0.0;        // sums of the exponents' derivatives
  Lanes own_mean = 0.0, other_mean = 0.0, share_mean = 0.0;  // the same times the exponent
  for (int i = 0; i < rows.outcomes; ++i) {
    const auto at = static_cast<std::int64_t>(i) * rows.stride;
    const Lanes a = load(own + at), x = a - top, k = load(share + at);
    const Lanes w = rows.probability[i] * exp(x);
    store(tilted + at, w);
    const Lanes wx = w * x, free = a - a * k, follows = k * load(other + at);
    sum += w;
    mean += wx;
    by_own += w * free;
    own_mean += wx * free;
    by_other += w * follows;
    other_mean += wx * follows;
    by_share += w * k;
    share_mean += wx * k;
  }
  const Lanes scale = 1.0 / sum, log_of_sum = log(sum), sign = j == 0 ? -1.0 : 1.0;
  mean *= scale;
  const Lanes divergence = max(mean - log_of_sum, 0.0), radius = rows.radius;
  // The divergence is convex, so this share of the way from p to the tilt is inside the ball.
  const Mask outside = divergence > radius;
  const Lanes inside = select(outside, radius / divergence, 1.0);
  for (int i = 0; i < rows.outcomes; ++i) {
    const auto at = static_cast<std::int64_t>(i) * rows.stride;
    const Lanes p = rows.probability[i], full = load(tilted + at) * scale;
    store(tilted + at, select(outside, p + inside * (full - p), full));
  }
  store(to.log_sum + lane, top + log_of_sum);
  store(to.divergence + lane, divergence);
  store(to.log_sum_by[0] + lane, by_own * scale);
  store(to.log_sum_by[1] + lane, by_other * scale);
  store(to.log_sum_by[2] + lane, sign * by_share * scale);
  store(to.divergence_by[0] + lane, (own_mean - mean * by_own) * scale);
  store(to.divergence_by[1] + lane, (other_mean - mean * by_other) * scale);
  store(to.divergence_by[2] + lane, sign * (share_mean - mean * by_share) * scale);
}

}  // namespace

void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]) {
  for (int lane = 0; lane < rows.lanes; lane += kLanes) {
    for (int j = 0; j < 2; ++j) tilt(rows, moments[j], j, lane);
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
