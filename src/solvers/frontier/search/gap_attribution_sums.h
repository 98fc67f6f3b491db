#pragma once

#include <span>
#include <vector>

#include "numerics/exact_sum.h"
#include "solvers/frontier/search/gap_attribution.h"

namespace redoubt::internal {

// The sums of an attribution while they are made: of all states, in whatever order, on all ranks.
class GapAttributionSums {
 public:
  // `weights` are those of the signals in the direction at the start, `scales` their largest
  // totals.
  GapAttributionSums(const std::vector<const FrontierStage*>& stages, std::vector<double> weights,
                     std::span<const double> scales);

  void add_games(double loss) { games_.add(loss, unit_); }
  void add_loss(double loss) { lost_.add(loss, unit_); }  // with several constraints
  void add_interval(int stage, std::int64_t n, double loss, double price) {
    Interval& interval = intervals_[stage][n];
    interval.loss.add(loss, unit_);
    interval.weighted_price.add(loss * price, price_unit_);
  }

  // Terms of sums that every state has for itself, to be added as they are.
  double weight(int signal, double term) const { return weight_grids_[signal](term); }
  double loss(double term) const { return loss_grid_(term); }

  void finish(Communicator& ranks, GapAttribution& gaps);  // on all ranks

 private:
  struct Interval {
    ExactSum loss, weighted_price;
  };
  template <class Visit>
  void for_each_sum(Visit visit);

  double unit_, price_unit_ = 0;
  std::vector<Grid> weight_grids_;  // of each signal
  Grid loss_grid_;
  ExactSum games_, lost_;
  std::vector<std::vector<Interval>> intervals_;  // as in GapAttribution
};

// Where only a share of the answer's weight was followed: the rest is taken to go where that did.
void make_whole(double share, GapAttribution& gaps);

// Of two looks at the same stages, what each finds lost most; prices are those that a finer grid
// would need.
void take_larger(const GapAttribution& finer, GapAttribution& gaps);

std::vector<double> weights_of(const Root& root);

// The signal that q cares for more than another direction does.
int side_of(const double* q, const double* direction, std::span<const double> scales);

// Adds up what ranks have of each other's states, equally many values for each; nothing is left of
// them but with their owners.
void send_to_owners(const Model& model, Exchange& exchange, std::vector<double>& values);
void send_to_owners(const Model& model, Exchange& exchange,
                    std::vector<GapAttribution::Near>& values);

}  // namespace redoubt::internal
