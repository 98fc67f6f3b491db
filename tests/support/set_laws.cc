#include "support/set_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "model/set_traits.h"
#include "support/set_reference.h"

namespace redoubt::testing {

namespace {

// Mass that is left where a row within bounds should have none.
constexpr double kRoundedAway = 1e-15;

// One check of one lane: a sentence when it fails.
using Verdict = std::optional<std::string>;

class Checker {
 public:
  Checker(const Uncertainty& set, WorstCase kernel, const SetRow& row, double tolerance)

      : set_(set),
        kernel_(kernel),
        row_(row),
        relative_(tolerance),
        result_(solve(kernel, row, scratch_)) {
    for (int lane = 0; lane < row.lanes; ++lane)
      tolerance_.push_back(tolerance * error_unit(row, lane));
  }

  std::string first_broken() {
    for (const auto law : {&Checker::nominal_at_radius_zero, &Checker::translates,
                           &Checker::monotone, &Checker::concave, &Checker::falls_with_the_set,
                           &Checker::bounded, &Checker::minimiser_lies_in_the_set,
                           &Checker::minimiser_attains_the_value, &Checker::lanes_are_independent})
      if (const Verdict verdict = (this->*law)())
        return fmt::format("{}, {} outcomes, radius {}: {}", describe(set_), row_.outcomes(),
                           row_.radius, *verdict);
    return "";
  }

 private:
  bool is_tilt() const { return std::holds_alternative<Tilt>(set_); }
  bool is_interval() const { return std::holds_alternative<Interval>(set_); }
  const Composed* composed() const { return std::get_if<Composed>(&set_); }
  bool has_radius() const {
    return !is_tilt() && !is_interval() && composed() == nullptr &&
           !std::holds_alternative<Nominal>(set_);
  }

  std::vector<double> worst(const SetRow& row) { return solve(kernel_, row, scratch_).worst; }

  // Runs `compare(lane, new worst)` on a changed copy of the row; it returns true when the law
  // holds.
  template <class Change, class Compare>
  Verdict after(const char* law, Change change, Compare compare) {
    SetRow changed = row_;
    change(changed);
    const std::vector<double> now = worst(changed);
    for (int lane = 0; lane < row_.lanes; ++lane)
      if (!compare(lane, now[lane]))
        return fmt::format("{} fails in lane {}: {} became {}", law, lane, result_.worst[lane],
                           now[lane]);
    return {};
  }

  Verdict nominal_at_radius_zero() {
    if (!has_radius()) return {};
    const std::vector<double> nominal = solve(worst_case_kernel(Nominal{}), row_, scratch_).worst;
    if (kernel_ != worst_case_kernel(set_))
      return {};  // bits are compared within one instruction set
    return after(
        "nominal at radius 0", [](SetRow& row) { row.radius = 0; },
        [&](int lane, double now) { return now == nominal[lane]; });
  }

  Verdict translates() {
    return after(
        "translation by 3",
        [](SetRow& row) {
          for (auto& outcome : row.values)
            for (double& v : outcome) v += 3;
          for (double& v : row.floor) v += 3;
        },
        [&](int lane, double now) {
          const double rounding = 1e-13 * (3 + std::abs(now));  // of v + 3
          return std::abs(now - result_.worst[lane] - 3) <= tolerance_[lane] + rounding;
        });
  }

  Verdict monotone() {
    if (is_tilt()) return {};
    return after(
        "monotonicity",
        [](SetRow& row) {
          auto& raised = row.values[row.values.size() / 2];
          for (double& v : raised) v += std::abs(v) / 2 + 0.1;
        },
        [&](int lane, double now) {
          const double rounding = 1e-15 * (1 + std::abs(now));  // values of 0.1 and more came in
          return now >= result_.worst[lane] - tolerance_[lane] - rounding;
        });
  }

  // The middle between a lane and the lane before it is worth at least the mean of both.
  Verdict concave() {
    if (is_tilt()) return {};
    const int padded = padded_lanes(row_.lanes);
    const auto before = [&](int lane) { return (lane + row_.lanes - 1) % row_.lanes; };
    const auto average = [&](std::vector<double>& v) {
      const std::vector<double> old = v;
      for (int lane = 0; lane < row_.lanes; ++lane) v[lane] = (old[lane] + old[before(lane)]) / 2;
      v.resize(padded);
    };
    return after(
        "concavity",
        [&](SetRow& row) {
          for (auto& outcome : row.values) average(outcome);
          if (!row.floor.empty()) average(row.floor);
        },
        [&](int lane, double now) {
          const double mean = (result_.worst[lane] + result_.worst[before(lane)]) / 2;
          return now >= mean - tolerance_[lane] - tolerance_[before(lane)];
        });
  }

  Verdict falls_with_the_set() {
    return after(
        "a larger set having a smaller worst case",
        [&](SetRow& row) {
          row.radius = is_tilt() ? row.radius / 2 : row.radius * 1.5 + 1e-3;
          for (double& x : row.lower) x /= 2;
          for (double& x : row.upper) x = std::min(1.0, x * 1.5 + 1e-3);
        },
        [&](int lane, double now) { return now <= result_.worst[lane] + tolerance_[lane]; });
  }

  Verdict bounded() {
    for (int lane = 0; lane < row_.lanes; ++lane) {
      const std::vector<double> v = row_.lane(lane);
      double low = *std::min_element(v.begin(), v.end());
      if (!row_.floor.empty()) low = std::min(low, row_.floor[lane]);
      const double mean = std::inner_product(v.begin(), v.end(), row_.probability.begin(), 0.0);
      const double worst = result_.worst[lane];
      const double rounding = 1e-15 * row_.outcomes() * std::abs(low);  // of the sum of all terms
      if (!(worst >= low - rounding && worst <= mean + tolerance_[lane]))
        return fmt::format("lane {}: {} is not between the lowest value {} and the mean {}", lane,
                           worst, low, mean);
    }
    return {};
  }

  // The row within the bounds from which P is least far away is not easily found. But it is enough
  // that P is in the set around some such row: the one that gives the lowest values the most.
  double composed_excess(const std::vector<double>& P, const std::vector<double>& v) const {
    std::vector<std::size_t> order(v.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return v[a] < v[b]; });
    std::vector<double> centre = row_.lower;
    double left = 1 - std::accumulate(centre.begin(), centre.end(), 0.0);
    for (std::size_t first = 0; first < order.size();) {  // equal values share what they get
      std::size_t last = first;
      double room = 0;
      for (; last < order.size() && v[order[last]] == v[order[first]]; ++last)
        room += row_.upper[order[last]] - row_.lower[order[last]];
      const double share = room > 0 ? std::clamp(left / room, 0.0, 1.0) : 0.0;
      for (; first < last; ++first)
        centre[order[first]] += share * (row_.upper[order[first]] - row_.lower[order[first]]);
      left -= share * room;
    }
    using enum Composed::Ball;
    return excess_of(composed()->ball == tv ? 1 : composed()->ball == chi2 ? 2 : 3, centre, P, v);
  }

  // How far P is outside the set; P has one more entry for the floor.
  double excess(const std::vector<double>& P, const std::vector<double>& v) const {
    return composed() != nullptr ? composed_excess(P, v)
                                 : excess_of(set_.index(), row_.probability, P, v);
  }

  double excess_of(std::size_t kind, const std::vector<double>& p, const std::vector<double>& P,
                   const std::vector<double>& v) const {
    double distance = 0, mass = 0;
    switch (kind) {
      case 0:  // none
      case 4:  // tilt
        for (std::size_t i = 0; i < p.size(); ++i)
          mass += p[i] * (is_tilt() ? std::exp((v[0] - v[i]) / row_.radius) : 1);
        for (std::size_t i = 0; i < p.size(); ++i) {
          const double tilted = is_tilt() ? std::exp((v[0] - v[i]) / row_.radius) / mass : 1;
          distance = std::max(distance, std::abs(P[i] - p[i] * tilted));
        }
        return std::isfinite(mass) ? distance : 0;
      case 1:  // tv
        for (std::size_t i = 0; i < p.size(); ++i) distance += std::max(P[i] - p[i], 0.0);
        return distance + P.back() - row_.radius;
      case 2:  // chi2
        for (std::size_t i = 0; i < p.size(); ++i)
          if (P[i] + p[i] > kRoundedAway) distance += (P[i] - p[i]) * (P[i] - p[i]) / p[i];
        return (distance - row_.radius) / (1 + row_.radius);
      case 3:  // kl
        for (std::size_t i = 0; i < p.size(); ++i)
          if (P[i] > (p[i] > 0 ? 0 : kRoundedAway)) distance += P[i] * std::log(P[i] / p[i]);
        return (distance - row_.radius) / (1 + row_.radius);
      default:  // interval
        for (std::size_t i = 0; i < p.size(); ++i)
          distance = std::max({distance, row_.lower[i] - P[i], P[i] - row_.upper[i]});
        return distance;
    }
  }

  std::vector<double> minimiser(int lane) const {
    std::vector<double> P;
    for (const auto& outcome : result_.minimiser) P.push_back(outcome[lane]);
    return P;
  }

  // A minimiser can be no more exact than the differences between the values, of which rounding
  // leaves little when some are close and others far away.
  double membership_tolerance(int lane) const {
    std::vector<double> v = row_.lane(lane);
    std::sort(v.begin(), v.end());
    double gap = error_unit(row_, lane);
    for (std::size_t i = 1; i < v.size(); ++i)
      if (v[i] > v[i - 1]) gap = std::min(gap, v[i] - v[i - 1]);
    const bool cancels = gap < 1e-3 * error_unit(row_, lane);
    return cancels ? 1e-2 : relative_ * (1 + std::sqrt(row_.radius));
  }

  Verdict minimiser_lies_in_the_set() {
    for (int lane = 0; lane < row_.lanes; ++lane) {
      const std::vector<double> P = minimiser(lane);
      const double sum = std::accumulate(P.begin(), P.end(), 0.0);
      const double least = *std::min_element(P.begin(), P.end());
      const double outside = excess(P, row_.lane(lane));
      if (!(std::abs(sum - 1) <= 1e-12 && least >= -1e-15 && outside <= membership_tolerance(lane)))
        return fmt::format("lane {}: minimiser with sum {}, least entry {}, outside by {}", lane,
                           sum, least, outside);
    }
    return {};
  }

  Verdict minimiser_attains_the_value() {
    for (int lane = 0; lane < row_.lanes; ++lane) {
      const std::vector<double> P = minimiser(lane), v = row_.lane(lane);
      double value = row_.floor.empty() ? 0 : P.back() * row_.floor[lane];
      for (std::size_t i = 0; i < v.size(); ++i) value += P[i] * v[i];
      if (!(std::abs(value - result_.worst[lane]) <= tolerance_[lane]))
        return fmt::format("lane {}: the minimiser is worth {}, the worst case {}", lane, value,
                           result_.worst[lane]);
    }
    return {};
  }

  // Each lane alone, at another place in memory, gives the same bits.
  Verdict lanes_are_independent() {
    for (int lane = 0; lane < row_.lanes; ++lane) {
      SetRow alone = row_;
      alone.lanes = 1;
      for (std::size_t i = 0; i < alone.values.size(); ++i)
        alone.values[i].assign(kLaneBlock, row_.values[i][lane]);
      if (!row_.floor.empty()) alone.floor.assign(kLaneBlock, row_.floor[lane]);
      const double now = worst(alone)[0];
      if (now != result_.worst[lane])
        return fmt::format("lane {} alone gives {}, among others {}", lane, now,
                           result_.worst[lane]);
    }
    return {};
  }

  Uncertainty set_;
  WorstCase kernel_;
  SetRow row_;
  double relative_;  // tolerance
  Scratch scratch_;
  SetResult result_;
  std::vector<double> tolerance_;  // per lane, absolute
};

}  // namespace

const std::vector<Uncertainty>& every_set() {
  static const std::vector<Uncertainty> sets = {Nominal{},
                                                TV{0.0, Reach::anywhere},
                                                TV{0.0, Reach::support},
                                                Chi2{},
                                                KL{},
                                                Tilt{},
                                                Interval{},
                                                Composed{Composed::Ball::tv, 0.0, Reach::anywhere},
                                                Composed{Composed::Ball::tv, 0.0, Reach::support},
                                                Composed{Composed::Ball::chi2, 0.0},
                                                Composed{Composed::Ball::kl, 0.0}};
  return sets;
}

std::string describe(const Uncertainty& set) {
  return std::string(name(set)) + (internal::lands_anywhere(set) ? " anywhere" : "");
}

std::string broken_law(const Uncertainty& set, WorstCase kernel, const SetRow& row,
                       double tolerance) {
  return Checker(set, kernel, row, tolerance).first_broken();
}

}  // namespace redoubt::testing
