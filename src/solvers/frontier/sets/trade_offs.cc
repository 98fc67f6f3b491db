#include "solvers/frontier/sets/trade_offs.h"

#include <algorithm>

namespace redoubt::internal {
TradeOffs::TradeOffs(Directions directions, std::int64_t places)
    : directions_(std::move(directions)),
      places_(places),
      stride_(std::int64_t{directions_.signals() + 1} * directions_.size()),
      values_(places * stride_, 0.0) {}

Curve curve_of(const TradeOffs& table, std::int64_t place) {
  const auto size = static_cast<std::size_t>(table.directions().size());
  return curve_of({table.points(place, 0), size}, {table.points(place, 1), size});
}

Curve curve_of(std::span<const double> reward, std::span<const double> utility) {
  std::vector<std::int32_t> order(reward.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  const auto before = [&](auto a, auto b) {
    return reward[a] != reward[b]     ? reward[a] > reward[b]
           : utility[a] != utility[b] ? utility[a] > utility[b]
                                      : a < b;
  };
  // Points come in the order of their directions, which nearly always is this one.
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  Curve found;
  std::vector<std::int32_t>& curve = found.point;
  for (const std::int32_t point : order) {
    if (!curve.empty() && utility[point] <= utility[curve.back()]) continue;  // no better in either
    const auto below_chord = [&](std::int32_t a, std::int32_t b) {
      return (reward[b] - reward[a]) * (utility[point] - utility[a]) <=
             (reward[point] - reward[a]) * (utility[b] - utility[a]);
    };
    while (curve.size() >= 2 && below_chord(curve[curve.size() - 2], curve.back()))
      curve.pop_back();
    curve.push_back(point);
  }
  for (auto* values : {&found.reward, &found.utility, &found.price}) values->reserve(curve.size());
  for (std::size_t n = 0; n < curve.size(); ++n) {
    found.reward.push_back(reward[curve[n]]);
    found.utility.push_back(utility[curve[n]]);
    if (n == 0) continue;
    found.price.push_back((found.reward[n - 1] - found.reward[n]) /
                          (found.utility[n] - found.utility[n - 1]));
  }
  return found;
}

std::vector<std::int32_t> undominated(const TradeOffs& table, std::int64_t place) {
  const auto matches = [&](std::int32_t a, std::int32_t b) {
    for (int j = 0; j < table.directions().signals(); ++j)
      if (table.points(place, j)[a] < table.points(place, j)[b]) return false;
    return true;
  };
  std::vector<std::int32_t> kept;
  for (std::int32_t point = 0; point < table.directions().size(); ++point) {
    const auto matches_point = [&](std::int32_t other) { return matches(other, point); };
    if (std::any_of(kept.begin(), kept.end(), matches_point)) continue;
    std::erase_if(kept, [&](std::int32_t other) { return matches(point, other); });
    kept.push_back(point);
  }
  return kept;
}

CurveMix mix_along(const Curve& curve, double utility, int& near) {
  const int last = curve.corners() - 1;
  int corner = std::min(near, last);
  while (corner < last && curve.utility[corner + 1] <= utility) ++corner;
  while (corner > 0 && curve.utility[corner] > utility) --corner;
  near = corner;
  const double rise = utility - curve.utility[corner];
  if (corner == last || rise <= 0) return {corner, 0};
  return {corner, static_cast<float>(rise / (curve.utility[corner + 1] - curve.utility[corner]))};
}

void mix_for_utility(const Curve& curve, double utility, std::vector<MemoryMove>& moves) {
  const auto above = static_cast<std::int32_t>(
      std::lower_bound(curve.utility.begin(), curve.utility.end(), utility) -
      curve.utility.begin());
  if (above == 0 || above == curve.corners()) {
    moves.push_back({curve.point[above == 0 ? 0 : above - 1], 1.0});
    return;
  }
  const double low = curve.utility[above - 1], high = curve.utility[above];
  const double weight = (utility - low) / (high - low);
  if (weight < 1) moves.push_back({curve.point[above - 1], 1 - weight});
  moves.push_back({curve.point[above], weight});
}

}  // namespace redoubt::internal
