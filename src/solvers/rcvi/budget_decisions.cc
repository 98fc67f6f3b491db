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

// What every action has, in units, and by how much the requirements are rounded there.
double BudgetDecision::read(const double* q, int actions, std::int64_t stride,
                            std::span<const double> required) {
  double size = 1;
  reward_.resize(actions);
  beyond_.resize(required.size());
  for (int a = 0; a < actions; ++a) reward_[a] = value_of(q, a, 0, stride);
  for (std::size_t i = 0; i < required.size(); ++i) {
    beyond_[i].resize(actions);
    for (int a = 0; a < actions; ++a)
      beyond_[i][a] = (value_of(q, a, i + 1, stride) - required[i]) / units_[i];
    size = std::max(size, std::abs(required[i]) / units_[i]);
  }
  return kRounding * size;
}

double BudgetDecision::shortfall(int action) const {
  double largest = 0;
  for (const auto& beyond : beyond_) largest = std::max(largest, -beyond[action]);
  return largest;
}

// Among equal rewards the action that comes closest to the requirements, then the first.
int BudgetDecision::richest() const {
  int best = 0;
  for (int a = 1; a < static_cast<int>(reward_.size()); ++a) {
    if (reward_[a] > reward_[best] ||
        (reward_[a] == reward_[best] && shortfall(a) < shortfall(best)))
      best = a;
  }
  return best;
}

void BudgetDecision::decide(const double* q, int actions, std::int64_t stride,
                            std::span<const double> required, std::span<double> value,
                            DecisionList& decisions) {
  const double rounding = read(q, actions, stride, required);
  weight_.assign(actions, 0.0);
  const int richest_action = richest();
  weight_[richest_action] = 1;
  if (shortfall(richest_action) > 0) {  // the most reward does not come for free
    const std::vector<double> nothing(required.size(), 0.0);
    const ConstrainedMix mix =
        best_constrained_mix({reward_, {beyond_.begin(), beyond_.end()}, nothing});
    if (mix.shortfall <= rounding || fallback_ == Fallback::utility) weight_ = mix.weight;
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
    for (std::size_t array = 0; array < value.size(); ++array)
      value[array] += weight * value_of(q, a, array, stride);
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
