#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "redoubt/execution.h"
#include "redoubt/policy.h"
#include "redoubt/worst_kernel.h"

namespace redoubt {

// What happens when a policy meets a nature: where episodes go, what each stage earns, and what
// nature has moved.
struct Course {
  // Probability of each node of each stage; an infinite horizon is cut where it was asked to be.
  std::vector<std::vector<double>> visits;
  // What is expected of each stage, discounted to the start, in the user's sign: of the reward,
  // then of each constraint's signal.
  std::vector<std::vector<double>> earned;
  // Of each row of the model, over all stages: how often it is taken, and the probability that
  // nature moves in it (total variation between its choice and the nominal row, times visits).
  std::vector<double> row_visits, row_moved;
  std::vector<double> outcome_visits;  // of each outcome of the model, under this nature
  std::vector<double> landing_visits;  // of each row: arrivals outside of it
};
Course course(const Problem& problem, const Policy& policy, Nature nature, int most_stages = 1000,
              const Execution& execution = {});

// What a policy guarantees from each of its nodes on: [stage][reward, then each constraint][node],
// in the user's sign and in the units of the stage. The last stage is the end of the horizon, or
// the one that is used for ever. Chance constraints by the expected total of their signal.
std::vector<std::vector<std::vector<double>>> node_values(const Problem& problem,
                                                          const Policy& policy,
                                                          const Execution& execution = {});

// A policy as JSON, as `export_policy` writes it, but in the states of the problem itself: its
// nodes are those of `node_values` and of a course.
std::string policy_json(const Problem& problem, const Policy& policy);

}  // namespace redoubt
