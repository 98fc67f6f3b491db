#include "support/set_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/set_traits.h"

namespace redoubt::testing {

double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

int pick(std::mt19937_64& random, int count) { return static_cast<int>(random() % count); }

std::vector<double> SetRow::lane(int index) const {
  std::vector<double> lane;
  for (const auto& outcome : values) lane.push_back(outcome[index]);
  return lane;
}

SetResult solve(WorstCase kernel, const SetRow& row, Scratch& scratch) {
  const int padded = padded_lanes(row.lanes);
  std::vector<const double*> pointers;
  for (const auto& outcome : row.values) pointers.push_back(outcome.data());
  std::vector<double> worst(padded), flat((row.outcomes() + 1) * padded);
  kernel({row.outcomes(), row.probability.data(), row.radius, row.lower.data(), row.upper.data()},
         {row.lanes, pointers.data(), row.floor.empty() ? nullptr : row.floor.data()}, scratch,
         worst.data(), flat.data());
  SetResult result;
  result.worst.assign(worst.begin(), worst.begin() + row.lanes);
  for (int i = 0; i <= row.outcomes(); ++i)
    result.minimiser.emplace_back(flat.begin() + i * padded, flat.begin() + i * padded + row.lanes);
  return result;
}

namespace {

double exponential(std::mt19937_64& random) { return -std::log(1 - uniform(random)); }

std::vector<double> nasty_probabilities(std::mt19937_64& random, int outcomes) {
  std::vector<double> p(outcomes);
  const int kind = pick(random, 5);
  for (double& x : p) {
    switch (kind) {
      case 0:
        x = exponential(random) + 1e-9;
        break;
      case 1:
        x = std::pow(10, -12 * uniform(random));
        break;
      case 2:
        x = std::pow(10, -300 * uniform(random));
        break;
      case 3:
        x = 1;
        break;
      default:
        x = uniform(random) < 0.3 ? 1e-300 : uniform(random) + 1e-3;
    }
  }
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x = std::max(x / sum, 1e-300);
  return p;
}

double nasty_value(std::mt19937_64& random, int kind) {
  const double x = uniform(random);
  switch (kind) {
    case 0:
      return x;
    case 1:
      return pick(random, 3);
    case 2:
      return std::pow(10, 6 * x);
    case 3:
      return pick(random, 2) * 1e6 + x;
    case 4:
      return 0.7;
    case 5:
      return -100 * x;
    case 6:
      return 1 + 1e-9 * x;
    default:
      return 1e6 + x;
  }
}

double nasty_radius(std::mt19937_64& random, const SetRow& row) {
  switch (pick(random, 6)) {
    case 0:
      return std::pow(10, -12 + 18 * uniform(random));
    case 1:
      return 0;
    case 2: {  // where all mass just fits, or just does not fit, on the lowest outcome of some lane
      const std::vector<double> lane = row.lane(pick(random, row.lanes));
      const auto lowest = std::min_element(lane.begin(), lane.end()) - lane.begin();
      const double p = row.probability[lowest];
      const double edge = pick(random, 2) ? -std::log(p) : 1 / p - 1;
      return std::min(std::abs(edge) * (1 + 1e-9 * uniform(random, -1, 1)), 1e6);
    }
    case 3:
      return 0.05;
    default:
      return uniform(random);
  }
}

void add_bounds(std::mt19937_64& random, SetRow& row) {
  for (const double p : row.probability) {
    const double width = pick(random, 3) == 0 ? 0 : row.radius;
    row.lower.push_back(std::max(0.0, p - width * uniform(random)));
    row.upper.push_back(std::min(1.0, p + width * uniform(random)));
  }
}

}  // namespace

void make_benign(SetRow& row) {
  constexpr double kUnit = 0x1p-36;
  row.radius = std::min(row.radius, 1e3);
  for (double& x : row.lower) x = std::floor(x / kUnit) * kUnit;
  for (double& x : row.upper) x = std::min(1.0, std::ceil(x / kUnit) * kUnit);
}

SetRow nasty_row(std::mt19937_64& random, const Uncertainty& set) {
  SetRow row;
  const int outcomes = 1 + pick(random, 24);
  row.lanes = 1 + pick(random, 11);
  row.probability = nasty_probabilities(random, outcomes);
  row.values.assign(outcomes, std::vector<double>(padded_lanes(row.lanes)));
  for (int lane = 0; lane < padded_lanes(row.lanes); ++lane) {
    const int kind = pick(random, 8);
    for (auto& outcome : row.values) outcome[lane] = nasty_value(random, kind);
  }
  row.radius = nasty_radius(random, row);
  if (std::holds_alternative<Tilt>(set)) row.radius = std::pow(10, -3 + 6 * uniform(random));
  if (internal::needs_bounds(set)) add_bounds(random, row);
  if (std::holds_alternative<Composed>(set)) make_benign(row);
  if (internal::lands_anywhere(set))
    for (int lane = 0; lane < padded_lanes(row.lanes); ++lane) {
      const std::vector<double> values = row.lane(lane);
      row.floor.push_back(values[pick(random, outcomes)] -
                          uniform(random, -1, 1) * pick(random, 2));
    }
  return row;
}

SetRow plain_row(std::mt19937_64& random, int outcomes, double radius, int lanes) {
  SetRow row;
  row.lanes = lanes;
  row.radius = radius;
  for (int i = 0; i < outcomes; ++i) row.probability.push_back(exponential(random));
  const double sum = std::accumulate(row.probability.begin(), row.probability.end(), 0.0);
  for (double& p : row.probability) p /= sum;
  row.values.assign(outcomes, std::vector<double>(padded_lanes(lanes)));
  for (auto& outcome : row.values)
    for (double& x : outcome) x = uniform(random);
  add_bounds(random, row);
  return row;
}

}  // namespace redoubt::testing
