#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "evaluation/nature_iteration.h"
#include "evaluation/small_chain.h"
#include "parallel/exchange.h"
#include "redoubt/policy.h"

namespace redoubt::internal {

class StageEvaluation;

// True when the moves of memory are in the policy's own lists: nature's answers can be kept, as
// long as the nodes, which the chain has in 32 bits, are not too many.
bool moves_are_listed(const Policy& policy);
inline constexpr std::int64_t kMostKeptNodes = std::numeric_limits<std::int32_t>::max();

// Nature's answers to the last stage of a policy, which is used for ever. While they are kept, a
// sweep is a product with a sparse matrix: that of the chain which policy and nature make together.
class KeptNature {
 public:
  KeptNature(const StageEvaluation& nodes, const Problem& problem, const Policy& policy, int stage,
             std::span<const Channel> channels);

  static double bytes(const Problem& problem, const Policy& policy, std::size_t channels);

  std::int64_t own_nodes() const { return static_cast<std::int64_t>(begin_.size()) - 1; }

  // The answer to some choices of one row: `minimiser` is laid out [outcome][channel][choice] as a
  // kernel leaves it. `floor`: what landings are worth, null where there are
  // none. Threads may call this for different rows.
  void keep(Row row, std::span<const std::int64_t> choices, std::span<const double> weight,
            const double* minimiser, const double* floor);

  // After all of them, and before the first step.
  void add_up_earned();

  // values = what the chain earns in one step, and the next values after it; how far that is, of
  // each channel.
  std::vector<Residual> step(Workers& workers, Exchange& exchange, const std::vector<double>& next,
                             std::vector<double>& values) const;

  // Asked after so many such steps: true when the values are now what the chain is worth, by
  // elimination. All ranks ask together.
  bool solve_after(std::int64_t steps, Communicator& ranks, SmallChain& small,
                   std::vector<double>& values) const;

 private:
  std::vector<State> whole_numbers(Communicator& ranks) const;

  const StageEvaluation* nodes_;
  const Problem* problem_;
  const Policy::Stage* decisions_;
  int stage_;
  std::span<const Channel> channels_;
  // Where the policy's nodes lead: of node n the entries from begin_[n] on, those of its choice c
  // from choice_entries_[c] on.
  std::vector<std::int64_t> begin_, choice_entries_;
  std::vector<std::int32_t> column_;   // node of the next stage
  std::vector<std::int32_t> outcome_;  // of the row that leads there
  std::vector<double> share_;          // of the outcome that goes on in that memory state
  std::vector<double> probability_;    // [channel][entry]
  std::vector<double> choice_earned_;  // [channel][choice]
  std::vector<double> earned_;         // [channel][node of the policy]
};

// Brings values, [channel][node], closer to those of following the last stage for ever, for
// policies whose moves are listed: nature's policy iteration, and what it returns.
std::vector<Bracket> improve_values(StageEvaluation& nodes, const Problem& problem,
                                    const Policy& policy, int stage,
                                    std::span<const Channel> channels, Workers& workers,
                                    const Width& width, std::vector<double>& values);

// Adds a number for each channel to the values of all nodes that decide something.
void shift_values(const StageEvaluation& nodes, const Problem& problem, const Policy& policy,
                  int stage, std::span<const double> by, Exchange& exchange,
                  std::vector<double>& values);

}  // namespace redoubt::internal
