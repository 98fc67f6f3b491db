#include "support/rcvi_reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "sets/reference.h"

namespace redoubt::testing {
namespace {

using Real = long double;

class Reference {
 public:
  Reference(const Problem& problem, const RcviOptions& options, const BudgetAxis* axis)
      : problem_(problem), model_(problem.model()), options_(options), axis_(axis) {
    const Constraint& constraint = problem.constraints().at(0);
    sign_ = constraint.sense == Sense::at_most ? -1 : 1;
    bound_ = sign_ * Real{constraint.bound};
    if (const auto* tv = std::get_if<TV>(&problem.uncertainty()))
      anywhere_ = tv->reach == Reach::anywhere;
  }

  RcviValue at_start() {
    RcviValue sum;
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i) {
      const RcviValue v = value(0, problem_.start().states[i], 0);
      sum.reward += problem_.start().probability[i] * v.reward;
      sum.utility += problem_.start().probability[i] * v.utility;
    }
    return sum;
  }

 private:
  // Cell k stands for the requirement bound + k step.
  RcviValue value(int h, State s, std::int64_t k) {
    if (axis_) k = std::clamp(k, axis_->low[h], axis_->low[h] + axis_->cells[h] - 1);
    if (h == problem_.horizon() || model_.row_begin(h, s) == model_.row_end(h, s)) return {};
    const auto key = std::make_tuple(h, s, k);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    std::vector<RcviValue> q;
    for (Row row = model_.row_begin(h, s); row < model_.row_end(h, s); ++row)
      q.push_back(action_value(h, row, k));
    return known_[key] = decide(q, requirement(k) - options_.slack * (problem_.horizon() - h));
  }

  Real requirement(std::int64_t k) const { return bound_ + Real(k) * options_.budget_step; }

  // The value of being in `next` at the next stage after earning this much at cell k.
  RcviValue after(int h, std::int64_t k, Real earned, State next) {
    const Real c = (requirement(k) - earned) / problem_.discount();
    const Real place = (c - bound_) / options_.budget_step;
    const Real nearest = std::round(place);
    if (std::abs(place - nearest) <= 1e-7L) return value(h + 1, next, std::llround(nearest));
    const auto below = static_cast<std::int64_t>(std::floor(place));
    const Real part = place - std::floor(place);
    const RcviValue up = value(h + 1, next, below + 1);
    if (options_.rounding == Rounding::up)
      return {up.reward, up.utility - (1 - part) * options_.budget_step};
    const RcviValue down = value(h + 1, next, below);
    return {part * up.reward + (1 - part) * down.reward,
            part * up.utility + (1 - part) * down.utility};
  }

  RcviValue action_value(int h, Row row, std::int64_t k) {
    const Real gamma = problem_.discount();
    const int signal = problem_.signal_of(0);
    const Real own = sign_ * Real{model_.value(signal, row)};
    ReferenceRow reward, utility;
    const ModelArrays& arrays = model_.arrays();
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      const Real extra = sign_ * Real{model_.outcome_value(signal, i)};
      const RcviValue next = after(h, k, own + extra, arrays.next[i]);
      reward.value.push_back(model_.outcome_value(-1, i) / gamma + next.reward);
      utility.value.push_back(extra / gamma + next.utility);
      for (ReferenceRow* r : {&reward, &utility}) {
        r->probability.push_back(arrays.probability[i]);
        if (arrays.lower.empty()) continue;
        r->lower.push_back(arrays.lower[i]);
        r->upper.push_back(arrays.upper[i]);
      }
    }
    for (State s = 0; anywhere_ && s < model_.states(); ++s) {
      const RcviValue landed = after(h, k, own, s);
      reward.floor = std::min(landed.reward, reward.floor.value_or(landed.reward));
      utility.floor = std::min(landed.utility, utility.floor.value_or(landed.utility));
    }
    reward.radius = utility.radius = radius(row);
    const Uncertainty& set = problem_.uncertainty();
    return {model_.value(-1, row) + gamma * reference_worst_case(set, reward),
            own + gamma * reference_worst_case(set, utility)};
  }

  Real radius(Row row) const {
    const Uncertainty& set = problem_.uncertainty();
    if (const auto* tv = std::get_if<TV>(&set)) return tv->radius.of(row);
    if (const auto* chi2 = std::get_if<Chi2>(&set)) return chi2->radius.of(row);
    if (const auto* kl = std::get_if<KL>(&set)) return kl->radius.of(row);
    if (const auto* tilt = std::get_if<Tilt>(&set)) return tilt->temperature;
    return 0;
  }

  // Weights are multiples of 1 / 65535, rounded towards the safe action, as policies store them. A
  // shortfall of 1e-11 is rounding.
  RcviValue decide(const std::vector<RcviValue>& q, Real threshold) const {
    threshold -= 1e-11L * std::max<Real>(1, std::abs(bound_));
    std::optional<RcviValue> best;
    for (const RcviValue& safe : q) {
      if (safe.utility < threshold) continue;
      if (!best || safe.reward > best->reward) best = safe;
      for (const RcviValue& other : q) {
        if (other.utility >= threshold) continue;
        const Real exact = (threshold - other.utility) / (safe.utility - other.utility);
        const Real w = std::min<Real>(1, std::ceil(exact * 65535) / 65535);
        const RcviValue mix = {w * safe.reward + (1 - w) * other.reward,
                               w * safe.utility + (1 - w) * other.utility};
        if (mix.reward > best->reward) best = mix;
      }
    }
    if (best) return *best;
    const bool reward = options_.fallback == Fallback::reward;
    return *std::max_element(q.begin(), q.end(), [&](const RcviValue& a, const RcviValue& b) {
      return reward ? a.reward < b.reward : a.utility < b.utility;
    });
  }

  const Problem& problem_;
  const Model& model_;
  const RcviOptions& options_;
  const BudgetAxis* axis_;
  Real sign_ = 1, bound_ = 0;
  bool anywhere_ = false;
  std::map<std::tuple<int, State, std::int64_t>, RcviValue> known_;
};

}  // namespace

RcviValue rcvi_reference(const Problem& problem, const RcviOptions& options,
                         const BudgetAxis* axis) {
  return Reference(problem, options, axis).at_start();
}

}  // namespace redoubt::testing
