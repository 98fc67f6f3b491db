#include "numerics/simplex.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace redoubt::internal {
namespace {

constexpr double kNoSlope = 1e-12;  // numbers that are rounding

}  // namespace

void Simplex::begin(int variables, int rows) {
  variables_ = variables;
  rows_ = rows;
  tableau_.assign(static_cast<std::size_t>(rows + 1) * (variables + 1), 0.0);
  free_.resize(variables);
  std::iota(free_.begin(), free_.end(), 0);
  basic_.resize(rows);
  std::iota(basic_.begin(), basic_.end(), variables);
}

// Of the columns that raise the objective, the steepest one or the first.
int Simplex::entering(bool first) const {
  const double* slope = tableau_.data() + static_cast<std::size_t>(rows_) * (variables_ + 1);
  int best = -1;
  for (int j = 0; j < variables_; ++j) {
    if (slope[j] <= kNoSlope) continue;
    if (best < 0 || (first ? free_[j] < free_[best] : slope[j] > slope[best])) best = j;
  }
  return best;
}

int Simplex::leaving(int column) {
  int best = -1;
  double least = 0;
  for (int i = 0; i < rows_; ++i) {
    if (at(i, column) <= kNoSlope) continue;
    const double ratio = std::max(limit(i), 0.0) / at(i, column);
    if (best < 0 || ratio < least || (ratio == least && basic_[i] < basic_[best]))
      best = i, least = ratio;
  }
  return best;
}

void Simplex::pivot(int row, int column) {
  const double by = 1 / at(row, column);
  for (int j = 0; j <= variables_; ++j) at(row, j) *= by;
  at(row, column) = by;
  for (int i = 0; i <= rows_; ++i) {
    const double factor = at(i, column);
    if (i == row || factor == 0) continue;
    at(i, column) = 0;
    for (int j = 0; j <= variables_; ++j) at(i, j) -= factor * at(row, j);
  }
  std::swap(basic_[row], free_[column]);
}

void Simplex::solve() {
  // Where many rows are tight at once, steps gain nothing and may go round in circles: a little
  // room, different in every row, keeps them apart. Bland's rule, which ends by itself, is there
  // for when that fails.
  constexpr double kRoom = 1e-13, kGolden = 0.6180339887498949;
  for (int i = 0; i < rows_; ++i) limit(i) += kRoom * (1 + std::fmod(kGolden * i, 1.0));
  const int steep = 20 * (rows_ + variables_), most = 10 * steep;
  for (int pivots = 0; pivots < most; ++pivots) {
    const int column = entering(pivots > steep);
    const int row = column < 0 ? -1 : leaving(column);
    if (row < 0) break;
    pivot(row, column);
  }
  value_.assign(variables_, 0.0);
  price_.assign(rows_, 0.0);
  for (int i = 0; i < rows_; ++i) {
    if (basic_[i] < variables_) value_[basic_[i]] = std::max(limit(i), 0.0);
  }
  for (int j = 0; j < variables_; ++j) {
    if (free_[j] >= variables_) price_[free_[j] - variables_] = std::max(-objective(j), 0.0);
  }
}

}  // namespace redoubt::internal
