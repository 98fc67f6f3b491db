#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "model/row_name.h"
#include "model/set_traits.h"
#include "redoubt/estimate.h"
#include "sampling/binomial.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// Another set with a radius needs a proof of its own here.
template <class Set>
constexpr bool is_ball =
    std::is_same_v<Set, TV> || std::is_same_v<Set, Chi2> || std::is_same_v<Set, KL>;

// A radius that holds every distribution over k outcomes around the uniform one. The largest
// divergences are those of the corners; rounding must not shut them out.
double whole_simplex(const Uncertainty& set, double k) {
  if (std::holds_alternative<TV>(set)) return 1.0;
  return (std::holds_alternative<Chi2>(set) ? k - 1 : std::log(k)) * (1 + 1e-12);
}

Uncertainty with_radii(Uncertainty set, std::vector<double> rows) {
  std::visit(
      [&](auto& ball) {
        if constexpr (is_ball<std::decay_t<decltype(ball)>>) ball.radius = Radius(std::move(rows));
      },
      set);
  return set;
}

double outcomes_of(const Model& model, Row row) {
  return static_cast<double>(model.outcome_end(row) - model.outcome_begin(row));
}

void require_ball(const Uncertainty& set, std::string_view purpose) {
  const bool ball =
      std::visit([](const auto& s) { return is_ball<std::decay_t<decltype(s)>>; }, set);
  require(ball, "set {} {}, must be tv, chi2 or kl", name(set), purpose);
}

void require_fixed_values(const Estimate& estimate) {
  const Model& model = estimate.model;
  for (int signal = -1; signal < model.signals(); ++signal) {
    for (Row row = 0; row < model.rows(); ++row) {
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
        const double arrival = model.arrival_value(signal, model.arrays().next[i]);
        require(estimate.visits[row] == 0 || model.outcome_value(signal, i) == arrival,
                "{} of {} varies from sample to sample, must be fixed for a radius from data",
                signal < 0 ? "reward" : "signal '" + model.arrays().signals[signal].name + "'",
                RowName{model, row});
      }
    }
  }
}

// Weissman et al. (2003): |p^ - p|_1 >= x has probability at most (2^k - 2) exp(-n x^2 / 2).
double tv_radius(double states, double samples, double rows, double delta) {
  const double events = log_events(states) + std::log(rows / delta);
  return std::min(1.0, std::sqrt(std::max(0.0, events) / (2 * samples)));
}

// The largest divergence from the centre q to any row whose entries all lie in their Chernoff
// intervals. Both divergences are sums of terms that are convex in one entry each and least, zero,
// at q: every term is largest at an end of its interval.
double divergence_radius(const Uncertainty& set, const std::vector<double>& centre,
                         const std::vector<double>& shares, double limit) {
  const bool chi2 = std::holds_alternative<Chi2>(set);
  const auto term = [chi2](double p, double q) {
    if (chi2) return (p - q) * (p - q) / q;
    return (p > 0 ? p * std::log(p / q) : 0.0) - p + q;
  };
  double sum = 0;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    const Range range = chernoff_interval(shares[i], limit);
    sum += std::max(term(range.low, centre[i]), term(range.high, centre[i]));
  }
  return sum;
}

// Rows with every state as an outcome, smoothed by one sample of each; rows without samples stay.
class SmoothedModel {
 public:
  explicit SmoothedModel(const Estimate& estimate) : estimate_(estimate) {
    arrays = estimate.model.arrays();
    arrays.row_outcomes.assign(1, 0);
    arrays.next.clear();
    arrays.probability.clear();
    arrays.outcome_reward.clear();
    for (Signal& signal : arrays.signals) signal.outcome.clear();
  }

  void keep_row(Row row) {
    const ModelArrays& old = estimate_.model.arrays();
    for (auto i = old.row_outcomes[row]; i < old.row_outcomes[row + 1]; ++i)
      add(old.next[i], old.probability[i], i);
    close_row();
  }

  // Fills in the row's centre and its shares of the samples, one for each state.
  void smooth_row(Row row, std::vector<double>& centre, std::vector<double>& shares) {
    const ModelArrays& old = estimate_.model.arrays();
    const auto samples = static_cast<double>(estimate_.visits[row]);
    centre.assign(old.states, 1 / (samples + old.states));
    shares.assign(old.states, 0.0);
    for (auto i = old.row_outcomes[row]; i < old.row_outcomes[row + 1]; ++i) {
      const auto count = static_cast<double>(estimate_.counts[i]);
      centre[old.next[i]] = (count + 1) / (samples + old.states);
      shares[old.next[i]] = count / samples;
    }
    for (State state = 0; state < old.states; ++state) add(state, centre[state], -1);
    close_row();
  }

  ModelArrays arrays;

 private:
  void add(State next, double probability, std::int64_t old_outcome) {
    const auto value = [&](int signal) {
      return old_outcome < 0 ? estimate_.model.arrival_value(signal, next)
                             : estimate_.model.outcome_value(signal, old_outcome);
    };
    arrays.next.push_back(next);
    arrays.probability.push_back(probability);
    arrays.outcome_reward.push_back(value(-1));
    for (std::size_t s = 0; s < arrays.signals.size(); ++s)
      arrays.signals[s].outcome.push_back(value(static_cast<int>(s)));
  }
  void close_row() { arrays.row_outcomes.push_back(static_cast<std::int64_t>(arrays.next.size())); }

  const Estimate& estimate_;
};

}  // namespace

Problem estimated_problem(const Estimate& estimate, Terms terms) {
  if (!estimate.unvisited.empty()) {
    require_ball(terms.uncertainty, "with rows that have no samples");
    require_row_scope(terms.uncertainty, "rows that have no samples");
    std::vector<double> radii(estimate.model.rows());
    std::visit(
        [&](const auto& set) {
          if constexpr (is_ball<std::decay_t<decltype(set)>>)
            for (std::size_t row = 0; row < radii.size(); ++row)
              radii[row] = set.radius.of(static_cast<Row>(row));
        },
        terms.uncertainty);
    for (const Row row : estimate.unvisited)
      radii[row] = whole_simplex(terms.uncertainty, outcomes_of(estimate.model, row));
    terms.uncertainty = with_radii(terms.uncertainty, std::move(radii));
  }
  return Problem(estimate.model, std::move(terms));
}

Problem confident_problem(const Estimate& estimate, Terms terms, double delta) {
  require(delta > 0 && delta < 1, "delta = {}, must be in (0, 1)", delta);
  const Uncertainty set = terms.uncertainty;
  require_ball(set, "has no radius from data");
  require_row_scope(set, "a radius from data");
  const TV* tv = std::get_if<TV>(&set);
  require(tv == nullptr || tv->reach == Reach::anywhere,
          "reach support with a radius from data, must be anywhere: samples may miss outcomes");
  require(estimate.model.factors() == 0,
          "a radius from data on a model with {} factors, must be a confidence",
          estimate.model.factors());
  require_fixed_values(estimate);

  const Model& model = estimate.model;
  const auto rows = static_cast<double>(model.rows());
  const auto states = static_cast<double>(model.states());
  SmoothedModel smoothed(estimate);
  std::vector<double> radii, centre, shares;
  for (Row row = 0; row < model.rows(); ++row) {
    const auto samples = static_cast<double>(estimate.visits[row]);
    if (samples == 0) {
      smoothed.keep_row(row);
      radii.push_back(whole_simplex(set, outcomes_of(model, row)));
    } else if (tv != nullptr) {
      radii.push_back(tv_radius(states, samples, rows, delta));
    } else {
      smoothed.smooth_row(row, centre, shares);
      radii.push_back(
          divergence_radius(set, centre, shares, std::log(2 * states * rows / delta) / samples));
    }
  }
  terms.uncertainty = with_radii(set, std::move(radii));
  if (tv != nullptr) return Problem(model, std::move(terms));
  return Problem(Model(std::move(smoothed.arrays)), std::move(terms));
}

}  // namespace redoubt
