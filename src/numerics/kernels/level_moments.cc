#include "numerics/kernels/between.h"
#include "numerics/kernels/kernels.h"
#include "numerics/level_rows.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

// One signal of a block of lanes.
template <int Parts>
struct Signal {
  Lanes steep, level[Parts];
};

// What the parts have at one outcome.
template <int Parts>
struct Held {
  Lanes mass[Parts], falls[Parts];
};
template <int Parts>
[[gnu::always_inline]] inline Held<Parts> hold(const LevelRows& rows, int j, int i, int lane,
                                               const Signal<Parts>& signal) {
  Held<Parts> held;
  const auto at = static_cast<std::int64_t>(i) * rows.stride + lane;
  const Lanes x = load(rows.value[j][i] + lane) + rows.extra[i * 2 + j];
  for (int k = 0; k < Parts; ++k) {
    const LevelPart& part = rows.part[k][i];
    const Lanes slope = part.mass * signal.steep, rest = load(rows.rest[j][k] + at);
    const Lanes free = rest + slope * (signal.level[k] - x);
    held.mass[k] = between(free, 0.0, part.cap);
    held.falls[k] = select(inside(free, 0.0, part.cap), slope, 0.0);
  }
  return held;
}

// Levels nearly right where the places stand; what is still missing or too much is spread over all
// outcomes, which keeps the kernel inside the set.
template <int Parts>
[[gnu::always_inline]] inline void write_kernel(const LevelRows& rows, int j, int lane,
                                                Signal<Parts> signal, const LevelMoments& to) {
  Lanes sum[Parts], falls[Parts];
  for (int step = 0;; ++step) {
    for (int k = 0; k < Parts; ++k) sum[k] = falls[k] = 0.0;
    for (int i = 0; i < rows.outcomes; ++i) {
      const Held<Parts> held = hold<Parts>(rows, j, i, lane, signal);
      for (int k = 0; k < Parts; ++k) {
        sum[k] += held.mass[k];
        falls[k] += held.falls[k];
      }
    }
    if (step == 2) break;
    for (int k = 0; k < Parts; ++k) {
      const Mask moves = falls[k] > 0.0;
      const Lanes by = (rows.target[k] - sum[k]) / select(moves, falls[k], 1.0);
      signal.level[k] = add_where(moves, signal.level[k], by);
    }
  }
  Lanes keep[Parts], add[Parts];
  for (int k = 0; k < Parts; ++k) {
    const Lanes missing = rows.target[k] - sum[k];
    const Mask lacks = missing > 0.0;
    const Lanes room = rows.room[k] - sum[k];
    add[k] = select(lacks & (room > 0.0), between(missing / room, 0.0, 1.0), 0.0);
    keep[k] = select(missing < 0.0, rows.target[k] / sum[k], 1.0);
  }
  for (int i = 0; i < rows.outcomes; ++i) {
    const Held<Parts> held = hold<Parts>(rows, j, i, lane, signal);
    Lanes all = rows.base[i];
    const auto at = static_cast<std::int64_t>(i) * rows.stride + lane;
    for (int k = 0; k < Parts; ++k) {
      const Lanes own = keep[k] * held.mass[k] + add[k] * (rows.part[k][i].cap - held.mass[k]);
      store(to.held[j][k] + at, own);
      all += own;
    }
    store(to.kernel[j] + at, all);
  }
}

template <int Parts>
[[gnu::always_inline]] inline void weigh(const LevelRows& rows, const LevelMoments& to, int lane) {
  constexpr int kLevels = 2 * Parts, kPairs = kLevels * (kLevels + 1) / 2;
  Signal<Parts> signal[2];
  Lanes weight[2], missing[kLevels], curvature[kPairs];
  for (int j = 0; j < 2; ++j) {
    weight[j] = load(rows.weight[j] + lane);
    signal[j].steep = load(rows.steep[j] + lane);
    for (int k = 0; k < Parts; ++k) {
      signal[j].level[k] = load(rows.level[j][k] + lane);
      missing[j * Parts + k] = rows.target[k];
    }
  }
  for (auto& pair : curvature) pair = 0.0;
  for (int i = 0; i < rows.outcomes; ++i) {
    const auto at = static_cast<std::int64_t>(i) * rows.stride + lane;
    const Lanes price = load(rows.price + at), give = load(rows.give + at);
    Lanes falls[kLevels], pushes[kLevels];
    for (int j = 0; j < 2; ++j) {
      const Held<Parts> held = hold<Parts>(rows, j, i, lane, signal[j]);
      for (int k = 0; k < Parts; ++k) {
        const int a = j * Parts + k;
        missing[a] -= held.mass[k];
        falls[a] = weight[j] * held.falls[k];
        pushes[a] = j == 0 ? price * falls[a] : -falls[a];
      }
    }
    for (int a = 0, pair = 0; a < kLevels; ++a) {
      for (int b = 0; b < a; ++b) curvature[pair++] -= pushes[a] * pushes[b] * give;
      curvature[pair++] += falls[a] - pushes[a] * pushes[a] * give;
    }
  }
  for (int a = 0; a < kLevels; ++a)
    store(to.missing + static_cast<std::int64_t>(a) * rows.stride + lane,
          weight[a / Parts] * missing[a]);
  for (int pair = 0; pair < kPairs; ++pair)
    store(to.curvature + static_cast<std::int64_t>(pair) * rows.stride + lane, curvature[pair]);
  for (int j = 0; j < 2; ++j) write_kernel<Parts>(rows, j, lane, signal[j], to);
}

// Levels nearly right where the places stand, up to the sum; and as much of the way from the
// nominal row as is inside the ball.
[[gnu::always_inline]] inline void write_ball_kernel(const LevelRows& rows, int j, int lane,
                                                     Lanes steep, Lanes level, double* kernel) {
  const auto moved = [&](int i) __attribute__((always_inline)) {
    const Lanes x = load(rows.value[j][i] + lane) + rows.extra[i * 2 + j];
    return max(steep * (level - x), -1.0);
  };
  Lanes sum, divergence;
  for (int step = 0;; ++step) {
    Lanes falls = 0.0;
    sum = divergence = 0.0;
    for (int i = 0; i < rows.outcomes; ++i) {
      const double p = rows.part[0][i].mass;
      const Lanes by = moved(i), more = p * by;
      sum += p + more;
      divergence += more * by;
      falls = add_where(by > -1.0, falls, p * steep);
    }
    if (step == 2) break;
    level = add_where(falls > 0.0, level, (1.0 - sum) / select(falls > 0.0, falls, 1.0));
  }
  const Mask some = sum > 0.0;
  const Lanes scale = select(some, 1.0 / sum, 1.0);
  divergence = 0.0;
  for (int i = 0; i < rows.outcomes; ++i) {
    const Lanes by = select(some, (1.0 + moved(i)) * scale - 1.0, 0.0);
    divergence += rows.part[0][i].mass * by * by;
  }
  const Lanes radius = rows.radius;
  const Lanes inside = select(divergence > radius, sqrt(radius / divergence), 1.0);
  for (int i = 0; i < rows.outcomes; ++i) {
    const Lanes by = select(some, (1.0 + moved(i)) * scale - 1.0, 0.0);
    const double p = rows.part[0][i].mass;
    store(kernel + static_cast<std::int64_t>(i) * rows.stride + lane, p + inside * (p * by));
  }
}

}  // namespace

void weigh_levels(const LevelRows& rows, const LevelMoments& to) {
  for (int lane = 0; lane < rows.lanes; lane += kLanes)
    rows.parts == 1 ? weigh<1>(rows, to, lane) : weigh<2>(rows, to, lane);
}

// What the masses do for a change of the level and of the logarithm beside it.
void weigh_ball(const LevelRows& rows, const LevelMoments& to) {
  constexpr int kLevels = 4, kPairs = kLevels * (kLevels + 1) / 2;
  for (int lane = 0; lane < rows.lanes; lane += kLanes) {
    Lanes weight[2], steep[2], level[2], sum[2], divergence[2], curvature[kPairs];
    for (int j = 0; j < 2; ++j) {
      weight[j] = load(rows.weight[j] + lane);
      steep[j] = load(rows.steep[j] + lane);
      level[j] = load(rows.level[j][0] + lane);
      sum[j] = divergence[j] = 0.0;
    }
    for (auto& pair : curvature) pair = 0.0;
    for (int i = 0; i < rows.outcomes; ++i) {
      const auto at = static_cast<std::int64_t>(i) * rows.stride + lane;
      const Lanes price = load(rows.price + at), give = load(rows.give + at);
      const double p = rows.part[0][i].mass;
      Lanes falls[kLevels], pushes[kLevels], turn[2];
      for (int j = 0; j < 2; ++j) {
        turn[j] = load(rows.value[j][i] + lane) + rows.extra[i * 2 + j] - level[j];
        const Lanes moved = max(-(steep[j] * turn[j]), -1.0);
        sum[j] += p * (1.0 + moved);
        divergence[j] += p * moved * moved;
        falls[2 * j] = select(moved > -1.0, weight[j] * p * steep[j], 0.0);
        falls[2 * j + 1] = falls[2 * j] * turn[j];
        for (int a = 2 * j; a < 2 * j + 2; ++a) pushes[a] = j == 0 ? price * falls[a] : -falls[a];
      }
      for (int a = 0, pair = 0; a < kLevels; ++a) {
        for (int b = 0; b <= a; ++b, ++pair) {
          curvature[pair] -= pushes[a] * pushes[b] * give;
          if (a / 2 == b / 2) curvature[pair] += b % 2 == 0 ? falls[a] : falls[a] * turn[b / 2];
        }
      }
    }
    for (int j = 0; j < 2; ++j) {
      store(to.missing + static_cast<std::int64_t>(2 * j) * rows.stride + lane,
            weight[j] * (1.0 - sum[j]));
      store(to.missing + static_cast<std::int64_t>(2 * j + 1) * rows.stride + lane,
            weight[j] * (divergence[j] - rows.radius) / (2.0 * steep[j]));
    }
    for (int pair = 0; pair < kPairs; ++pair)
      store(to.curvature + static_cast<std::int64_t>(pair) * rows.stride + lane, curvature[pair]);
    for (int j = 0; j < 2; ++j) write_ball_kernel(rows, j, lane, steep[j], level[j], to.kernel[j]);
  }
}

}  // namespace redoubt::internal::REDOUBT_TARGET
