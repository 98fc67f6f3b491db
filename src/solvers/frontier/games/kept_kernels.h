#pragma once

#include <span>
#include <vector>

#include "parallel/exchange.h"
#include "solvers/frontier/search/stage.h"

namespace redoubt::internal {

// The bounds of an infinite horizon while nature keeps the kernels that the last games ended with.
// Any kernels bound what policies can have; where they take a direction of a state is then fixed,
// so a sweep is a product with a sparse matrix and a maximum over actions, and no game is played.
class KeptKernels {
 public:
  // Of a stage that leads to itself, with rivals.
  KeptKernels(const Problem& problem, std::span<const Channel> channels, const FrontierStage& stage,
              StateBackup& backup);

  // Lowers the bounds, which hold, to others that hold: as far as these kernels allow, about. What
  // landings are worth stays. `scales` are the spreads of the channels. Ranks call this together.
  // Throws Stopped.
  void lower(std::span<const double> scales, Exchange& exchange, Workers& workers,
             TradeOffs& table) const;

 private:
  struct Change {  // of all states and directions, in units of what a direction counts
    double low, high;
  };
  Change sweep(const std::vector<double>& next, std::vector<double>& bounds,
               std::span<const double> units, Exchange& exchange, Workers& workers) const;
  void add_row(std::span<const Channel> channels, const FrontierStage& stage, Row row,
               std::span<const std::int64_t> places, int direction, const double* kernel);

  const Model* model_;
  const Problem* problem_;
  Directions directions_;
  std::vector<int> lanes_;  // directions that a state looks at, of one after the other
  std::vector<std::int64_t> lane_begin_;  // of each own state
  std::vector<double> rest_;              // of each lane: what actions without a row are worth
  std::vector<std::int64_t> row_begin_;   // of each lane
  std::vector<double> earned_;            // of each row
  std::vector<std::int64_t> begin_;       // of each row
  std::vector<std::int64_t> column_;      // place * directions + direction
  std::vector<double> weight_;
};

}  // namespace redoubt::internal
