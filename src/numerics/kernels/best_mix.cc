#include "numerics/kernels.h"

#include "numerics/kernels/kernels.h"
#include "numerics/lanes.h"

namespace redoubt::internal::REDOUBT_TARGET {
namespace {

struct Action {
  Lanes reward, utility, index;
};

[[gnu::always_inline]] inline Action action(const MixProblem& p, int a, int lane) {
  return {load(p.reward[a] + lane), load(p.utility[a] + lane), static_cast<double>(a)};
}

[[gnu::always_inline]] inline Action select(Mask yes, const Action& a, const Action& b) {
  return {select(yes, a.reward, b.reward), select(yes, a.utility, b.utility),
          select(yes, a.index, b.index)};
}

// Two actions whose mix reaches the threshold exactly: `safe` is at or above it, `other` below.
struct Edge {
  Action safe, other;

  [[gnu::always_inline]] Lanes safe_weight(Lanes threshold) const {
    return (threshold - other.utility) / (safe.utility - other.utility);
  }
  [[gnu::always_inline]] Lanes reward(Lanes threshold) const {
    return other.reward + (safe.reward - other.reward) * safe_weight(threshold);
  }
};

// The actions of most reward and of most utility; each breaks ties by the other.
[[gnu::always_inline]] inline Edge extremes(const MixProblem& p, int lane) {
  Edge e{action(p, 0, lane), action(p, 0, lane)};
  for (int a = 1; a < p.actions; ++a) {
    const Action x = action(p, a, lane);
    const Mask safer =
        (x.utility > e.safe.utility) | ((x.utility == e.safe.utility) & (x.reward > e.safe.reward));
    const Mask richer = (x.reward > e.other.reward) |
                        ((x.reward == e.other.reward) & (x.utility > e.other.utility));
    e.safe = select(safer, x, e.safe);
    e.other = select(richer, x, e.other);
  }
  return e;
}

[[gnu::always_inline]] inline Edge best_pair(const MixProblem& p, int lane, Lanes threshold,
                                             Edge best, Mask mixes) {
  Lanes reward = best.reward(threshold);
  for (int a = 0; a < p.actions; ++a)
    for (int b = 0; b < a; ++b) {
      const Action x = action(p, a, lane), y = action(p, b, lane);
      const Mask x_safe = x.utility >= threshold, y_safe = y.utility >= threshold;
      const Edge edge{select(x_safe, x, y), select(x_safe, y, x)};
      const Lanes edge_reward = edge.reward(threshold);
      const Mask differ = (x_safe & !y_safe) | (y_safe & !x_safe);
      const Mask better = mixes & differ & (edge_reward > reward);
      reward = select(better, edge_reward, reward);
      best.safe = select(better, edge.safe, best.safe);
      best.other = select(better, edge.other, best.other);
    }
  return best;
}

// Moves one end of the edge to the action farthest above it, until no action is: the edge of the
// upper hull over the threshold.
[[gnu::always_inline]] inline Edge bridge(const MixProblem& p, int lane, Lanes threshold, Edge best,
                                          Mask mixes) {
  Lanes reward = best.reward(threshold);
  while (any(mixes)) {
    const Lanes run = best.safe.utility - best.other.utility,
                rise = best.safe.reward - best.other.reward;
    Lanes height = 0.0;
    Action farthest = best.safe;
    for (int a = 0; a < p.actions; ++a) {
      const Action x = action(p, a, lane);
      const Lanes above =
          (x.reward - best.other.reward) * run - (x.utility - best.other.utility) * rise;
      farthest = select(above > height, x, farthest);
      height = max(above, height);
    }
    const Mask is_safe = farthest.utility >= threshold;
    const Edge edge{select(is_safe, farthest, best.safe), select(is_safe, best.other, farthest)};
    const Lanes edge_reward = edge.reward(threshold);
    // Rounding may put an action above its own edge; a step must gain reward, so the walk ends.
    mixes = mixes & (height > 0.0) & (edge_reward > reward);
    best.safe = select(mixes, edge.safe, best.safe);
    best.other = select(mixes, edge.other, best.other);
    reward = select(mixes, edge_reward, reward);
  }
  return best;
}

[[gnu::always_inline]] inline Lanes mixed(Lanes safe, Lanes other, Lanes weight) {
  return select(safe == other, safe, other + (safe - other) * (weight * (1.0 / 65535)));
}

// The least whole weight (of 65535) on the safe action with which the utility, as it is computed,
// reaches the threshold.
[[gnu::always_inline]] inline Lanes whole_weight(const Edge& edge, Lanes threshold) {
  constexpr double kRound = 0x1.8p52;
  const Lanes exact = edge.safe_weight(threshold) * 65535.0;
  const Lanes nearest = (exact + kRound) - kRound;
  Lanes weight = select(nearest < exact, nearest + 1.0, nearest);
  const Lanes utility = mixed(edge.safe.utility, edge.other.utility, weight);
  weight = select(utility < threshold, weight + 1.0, weight);
  return min(weight, 65535.0);
}

void write_choices(const Edge& edge, Lanes weight, Mask feasible, const MixResult& result, int lane,
                   int lanes) {
  double safe[kLanes], other[kLanes], weights[kLanes], reaches[kLanes];
  store(safe, edge.safe.index);
  store(other, edge.other.index);
  store(weights, weight);
  store(reaches, select(feasible, 1.0, 0.0));
  const int count = lanes - lane < kLanes ? lanes - lane : kLanes;
  for (int i = 0; i < count; ++i) {
    MixedChoice& choice = result.choice[lane + i];
    choice.weight = static_cast<std::uint16_t>(weights[i]);
    choice.safe = static_cast<std::uint8_t>(safe[i]);
    choice.other = static_cast<std::uint8_t>(other[i]);
    if (result.feasible != nullptr) result.feasible[lane + i] = reaches[i] != 0;
  }
}

template <class Search>
[[gnu::always_inline]] inline void solve(const MixProblem& p, const MixResult& result,
                                         Search search) {
  for (int lane = 0; lane < p.lanes; lane += kLanes) {
    const Lanes threshold = load(p.threshold + lane);
    const Edge ends = extremes(p, lane);
    const Mask feasible = ends.safe.utility >= threshold;
    const Mask free = ends.other.utility >= threshold;  // the most reward is within the constraint
    const Mask mixes = feasible & !free;
    Edge edge = any(mixes) ? search(p, lane, threshold, ends, mixes) : ends;
    Lanes weight = select(mixes, whole_weight(edge, threshold), 65535.0);

    // Everything that is not a mix is one action: the richest, or where nothing is feasible what
    // the fallback says.
    const Action fallback = p.fall_back_to_utility ? ends.safe : ends.other;
    edge.safe = select(mixes, edge.safe, select(free, ends.other, fallback));
    edge.other = select(weight < 65535.0, edge.other, edge.safe);
    store(result.reward + lane, mixed(edge.safe.reward, edge.other.reward, weight));
    store(result.utility + lane, mixed(edge.safe.utility, edge.other.utility, weight));
    write_choices(edge, weight, feasible, result, lane, p.lanes);
  }
}

void by_pairs(const MixProblem& problem, const MixResult& result) {
  solve(problem, result, best_pair);
}
void by_bridge(const MixProblem& problem, const MixResult& result) {
  solve(problem, result, bridge);
}

}  // namespace

extern const MixFunctions mix_functions = {by_pairs, by_bridge};

}  // namespace redoubt::internal::REDOUBT_TARGET
