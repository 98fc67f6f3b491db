#pragma once

#include <vector>

#include "solvers/candidates.h"
#include "solvers/frontier/search/extremes.h"
#include "solvers/gap_tolerance.h"

namespace redoubt::internal {

// A bracket from memoryless policies, for which no game is played.
//
// Weigh the channels, and let one nature play against the weighted sum in place of one against each
// channel: that is no stronger, so the robust optimum of the sum bounds what any policy has of it
// and, by weak duality, the reward under the constraints. Its policy is evaluated as every other,
// against a nature for each channel. The best mixture of the policies found so far, a small linear
// program, has the prices to try next. (Nature sees which of them was drawn, so the totals of a
// mixture are the mixture of their totals.)
class MemorylessBracket {
 public:
  // `bound`: one that is known already. Policies are offered to `best` as they are found.
  MemorylessBracket(const Problem& problem, double tolerance, const Extremes& extremes,
                    double bound, Workers& workers, BestPolicy& best);

  // Tries prices until they lead to no better mixture. False: proved that no policy keeps the
  // constraints. Throws Stopped.
  bool run();
  // Looks around the prices of the mixture for those with the least bound. Throws Stopped.
  void lower_bound();
  void lower_bound_to(double bound) { bound_ = std::min(bound_, bound); }

  void add(const Policy& policy);  // takes part in mixtures from now on
  // The best mixture is offered to the others, where it keeps the constraints.
  void offer_mixture();

  double bound() const { return bound_; }
  // Of each constraint, at the best mixture; empty where none keeps all constraints.
  std::vector<double> prices() const;
  int tried() const { return tried_; }
  double row_evaluations() const { return row_evaluations_; }
  const GapTolerance& tolerance() const { return tolerance_; }

 private:
  static constexpr double kReached = 1e-12;  // in units of the spreads, as all prices are
  using Prices = std::vector<double>;        // of each channel

  std::size_t constraints() const { return extremes_.required.size(); }
  double scaled(std::size_t n, std::size_t j) const;
  struct Mixture {
    bool reachable = false;  // it keeps the constraints
    double value = 0;
    std::vector<double> weight;  // of each policy
    // At which no policy found so far is better, or comes nearer to the constraints.
    Prices prices;
  };
  Mixture best_mix() const;
  double try_prices(const Prices& prices);
  bool is_new(const Prices& prices) const;

  const Problem& problem_;
  const Extremes& extremes_;
  Workers& workers_;
  BestPolicy& best_;
  double bound_;
  GapTolerance tolerance_;
  std::vector<Policy> policies_;
  std::vector<std::vector<double>> totals_;  // of each policy, in nature's sign
  double row_evaluations_ = 0;
  int tried_ = 0;
};

}  // namespace redoubt::internal
