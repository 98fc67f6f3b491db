#pragma once

#include <span>
#include <vector>

#include "bellman/state_batch.h"
#include "evaluation/kept_nature.h"

namespace redoubt::internal {

// The nodes of one state where its rows share a radius: nature answers the distribution over
// actions of each memory state, not each action on its own. The caller adds the actions that are
// taken, one after the other, with the next values of their outcomes, and then solves for all
// memory states. One for each thread.
class StateNodes {
 public:
  explicit StateNodes(const Problem& problem) : batch_(problem) {}

  double evaluations() const { return batch_.evaluations(); }

  // An action: which memory states take it, with which probability, and the positions of these
  // choices in the policy. Next values are [channel][memory state of the list].
  struct Action {
    Row row = 0;
    std::vector<std::int32_t> lanes;
    std::vector<double> weight;
    std::vector<std::int64_t> choice;
    std::vector<std::vector<double>> next;  // of each outcome
    std::vector<double> floor;              // of the worst landing
    std::vector<double> minimiser;          // as KeptNature reads it
  };
  void clear() { count_ = 0; }
  Action& add(Row row, std::span<const std::int32_t> lanes, std::span<const double> weight,
              std::span<const std::int64_t> choice);

  // sums[channel * stride + memory state] = what the node is worth.
  void solve(std::span<const Channel> channels, double* sums, std::int64_t stride,
             KeptNature* kept);

 private:
  struct Taken {  // a choice of a node: an action, and the node's place in its list
    std::int32_t lane, action, place;
  };
  void keep(int item, const StateLanes& lanes, int lane, std::size_t channels);

  StateBatch batch_;
  std::vector<Action> actions_;
  std::size_t count_ = 0;  // of the actions that are used
  std::vector<Taken> taken_;
  std::vector<StateItem> items_;
  std::vector<int> channel_of_;   // of each item
  std::vector<Taken> of_choice_;  // of each choice of the items
  std::vector<Row> row_;
  std::vector<double> weight_, result_;
};

}  // namespace redoubt::internal
