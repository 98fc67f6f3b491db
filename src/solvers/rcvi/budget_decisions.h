#pragma once

#include <span>
#include <vector>

#include "redoubt/policy.h"
#include "redoubt/solve.h"

namespace redoubt::internal {

// Decisions of consecutive nodes as lists of actions and weights.
struct DecisionList {
  std::vector<std::int32_t> count;  // of each node
  std::vector<std::int32_t> action;
  std::vector<double> weight;

  void clear() { count.clear(), action.clear(), weight.clear(); }
};

// The decision under several requirements at once: for one node, the mixture of actions with the
// most reward among those that meet all of them, by an exact small linear program. Where no mixture
// does, the action of most reward, or the mixture whose largest shortfall is least. Shortfalls are
// compared in units of their requirements. One for each thread.
class BudgetDecision {
 public:
  BudgetDecision(Fallback fallback, std::vector<double> units)
      : fallback_(fallback), units_(std::move(units)) {}

  // q[(action * arrays + array) * stride]: array 0 is the reward, then one for each requirement.
  // Writes the mixture's value of every array to value[array], and appends the mixture.
  void decide(const double* q, int actions, std::int64_t stride, std::span<const double> required,
              std::span<double> value, DecisionList& decisions);

 private:
  double value_of(const double* q, int action, std::size_t array, std::int64_t stride) const {
    return q[static_cast<std::int64_t>(action * (units_.size() + 1) + array) * stride];
  }
  double read(const double* q, int actions, std::int64_t stride, std::span<const double> required);
  double shortfall(int action) const;
  int richest() const;

  Fallback fallback_;
  std::vector<double> units_;  // of each requirement
  std::vector<double> reward_;
  std::vector<std::vector<double>> beyond_;  // what an action has beyond each requirement, in units
  std::vector<double> weight_;
};

// Joins the decisions of a stage's nodes, in order.
void store_decisions(std::span<const DecisionList> parts, Policy::Stage& stage);

}  // namespace redoubt::internal
