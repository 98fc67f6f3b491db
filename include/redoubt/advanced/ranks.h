#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt {

// The ranks that solve one problem together, each with the states that it owns. Everything that
// they say to each other goes through these five functions; every rank calls them in the same
// order.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // The bytes of every rank, one after the other; each gives equally many.
  virtual std::vector<std::byte> gather(std::span<const std::byte> mine) = 0;

  // Messages to and from other ranks, at most one for each pair. They are under way from `begin` to
  // `finish`; until then what is sent must stay as it is, and what is received is not yet there.
  struct Outgoing {
    int to = 0;
    std::span<const std::byte> bytes;
  };
  struct Incoming {
    int from = 0;
    std::span<std::byte> bytes;
  };
  virtual void begin(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
  virtual void finish() = 0;
};

// One process, which has nobody to talk to.
Communicator& one_process();

// Runs body(ranks) once for each of `count` ranks, each in a thread of this process. A failure of
// one ends them all and is thrown here.
void run_ranks(int count, const std::function<void(Communicator&)>& body);

// Contiguous blocks of states with about equally many outcomes each: rank r owns states blocks[r]
// up to the next.
std::vector<State> balanced_blocks(const Model& model, int ranks);

// Which rank owns each state: one block for each rank or, where there is an owner for every state,
// what that says.
struct Partition {
  std::vector<State> blocks;
  std::vector<std::int32_t> owner;

  Partition(std::vector<State> contiguous,  // NOLINT: blocks are a partition
            std::vector<std::int32_t> owners = {})
      : blocks(std::move(contiguous)), owner(std::move(owners)) {}
  int ranks() const { return static_cast<int>(blocks.size()) - 1; }
  State states() const { return blocks.back(); }
  std::vector<State> states_of(int rank) const;  // increasing
};

// Where the rows of each state lead, at any stage.
struct StateGraph {
  std::vector<std::int64_t> begin = {0};  // of each state in `next`, and the end
  std::vector<State> next;                // increasing, without the state itself
  std::vector<std::int64_t> outcomes;     // of each state: about the time that it takes
  State states() const { return static_cast<State>(outcomes.size()); }
};

// An owner for every state of a graph, so that ranks have about equally many outcomes and need few
// states of each other; none when it knows of nothing better than blocks.
using Partitioner = std::function<std::vector<std::int32_t>(const StateGraph& graph, int ranks)>;

// How many states ranks need of each other, all ranks together: in every stage, each of these is
// sent.
struct NeededStates {
  std::int64_t blocks = 0, partition = 0;  // either way
  bool partitioned = false;                // which was taken
};

// How the states of a problem are divided among ranks: in blocks, or by a partition if that saves a
// tenth of what is sent (ranks are less equal then). To know that, the first rank has the graph of
// the whole model in memory for a while.
struct PartitionOptions {
  Partitioner partition = {};                                     // none: blocks
  std::function<void(const NeededStates& needed)> compared = {};  // with a partition, on every rank
};
Partition make_partition(const Model& whole, Communicator& ranks,
                         const PartitionOptions& options = {});

// One rank's subproblem. It is solved by handing it, on every rank, to a method that takes
// one (frontier, rcvi, robust, nominal, evaluate), with the communicator in Execution. Answers
// are those of the whole problem, the same on every rank; a policy is of the rank's own states.
Problem subproblem(const Problem& whole, const Partition& partition, int rank);

}  // namespace redoubt
