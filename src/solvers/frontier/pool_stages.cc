#include <algorithm>

#include "numerics/small_lp.h"
#include "solvers/frontier/controller.h"

namespace redoubt {
namespace {

// Of all points of one place that have a recipe, at any stage, those that are worth keeping.
struct Pool {
  struct From {
    int stage;
    std::int32_t point;
  };
  std::vector<From> from;                   // of each kept point
  std::vector<std::vector<double>> values;  // [signal][kept point]
  Curve curve;  // with one constraint: through the kept points, which are its corners

  int size() const { return static_cast<int>(from.size()); }
};

class Pooling {
 public:
  Pooling(const Problem& problem, const Landings& landings,
          const std::vector<FrontierStage>& stages, Workers& workers)
      : model_(problem.model()),
        landings_(landings),
        stages_(stages),
        workers_(workers),
        first_(stages.front().table.directions()) {
    find_directions();
    const std::int64_t places = stages.front().table.places();
    pools_.reserve(places);
    for (std::int64_t place = 0; place < places; ++place) {
      workers.check();
      pools_.push_back(pool_of(place));
    }
    near_.assign(places, 0);
    promise_.resize(first_.signals());
    for (int landing = 0, plans = 0; landing < landings.count(); ++landing) {
      plans_begin_.push_back(plans);
      plans += pools_[model_.states() + landing].size();
    }
  }

  Policy::Stage stage() {
    Policy::Stage out;
    out.node_begin.push_back(0);
    out.choice_begin.push_back(0);
    for (State own = 0; own < model_.own_states(); ++own) {
      workers_.check();
      const State s = model_.own(own);
      for (int k = 0; k < first_.size(); ++k) add_node(s, best_in(pools_[s], k), out);
      for (int n = 0; n < pools_[s].size(); ++n) add_node(s, n, out);
      out.node_begin.push_back(static_cast<std::int64_t>(out.choice_begin.size()) - 1);
    }
    out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
    if (landings_.anywhere()) add_plans(out);
    return out;
  }

 private:
  // Every direction of every stage, once.
  void find_directions() {
    for (const FrontierStage& stage : stages_) {
      const Directions& directions = stage.table.directions();
      for (int k = 0; k < directions.size(); ++k) {
        std::vector<double>& weights = directions_.emplace_back();
        for (int j = 0; j < directions.signals(); ++j) weights.push_back(directions.weight(k, j));
      }
    }
    std::sort(directions_.begin(), directions_.end());
    directions_.erase(std::unique(directions_.begin(), directions_.end()), directions_.end());
  }

  Pool pool_of(std::int64_t place) const {
    std::vector<Pool::From> from;
    std::vector<std::vector<double>> values(first_.signals());
    for (int h = 0; h + 1 < static_cast<int>(stages_.size()); ++h) {
      const TradeOffs& table = stages_[h].table;
      for (std::int32_t k = 0; k < table.directions().size(); ++k) {
        from.push_back({h, k});
        for (int j = 0; j < first_.signals(); ++j) values[j].push_back(table.points(place, j)[k]);
      }
    }
    Pool pool;
    if (first_.signals() == 2) pool.curve = curve_of(values[0], values[1]);
    pool.values.resize(values.size());
    for (const std::int32_t n : first_.signals() == 2 ? pool.curve.point : best_of(values)) {
      pool.from.push_back(from[n]);
      for (std::size_t j = 0; j < values.size(); ++j) pool.values[j].push_back(values[j][n]);
    }
    return pool;
  }

  // The points that are worth most in some direction.
  std::vector<std::int32_t> best_of(const std::vector<std::vector<double>>& values) const {
    std::vector<std::int32_t> kept;
    for (const std::vector<double>& weights : directions_)
      kept.push_back(best_along(values, weights));
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  }

  static std::int32_t best_along(const std::vector<std::vector<double>>& values,
                                 const std::vector<double>& weights) {
    std::vector<double> sum(values.front().size(), 0.0);
    for (std::size_t j = 0; j < values.size(); ++j) {
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += weights[j] * values[j][n];
    }
    return static_cast<std::int32_t>(std::max_element(sum.begin(), sum.end()) - sum.begin());
  }

  int best_in(const Pool& pool, int direction) const {
    std::vector<double> weights;
    for (int j = 0; j < first_.signals(); ++j) weights.push_back(first_.weight(direction, j));
    return best_along(pool.values, weights);
  }

  // The kept points of a place that keep a promise together, with the most reward.
  template <class Visit>
  void keep(std::int64_t place, const std::vector<double>& promise, Visit visit) {
    const Pool& pool = pools_[place];
    if (first_.signals() == 2) {
      for_each_corner(mix_along(pool.curve, promise[1], near_[place]), visit);
      return;
    }
    MixUnderConstraints mix{pool.values[0],
                            {pool.values.begin() + 1, pool.values.end()},
                            {promise.begin() + 1, promise.end()}};
    const std::vector<double> weight = best_constrained_mix(mix).weight;
    for (int n = 0; n < pool.size(); ++n) {
      if (weight[n] > 0) visit(MemoryMove{n, weight[n]});
    }
  }

  // Adds the node of a kept point: its action and, for every place that leads to, the points there
  // that keep what it was promised.
  void add_node(State s, int kept, Policy::Stage& out) {
    const Pool::From from = pools_[s].from[kept];
    const std::int32_t action = stages_[from.stage].recipes[s].action[from.point];
    if (action >= 0) {
      const Row row = model_.row_begin(0, s) + action;
      const auto first = model_.outcome_begin(row), outcomes = model_.outcome_end(row) - first;
      out.choice_action.push_back(action);
      out.choice_weight.push_back(1.0);
      out.outcome_slot.push_back(static_cast<std::int64_t>(out.move_begin.size()));
      for (std::int64_t i = 0; i < outcomes; ++i)
        add_moves(s, from, i, model_.arrays().next[first + i], first_.size(), out);
      const int landing = landings_.of(row);
      if (landing >= 0)
        add_moves(s, from, outcomes, model_.states() + landing, plans_begin_[landing], out);
      else if (landings_.anywhere())
        out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
    }
    out.choice_begin.push_back(static_cast<std::int64_t>(out.choice_action.size()));
  }

  // `number` is that of the first kept point of the place.
  void add_moves(State s, Pool::From from, std::int64_t i, std::int64_t place, int number,
                 Policy::Stage& out) {
    const FrontierStage& next = stages_[from.stage + 1];
    promise_.assign(first_.signals(), 0.0);
    for_each_move(stages_[from.stage].recipes[s], next.curves, from.point, i, place,
                  [&](const MemoryMove& move) {
                    for (int j = 0; j < first_.signals(); ++j)
                      promise_[j] += move.weight * next.table.points(place, j)[move.memory];
                  });
    out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
    keep(place, promise_, [&](const MemoryMove& move) {
      out.moves.push_back({number + move.memory, move.weight});
    });
  }

  // A kept point of a landing is a plan, which every state of the landing can keep.
  void add_plans(Policy::Stage& out) {
    for (int landing = 0; landing < landings_.count(); ++landing) {
      const Pool& pool = pools_[model_.states() + landing];
      for (int n = 0; n < pool.size(); ++n) {
        workers_.check();
        for (State own = 0; own < model_.own_states(); ++own) {
          out.landing_begin.push_back(static_cast<std::int64_t>(out.landing_moves.size()));
          const State to = model_.own(own);
          if (!landings_.covers(landing, to)) continue;
          for (int j = 0; j < first_.signals(); ++j)
            promise_[j] = pool.values[j][n] - landings_.worth(to, j);
          keep(to, promise_, [&](const MemoryMove& move) {
            out.landing_moves.push_back({first_.size() + move.memory, move.weight});
          });
        }
      }
    }
    out.landing_begin.push_back(static_cast<std::int64_t>(out.landing_moves.size()));
  }

  const Model& model_;
  const Landings& landings_;
  const std::vector<FrontierStage>& stages_;
  Workers& workers_;
  const Directions& first_;                      // of the first stage
  std::vector<std::vector<double>> directions_;  // of all stages
  std::vector<Pool> pools_;                      // of each place
  std::vector<int> near_;                        // of each place: where the last promise was
  std::vector<int> plans_begin_;                 // of each landing
  std::vector<double> promise_;
};

}  // namespace

Policy pool_stages(const Problem& problem, const Landings& landings,
                   const std::vector<FrontierStage>& stages, Workers& workers) {
  Policy policy;
  policy.states = problem.model().own_states();
  policy.stages.push_back(Pooling(problem, landings, stages, workers).stage());
  policy.repeats_last = true;
  return policy;
}

}  // namespace redoubt
