#pragma once

#include "sets/kernels/kl_series.h"

// The search for the b of kl where the series does not settle it.
namespace redoubt::internal::REDOUBT_TARGET {

// The state of a bracketed iteration on F = log(-k log(1 - K / k)), where k is the divergence of a
// row that has collapsed to its lowest value. As a function of log(b), F is nearly linear in rows
// whose outcomes all matter, where K grows like b^2, and near the collapse; and where K grows like
// exp(b), because a rare outcome gains mass, it is smooth.
struct Search {
  Lanes limit, target;  // k, and F at the radius
  Lanes lower, upper;   // the bracket
  Evaluation at;
};

template <class Number>
[[gnu::always_inline]] inline void start_search(Lanes limit, Number radius, Search& search) {
  search.limit = limit;
  search.target = log(-search.limit * log1p(-radius / search.limit));
  search.lower = 0.0;
  search.upper = __builtin_inf();
}

// log(b) moves by this much to where the inverse Taylor series of F to third order meets the
// target.
[[gnu::always_inline]] inline Lanes step(const Search& search) {
  const Evaluation& e = search.at;
  const Lanes per_limit = 1.0 / search.limit, share = e.divergence * per_limit;
  const Lanes r = 1.0 / (1.0 - share), g = -search.limit * log1p(-share), scale = r / g;
  // Derivatives by log(b): of K, of g = -k log(1 - K / k) relative to g, of F = log(g).
  const Lanes k1 = e.c2, k2 = 2.0 * e.c2 + e.c3, k3 = 4.0 * e.c2 + 5.0 * e.c3 + e.c4;
  const Lanes bend = k1 * r * per_limit;
  const Lanes g1 = k1 * scale, g2 = (k2 + k1 * bend) * scale,
              g3 = (k3 + bend * (3.0 * k2 + 2.0 * k1 * bend)) * scale;
  const Lanes f2 = g2 - g1 * g1, f3 = g3 - g1 * (3.0 * g2 - 2.0 * g1 * g1);
  const Lanes per_f1 = 1.0 / g1, w = (search.target - log(g)) * per_f1;
  const Lanes a = 0.5 * f2 * per_f1, c = (1.0 / 6) * f3 * per_f1;
  const Lanes third_order = w * (1.0 - w * (a - w * (2.0 * a * a - c)));
  const Mask tame = abs(third_order - w) <= 0.5 * abs(w);
  return min(max(select(tame, third_order, w), -1.4), 1.4);
}

template <class Number>
[[gnu::always_inline]] inline void narrow_bracket(Number radius, Lanes b, Search& search) {
  const Mask below = search.at.divergence < radius;
  search.lower = select(below, b, search.lower);
  search.upper = select(below, search.upper, b);
}

[[gnu::always_inline]] inline Mask is_closed(const Search& search) {
  return search.upper <= search.lower * (1 + 4e-15);
}

[[gnu::always_inline]] inline Lanes next_b(const Search& search, Lanes b, bool bisects) {
  const Lanes middle =
      select(search.upper < __builtin_inf(), sqrt(search.lower) * sqrt(search.upper), 4.0 * b);
  const Lanes safe = select(search.lower == 0.0, 0.25 * b, middle);
  if (bisects) return safe;
  const Lanes next = b * exp(step(search));
  return select((search.lower < next) & (next < search.upper), next, safe);
}

}  // namespace redoubt::internal::REDOUBT_TARGET
