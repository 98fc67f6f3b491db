#include "solvers/rcvi/budget_decisions.h"

#include <algorithm>
#include <cmath>

#include "numerics/small_lp.h"

namespace redoubt::internal {
namespace {

// Shares that the linear program leaves by rounding.
constexpr double kNoWeight = 1e-15;
// A shortfall of this share of the numbers it is the difference of is rounding.
constexpr double kRounding = 1e-13;

}  // namespace

double BudgetDecision::shortfall(int action, std::span<const double> required) const {
  double largest = 0;
  for (std::size_t i = 0; i < required.size(); ++i)
    largest = std::max(largest, required[i] - utility_[i][action]);
  return largest;
}

// Among equal rewards the action that comes closest to the requirements, then the first.
int BudgetDecision::richest(std::span<const double> required) const {
  int best = 0;
  for (int a = 1; a < static_cast<int>(reward_.size()); ++a) {
    if (reward_[a] > reward_[best] ||
        (reward_[a] == reward_[best] && shortfall(a, required) < shortfall(best, required)))
      best = a;
  }
  return best;
}

void BudgetDecision::decide(const double* q, int actions, std::int64_t stride,
                            std::span<const double> required, std::span<double> value,
                            DecisionList& decisions) {
  const std::size_t arrays = required.size() + 1;
  reward_.resize(actions);
  utility_.resize(required.size());
  for (auto& utility : utility_) utility.resize(actions);
  for (int a = 0; a < actions; ++a) {
    const double* of_action = q + static_cast<std::int64_t>(a * arrays) * stride;
    reward_[a] = *of_action;
    for (std::size_t i = 0; i < required.size(); ++i)
      utility_[i][a] = of_action[static_cast<std::int64_t>(i + 1) * stride];
  }

  weight_.assign(actions, 0.0);
  const int richest_action = richest(required);
  weight_[richest_action] = 1;
  if (shortfall(richest_action, required) > 0) {  // the most reward does not come for free
    const ConstrainedMix mix =
        best_constrained_mix({reward_, {utility_.begin(), utility_.end()}, required});
    double scale = 0;
    for (const double r : required) scale = std::max(scale, std::abs(r));
    const bool met = mix.shortfall <= kRounding * scale;
    if (met || fallback_ == Fallback::utility) weight_ = mix.weight;
  }

  std::fill(value.begin(), value.end(), 0.0);
  double sum = 0;
  for (double& weight : weight_) sum += weight = weight > kNoWeight ? weight : 0;
  std::int32_t count = 0;
  for (int a = 0; a < actions; ++a) {
    if (weight_[a] == 0) continue;
    const double weight = weight_[a] / sum;
    decisions.action.push_back(a);
    decisions.weight.push_back(weight);
    ++count;
    value[0] += weight * reward_[a];
    for (std::size_t i = 0; i < required.size(); ++i) value[i + 1] += weight * utility_[i][a];
  }
  decisions.count.push_back(count);
}

void store_decisions(std::span<const DecisionList> parts, Policy::Stage& stage) {
  stage.choice_begin = {0};
  for (const DecisionList& part : parts) {
    for (const std::int32_t count : part.count)
      stage.choice_begin.push_back(stage.choice_begin.back() + count);
    stage.choice_action.insert(stage.choice_action.end(), part.action.begin(), part.action.end());
    stage.choice_weight.insert(stage.choice_weight.end(), part.weight.begin(), part.weight.end());
  }
}

}  // namespace redoubt::internal
