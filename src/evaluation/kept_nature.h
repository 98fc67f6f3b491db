#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "bellman/residual.h"
#include "bellman/row_evaluator.h"
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
  // `discount`: or what has its place.
  KeptNature(const StageEvaluation& nodes, const Problem& problem, const Policy& policy, int stage,
             std::span<const Channel> channels, double discount);

  static double bytes(const Problem& problem, const Policy& policy, std::size_t channels);

  // The answer to some choices of one row: `minimiser` is laid out [outcome][channel][choice] as a
  // kernel leaves it. `floor`: what landings are worth, null where there are
  // none. Threads may call this for different rows.
  void keep(Row row, std::span<const std::int64_t> choices, std::span<const double> weight,
            const double* minimiser, const double* floor);

  // Sweeps until one spreads the changes of the values no more than `enough`, of each channel, or
  // than a twentieth of what the first one did.
  void sweep(Workers& workers, Exchange& exchange, std::span<const double> enough,
             std::vector<double>& values);

 private:
  void step(Workers& workers, Exchange& exchange, const std::vector<double>& next,
            std::vector<double>& values, std::span<Residual> residuals) const;
  void add_up_earned();

  const StageEvaluation* nodes_;
  const Problem* problem_;
  const Policy::Stage* decisions_;
  int stage_;
  std::span<const Channel> channels_;
  double discount_;
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

// Brings values, [channel][node], closer to those of following the last stage for ever: nature's
// modified policy iteration, for policies whose moves are listed. It ends when the brackets of the
// last robust sweep are no wider than `width` (of the largest size of a value of the channel), or
// than rounding allows. The values of the policy lie within these brackets of the values. Not for
// `tilt`, whose distributions are no minimum. Throws Stopped.
using Width = std::function<double(int channel, double scale)>;
std::vector<Bracket> improve_values(StageEvaluation& nodes, const Problem& problem,
                                    const Policy& policy, int stage,
                                    std::span<const Channel> channels, Workers& workers,
                                    const Width& width, std::vector<double>& values);

// Adds a number for each channel to the values of all nodes that decide something.
void shift_values(const StageEvaluation& nodes, const Problem& problem, const Policy& policy,
                  int stage, std::span<const double> by, Exchange& exchange,
                  std::vector<double>& values);

}  // namespace redoubt::internal
