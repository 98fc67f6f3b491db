#pragma once

#include <vector>

#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// The Markov chain that a policy and nature make together. Own state number i earns earned[i] and
// goes to next[k] with probability[k], for k from begin[i] up to begin[i + 1].
struct Chain {
  std::vector<std::int64_t> begin;
  std::vector<State> next;
  std::vector<double> probability;
  std::vector<double> earned;
};

// The chain of the nominal model.
void find_nominal_chain(const Model& model, const Channel& channel, const TakenRows& taken,
                        Chain& chain);

// values[state] = what the chain earns in one step, and the next values after it.
Residual step_along(const Chain& chain, const Problem& problem, Workers& workers,
                    Exchange& exchange, const std::vector<double>& next,
                    std::vector<double>& values);

}  // namespace redoubt::internal
