#pragma once

#include "sets/kernels/block.h"

namespace redoubt::REDOUBT_TARGET {

// Mass taken from the highest values downwards, per lane.
struct Descent {
  Lanes saved;      // sum of taken * (value - low)
  Lanes threshold;  // everything above this value was taken,
  Lanes fraction;   // and this part of what lies at it
};

// Takes `amount` from outcomes that hold mass(i), highest value(i) first. One sweep finds how much
// lies at the current height and what the next height is. Lanes that have finished keep sweeping,
// but take nothing: no bits change.
template <class Mass, class Value>
[[gnu::always_inline]] inline Descent descend(int outcomes, Mass mass, Value value, Lanes amount,
                                              Lanes high, Lanes low) {
  Descent d{0.0, high, 0.0};
  Lanes height = high;
  while (true) {
    Lanes here = 0.0, next = low;
    for (int i = 0; i < outcomes; ++i) {
      const Lanes x = value(i);
      here += select(x == height, mass(i), 0.0);
      next = select((x < height) & (next < x), x, next);
    }
    const Mask takes = (0.0 < amount) & (low < height);
    const Lanes taken = select(takes, min(here, amount), 0.0);
    d.saved += taken * (height - low);
    d.threshold = select(takes, height, d.threshold);
    d.fraction = select(takes, taken / here, d.fraction);
    amount -= taken;
    height = next;
    if (!any((0.0 < amount) & (low < height))) return d;
  }
}

}  // namespace redoubt::REDOUBT_TARGET
