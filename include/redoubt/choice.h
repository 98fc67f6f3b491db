#pragma once

#include <cstdint>

namespace redoubt {

// A decision between at most two actions of a state, in four bytes, because policies hold one for
// every (stage, state, memory). Actions are positions in the state's own list. `safe` has the
// higher utility of the two; its probability is weight / 65535, rounded towards it when the
// decision is made, so that what is stored is what was evaluated.
struct MixedChoice {
  std::uint8_t safe = 0;
  std::uint8_t other = 0;
  std::uint16_t weight = 65535;

  static constexpr double kUnits = 65535.0;
  double safe_probability() const { return weight / kUnits; }
  bool operator==(const MixedChoice&) const = default;
};
static_assert(sizeof(MixedChoice) == 4);

}  // namespace redoubt
