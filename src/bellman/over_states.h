#pragma once

#include <functional>
#include <span>

#include "parallel/workers.h"
#include "redoubt/model.h"

namespace redoubt::internal {

// The largest size of what a signal (-1: the reward) has in any decision, on any rank.
double largest_value(const Model& model, int signal, Communicator& ranks);
// The same on all threads.
double largest_value(const Model& model, int signal, Workers& workers);

// least[i] = the least of values_of(state)[i] + worth_of(state) over the states 0..states-1 of
// every rank: what a landing anywhere is worth at worst. Infinite where nobody has a state.
void min_over_states(Workers& workers, State states,
                     const std::function<const double*(State)>& values_of,
                     const std::function<double(State)>& worth_of, std::span<double> least);

}  // namespace redoubt::internal
