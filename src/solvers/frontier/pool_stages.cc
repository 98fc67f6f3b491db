#include "solvers/frontier/controller.h"

namespace redoubt {
namespace {

// All points of one state that have a recipe, at any stage, and the curve through them.
struct Pool {
  struct From {
    int stage;
    std::int32_t point;
  };
  std::vector<From> from;
  Curve curve;  // its points are places in `from`
};

Pool pool_of(const std::vector<FrontierStage>& stages, State state) {
  Pool pool;
  std::vector<double> reward, utility;
  for (int h = 0; h + 1 < static_cast<int>(stages.size()); ++h) {
    const TradeOffs& table = stages[h].table;
    for (std::int32_t k = 0; k < table.directions().size(); ++k) {
      pool.from.push_back({h, k});
      reward.push_back(table.points(state, 0)[k]);
      utility.push_back(table.points(state, 1)[k]);
    }
  }
  pool.curve = curve_of(reward, utility);
  return pool;
}

// The corner that is worth most in a direction.
int best_corner(const Curve& curve, double reward_weight, double utility_weight) {
  int corner = 0;
  while (corner + 1 < curve.corners() && curve.price[corner] * reward_weight < utility_weight)
    ++corner;
  return corner;
}

}  // namespace

Policy pool_stages(const Problem& problem, const std::vector<FrontierStage>& stages) {
  const Model& model = problem.model();
  const Directions& directions = stages.front().table.directions();
  std::vector<Pool> pools;
  pools.reserve(model.states());
  for (State s = 0; s < model.states(); ++s) pools.push_back(pool_of(stages, s));

  Policy::Stage out;
  out.node_begin.push_back(0);
  out.choice_begin.push_back(0);
  // Adds the node of one corner: the action of its point, and for every outcome the corners that
  // keep what the point was promised there.
  std::vector<int> near(model.states(), 0);
  const auto add_node = [&](State s, int corner) {
    const Pool::From from = pools[s].from[pools[s].curve.point[corner]];
    const Recipes& recipes = stages[from.stage].recipes[s];
    const std::int32_t action = recipes.action[from.point];
    if (action >= 0) {
      const Row row = model.row_begin(0, s) + action;
      out.choice_action.push_back(action);
      out.choice_weight.push_back(1.0);
      out.outcome_slot.push_back(static_cast<std::int64_t>(out.move_begin.size()));
      auto slot = recipes.slot[from.point];
      for (auto o = model.outcome_begin(row); o < model.outcome_end(row); ++o, ++slot) {
        const State to = model.arrays().next[o];
        out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
        const double promised =
            average(recipes.mixes[slot], stages[from.stage + 1].curves[to].utility);
        for_each_corner(mix_along(pools[to].curve, promised, near[to]),
                        [&](const MemoryMove& move) {
                          out.moves.push_back({directions.size() + move.memory, move.weight});
                        });
      }
    }
    out.choice_begin.push_back(static_cast<std::int64_t>(out.choice_action.size()));
  };
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    for (int k = 0; k < directions.size(); ++k)
      add_node(s, best_corner(pools[s].curve, directions.weight(k, 0), directions.weight(k, 1)));
    for (int corner = 0; corner < pools[s].curve.corners(); ++corner) add_node(s, corner);
    out.node_begin.push_back(static_cast<std::int64_t>(out.choice_begin.size()) - 1);
  }
  out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));

  Policy policy;
  policy.states = model.own_states();
  policy.stages.push_back(std::move(out));
  policy.repeats_last = true;
  return policy;
}

}  // namespace redoubt
