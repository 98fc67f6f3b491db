#include <algorithm>
#include <cmath>
#include <numeric>

#include "sets/reference.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

using Real = long double;

// A row, lowest value first, with probabilities that sum to one in long double.
struct SortedRow {
  std::vector<Real> probability, value;
  Real low = 0;  // of the values and the floor

  explicit SortedRow(const ReferenceRow& row) {
    std::vector<std::size_t> order(row.value.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return row.value[a] < row.value[b]; });
    Real sum = 0;
    for (const Real p : row.probability) sum += p;
    for (const auto i : order) {
      if (row.probability[i] == 0) continue;
      probability.push_back(row.probability[i] / sum);
      value.push_back(row.value[i]);
    }
    low = row.value[order.front()];  // total variation lands also where it finds nothing
    if (row.floor) low = std::min(*row.floor, low);
  }
  std::size_t size() const { return value.size(); }
  Real above(std::size_t i) const { return value[i] - value.front(); }
};
using SortedState = std::vector<SortedRow>;

Real nominal_total(const SortedState& rows) {
  Real sum = 0;
  for (const SortedRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) sum += row.probability[i] * row.value[i];
  }
  return sum;
}

// Every outcome's mass at the gain of moving it to the lowest place of its action, largest first.
Real shared(const TV&, const SortedState& rows, Real radius) {
  std::vector<std::pair<Real, Real>> gains;
  for (const SortedRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      gains.emplace_back(row.value[i] - row.low, row.probability[i]);
  }
  std::sort(gains.rbegin(), gains.rend());
  Real value = nominal_total(rows), left = radius;
  for (const auto& [gain, mass] : gains) {
    const Real moved = std::min(left, mass);
    value -= moved * gain;
    left -= moved;
  }
  return value;
}

struct Answer {
  Real distance = 0, value = 0;  // of a distribution, above the lowest value
};

// p (eta - v)_+ / t, with the eta that makes its sum one: of the lowest n outcomes, for the first n
// at which the next one is above eta.
Answer chi2_answer(const SortedRow& row, Real t) {
  Real mass = 0, first = 0;
  for (std::size_t n = 1; n <= row.size(); ++n) {
    mass += row.probability[n - 1];
    first += row.probability[n - 1] * row.above(n - 1);
    if (n < row.size() && t + first > mass * row.above(n)) continue;
    Answer answer;
    for (std::size_t i = 0; i < row.size(); ++i) {
      Real left = t;  // mass * (eta - v), of which rounding must not be larger than t
      for (std::size_t j = 0; j < n; ++j)
        left -= row.probability[j] * (row.value[i] - row.value[j]);
      const Real p = row.probability[i], P = i < n ? p * left / (mass * t) : 0;
      answer.distance += (P - p) * ((P - p) / p);
      answer.value += P * row.above(i);
    }
    return answer;
  }
  return {};
}

// p exp(-v / t), normalised.
Answer kl_answer(const SortedRow& row, Real t) {
  Real change = 0, mass = 0, first = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Real x = -row.above(i) / t, p = row.probability[i];
    change += p * std::expm1(x);
    mass += p * std::exp(x);
    first += p * std::exp(x) * x;
  }
  const Real log_mass = change > Real{-0.5} ? std::log1p(change) : std::log(mass);
  return {first / mass - log_mass, -t * first / mass};
}

// The value at the t at which the distances add up to the radius: they fall with t.
template <class AnswerOf>
Real by_temperature(const SortedState& rows, Real radius, AnswerOf answer_of) {
  Real range = 0, base = 0;
  for (const SortedRow& row : rows) {
    range = std::max(range, row.above(row.size() - 1));
    base += row.value.front();
  }
  if (range == 0) return base;
  const auto at = [&](Real log_t) {
    Answer sum;
    for (const SortedRow& row : rows) {
      const Answer one = answer_of(row, std::exp(log_t) * range);
      sum.distance += one.distance;
      sum.value += one.value;
    }
    return sum;
  };
  Real low = -2000, high = 100;
  if (at(low).distance <= radius) return base + at(low).value;
  for (int step = 0; step < 100; ++step) {
    const Real middle = (low + high) / 2;
    (at(middle).distance > radius ? low : high) = middle;
  }
  return base + at(high).value;
}

Real shared(const Chi2&, const SortedState& rows, Real radius) {
  return by_temperature(rows, radius, chi2_answer);
}
Real shared(const KL&, const SortedState& rows, Real radius) {
  return by_temperature(rows, radius, kl_answer);
}
template <class Set>
Real shared(const Set& set, const SortedState&, Real) {
  throw Error(fmt::format("set {} has no scope, must be tv, chi2 or kl", name(set)));
}

}  // namespace

long double reference_worst_case(const Uncertainty& set, const ReferenceState& state) {
  SortedState rows;
  for (const ReferenceRow& row : state.rows) rows.emplace_back(row);
  if (state.radius == 0) return nominal_total(rows);
  return std::visit([&](const auto& kind) { return shared(kind, rows, state.radius); }, set);
}

}  // namespace redoubt::internal
