#pragma once

#include "numerics/isa.h"

namespace redoubt::internal {

// Two tilts of one distribution p in every lane, P_j = p exp(exponent_j) up to its sum, and how
// they change when both tilts are cooled and exchanged against each other. The exponent of an
// outcome follows its own temperature and, by its share (0: fixed value, up to 1), the other one's:
//     d exponent_j = exponent_j (1 - share_j) dlog_cold_j + share_j (exponent_other dlog_cold_other
//     + sign_j dexchange),   sign_0 = -1, sign_1 = +1.
// Arrays are [outcome][lane] with `stride` lanes for each outcome, readable up to a multiple of
// eight.
struct TiltedRows {
  int outcomes = 0, lanes = 0, stride = 0;
  const double* probability = nullptr;
  const double* exponent[2] = {};
  const double* share[2] = {};
  double radius = 1e300;  // of the ball around p that `tilted` has to be in
};

struct TiltMoments {
  double* log_sum = nullptr;     // log of sum p exp(exponent)
  double* divergence = nullptr;  // Kullback-Leibler, of the tilt from p
  // Derivatives of both, after the log of the own temperature's inverse, the other's, and the
  // exchange.
  double* log_sum_by[3] = {};
  double* divergence_by[3] = {};
  // P, or as much of the way from p to it as is surely inside the ball: [outcome][lane]
  double* tilted = nullptr;
};

// Moments of both tilts, [lane].
void tilt_rows(const TiltedRows& rows, const TiltMoments (&moments)[2]);

using TiltFunction = void (*)(const TiltedRows&, const TiltMoments (&)[2]);
TiltFunction tilt_function(InstructionSet instructions);

}  // namespace redoubt::internal
