#include "support/markov_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace redoubt::testing {
namespace {

using Vector = std::vector<double>;

// min of sum P v over KL(P | p) <= radius: the tilted rows P ~ p exp(-v / t) whose divergence is
// the radius, t by bisection.
double worst_kl(const Vector& p, const Vector& v, double radius) {
  const double low = *std::min_element(v.begin(), v.end());
  const double range = *std::max_element(v.begin(), v.end()) - low;
  double mass_at_low = 0;
  for (std::size_t i = 0; i < p.size(); ++i) mass_at_low += v[i] == low ? p[i] : 0;
  if (range == 0 || -std::log(mass_at_low) <= radius) return low;
  double cold = std::log(range) - 12, hot = std::log(range) + 20, mean = 0;
  for (int step = 0; step < 60; ++step) {
    const double temperature = std::exp((cold + hot) / 2);
    double sum = 0;
    mean = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double weight = p[i] * std::exp(-(v[i] - low) / temperature);
      sum += weight;
      mean += weight * (v[i] - low);
    }
    mean /= sum;
    const double divergence = -mean / temperature - std::log(sum);
    (divergence > radius ? cold : hot) = (cold + hot) / 2;
  }
  return low + mean;
}

// Moves `radius` of mass from the largest values to the floor.
double worst_tv(const Vector& p, const Vector& v, double floor, double radius) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return v[i] > v[j]; });
  double value = 0;
  for (const auto i : order) {
    const double moved = v[i] > floor ? std::min(p[i], radius) : 0;
    radius -= moved;
    value += (p[i] - moved) * v[i] + moved * floor;
  }
  return value;
}

// Worst case of one row for continuation values that nature wants small.
double worst_row(const Problem& problem, int signal, double sign, Row row, const Vector& values) {
  const Model& m = problem.model();
  Vector p, v;
  for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i) {
    p.push_back(m.arrays().probability[i]);
    v.push_back(sign * m.outcome_value(signal, i) +
                problem.discount() * values[m.arrays().next[i]]);
  }
  const Uncertainty& set = problem.uncertainty();
  if (const auto* kl = std::get_if<KL>(&set)) return worst_kl(p, v, kl->radius.of(row));
  if (const auto* tv = std::get_if<TV>(&set)) {
    double floor = *std::min_element(v.begin(), v.end());
    for (State s = 0; tv->reach == Reach::anywhere && s < m.states(); ++s)
      floor = std::min(floor, sign * m.arrival_value(signal, s) + problem.discount() * values[s]);
    return worst_tv(p, v, floor, tv->radius.of(row));
  }
  if (!std::holds_alternative<Nominal>(set)) throw std::logic_error("no reference for this set");
  return std::inner_product(p.begin(), p.end(), v.begin(), 0.0);
}

double sign_of(const Problem& problem, int signal) {
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    if (problem.signal_of(static_cast<int>(c)) == signal)
      return problem.constraints()[c].sense == Sense::at_most ? -1 : 1;
  }
  return 1;
}

// One backward stage; `policy` null: the best row, remembered in `greedy`.
Vector backward(const Problem& problem, int signal, const Vector& values,
                const MarkovPolicy* policy, MarkovPolicy* greedy) {
  const Model& m = problem.model();
  const double sign = sign_of(problem, signal);
  Vector out(m.states(), 0.0);
  for (State s = 0; s < m.states(); ++s) {
    const Row begin = m.row_begin(0, s), end = m.row_end(0, s);
    double mean = 0, best = -std::numeric_limits<double>::infinity();
    Row chosen = begin;
    for (Row row = begin; row < end; ++row) {
      const double q = sign * m.value(signal, row) + worst_row(problem, signal, sign, row, values);
      if (policy) mean += (*policy)[row] * q;
      if (q > best) best = q, chosen = row;
    }
    if (begin < end) out[s] = policy ? mean : best;
    for (Row row = begin; greedy && row < end; ++row) (*greedy)[row] = row == chosen ? 1 : 0;
  }
  return out;
}

double solve(const Problem& problem, int signal, const MarkovPolicy* policy, MarkovPolicy* greedy) {
  Vector values(problem.model().states(), 0.0);
  for (int stage = 0; problem.infinite() || stage < problem.horizon(); ++stage) {
    const Vector next = backward(problem, signal, values, policy, greedy);
    double change = 0;
    for (std::size_t s = 0; s < next.size(); ++s)
      change = std::max(change, std::abs(next[s] - values[s]));
    values = next;
    if (problem.infinite() && change < 1e-9 * (1 - problem.discount())) break;
  }
  return sign_of(problem, signal) * at_start(problem, values);
}

}  // namespace

MarkovPolicy uniform_policy(const Model& model) {
  MarkovPolicy policy(model.rows());
  for (State s = 0; s < model.states(); ++s) {
    const Row begin = model.row_begin(0, s), end = model.row_end(0, s);
    for (Row row = begin; row < end; ++row) policy[row] = 1.0 / static_cast<double>(end - begin);
  }
  return policy;
}

MarkovPolicy always(const Model& model, std::int32_t action) {
  MarkovPolicy policy(model.rows());
  for (Row row = 0; row < model.rows(); ++row)
    policy[row] = model.arrays().action[row] == action ? 1 : 0;
  return policy;
}

double at_start(const Problem& problem, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t i = 0; i < problem.start().states.size(); ++i)
    sum += problem.start().probability[i] * values[problem.start().states[i]];
  return sum;
}

std::vector<double> nominal_values(const Problem& problem, int signal, const MarkovPolicy& policy) {
  const Model& m = problem.model();
  const State n = m.states();
  std::vector<Vector> a(n, Vector(n + 1, 0.0));  // the last column is the right-hand side
  for (State s = 0; s < n; ++s) {
    a[s][s] = 1;
    for (Row row = m.row_begin(0, s); row < m.row_end(0, s); ++row) {
      a[s][n] += policy[row] * m.value(signal, row);
      for (auto i = m.outcome_begin(row); i < m.outcome_end(row); ++i) {
        const double p = policy[row] * m.arrays().probability[i];
        a[s][n] += p * m.outcome_value(signal, i);
        a[s][m.arrays().next[i]] -= problem.discount() * p;
      }
    }
  }
  // The matrix is strictly diagonally dominant: no pivoting.
  for (State k = 0; k < n; ++k) {
    for (State i = 0; i < n; ++i) {
      const double factor = i == k ? 0 : a[i][k] / a[k][k];
      if (factor == 0) continue;
      for (State j = k; j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  Vector values(n);
  for (State s = 0; s < n; ++s) values[s] = a[s][n] / a[s][s];
  return values;
}

double worst_value(const Problem& problem, int signal, const MarkovPolicy& policy) {
  return solve(problem, signal, &policy, nullptr);
}

Best best_value(const Problem& problem, int signal) {
  Best best{0, MarkovPolicy(problem.model().rows())};
  best.value = solve(problem, signal, nullptr, &best.policy);
  return best;
}

}  // namespace redoubt::testing
