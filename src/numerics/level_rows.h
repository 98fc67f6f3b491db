#pragma once

#include "numerics/curves.h"

namespace redoubt::internal {

// A kernel of nature that gives way to values: an outcome of value x has the mass
//     base + sum over parts k of clamp(rest_k + mass_k steep (level_k - x), 0, cap_k).
// `rest` is what the part has in a kernel, the centre. Every part adds up to its target at the
// right level. Bounds on probabilities are one part; total variation is two, what is left of the
// nominal row below the first level and what is added below the second.
struct LevelPart {
  double mass = 0, cap = 0;
};
constexpr int kMostParts = 2;

// One outcome, and the curve of the place it leads to. A lane goes to where the price of the curve,
// smoothed by a share `smooth`, is that of the two kernels there. Arrays are readable and writable
// up to a multiple of eight lanes.
struct LevelLanes {
  int lanes = 0, parts = 1;
  const CurveCorner* corners = nullptr;  // one more stands before the first, one behind the last
  int last = 0;                          // corner
  double shift[2] = {0, 0};              // by which the values of this place are higher
  double base = 0;
  LevelPart part[kMostParts];
  const double* weight[2] = {};  // [lane], and below
  const double* steep[2] = {};
  const double* level[2][kMostParts] = {};
  const double* rest[2][kMostParts] = {};
  const double* smooth = nullptr;
  std::int64_t* corner = nullptr;  // a guess; receives the corner
  bool first_guess = false;        // then blocks of lanes learn from those before them
  double* value[2] = {};           // receive reward and utility of the point, without the shifts
  double* price = nullptr;         // receives that of the curve there
  double* give = nullptr;          // how far it goes for a change of prices: 0 at corners
};
void answer_levels(const LevelLanes& lanes);

// All outcomes of a row where the places stand. Arrays are [lane] or [outcome][lane] with `stride`
// lanes for each outcome, readable and writable up to a multiple of eight lanes.
struct LevelRows {
  int outcomes = 0, lanes = 0, stride = 0, parts = 1;
  const double* base = nullptr;                           // [outcome]
  const LevelPart* part[kMostParts] = {};                 // [outcome]
  double target[kMostParts] = {}, room[kMostParts] = {};  // of the parts, and sums of their caps
  const double* extra = nullptr;                          // outcome values: [outcome][signal]
  const double* weight[2] = {};
  const double* steep[2] = {};
  const double* level[2][kMostParts] = {};
  const double* rest[2][kMostParts] = {};  // [outcome][lane], and below
  const double* const* value[2] = {};      // [outcome] -> [lane]
  const double* price = nullptr;
  const double* give = nullptr;
  double radius = 0;  // of a chi-square ball
};
// Of the levels, in the order of signals and parts: what is missing to the targets, and how that
// falls with the levels, the places going along: [a][b] with b <= a, one row after the other. Both
// count by the weights of the signals.
struct LevelMoments {
  double* missing = nullptr;         // [level][lane] with `stride` lanes for each
  double* curvature = nullptr;       // [pair][lane]
  double* kernel[2] = {};            // inside the set, near that of the levels: [outcome][lane]
  double* held[2][kMostParts] = {};  // by its parts
};
void weigh_levels(const LevelRows& rows, const LevelMoments& moments);

// The same against a chi-square ball, whose worst kernel is one part without a cap: its mass
// and centre are the nominal row. What is sought of each signal is the level and the logarithm of
// its distance 1 / (2 steep) from the price of the ball: missing are the mass and, in units of that
// distance, the divergence that is too much.
void weigh_ball(const LevelRows& rows, const LevelMoments& moments);

struct LevelFunctions {
  void (*answer_levels)(const LevelLanes&);
  void (*weigh_levels)(const LevelRows&, const LevelMoments&);
  void (*weigh_ball)(const LevelRows&, const LevelMoments&);
};
const LevelFunctions& level_functions(InstructionSet instructions);

}  // namespace redoubt::internal
