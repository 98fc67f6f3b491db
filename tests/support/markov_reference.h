#pragma once

#include <cstdint>
#include <vector>

#include "redoubt/problem.h"

// Slow, plain values of Markov policies on stationary models; no code in common with the solvers.
// Signal -1 is the reward. Values are in the user's sign: costs are positive.
namespace redoubt::testing {

// The probability of each row, in the model's order of rows.
using MarkovPolicy = std::vector<double>;

MarkovPolicy uniform_policy(const Model& model);
MarkovPolicy always(const Model& model, std::int32_t action);  // where a state has that action

double at_start(const Problem& problem, const std::vector<double>& values);

// Expected discounted total from each state under the nominal model and an infinite horizon: the
// linear system (I - discount P) v = r, by elimination.
std::vector<double> nominal_values(const Problem& problem, int signal, const MarkovPolicy& policy);

// Worst-case total at the start, for the sets none, tv and kl: a cost as large, anything else as
// small as nature can make it. Signals under an at_most constraint are costs.
double worst_value(const Problem& problem, int signal, const MarkovPolicy& policy);

// The best worst case of any policy, and the deterministic policy of the first stage.
struct Best {
  double value = 0;
  MarkovPolicy policy;
};
Best best_value(const Problem& problem, int signal);

}  // namespace redoubt::testing
