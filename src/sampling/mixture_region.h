#pragma once

#include <cstdint>
#include <vector>

#include "sampling/binomial.h"

namespace redoubt::internal {

// Where the probabilities of one outcome under several factors lie, all at once, by draws of
// mixtures of these factors: coins whose biases are mixtures of unknown numbers, with known
// weights. With probability at least 1 - exp(-evidence) at all numbers of flips at once. By Ville's
// inequality for the likelihood ratio between a mixture of all biases and the true ones; the
// region, where the likelihood is not too small, is convex. docs/sampling.md has the proof.
class MixtureRegion {
 public:
  struct Coin {
    std::vector<double> weights;  // of all factors; they sum to one
    double heads = 0, tails = 0;
    bool operator==(const Coin&) const = default;
  };

  // `centre`: where the likelihood is large, each in (0, 1). Any will do; the better it is, the
  // smaller is the region.
  MixtureRegion(std::vector<Coin> coins, std::vector<double> centre, double evidence);

  // Of one factor, whatever the others are. Rounded outwards.
  Range interval(std::size_t factor) const;

 private:
  struct Local {
    double value = 0;
    std::vector<double> gradient, curvature;  // minus the Hessian, [factor][factor]
  };

  double log_likelihood(const std::vector<double>& x) const;
  Local local(const std::vector<double>& x) const;
  double log_mixture() const;
  bool excludes(std::size_t factor, double value, std::vector<double>& x) const;
  bool improve(std::size_t fixed, const Local& here, std::vector<double>& x) const;

  std::vector<Coin> coins_;
  std::vector<double> centre_;
  double level_;  // of the log likelihood, which the region does not go below
};

}  // namespace redoubt::internal
