#include "numerics/curves.h"

#include "numerics/kernels/kernels.h"
#include "numerics/lanes.h"

namespace redoubt::REDOUBT_TARGET {
namespace {

constexpr std::int64_t kCorner = sizeof(CurveCorner) / sizeof(double);
// Where the numbers of a corner are.
enum Field { kReward, kUtility, kPrice, kLogPrice, kBegin, kEnd, kBend };

// A corner as eight lanes see it, each its own: `height` is the price that the tilts make of it, as
// the negative of its logarithm.
struct Spot {
  Lanes reward, utility, height;
};
[[gnu::always_inline]] inline Spot select(Mask yes, const Spot& a, const Spot& b) {
  return {select(yes, a.reward, b.reward), select(yes, a.utility, b.utility),
          select(yes, a.height, b.height)};
}

// How eight lanes look at the corners of one place, which are given by where they are in the array
// of doubles.
struct Look {
  const double* corners;
  Lanes cold0, cold1, mean0, mean1, exchange, smooth;
  bool all_smooth, all_sharp;  // in all lanes; then one number is enough

  [[gnu::always_inline]] Lanes field(int which, Integers at) const {
    return gather(corners + which, at);
  }
  [[gnu::always_inline]] Spot spot(Integers at) const {
    const Lanes reward = field(kReward, at), utility = field(kUtility, at);
    return {reward, utility, exchange - cold0 * (reward - mean0) + cold1 * (utility - mean1)};
  }
  // The logarithm of the price that the curve has where an edge begins or ends. It may be no number
  // at the corners that stand outside, and then compares as the infinity there would.
  [[gnu::always_inline]] Lanes log_price(Field where, Integers at) const {
    if (all_smooth) return field(where, at);
    const Lanes middle = field(kLogPrice, at);
    if (all_sharp) return middle;
    const Lanes full = field(where, at);  // as it is where the lane is smooth, to the last bit
    return select(smooth < 1.0, middle + smooth * (full - middle), full);
  }
};

[[gnu::always_inline]] inline Integers stand(const CurveLanes& to, int lane, Integers corner) {
  const Lanes smooth = load(to.smooth + lane);
  const Mask live = below(to.lanes - lane);
  const Look look{&to.corners->reward,
                  load(to.cold[0] + lane),
                  load(to.cold[1] + lane),
                  load(to.mean[0] + lane) - to.shift[0],
                  load(to.mean[1] + lane) - to.shift[1],
                  load(to.exchange + lane),
                  smooth,
                  !any((smooth < 1.0) & live),
                  !any((smooth > 0.0) & live)};
  Integers at = shift_left(corner, 3);
  static_assert(kCorner == 8);
  Spot here = look.spot(at), before;
  Lanes before_begins;
  for (;;) {
    const Spot next = look.spot(at + kCorner);
    const Mask up = (look.log_price(kEnd, at) + next.height <= 0.0) & live;
    if (!any(up)) break;
    at = add_where(up, at, kCorner);
    here = select(up, next, here);
  }
  for (;;) {
    before = look.spot(at - kCorner);
    before_begins = look.log_price(kBegin, at - kCorner) + before.height;
    const Mask down = (before_begins >= 0.0) & live;
    if (!any(down)) break;
    at = add_where(down, at, -kCorner);
    here = select(down, before, here);
  }
  // On the edge before the corner, on the one behind it, or on none.
  const Mask on_before = look.log_price(kEnd, at - kCorner) + here.height > 0.0;
  const Lanes at_begin = select(on_before, before_begins, look.log_price(kBegin, at) + here.height);
  const Mask on_edge = at_begin < 0.0;
  const Integers edge = add_where(on_before, at, -kCorner);
  const Lanes price = look.field(kPrice, edge), bend = look.field(kBend, edge);
  const Lanes soft = 1.0 / (look.cold1 + look.cold0 * price + look.smooth * bend);
  const Lanes along = select(on_edge, -at_begin * soft, 0.0);  // utility from where the edge begins
  // Off the edges the corner is where one begins, and its price may be infinite.
  const Spot from = select(on_before, before, here);
  const Lanes reward = from.reward - select(on_edge, price * along, 0.0);
  const Lanes utility = from.utility + along;
  store(to.value[0] + lane, reward);
  store(to.value[1] + lane, utility);
  store(to.exponent[0] + lane, look.cold0 * (look.mean0 - reward));
  store(to.exponent[1] + lane, look.cold1 * (look.mean1 - utility));
  store(to.share[0] + lane, select(on_edge, look.cold0 * price * soft, 0.0));
  store(to.share[1] + lane, select(on_edge, look.cold1 * soft, 0.0));
  return arithmetic_shift_right(at, 3);
}

void stand_on_curve(const CurveLanes& to) {
  std::int64_t offset = 0;
  for (int lane = 0; lane < to.lanes; lane += kLanes) {
    const Integers guess = load(to.corner + lane);
    const Integers corner = stand(to, lane, clamp(guess + offset, 0, to.last));
    // Neighbours stand close, and are off in the same way.
    const int end = (to.lanes - lane < kLanes ? to.lanes - lane : kLanes) - 1;
    const std::int64_t guessed = to.corner[lane + end];
    store(to.corner + lane, corner);
    if (to.first_guess) offset = to.corner[lane + end] - guessed;
  }
}

[[gnu::always_inline]] inline Integers begin_at(const SupportSum& sum, std::int64_t lane, Lanes q0,
                                                Lanes q1) {
  if (sum.guess) return load(sum.guess + lane);
  const Integers bucket =
      clamp(arithmetic_shift_right(bits(q1 / q0), kBucketShift), sum.first_bucket, sum.last_bucket);
  return gather(sum.bucket_entry, bucket - static_cast<std::uint64_t>(sum.first_bucket));
}

void sum_supports(const SupportSum& sum, double* to) {
  for (int lane = 0; lane < sum.lanes; lane += kLanes) store(to + lane, 0.0);
  for (int i = 0; i < sum.places; ++i) {
    const double* table = sum.table[i];
    const Lanes extra0 = sum.extra[i * 2], extra1 = sum.extra[i * 2 + 1];
    for (int lane = 0; lane < sum.lanes; lane += kLanes) {
      const std::int64_t first = static_cast<std::int64_t>(i) * sum.stride + lane;
      const Lanes q0 = load(sum.weight[0] + lane) * load(sum.kernel[0] + first);
      const Lanes q1 = load(sum.weight[1] + lane) * load(sum.kernel[1] + first);
      const Mask some = below(sum.lanes - lane) & (q0 + q1 > 0.0);
      Integers at = begin_at(sum, first, q0, q1);
      for (auto& v : at.part) v *= static_cast<std::uint64_t>(sum.size);
      for (;;) {
        const Mask up = (gather(table + 2, at) * q0 <= q1) & some;
        if (!any(up)) break;
        at = add_where(up, at, sum.size);
      }
      while (sum.guess) {  // a bucket begins with its least price
        const Mask down = (gather(table + 2 - sum.size, at) * q0 > q1) & some;
        if (!any(down)) break;
        at = add_where(down, at, -sum.size);
      }
      const Lanes part = q0 * (gather(table, at) + extra0) + q1 * (gather(table + 1, at) + extra1);
      store(to + lane, load(to + lane) + part);
    }
  }
}

}  // namespace

const CurveFunctions curve_functions{stand_on_curve, sum_supports};

}  // namespace redoubt::REDOUBT_TARGET
