#pragma once

#include <vector>

#include "redoubt/model.h"

namespace redoubt::internal {

// Where the game of a row ended in one direction, beside the kernels.
struct WarmStart {
  // Against kl: the logarithm of the inverse temperature of each signal. In the game by levels:
  // those of each signal, from the mean, in spreads.
  double level[4] = {0, 0, 0, 0};
  double exchange = 0;  // against kl, the rate at which her kernels exchange the two signals
  float rounds = 0;     // against other sets: that the averages are over
  bool known = false;
};

// Where the games of one row ended, in each direction. Neither changes much from one stage to the
// next, so a game begins where the last one of the row ended, and most rows that do not matter are
// told by the kernels that told it before.
struct RowWarmStarts {
  std::vector<WarmStart> warm_starts;
  std::vector<float> kernels;  // less the nominal row: [direction][place][signal]
  // Where each place stands on its curve, [direction][place]: how much utility it has beyond the
  // best corner for the nominal row. Not kl.
  std::vector<float> beyond;
};

// Those of each state and action of one stage. Forgetting them keeps their memory for another one.
using StageWarmStarts = std::vector<std::vector<RowWarmStarts>>;
inline void forget(StageWarmStarts& warm_starts, State states) {
  warm_starts.resize(states);
  for (auto& actions : warm_starts) {
    for (RowWarmStarts& row : actions) row.warm_starts.clear();
  }
}

struct GameHistory {
  RowWarmStarts* own = nullptr;          // of this stage
  const RowWarmStarts* later = nullptr;  // of the next one, if it has the same rows
};

}  // namespace redoubt::internal
