#include "numerics/level_rows.h"

#include "numerics/kernels/between.h"
#include "numerics/kernels/kernels.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

constexpr std::int64_t kCorner = sizeof(CurveCorner) / sizeof(double);
// In the search for the point on an edge: steps, a relative error of the price from which one more
// step is enough, and how far behind a bend it is on its other side.
constexpr int kMostSteps = 16;
constexpr double kFound = 1e-4, kBeyond = 1e-9;

// A weighed mass, and how fast it falls with the value.
struct Force {
  Lanes at, falls;
};

// The kernel of one signal at one place, as a function of the value there.
template <int Parts>
struct Pull {
  Lanes at_zero[Parts], slope[Parts];
  Lanes weight;
  double base, cap[Parts];

  [[gnu::always_inline]] Pull(const LevelLanes& to, int j, int lane) {
    const Lanes steep = load(to.steep[j] + lane);
    weight = load(to.weight[j] + lane);
    base = to.base;
    for (int k = 0; k < Parts; ++k) {
      slope[k] = to.part[k].mass * steep;
      at_zero[k] =
          load(to.rest[j][k] + lane) + slope[k] * (load(to.level[j][k] + lane) - to.shift[j]);
      cap[k] = to.part[k].cap;
    }
  }
  [[gnu::always_inline]] Lanes at(Lanes x) const {
    Lanes sum = base;
    for (int k = 0; k < Parts; ++k) sum += between(at_zero[k] - slope[k] * x, 0.0, cap[k]);
    return weight * sum;
  }
  [[gnu::always_inline]] Force force(Lanes x) const {
    Lanes sum = base, falls = 0.0;
    for (int k = 0; k < Parts; ++k) {
      const Lanes free = at_zero[k] - slope[k] * x;
      sum += between(free, 0.0, cap[k]);
      falls = add_where(inside(free, 0.0, cap[k]), falls, slope[k]);
    }
    return {weight * sum, weight * falls};
  }
};

// A corner, and where the price of the smooth curve begins and ends on the edge behind it.
// Logarithms may be no numbers at the corners that stand outside: nothing is added there.
struct Spot {
  Lanes reward, utility, price, begin, end;
  Lanes pull0, pull1;
};
[[gnu::always_inline]] inline Spot select(Mask yes, const Spot& a, const Spot& b) {
  return {select(yes, a.reward, b.reward), select(yes, a.utility, b.utility),
          select(yes, a.price, b.price),   select(yes, a.begin, b.begin),
          select(yes, a.end, b.end),       select(yes, a.pull0, b.pull0),
          select(yes, a.pull1, b.pull1)};
}
template <int Parts>
[[gnu::always_inline]] inline Spot spot(const double* corners, Integers at, Lanes smooth,
                                        const Pull<Parts>& pull0, const Pull<Parts>& pull1) {
  const FourLanes found = gather_four(corners, at), smoothed = gather_four(corners + 4, at);
  const Lanes price = found.number[2], middle = found.number[3];
  return {found.number[0],
          found.number[1],
          price,
          price / (1.0 + smooth * max(middle - smoothed.number[0], 0.0)),
          price * (1.0 + smooth * max(smoothed.number[1] - middle, 0.0)),
          pull0.at(found.number[0]),
          pull1.at(found.number[1])};
}

// The same along an edge, as a function of the share of its length.
template <int Parts>
struct PullAlong {
  Lanes begin[Parts], rise[Parts], enters[Parts], leaves[Parts];
  Lanes weight;
  double base, cap[Parts];

  [[gnu::always_inline]] PullAlong(const Pull<Parts>& pull, Lanes from, Lanes by)
      : weight(pull.weight), base(pull.base) {
    for (int k = 0; k < Parts; ++k) {
      cap[k] = pull.cap[k];
      begin[k] = pull.at_zero[k] - pull.slope[k] * from;
      rise[k] = -(pull.slope[k] * by);
      const Lanes inverse = 1.0 / rise[k];
      enters[k] = -(begin[k] * inverse);
      leaves[k] = (cap[k] - begin[k]) * inverse;
    }
  }
  [[gnu::always_inline]] Force force(Lanes share) const {
    Lanes sum = base, rises = 0.0;
    for (int k = 0; k < Parts; ++k) {
      const Lanes free = begin[k] + share * rise[k];
      sum += between(free, 0.0, cap[k]);
      rises = add_where(inside(free, 0.0, cap[k]), rises, rise[k]);
    }
    return {weight * sum, weight * rises};
  }
  // How far it is to the next bend in this direction, if that is less than `least`.
  [[gnu::always_inline]] Lanes next_bend(Lanes share, Lanes direction, Lanes least) const {
    for (int k = 0; k < Parts; ++k) {
      for (const Lanes& bend : {enters[k], leaves[k]}) {
        const Lanes distance = (bend - share) * direction;
        least = select((distance > 0.0) & (distance < least), distance, least);
      }
    }
    return least;
  }
};

// How far along an edge its price is that of the kernels: their difference rises from the beginning
// to the end, in pieces that are nearly straight. Newton's method, up to the next bend at a time.
struct Way {
  Lanes share, price, steepness;
};
template <int Parts>
[[gnu::always_inline]] inline Way go_along(const Spot& from, Lanes to_pull0, Lanes to_pull1,
                                           Lanes length, Mask on_edge, const Pull<Parts>& pull0,
                                           const Pull<Parts>& pull1) {
  const Lanes begin = select(on_edge, from.begin, 0.0), end = select(on_edge, from.end, 0.0);
  const Lanes bend = end - begin;
  const PullAlong<Parts> along0(pull0, from.reward, -select(on_edge, from.price * length, 0.0));
  const PullAlong<Parts> along1(pull1, from.utility, length);
  const Lanes below_by = select(on_edge, begin * from.pull0 - from.pull1, -1.0);
  const Lanes above_by = select(on_edge, end * to_pull0 - to_pull1, 1.0);
  Lanes low = 0.0, high = 1.0, share = below_by / (below_by - above_by);
  Mask todo = on_edge;
  for (int step = 0; step < kMostSteps && any(todo); ++step) {
    const Lanes price = begin + share * bend;
    const Force q0 = along0.force(share), q1 = along1.force(share);
    const Lanes dear = price * q0.at, over = dear - q1.at;
    const Mask moves = todo, rises = over < 0.0;
    todo = todo & (abs(over) > kFound * (dear + q1.at));
    low = select(moves & rises, share, low);
    high = select(moves & !rises, share, high);
    const Lanes steepness = bend * q0.at + price * q0.falls - q1.falls;
    const Lanes direction = select(rises, 1.0, -1.0);
    const Lanes newton = abs(over) / steepness;
    Lanes by = along0.next_bend(share, direction, 1.0);
    by = along1.next_bend(share, direction, by) + kBeyond;
    by = select(newton < by, newton, by);
    const Lanes next = share + direction * by;
    const Mask between_ends = (next > low) & (next < high);
    share = select(moves & between_ends, next, select(todo, 0.5 * (low + high), share));
  }
  return {share, begin + share * bend, select(on_edge, bend / length, 0.0)};
}

template <int Parts>
[[gnu::always_inline]] inline Integers answer(const LevelLanes& to, int lane, Integers corner) {
  const double* corners = &to.corners->reward;
  const Lanes smooth = load(to.smooth + lane);
  const Mask live = below(to.lanes - lane);
  const Pull<Parts> pull0(to, 0, lane), pull1(to, 1, lane);
  Integers at = shift_left(corner, 3);
  static_assert(kCorner == 8);
  Spot here = spot(corners, at, smooth, pull0, pull1), next, before;
  for (;;) {
    next = spot(corners, at + kCorner, smooth, pull0, pull1);
    const Mask up = (here.end * next.pull0 < next.pull1) & live;
    if (!any(up)) break;
    at = add_where(up, at, kCorner);
    here = select(up, next, here);
  }
  for (;;) {
    before = spot(corners, at - kCorner, smooth, pull0, pull1);
    const Mask down = (before.begin * before.pull0 >= before.pull1) & live;
    if (!any(down)) break;
    at = add_where(down, at, -kCorner);
    next = select(down, here, next);
    here = select(down, before, here);
  }
  const Mask on_before = before.end * here.pull0 > here.pull1;
  const Mask on_edge = live & (on_before | (here.begin * here.pull0 < here.pull1));
  const Spot from = select(on_before, before, here);
  const Spot end = select(on_before, here, next);
  const Lanes length = select(on_edge, end.utility - from.utility, 1.0);
  const Way way = go_along<Parts>(from, end.pull0, end.pull1, length, on_edge, pull0, pull1);
  const Lanes along = select(on_edge, way.share * length, 0.0);
  const Lanes reward = from.reward - select(on_edge, from.price * along, 0.0);
  const Lanes utility = from.utility + along;
  const Force force0 = pull0.force(reward), force1 = pull1.force(utility);
  const Lanes resists =
      way.steepness * force0.at + way.price * way.price * force0.falls + force1.falls;
  store(to.value[0] + lane, reward);
  store(to.value[1] + lane, utility);
  store(to.price + lane, way.price);
  store(to.give + lane, select(on_edge & (resists > 0.0), 1.0 / resists, 0.0));
  return arithmetic_shift_right(at, 3);
}

}  // namespace

void answer_levels(const LevelLanes& to) {
  std::int64_t offset = 0;
  for (int lane = 0; lane < to.lanes; lane += kLanes) {
    const Integers guess = clamp(load(to.corner + lane) + offset, 0, to.last);
    const Integers corner = to.parts == 1 ? answer<1>(to, lane, guess) : answer<2>(to, lane, guess);
    // Neighbours stand close, and are off in the same way.
    const std::int64_t guessed = to.corner[lane + kLanes - 1];
    store(to.corner + lane, corner);
    if (to.first_guess) offset = to.corner[lane + kLanes - 1] - guessed;
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
