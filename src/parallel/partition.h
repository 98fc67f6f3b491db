#pragma once

#include "redoubt/advanced/ranks.h"

namespace redoubt::internal {

// Which of the rows of a model are to be looked at: those of states begin..end-1. Its arrays have
// rows from state `first` on, of `states` states at every stage, and next states in the numbers of
// the whole model.
struct RowRange {
  State first = 0, states = 0;
  State begin = 0, end = 0;
};
StateGraph graph_of(const ModelArrays& arrays, const RowRange& rows);

// Divides states whose blocks are known; each rank has the graph of its own block.
Partition make_partition(Communicator& ranks, std::vector<State> blocks, const StateGraph& block,
                         const PartitionOptions& options);

// How many states the ranks need of each other.
std::int64_t states_needed(const StateGraph& graph, const Partition& partition);

}  // namespace redoubt::internal
