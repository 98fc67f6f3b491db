#pragma once

#include <cmath>
#include <numbers>

namespace redoubt::internal {

// kl(a, b) = a log(a/b) + (1-a) log((1-a)/(1-b)): the exponent of Chernoff's bound. For n coin
// flips of probability b, a share of heads at or beyond a has probability at most exp(-n kl(a, b)).
inline double binary_kl(double a, double b) {
  const auto part = [](double x, double y) {
    return x <= 0 ? 0.0 : y <= 0 ? HUGE_VAL : x * std::log(x / y);
  };
  return std::fmax(0.0, part(a, b) + part(1 - a, 1 - b));
}

struct Range {
  double low = 0, high = 1;
};

// All b with kl(share, b) <= limit, rounded outwards.
inline Range chernoff_interval(double share, double limit) {
  const auto edge = [&](double inside, double outside) {
    while (std::abs(outside - inside) > 1e-15) {
      const double middle = (inside + outside) / 2;
      if (middle == inside || middle == outside) break;
      (binary_kl(share, middle) <= limit ? inside : outside) = middle;
    }
    return outside;
  };
  return {edge(share, 0.0), edge(share, 1.0)};
}

// log(2^k - 2), k >= 1: the number of events of k outcomes that can go wrong in total variation.
inline double log_events(double k) {
  return k <= 1 ? -HUGE_VAL : k * std::numbers::ln2 + std::log1p(-std::exp2(1 - k));
}

}  // namespace redoubt::internal
