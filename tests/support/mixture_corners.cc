#include "support/mixture_corners.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace redoubt::testing {
namespace {

using Real = long double;
using Matrix = std::vector<std::vector<Real>>;  // the last column is the right-hand side

// Gaussian elimination with the largest pivot; none when the rows are dependent.
std::optional<std::vector<Real>> solve(Matrix m) {
  const std::size_t n = m.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
    if (std::abs(m[pivot][c]) < 1e-14L) return std::nullopt;
    std::swap(m[c], m[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const Real factor = m[r][c] / m[c][c];
      for (std::size_t k = c; k <= n; ++k) m[r][k] -= factor * m[c][k];
    }
  }
  std::vector<Real> x(n);
  for (std::size_t c = 0; c < n; ++c) x[c] = m[c][n] / m[c][c];
  return x;
}

}  // namespace

std::vector<MixtureCorner> mixture_corners(const std::vector<std::vector<Real>>& utility,
                                           const std::vector<Real>& threshold, int actions) {
  const int variables = actions + 1;  // the last one is the shortfall
  Matrix inequalities;                // row . x >= last
  for (int v = 0; v < variables; ++v) {
    inequalities.emplace_back(variables + 1, 0);
    inequalities.back()[v] = 1;
  }
  for (std::size_t i = 0; i < utility.size(); ++i) {
    inequalities.emplace_back(utility[i].begin(), utility[i].end());
    inequalities.back().push_back(1);
    inequalities.back().push_back(threshold[i]);
  }
  std::vector<Real> sum(variables + 1, 1);
  sum[actions] = 0;
  std::vector<MixtureCorner> corners;
  std::vector<bool> tight(inequalities.size(), false);
  std::fill(tight.end() - (variables - 1), tight.end(), true);
  do {
    Matrix system = {sum};
    for (std::size_t i = 0; i < tight.size(); ++i)
      if (tight[i]) system.push_back(inequalities[i]);
    const auto x = solve(system);
    if (!x) continue;
    const bool inside = std::all_of(inequalities.begin(), inequalities.end(), [&](const auto& row) {
      Real left = 0;
      for (int v = 0; v < variables; ++v) left += row[v] * (*x)[v];
      return left >= row.back() - 1e-13L;
    });
    if (inside) corners.push_back({{x->begin(), x->end() - 1}, x->back()});
  } while (std::next_permutation(tight.begin(), tight.end()));
  return corners;
}

}  // namespace redoubt::testing
