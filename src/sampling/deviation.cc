#include "sampling/deviation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "model/set_traits.h"
#include "sampling/binomial.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// Rows by what decides their concentration: their number of outcomes. Certain rows are estimated
// without error and do not count.
std::map<std::int64_t, double> rows_by_outcomes(const Model& model) {
  std::map<std::int64_t, double> rows;
  for (Row row = 0; row < model.rows(); ++row) {
    const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
    if (outcomes > 1) ++rows[outcomes];
  }
  return rows;
}

// The least x in [low, high] at which the decreasing function is at most `limit`; `high` if none.
double solve_decreasing(double low, double high, double limit,
                        const std::function<double(double)>& function) {
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (function(middle) <= limit ? high : low) = middle;
  }
  return high;
}

// Total variation between a row and its estimate: Weissman et al. (2003), all rows at once.
double total_variation(const Model& model, double samples, double delta) {
  double most = -HUGE_VAL;
  const auto rows = rows_by_outcomes(model);
  for (const auto& [k, count] : rows)
    most = std::max(most, log_events(static_cast<double>(k)) + std::log(count));
  double sum = 0;
  for (const auto& [k, count] : rows)
    sum += std::exp(log_events(static_cast<double>(k)) + std::log(count) - most);
  if (rows.empty()) return 0;
  const double exponent = most + std::log(sum) - std::log(delta);
  return std::sqrt(std::max(0.0, exponent) / (2 * samples));
}

// KL(estimate || row): Agrawal (2020), P(n KL >= u) <= exp(-u) (e u / (k - 1))^(k - 1) for u > k
// - 1.
double relative_entropy(const Model& model, double samples, double delta) {
  const auto rows = rows_by_outcomes(model);
  if (rows.empty()) return 0;
  const auto failure = [&](double u) {
    double sum = 0;
    for (const auto& [k, count] : rows) {
      const auto free = static_cast<double>(k - 1);
      sum += count * std::exp(-u + free * (1 + std::log(u / free)));
    }
    return sum;
  };
  const auto least = static_cast<double>(rows.rbegin()->first - 1);
  double high = 2 * least;
  while (failure(high) > delta) high *= 2;
  return solve_decreasing(least, high, delta, failure) / samples;
}

// |log(estimate / probability)| of every outcome: Chernoff's bound on each side. Infinite when it
// is likelier than delta that some outcome is never seen.
double log_ratio(const Model& model, double samples, double delta) {
  std::map<double, double> outcomes;  // by probability
  for (const double p : model.arrays().probability) {
    if (p < 1) ++outcomes[p];
  }
  if (outcomes.empty()) return 0;
  const auto failure = [&](double x) {
    double sum = 0;
    for (const auto& [p, count] : outcomes) {
      const double above = p * std::exp(x), below = p * std::exp(-x);
      if (above <= 1) sum += count * std::exp(-samples * binary_kl(above, p));
      sum += count * std::exp(-samples * binary_kl(below, p));
    }
    return sum;
  };
  constexpr double kMost = 40;  // e^40: as good as never seen
  if (failure(kMost) > delta) return HUGE_VAL;
  return solve_decreasing(0, kMost, delta, failure);
}

double probability_of_missing_one(const Model& model, double samples) {
  double sum = 0;
  for (const double p : model.arrays().probability)
    sum += p < 1 ? std::exp(samples * std::log1p(-p)) : 0.0;
  return sum;
}

double least_probability(const Model& model) {
  double least = 1;
  for (const double p : model.arrays().probability) least = std::min(least, p);
  return least;
}

double largest(const Radius& radius) {
  return radius.rows.empty() ? radius.all
                             : *std::max_element(radius.rows.begin(), radius.rows.end());
}

double smallest(const Radius& radius) {
  return radius.rows.empty() ? radius.all
                             : *std::min_element(radius.rows.begin(), radius.rows.end());
}

// A tilt of a row by exp(-s v), v in [0, 1], is at most this far from it in chi2, in the root and
// for each unit of s, whatever s is. Values of zero and one are the worst, and the share of the
// zeros, at least `least`, decides: q / (1 + q) is the worst share, q = e^-s, or the least where
// that is more.
double steepest_tilt(double least) {
  double most = std::sqrt(least * (1 - least));
  const double turn = std::max(0.0, std::log((1 - least) / least));
  if (turn > 0) most = std::max(most, std::sinh(turn / 2) / turn);
  double s = turn;
  while ((s += 0.01) < turn + 40) {
    const double q = std::exp(-s);
    const double root = std::sqrt(least * (1 - least)) * (1 - q) / (least + (1 - least) * q);
    most = std::max(most, root / s);
  }
  return most * (1 + 1e-4);  // between two steps of the scan
}

struct Deviation {
  const Model& model;
  double samples, delta;

  double operator()(const Nominal&) const { return total_variation(model, samples, delta); }

  // The dual of the worst case depends on the row through means of functions with the span of the
  // values. With reach support it also depends on which outcomes there are.
  double operator()(const TV& set) const {
    if (set.reach == Reach::anywhere || largest(set.radius) == 0)
      return total_variation(model, samples, delta);
    if (probability_of_missing_one(model, samples) > delta / 2) return 1;
    return total_variation(model, samples, delta / 2);
  }

  double operator()(const Chi2& set) const {
    const double radius = largest(set.radius);
    if (radius == 0) return total_variation(model, samples, delta);
    return chi2_deviation(relative_entropy(model, samples, delta), radius);
  }

  double operator()(const KL& set) const {
    if (largest(set.radius) == 0) return total_variation(model, samples, delta);
    const double ratio = log_ratio(model, samples, delta / 2);
    const double entropy = relative_entropy(model, samples, delta / 2);
    return kl_deviation(ratio, entropy, least_probability(model), smallest(set.radius));
  }

  template <class Set>
  double operator()(const Set& set) const {
    throw Error(fmt::format("set {} has no sample size, must be tv, chi2, kl or none", name(set)));
  }
};

}  // namespace

// Where the rule P >= 0 binds, a second moment decides, of which the root moves by the Hellinger
// distance; elsewhere mean - sqrt(radius) deviation. Hellinger is below sqrt(entropy), total
// variation below sqrt(entropy / 2).
double chi2_deviation(double entropy, double radius) {
  const double factor = std::max(std::sqrt(1 + radius), std::sqrt(0.5) + std::sqrt(radius));
  return factor * std::sqrt(entropy);
}

// At temperature 1/s the dual is a logarithm of E exp(-s v), whose relative error is at most
// sqrt(chi2(tilt, row) chi2(estimate, row)). The second is at most 2 (1 + (e^x - 1) / 3) times the
// entropy, x the log ratio; with row and estimate exchanged, at most e^x times that. It is also at
// most x, and no temperature above 1 / radius or 1 / sqrt(8 radius) is optimal.
double kl_deviation(double log_ratio, double entropy, double least_probability, double radius) {
  if (log_ratio == 0 || std::isinf(log_ratio)) return log_ratio;
  const double chi2 = 2 * (1 + std::expm1(log_ratio) / 3) * entropy;
  const double tilted = steepest_tilt(least_probability * std::exp(-log_ratio)) *
                        std::exp(log_ratio / 2) * std::sqrt(chi2);
  return radius > 0 ? std::min(tilted, log_ratio * std::min(1 / radius, 1 / std::sqrt(8 * radius)))
                    : tilted;
}

double worst_case_deviation(const Problem& problem, double samples, double delta) {
  require_row_scope(problem.uncertainty(), "sample sizes");
  const Deviation deviation{problem.model(), samples, delta};
  return std::min(1.0, std::visit(deviation, problem.uncertainty()));
}

}  // namespace redoubt::internal
