#pragma once

#include <functional>
#include <span>
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
  std::vector<Row> rows;  // of a nominal chain: the row that each place takes alone, or -1
};

// The chain of the nominal model, where rows earn what they do in a channel, or earned[row].
void find_nominal_chain(const Model& model, const Channel& channel, const TakenRows& taken,
                        Chain& chain);
void find_nominal_chain(const Model& model, std::span<const double> earned, const TakenRows& taken,
                        Chain& chain);

// values[state] = what the chain earns in one step, and the next values after it. How far that is,
// unless nobody asks.
Residual step_along(const Chain& chain, const Problem& problem, Workers& workers,
                    Exchange& exchange, const std::vector<double>& next,
                    std::vector<double>& values, bool measure = true);

class SmallChain;

// Steps along a chain that is the same for ever, or elimination, until the bracket of the last one
// is no wider than width(scale), with the largest size of a value, or than rounding allows. What
// the chain is worth lies within that bracket of the values. `discount`: or what has its place.
// Throws Stopped.
Bracket follow_chain(const Chain& chain, const Problem& problem, double discount, Workers& workers,
                     Exchange& exchange, const std::function<double(double scale)>& width,
                     SmallChain& small, std::vector<double>& values);

}  // namespace redoubt::internal
