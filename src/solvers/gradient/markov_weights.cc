#include "solvers/gradient/markov_weights.h"

#include <algorithm>
#include <cmath>

#include "numerics/philox.h"

namespace redoubt::internal {

// Michelot's algorithm: entries at or below the threshold drop out until none does.
void project_onto_simplex(std::span<double> x) {
  double threshold = -std::numeric_limits<double>::infinity();
  for (std::size_t active = x.size() + 1, count = 0;; active = count) {
    double sum = 0;
    count = 0;
    for (const double value : x)
      if (value > threshold) sum += value, ++count;
    if (count == active) break;
    threshold = (sum - 1) / static_cast<double>(count);
  }
  for (double& value : x) value = std::max(0.0, value - threshold);
}

MarkovWeights::MarkovWeights(const Problem& problem, const MarkovEvaluation& evaluation,
                             const GradientOptions& options)
    : problem_(&problem),
      stages_(evaluation.stages()),
      stage_slots_(evaluation.slot(1, 0)),
      weights_(evaluation.slots(), 0.0),
      logits_(evaluation.slots(), 0.0),
      gradient_(evaluation.slots(), 0.0) {
  if (!options.start_weights.empty()) {
    read(options.start_weights);
  } else {
    if (options.first_policy == FirstPolicy::random) draw(options.seed);
    normalise();
  }
}

template <class Body>
void MarkovWeights::for_each_state(Body body) const {
  const Model& model = problem_->model();
  for (int h = 0; h < stages_; ++h) {
    for (State s = 0; s < model.states(); ++s) {
      const Row begin = model.row_begin(h, s), end = model.row_end(h, s);
      if (begin < end) body(h, s, h * stage_slots_ + begin, static_cast<std::size_t>(end - begin));
    }
  }
}

void MarkovWeights::read(const std::vector<std::vector<double>>& weights) {
  const Policy policy = markov_policy(*problem_, weights);  // throws on what is not a policy
  for_each_state([&](int h, State s, std::int64_t first, std::size_t) {
    for_each_choice(policy.at(h), s,
                    [&](std::int32_t a, double weight) { weights_[first + a] = weight; });
  });
  for (std::size_t i = 0; i < weights_.size(); ++i) logits_[i] = std::log(weights_[i]);
}

void MarkovWeights::draw(std::uint64_t seed) {
  for (std::size_t i = 0; i < logits_.size(); ++i) logits_[i] = RandomStream(seed, i).normal();
}

void MarkovWeights::normalise() {
  for_each_state([&](int, State, std::int64_t first, std::size_t actions) {
    const std::span logits(logits_.data() + first, actions);
    const std::span weights(weights_.data() + first, actions);
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (std::size_t a = 0; a < actions; ++a) {
      logits[a] -= largest;
      weights[a] = std::exp(logits[a]);
      sum += weights[a];
    }
    for (double& weight : weights) weight /= sum;
  });
}

void MarkovWeights::natural_step(const MarkovEvaluation& evaluation,
                                 std::span<const double> direction, double step) {
  for (int c = 0; c < evaluation.channels(); ++c) {
    if (direction[c] == 0) continue;
    for (std::size_t i = 0; i < logits_.size(); ++i)
      logits_[i] += step * direction[c] * evaluation.worth(static_cast<std::int64_t>(i), c);
  }
  normalise();
}

void MarkovWeights::projected_step(MarkovEvaluation& evaluation, std::span<const double> direction,
                                   double step) {
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  for (int c = 0; c < evaluation.channels(); ++c) {
    if (direction[c] == 0) continue;
    const auto visits = evaluation.visits(weights_, c);
    for_each_state([&](int h, State s, std::int64_t first, std::size_t actions) {
      const double scale = direction[c] * visits[h * problem_->model().states() + s];
      for (std::size_t a = 0; a < actions; ++a)
        gradient_[first + a] += scale * evaluation.worth(first + static_cast<std::int64_t>(a), c);
    });
  }
  for_each_state([&](int, State, std::int64_t first, std::size_t actions) {
    const std::span weights(weights_.data() + first, actions);
    for (std::size_t a = 0; a < actions; ++a) weights[a] += step * gradient_[first + a];
    project_onto_simplex(weights);
  });
}

Policy MarkovWeights::policy() const {
  const Model& model = problem_->model();
  std::vector<std::vector<double>> lists;
  for (int h = 0; h < stages_; ++h) {
    const auto first = h * stage_slots_ + model.row_begin(h, 0);
    const auto last = h * stage_slots_ + model.row_end(h, model.states() - 1);
    lists.emplace_back(weights_.begin() + first, weights_.begin() + last);
  }
  if (lists.empty()) lists.emplace_back();
  return markov_policy(*problem_, lists);
}

}  // namespace redoubt::internal
