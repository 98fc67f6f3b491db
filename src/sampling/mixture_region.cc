#include "sampling/mixture_region.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace redoubt::internal {
namespace {

constexpr double kRounding = 1e-11;  // of sums of logarithms, relative

double bias(const std::vector<double>& weights, const std::vector<double>& x) {
  return std::inner_product(weights.begin(), weights.end(), x.begin(), 0.0);
}

// Solves a x = b for a positive definite a, [row][column], by elimination.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double times = a[j * n + i] / a[i * n + i];
      for (std::size_t c = i; c < n; ++c) a[j * n + c] -= times * a[i * n + c];
      b[j] -= times * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = i + 1; c < n; ++c) b[i] -= a[i * n + c] * b[c];
    b[i] /= a[i * n + i];
  }
  return b;
}

}  // namespace

MixtureRegion::MixtureRegion(std::vector<Coin> coins, std::vector<double> centre, double evidence)
    : coins_(std::move(coins)), centre_(std::move(centre)) {
  const double mixture = log_mixture();
  level_ = mixture - evidence - kRounding * (std::abs(mixture) + 1);
}

double MixtureRegion::log_likelihood(const std::vector<double>& x) const {
  double sum = 0;
  for (const Coin& coin : coins_) {
    const double p = bias(coin.weights, x);
    if (coin.heads > 0) sum += coin.heads * std::log(p);
    if (coin.tails > 0) sum += coin.tails * std::log1p(-std::min(p, 1.0));
  }
  return sum;
}

MixtureRegion::Local MixtureRegion::local(const std::vector<double>& x) const {
  const std::size_t n = x.size();
  Local at{log_likelihood(x), std::vector<double>(n, 0.0), std::vector<double>(n * n, 0.0)};
  for (const Coin& coin : coins_) {
    const double p = bias(coin.weights, x), q = 1 - p;
    const double heads = coin.heads > 0 ? coin.heads / p : 0;
    const double tails = coin.tails > 0 ? coin.tails / q : 0;
    const double second = (coin.heads > 0 ? heads / p : 0) + (coin.tails > 0 ? tails / q : 0);
    for (std::size_t i = 0; i < n; ++i) {
      at.gradient[i] += coin.weights[i] * (heads - tails);
      for (std::size_t j = 0; j < n; ++j)
        at.curvature[i * n + j] += coin.weights[i] * coin.weights[j] * second;
    }
  }
  return at;
}

// No more than the logarithm of the mean likelihood under the prior, which is Beta(1/2, 1/2) for
// each number: it is at least the mean of the log likelihood under any other distribution, less
// the divergence of that one from the prior. Here: uniform in a box around the centre, as wide as
// the likelihood is there.
double MixtureRegion::log_mixture() const {
  const std::size_t n = centre_.size();
  std::vector<double> width(n, 0.0);
  for (const Coin& coin : coins_) {
    const double p = bias(coin.weights, centre_);
    const double second = coin.heads / (p * p) + coin.tails / ((1 - p) * (1 - p));
    for (std::size_t i = 0; i < n; ++i) width[i] += coin.weights[i] * coin.weights[i] * second;
  }
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double c = centre_[i];
    width[i] = std::min({std::sqrt(12 / width[i]), c, 1 - c});
    // The mean of log sqrt(x (1 - x)) is at most its value at the centre.
    sum += std::log(width[i]) - std::log(std::numbers::pi) - 0.5 * std::log(c * (1 - c));
  }
  for (const Coin& coin : coins_) {
    const double p = bias(coin.weights, centre_);
    double variance = 0, reach = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double part = coin.weights[i] * width[i];
      variance += part * part / 12;
      reach += part / 2;
    }
    // log y >= log p + (y - p) / p - (y - p)^2 / (2 low^2) for y >= low, and the mean of y is p.
    const double low = p - reach, rest = 1 - p - reach;
    if (coin.heads > 0) sum += coin.heads * (std::log(p) - variance / (2 * low * low));
    if (coin.tails > 0) sum += coin.tails * (std::log1p(-p) - variance / (2 * rest * rest));
  }
  return sum;
}

// A step of Newton's method that keeps one number and keeps all of them in [0, 1]. False where none
// improves.
bool MixtureRegion::improve(std::size_t fixed, const Local& here, std::vector<double>& x) const {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool at_end =
        (x[i] <= 0 && here.gradient[i] <= 0) || (x[i] >= 1 && here.gradient[i] >= 0);
    if (i != fixed && !at_end) free.push_back(i);
  }
  const std::size_t n = free.size();
  std::vector<double> a(n * n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a[i * n + j] = here.curvature[free[i] * x.size() + free[j]];
    a[i * n + i] = a[i * n + i] * (1 + 1e-9) + 1e-12;
    b[i] = here.gradient[free[i]];
  }
  const std::vector<double> step = solve(std::move(a), b);
  constexpr int kMostHalvings = 39;
  for (int halvings = 0; halvings <= kMostHalvings; ++halvings) {
    const double length = std::ldexp(1.0, -halvings);
    std::vector<double> y = x;
    double gain = 0;
    for (std::size_t i = 0; i < n; ++i) {
      y[free[i]] = std::clamp(x[free[i]] + length * step[i], 0.0, 1.0);
      gain += b[i] * (y[free[i]] - x[free[i]]);
    }
    const double value = log_likelihood(y);
    if (gain <= 0 || !(value > here.value + 1e-4 * gain)) continue;
    x = std::move(y);
    return true;
  }
  return false;
}

// True when the region has no point at which the factor has this value: the likelihood lies below
// its tangents, so that one of them proves it. Doubt counts as no.
bool MixtureRegion::excludes(std::size_t factor, double value, std::vector<double>& x) const {
  constexpr int kMostSteps = 60;
  x[factor] = value;
  for (int step = 0; step < kMostSteps; ++step) {
    const Local here = local(x);
    if (!(here.value < level_)) return false;
    double most = here.value;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i != factor)
        most += here.gradient[i] > 0 ? here.gradient[i] * (1 - x[i]) : -here.gradient[i] * x[i];
    if (most < level_) return true;
    if (!improve(factor, here, x)) return false;
  }
  return false;
}

// The likelihood is concave: whatever lies beyond an excluded value is excluded, too.
Range MixtureRegion::interval(std::size_t factor) const {
  constexpr double kFine = 1e-5;  // of the distance from the centre
  const auto edge = [&](double inside, double outside) {
    std::vector<double> x = centre_;
    while (std::abs(inside - outside) > kFine * std::abs(outside - centre_[factor])) {
      const double middle = (inside + outside) / 2;
      if (middle == inside || middle == outside) break;
      (excludes(factor, middle, x) ? outside : inside) = middle;
    }
    return outside;
  };
  return {edge(centre_[factor], 0.0), edge(centre_[factor], 1.0)};
}

}  // namespace redoubt::internal
