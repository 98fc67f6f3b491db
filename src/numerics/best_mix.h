#pragma once
#include <algorithm>
#include <cmath>
#include "redoubt/choice.h"
namespace redoubt {
inline void best_mix(int A, const double* const* R, const double* const* U, int lanes,
                     const double* t, bool util, MixedChoice* ch, double* ro, double* uo) {
  for (int l = 0; l < lanes; ++l) {
    int bu = 0, br = 0;
    for (int a = 1; a < A; ++a) {
      if (U[a][l] > U[bu][l] || (U[a][l] == U[bu][l] && R[a][l] > R[bu][l])) bu = a;
      if (R[a][l] > R[br][l] || (R[a][l] == R[br][l] && U[a][l] > U[br][l])) br = a;
    }
    MixedChoice best;
    double bestr = -1e300, bestu = 0;
    if (U[bu][l] < t[l]) {
      int a = util ? bu : br;
      best = {(uint8_t)a, (uint8_t)a, 65535};
      bestr = R[a][l];
      bestu = U[a][l];
    } else
      for (int a = 0; a < A; ++a) {
        if (U[a][l] < t[l]) continue;
        if (R[a][l] > bestr) {
          bestr = R[a][l];
          bestu = U[a][l];
          best = {(uint8_t)a, (uint8_t)a, 65535};
        }
        for (int b = 0; b < A; ++b) {
          if (U[b][l] >= t[l] || R[b][l] <= R[a][l]) continue;
          double w = (t[l] - U[b][l]) / (U[a][l] - U[b][l]);
          int q = std::min(65535, (int)std::ceil(w * 65535));
          double x = q / 65535.0, r = x * R[a][l] + (1 - x) * R[b][l],
                 u = x * U[a][l] + (1 - x) * U[b][l];
          if (u < t[l] && q < 65535) {
            ++q;
            x = q / 65535.0;
            r = x * R[a][l] + (1 - x) * R[b][l];
            u = x * U[a][l] + (1 - x) * U[b][l];
          }
          if (r > bestr) {
            bestr = r;
            bestu = u;
            best = {(uint8_t)a, (uint8_t)b, (uint16_t)q};
          }
        }
      }
    ch[l] = best;
    ro[l] = bestr;
    uo[l] = bestu;
  }
}
}  // namespace redoubt
