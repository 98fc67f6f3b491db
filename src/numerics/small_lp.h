#pragma once

#include <span>
#include <vector>

namespace redoubt::internal {

// The best mix of actions under several constraints:
//     maximise sum x[a] reward[a]   subject to   sum x[a] utility[i][a] >= threshold[i] for each i,
//     x a distribution.
// For a handful of constraints and up to a few hundred actions; with one constraint and many lanes,
// use best_mix.
struct MixUnderConstraints {
  std::span<const double> reward;                // [action]
  std::vector<std::span<const double>> utility;  // [constraint][action]
  std::span<const double> threshold;             // [constraint]
};

struct ConstrainedMix {
  // The largest amount by which a threshold is missed, as small as it can be made; zero when the
  // constraints can be met.
  double shortfall = 0;
  double reward = 0;
  std::vector<double>
      weight;  // [action]; at most one more positive entry than there are constraints
  std::vector<double> price;  // [constraint]; how much reward falls per unit of threshold
  // [constraint]; where the constraints cannot be met, the proof: weights, of sum one, by which
  // every action misses the thresholds by the shortfall or more. Empty otherwise.
  std::vector<double> witness;
};

// Solved by the simplex method in long double with Bland's rule, which cannot cycle however
// degenerate the vertices are. Where the constraints cannot be met, the mix is one of those with
// the least shortfall, and among them one with the most reward.
ConstrainedMix best_constrained_mix(const MixUnderConstraints& problem);

// The same for many actions of which few matter: begins with a handful, and adds the one that
// the prices of the present mix like best until they like none better. Up to rounding, as good as
// any mix of all of them.
ConstrainedMix best_constrained_mix_of_many(const MixUnderConstraints& problem);

}  // namespace redoubt::internal
