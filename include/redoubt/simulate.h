#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/worst_kernel.h"

namespace redoubt {

struct SimulateOptions {
  std::int64_t episodes = 1000;
  std::uint64_t seed = 0;
  Nature nature = {};  // who draws the outcomes; nature_of() reads it from a word
  // An infinite horizon is cut where what may follow is below this share of the largest total.
  double tolerance = 1e-9;
};

// One quantity over all episodes: its discounted total, in the user's own sign; for a chance
// constraint 1 where the total keeps its bound and 0 where it does not, so that the mean is the
// share of episodes that keep it.
struct SampledTotal {
  std::string name;            // "reward" or the constraint's signal
  std::vector<double> totals;  // of each episode
  double mean = 0;
  double standard_error = 0;  // of the mean; zero for a single episode
};

struct Simulation {
  SampledTotal reward;
  std::vector<SampledTotal> constraints;
  std::optional<int> cut;  // an infinite horizon was cut after this many stages
};

// Runs episodes of a policy. Episode e draws from stream e of the seed: the same episodes on any
// number of threads. Under a worst nature, the mean of the total that it works against tends to
// what `evaluate` says. A simulation that is stopped early has fewer episodes, none of them cut
// short.
Simulation simulate(const Problem& problem, const Policy& policy,
                    const SimulateOptions& options = {}, const Execution& execution = {});

}  // namespace redoubt
