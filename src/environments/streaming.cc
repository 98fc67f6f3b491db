#include <algorithm>

#include "environments/environment.h"

namespace redoubt::internal::builtin {
namespace {

// One slot: a packet arrives with the rate of the chosen link and one is played with probability
// `play`; the buffer moves when exactly one of the two happens. A full buffer drops packets, an
// empty one stalls.
Model player(const Parameters& parameters) {
  const auto capacity = static_cast<State>(parameters.integer("buffer", 1, 1'000'000));
  const double rate[] = {parameters.number("fast", 0, 1), parameters.number("slow", 0, 1)};
  const double play = parameters.number("play", 0, 1);
  ModelBuilder builder(capacity + 1, {"fast"});
  for (State packets = 0; packets <= capacity; ++packets) {
    for (const int link : {0, 1}) {
      const double up = (1 - play) * rate[link], down = play * (1 - rate[link]);
      const double reward = packets > 0 ? 1 : 0, fast = link == 0 ? 1 : 0;
      builder.add(0, packets, link,
                  {reward,
                   {fast},
                   {{std::max(packets - 1, 0), down},
                    {packets, 1 - up - down},
                    {std::min(packets + 1, capacity), up}}});
    }
  }
  builder.name_actions({"fast", "slow"});
  builder.label("empty", {0});
  return builder.build();
}

}  // namespace

Environment streaming() {
  return {.name = "streaming",
          .description = "Keep a playback buffer filled while using the fast link rarely",
          .parameters = {{"buffer", "10", "packets that the buffer holds"},
                         {"fast", "0.7", "probability that the fast link delivers a packet"},
                         {"slow", "0.3", "probability that the slow link delivers a packet"},
                         {"play", "0.2", "probability that a packet is played"}},
          .defaults = {.discount = "0.99", .start = "0", .bound = "5"},
          .sense = Sense::at_most,
          .model = player};
}

}  // namespace redoubt::internal::builtin
