#pragma once

#include <span>
#include <vector>

#include "redoubt/advanced/checkpoint.h"
#include "redoubt/gradient.h"
#include "solvers/gradient/markov_evaluation.h"

namespace redoubt::internal {

// The point of the simplex nearest to x, in place.
void project_onto_simplex(std::span<double> x);

// The policy that a gradient method moves: a distribution over the actions of each (stage, state).
class MarkovWeights {
 public:
  MarkovWeights(const Problem& problem, const MarkovEvaluation& evaluation,
                const GradientOptions& options);

  std::span<const double> weights() const { return weights_; }
  void visit(Archive& archive) {
    archive.visit("weights", weights_);
    archive.visit("logits", logits_);
  }
  void assign(std::span<const double> weights) { weights_.assign(weights.begin(), weights.end()); }

  // Natural gradient: weight *= exp(step * sum over channels of direction * worth), normalised.
  void natural_step(const MarkovEvaluation& evaluation, std::span<const double> direction,
                    double step);
  // Gradient, then Euclidean projection; visits are counted under the channel's own worst kernels.
  void projected_step(MarkovEvaluation& evaluation, std::span<const double> direction, double step);

  Policy policy() const;

 private:
  void read(const std::vector<std::vector<double>>& weights);
  void draw(std::uint64_t seed);
  void normalise();  // weights = softmax of the logits
  template <class Body>
  void for_each_state(Body body) const;  // body(stage, state, first slot, number of actions)

  const Problem* problem_;
  int stages_;
  std::int64_t stage_slots_;
  // Logits, because a weight that has become too small for a double must be able to return.
  std::vector<double> weights_, logits_, gradient_;
};

}  // namespace redoubt::internal
