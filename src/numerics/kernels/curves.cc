#include "numerics/curves.h"

#include "numerics/kernels/kernels.h"
#include "numerics/lanes.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

constexpr std::int64_t kCorner = sizeof(CurveCorner) / sizeof(double);

// A corner as eight lanes see it, each its own: `height` is the price that the tilts make of it, as
// the negative of its logarithm.
struct Spot {
  Lanes reward, utility, price, log_price, height;
};
[[gnu::always_inline]] inline Spot select(Mask yes, const Spot& a, const Spot& b) {
  return {select(yes, a.reward, b.reward), select(yes, a.utility, b.utility),
          select(yes, a.price, b.price), select(yes, a.log_price, b.log_price),
          select(yes, a.height, b.height)};
}
// How the smooth curve goes along the edge behind a corner.
struct Edge {
  Lanes begin, end, bend;  // logarithms of prices, and how fast they rise
};
[[gnu::always_inline]] inline Edge select(Mask yes, const Edge& a, const Edge& b) {
  return {select(yes, a.begin, b.begin), select(yes, a.end, b.end), select(yes, a.bend, b.bend)};
}

// How eight lanes look at the corners of one place, which are given by where they are in the array
// of doubles.
struct Look {
  Lanes cold0, cold1, mean0, mean1, exchange, smooth;
  const double* corners;
  bool all_smooth, all_sharp;  // in all lanes; then one number is enough

  [[gnu::always_inline]] Spot spot(Integers at) const {
    const FourLanes found = gather_four(corners, at);
    const Lanes reward = found.number[0], utility = found.number[1];
    return {reward, utility, found.number[2], found.number[3],
            exchange - cold0 * (reward - mean0) + cold1 * (utility - mean1)};
  }
  // Logarithms may be no numbers at the corners that stand outside, and then compare as the
  // infinity there would.
  [[gnu::always_inline]] Edge edge(Integers at, const Spot& spot) const {
    if (all_sharp) return {spot.log_price, spot.log_price, 0.0};
    const FourLanes found = gather_four(corners + 4, at);
    return {smoothed(spot.log_price, found.number[0]), smoothed(spot.log_price, found.number[1]),
            found.number[2]};
  }
  [[gnu::always_inline]] Lanes smoothed(Lanes middle, Lanes full) const {
    if (all_smooth) return full;
    // As it is where the lane is smooth, to the last bit.
    return select(smooth < 1.0, middle + smooth * (full - middle), full);
  }
};

[[gnu::always_inline]] inline Integers stand(const CurveLanes& to, int lane, Integers corner) {
  const Lanes smooth = load(to.smooth + lane);
  const Mask live = below(to.lanes - lane);
  const Look look{load(to.cold[0] + lane),
                  load(to.cold[1] + lane),
                  load(to.mean[0] + lane) - to.shift[0],
                  load(to.mean[1] + lane) - to.shift[1],
                  load(to.exchange + lane),
                  smooth,
                  &to.corners->reward,
                  !any((smooth < 1.0) & live),
                  !any((smooth > 0.0) & live)};
  Integers at = shift_left(corner, 3);
  static_assert(kCorner == 8);
  Spot here = look.spot(at), before;
  Edge behind = look.edge(at, here), ahead;  // of `here`, and of `before`
  for (;;) {
    const Spot next = look.spot(at + kCorner);
    const Mask up = (behind.end + next.height <= 0.0) & live;
    if (!any(up)) break;
    at = add_where(up, at, kCorner);
    here = select(up, next, here);
    behind = look.edge(at, here);
  }
  for (;;) {
    before = look.spot(at - kCorner);
    ahead = look.edge(at - kCorner, before);
    const Mask down = (ahead.begin + before.height >= 0.0) & live;
    if (!any(down)) break;
    at = add_where(down, at, -kCorner);
    here = select(down, before, here);
    behind = select(down, ahead, behind);
  }
  // On the edge before the corner, on the one behind it, or on none.
  const Mask on_before = ahead.end + here.height > 0.0;
  const Spot from = select(on_before, before, here);
  const Edge along_edge = select(on_before, ahead, behind);
  const Lanes at_begin = along_edge.begin + from.height;
  const Mask on_edge = at_begin < 0.0;
  const Lanes price = from.price;
  const Lanes soft = 1.0 / (look.cold1 + look.cold0 * price + look.smooth * along_edge.bend);
  const Lanes along = select(on_edge, -at_begin * soft, 0.0);  // utility from where the edge begins
  // Off the edges the corner is where one begins, and its price may be infinite.
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

[[gnu::always_inline]] inline void step(const CornerLanes& to, int lane) {
  const double* corners = &to.corners->reward;
  const Mask live = below(to.lanes - lane);
  const Lanes q0 = load(to.weight[0] + lane) * load(to.kernel[0] + lane);
  const Lanes q1 = load(to.weight[1] + lane) * load(to.kernel[1] + lane);
  const Mask some = live & (q0 + q1 > 0.0);
  Integers at = shift_left(clamp(load(to.best + lane), 0, to.last), 3);
  FourLanes best = gather_four(corners, at);
  for (;;) {
    const Mask up = (best.number[2] * q0 <= q1) & some;
    if (!any(up)) break;
    at = add_where(up, at, kCorner);
    best = gather_four(corners, at);
  }
  for (;;) {
    const Mask down = (gather(corners + 2 - kCorner, at) * q0 > q1) & some;
    if (!any(down)) break;
    at = add_where(down, at, -kCorner);
    best = gather_four(corners, at);
  }
  store(to.best + lane, arithmetic_shift_right(at, 3));
  const Lanes worth = q0 * (best.number[0] + to.shift[0]) + q1 * (best.number[1] + to.shift[1]);
  store(to.sum + lane, load(to.sum + lane) + worth);

  const Lanes from = load(to.utility + lane);
  const Lanes share = select(some, load(to.step + lane), 0.0);
  const Lanes utility = min(max(from + share * (best.number[1] - from), to.corners->utility),
                            to.corners[to.last].utility);
  at = shift_left(clamp(load(to.corner + lane), 0, to.last), 3);
  for (;;) {
    const Mask up = (gather(corners + 1 + kCorner, at) < utility) & live;
    if (!any(up)) break;
    at = add_where(up, at, kCorner);
  }
  FourLanes here = gather_four(corners, at);
  for (;;) {
    const Mask down = (here.number[1] > utility) & live;
    if (!any(down)) break;
    at = add_where(down, at, -kCorner);
    here = gather_four(corners, at);
  }
  store(to.corner + lane, arithmetic_shift_right(at, 3));
  // The price behind the last corner is infinite.
  const Lanes beyond = utility - here.number[1];
  const Lanes given_up = select(beyond > 0.0, here.number[2] * beyond, 0.0);
  store(to.utility + lane, utility);
  store(to.reward + lane, here.number[0] - given_up);
}

void step_on_curve(const CornerLanes& to) {
  for (int lane = 0; lane < to.lanes; lane += kLanes) step(to, lane);
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
      FourLanes entry = gather_four(table, at);
      for (;;) {
        const Mask up = (entry.number[2] * q0 <= q1) & some;
        if (!any(up)) break;
        at = add_where(up, at, sum.size);
        entry = gather_four(table, at);
      }
      while (sum.guess) {  // a bucket begins with its least price
        const Mask down = (gather(table + 2 - sum.size, at) * q0 > q1) & some;
        if (!any(down)) break;
        at = add_where(down, at, -sum.size);
        entry = gather_four(table, at);
      }
      const Lanes part = q0 * (entry.number[0] + extra0) + q1 * (entry.number[1] + extra1);
      store(to + lane, load(to + lane) + part);
    }
  }
}

}  // namespace

extern const CurveFunctions curve_functions{stand_on_curve, step_on_curve, sum_supports};

}  // namespace redoubt::internal::REDOUBT_TARGET
