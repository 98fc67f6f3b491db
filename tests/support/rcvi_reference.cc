#include "support/rcvi_reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "model/set_traits.h"
#include "sets/reference.h"
#include "support/mixture_corners.h"
#include "support/rcvi_windows.h"

namespace redoubt::testing {
using namespace internal;
namespace {

using Real = long double;

class Reference {
 public:
  Reference(const Problem& problem, const RcviOptions& options, bool in_windows)
      : problem_(problem), model_(problem.model()), options_(options) {
    for (const Constraint& constraint : problem.constraints()) {
      sign_.push_back(constraint.sense == Sense::at_most ? -1 : 1);
      bound_.push_back(sign_.back() * Real{constraint.bound});
      if (in_windows)
        windows_.push_back(rcvi_windows(problem, static_cast<int>(windows_.size()), options));
    }
    anywhere_ = internal::lands_anywhere(problem.uncertainty());
  }

  RcviValue at_start() {
    RcviValue sum = nothing();
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i)
      add(sum, problem_.start().probability[i],
          value(0, problem_.start().states[i], Cells(bound_.size(), 0)));
    return sum;
  }

 private:
  using Cells = std::vector<std::int64_t>;  // cell k of a constraint: bound + k step is required

  RcviValue nothing() const { return {0, std::vector<Real>(bound_.size(), 0)}; }
  static void add(RcviValue& sum, Real weight, const RcviValue& value) {
    sum.reward += weight * value.reward;
    for (std::size_t c = 0; c < sum.utility.size(); ++c)
      sum.utility[c] += weight * value.utility[c];
  }

  RcviValue value(int h, State s, Cells k) {
    for (std::size_t c = 0; c < windows_.size(); ++c)
      k[c] = std::clamp(k[c], windows_[c][h].low, windows_[c][h].high);
    if (h == problem_.horizon() || model_.row_begin(h, s) == model_.row_end(h, s)) return nothing();
    const auto key = std::make_tuple(h, s, k);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    std::vector<RcviValue> q;
    for (Row row = model_.row_begin(h, s); row < model_.row_end(h, s); ++row)
      q.push_back(action_value(h, row, k));
    std::vector<Real> threshold;
    for (std::size_t c = 0; c < k.size(); ++c) {
      const Real noise = 1e-11L * std::max<Real>(1, std::abs(bound_[c]));
      threshold.push_back(requirement(c, k[c]) - options_.slack * (problem_.horizon() - h) - noise);
    }
    return known_[key] = bound_.size() == 1 ? decide(q, threshold[0]) : decide(q, threshold);
  }

  Real requirement(std::size_t c, std::int64_t k) const {
    return bound_[c] + Real(k) * options_.budget_step;
  }

  // The value of being in `next` at the next stage after earning this much of each constraint at
  // cells k.
  RcviValue after(int h, const Cells& k, const std::vector<Real>& earned, State next) {
    std::vector<std::pair<Cells, Real>> mixture = {{k, 1}};
    std::vector<Real> lost(k.size(), 0);
    for (std::size_t c = 0; c < k.size(); ++c) {
      const Real required = (requirement(c, k[c]) - earned[c]) / problem_.discount();
      const Real place = (required - bound_[c]) / options_.budget_step;
      Real part = place - std::floor(place);
      auto below = static_cast<std::int64_t>(std::floor(place));
      if (std::abs(place - std::round(place)) <= 1e-7L) below = std::llround(place), part = 0;
      if (part > 0 && options_.rounding == Rounding::up) {
        lost[c] = (1 - part) * options_.budget_step;
        ++below, part = 0;
      }
      const auto known = mixture.size();
      for (std::size_t m = 0; m < known; ++m) {
        mixture[m].first[c] = below;
        if (part == 0) continue;
        mixture.push_back(mixture[m]);
        mixture[m].second *= 1 - part;
        mixture.back().first[c] = below + 1;
        mixture.back().second *= part;
      }
    }
    RcviValue sum = nothing();
    for (const auto& [cells, weight] : mixture) add(sum, weight, value(h + 1, next, cells));
    for (std::size_t c = 0; c < k.size(); ++c) sum.utility[c] -= lost[c];
    return sum;
  }

  RcviValue action_value(int h, Row row, const Cells& k) {
    const auto count = bound_.size();
    std::vector<Real> own(count);
    for (std::size_t c = 0; c < count; ++c)
      own[c] = sign_[c] * Real{model_.value(problem_.signal_of(static_cast<int>(c)), row)};
    const Real gamma = problem_.discount();
    std::vector<ReferenceRow> rows(count + 1);  // of the reward and of each utility
    const ModelArrays& arrays = model_.arrays();
    for (auto i = model_.outcome_begin(row); i < model_.outcome_end(row); ++i) {
      std::vector<Real> extra(count), earned(count);
      for (std::size_t c = 0; c < count; ++c) {
        extra[c] = sign_[c] * model_.outcome_value(problem_.signal_of(static_cast<int>(c)), i);
        earned[c] = own[c] + extra[c];
      }
      const RcviValue next = after(h, k, earned, arrays.next[i]);
      rows[0].value.push_back(model_.outcome_value(-1, i) / gamma + next.reward);
      for (std::size_t c = 0; c < count; ++c)
        rows[c + 1].value.push_back(extra[c] / gamma + next.utility[c]);
      for (ReferenceRow& r : rows) {
        r.probability.push_back(arrays.probability[i]);
        if (arrays.lower.empty()) continue;
        r.lower.push_back(arrays.lower[i]);
        r.upper.push_back(arrays.upper[i]);
      }
    }
    for (State s = 0; anywhere_ && s < model_.states(); ++s) {
      std::vector<Real> arrival(count), earned(count);
      for (std::size_t c = 0; c < count; ++c) {
        arrival[c] = sign_[c] * model_.arrival_value(problem_.signal_of(static_cast<int>(c)), s);
        earned[c] = own[c] + arrival[c];
      }
      const RcviValue landed = after(h, k, earned, s);
      const auto lower = [](ReferenceRow& r, Real v) {
        r.floor = std::min(v, r.floor.value_or(v));
      };
      lower(rows[0], model_.arrival_value(-1, s) / gamma + landed.reward);
      for (std::size_t c = 0; c < count; ++c)
        lower(rows[c + 1], arrival[c] / gamma + landed.utility[c]);
    }
    RcviValue result = nothing();
    for (ReferenceRow& r : rows) r.radius = radius(row);
    const Uncertainty& set = problem_.uncertainty();
    result.reward = model_.value(-1, row) + gamma * reference_worst_case(set, rows[0]);
    for (std::size_t c = 0; c < count; ++c)
      result.utility[c] = own[c] + gamma * reference_worst_case(set, rows[c + 1]);
    return result;
  }

  Real radius(Row row) const {
    const Uncertainty& set = problem_.uncertainty();
    if (const auto* tilt = std::get_if<Tilt>(&set)) return tilt->temperature;
    return internal::radius_of(set, row);
  }

  static RcviValue mixed(Real weight, const RcviValue& safe, const RcviValue& other) {
    RcviValue mix{0, std::vector<Real>(safe.utility.size(), 0)};
    add(mix, weight, safe);
    add(mix, 1 - weight, other);
    return mix;
  }

  // Weights are multiples of 1 / 65535, rounded towards the safe action, as policies store them.
  RcviValue decide(const std::vector<RcviValue>& q, Real threshold) const {
    std::optional<RcviValue> best;
    for (const RcviValue& safe : q) {
      if (safe.utility[0] < threshold) continue;
      if (!best || safe.reward > best->reward) best = safe;
      for (const RcviValue& other : q) {
        if (other.utility[0] >= threshold) continue;
        const Real exact = (threshold - other.utility[0]) / (safe.utility[0] - other.utility[0]);
        const Real w = std::min<Real>(1, std::ceil(exact * 65535) / 65535);
        const RcviValue mix = mixed(w, safe, other);
        if (mix.reward > best->reward) best = mix;
      }
    }
    if (best) return *best;
    const bool reward = options_.fallback == Fallback::reward;
    return *std::max_element(q.begin(), q.end(), [&](const RcviValue& a, const RcviValue& b) {
      return reward ? a.reward < b.reward : a.utility[0] < b.utility[0];
    });
  }

  RcviValue decide(const std::vector<RcviValue>& q, const std::vector<Real>& threshold) const {
    // What is missed is compared in units of each constraint.
    std::vector<std::vector<Real>> utility(threshold.size());
    std::vector<Real> required;
    for (std::size_t c = 0; c < threshold.size(); ++c) {
      const Real unit = std::max<Real>(std::abs(bound_[c]), options_.budget_step);
      required.push_back(threshold[c] / unit);
      for (const RcviValue& action : q) utility[c].push_back(action.utility[c] / unit);
    }
    const auto corners = mixture_corners(utility, required, static_cast<int>(q.size()));
    Real least = corners.front().shortfall;
    for (const MixtureCorner& corner : corners) least = std::min(least, corner.shortfall);
    if (least > 1e-12L && options_.fallback == Fallback::reward) {
      return *std::max_element(q.begin(), q.end(), [](const RcviValue& a, const RcviValue& b) {
        return a.reward < b.reward;
      });
    }
    std::optional<RcviValue> best;
    for (const MixtureCorner& corner : corners) {
      if (corner.shortfall > least + 1e-12L) continue;
      RcviValue mix = nothing();
      for (std::size_t a = 0; a < q.size(); ++a) add(mix, corner.weight[a], q[a]);
      if (!best || mix.reward > best->reward) best = mix;
    }
    return *best;
  }

  const Problem& problem_;
  const Model& model_;
  const RcviOptions& options_;
  std::vector<std::vector<CellWindow>> windows_;  // of each constraint and stage
  std::vector<Real> sign_, bound_;                // of each constraint
  bool anywhere_ = false;
  std::map<std::tuple<int, State, Cells>, RcviValue> known_;
};

}  // namespace

RcviValue rcvi_reference(const Problem& problem, const RcviOptions& options, bool in_windows) {
  return Reference(problem, options, in_windows).at_start();
}

}  // namespace redoubt::testing
