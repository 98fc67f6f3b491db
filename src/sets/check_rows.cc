#include "sets/check_rows.h"

#include <algorithm>
#include <cmath>

#include "sets/row_checks.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

const Radius* radius_in(const Uncertainty& set) {
  return std::visit(
      [](const auto& kind) -> const Radius* {
        if constexpr (requires { kind.radius; }) return &kind.radius;
        return nullptr;
      },
      set);
}

}  // namespace

double radius_of(const Uncertainty& set) {
  if (const Radius* radius = radius_in(set)) {
    check_radius(radius->of(0));
    return radius->of(0);
  }
  const auto* tilt = std::get_if<Tilt>(&set);
  if (tilt == nullptr) return 0;
  require(tilt->temperature > 0 && std::isfinite(tilt->temperature),
          "temperature = {}, must be positive and finite", tilt->temperature);
  return tilt->temperature;
}

std::span<const double> radii_of(const Uncertainty& set) {
  const Radius* radius = radius_in(set);
  if (radius == nullptr) return {};
  return radius->rows;
}

void check_radius(double radius) {
  require(radius >= 0 && std::isfinite(radius), "radius = {}, must be at least 0 and finite",
          radius);
}

RowMass check_probabilities(std::span<const double> p) {
  require(!p.empty(), "a row without outcomes, must have at least one");
  double sum = 0, least = 1, most = 0;
#pragma GCC unroll 4
  for (const double mass : p) {
    least = std::min(mass, least);  // what is no number shows in the sum
    most = std::max(mass, most);
    sum += mass;
  }
  const double size = static_cast<double>(p.size()), off = std::abs(sum - 1);
  if (least < 0 || most > 1 || !(off <= 1e-9 * size)) {
    for (std::size_t i = 0; i < p.size(); ++i)
      require(p[i] >= 0 && p[i] <= 1, "probability[{}] = {}, must be in [0, 1]", i, p[i]);
    throw Error(fmt::format("probabilities sum to {}, must sum to 1", sum));
  }
  return {sum, off <= kMassRounding * size, least == 0};
}

void check_bounds(std::span<const double> lower, std::span<const double> upper) {
  require(!lower.empty() && lower.size() == upper.size(),
          "{} lower and {} upper bounds, must be one of each for every outcome", lower.size(),
          upper.size());
  double least = 0, most = 0;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    require(0 <= lower[i] && lower[i] <= upper[i] && upper[i] <= 1,
            "bounds of outcome {} = [{}, {}], must satisfy 0 <= lower <= upper <= 1", i, lower[i],
            upper[i]);
    least += lower[i];
    most += upper[i];
  }
  const double slack = 1e-9 * static_cast<double>(lower.size());
  require(least <= 1 + slack && most >= 1 - slack, "bounds sum to [{}, {}], must contain 1", least,
          most);
}

void check_values(std::span<const double> values) {
  if (row_checks().finite(values.data(), static_cast<std::int64_t>(values.size()))) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    require(std::isfinite(values[i]), "values[{}] = {}, must be finite", i, values[i]);
}

}  // namespace redoubt::internal
