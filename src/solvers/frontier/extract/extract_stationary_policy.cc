#include <algorithm>

#include "numerics/small_lp.h"
#include "solvers/frontier/extract/extract_policy.h"

namespace redoubt::internal {
namespace {

// Points that have the same recipe are one memory state. `memory` receives that of every point;
// returns a point of each.
std::vector<std::int32_t> number_points(const Recipes& recipes, double* memory) {
  const auto recipe_of = [&](std::int32_t k) {
    return recipes.action[k] < 0 ? -1 : recipes.slot[k];
  };
  std::vector<std::int32_t> points;
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(recipes.action.size()); ++k) {
    const auto same = [&](std::int32_t point) { return recipe_of(point) == recipe_of(k); };
    const auto found = std::find_if(points.begin(), points.end(), same);
    memory[k] = static_cast<double>(found - points.begin());
    if (found == points.end()) points.push_back(k);
  }
  return points;
}

class StationaryPolicyBuild {
 public:
  StationaryPolicyBuild(const Problem& problem, const Landings& landings, const FrontierStage& here,
                        const FrontierStage& next, const StationaryController& controller,
                        const std::vector<std::vector<std::int32_t>>& points)
      : model_(problem.model()),
        landings_(landings),
        here_(here),
        next_(next),
        controller_(controller),
        points_(points),
        size_(here.table.directions().size()) {}

  Policy::Stage stage(Workers& workers) const {
    Policy::Stage out;
    out.node_begin.push_back(0);
    out.choice_begin.push_back(0);
    for (State own = 0; own < model_.own_states(); ++own) {
      workers.check();
      for (const std::int32_t point : points_[own]) add_node(model_.own(own), point, out);
      out.node_begin.push_back(static_cast<std::int64_t>(out.choice_begin.size()) - 1);
    }
    out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
    if (landings_.anywhere()) add_plans(out);
    return out;
  }

 private:
  void add_node(State s, std::int32_t point, Policy::Stage& out) const {
    const Recipes& recipes = here_.recipes[s];
    if (recipes.action[point] >= 0) {
      const Row row = model_.row_begin(0, s) + recipes.action[point];
      const auto first = model_.outcome_begin(row), outcomes = model_.outcome_end(row) - first;
      const int landing = landings_.of(row);
      out.choice_action.push_back(recipes.action[point]);
      out.choice_weight.push_back(1.0);
      out.outcome_slot.push_back(static_cast<std::int64_t>(out.move_begin.size()));
      for (std::int64_t i = 0; i < outcomes + landings_.anywhere(); ++i) {
        out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
        if (i == outcomes && landing < 0) continue;
        const std::int64_t place =
            i < outcomes ? model_.arrays().next[first + i] : model_.states() + landing;
        keep(promise(recipes, point, i, place), place, [&](const MemoryMove& move) {
          const std::int32_t memory =
              i < outcomes ? controller_.memory(static_cast<State>(place), move.memory)
                           : landing * size_ + move.memory;
          out.moves.push_back({memory, move.weight});
        });
      }
    }
    out.choice_begin.push_back(static_cast<std::int64_t>(out.choice_action.size()));
  }

  // What a recipe promises at a place.
  std::vector<double> promise(const Recipes& recipes, std::int32_t point, std::int64_t i,
                              std::int64_t place) const {
    std::vector<double> promise(here_.table.directions().signals(), 0.0);
    for_each_move(recipes, next_.curves, point, i, place, [&](const MemoryMove& move) {
      for (std::size_t j = 0; j < promise.size(); ++j)
        promise[j] += move.weight * next_.table.points(place, static_cast<int>(j))[move.memory];
    });
    return promise;
  }

  // The points of a place that keep a promise together, with the most reward.
  template <class Visit>
  void keep(const std::vector<double>& promise, std::int64_t place, Visit visit) const {
    if (promise.size() == 2) {
      const Curve& curve = here_.curves[place];
      int near = 0;
      for_each_corner(mix_along(curve, promise[1], near), [&](const MemoryMove& corner) {
        visit(MemoryMove{curve.point[corner.memory], corner.weight});
      });
      return;
    }
    const std::vector<std::int32_t> points = different_points(place);
    std::vector<std::vector<double>> values(promise.size());
    for (std::size_t j = 0; j < values.size(); ++j) {
      for (const std::int32_t k : points)
        values[j].push_back(here_.table.points(place, static_cast<int>(j))[k]);
    }
    const std::vector<double> weight =
        best_constrained_mix_of_many(
            {values[0], {values.begin() + 1, values.end()}, std::span(promise).subspan(1)})
            .weight;
    for (std::size_t n = 0; n < points.size(); ++n) {
      if (weight[n] > 0) visit(MemoryMove{points[n], weight[n]});
    }
  }

  // One for each recipe of a state, and all of a landing.
  std::vector<std::int32_t> different_points(std::int64_t place) const {
    std::vector<std::int32_t> points;
    for (std::int32_t k = 0; k < size_; ++k) {
      if (place >= model_.states() || controller_.memory(static_cast<State>(place), k) ==
                                          static_cast<std::int32_t>(points.size()))
        points.push_back(k);
    }
    return points;
  }

  // A point of a landing is a plan, which every state of the landing can keep.
  void add_plans(Policy::Stage& out) const {
    const LandingPlans& plans = here_.landings;
    for (std::size_t slot = 0; slot + 1 < plans.begin.size(); ++slot) {
      out.landing_begin.push_back(static_cast<std::int64_t>(out.landing_moves.size()));
      const State to = model_.own(static_cast<State>(slot % model_.own_states()));
      for (auto n = plans.begin[slot]; n < plans.begin[slot + 1]; ++n)
        out.landing_moves.push_back(
            {controller_.memory(to, plans.moves[n].memory), plans.moves[n].weight});
    }
    out.landing_begin.push_back(static_cast<std::int64_t>(out.landing_moves.size()));
  }

  const Model& model_;
  const Landings& landings_;
  const FrontierStage &here_, &next_;
  const StationaryController& controller_;
  const std::vector<std::vector<std::int32_t>>& points_;  // of each own state
  int size_;
};

}  // namespace

StationaryController make_stationary(const Problem& problem, const Landings& landings,
                                     const FrontierStage& here, const FrontierStage& next,
                                     Exchange& exchange, Workers& workers) {
  const Model& model = problem.model();
  StationaryController found;
  found.directions = here.table.directions().size();
  found.numbers.assign(std::int64_t{model.states()} * found.directions, 0.0);
  std::vector<std::vector<std::int32_t>> points;
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    points.push_back(
        number_points(here.recipes[s], found.numbers.data() + std::int64_t{s} * found.directions));
  }
  const std::int64_t size = found.directions;
  exchange.update({found.numbers.data(), size, 1, 0, size});
  found.policy.states = model.own_states();
  found.policy.repeats_last = true;
  found.policy.stages.push_back(
      StationaryPolicyBuild(problem, landings, here, next, found, points).stage(workers));
  return found;
}

Policy begin_with_points(const StationaryController& controller, const Model& model,
                         const std::vector<std::int32_t>& points) {
  Policy policy = controller.policy;
  const Policy::Stage& from = controller.policy.stages.front();
  Policy::Stage& out = policy.stages.front();
  const auto more = static_cast<std::int32_t>(points.size());
  for (MemoryMove& move : out.landing_moves) move.memory += more;
  out.node_begin = {0};
  out.choice_begin = {0};
  for (auto* list : {&out.outcome_slot, &out.move_begin}) list->clear();
  out.choice_action.clear();
  out.choice_weight.clear();
  out.moves.clear();
  const auto add = [&](State s, std::int64_t node) {
    for (auto c = from.choice_begin[node]; c < from.choice_begin[node + 1]; ++c) {
      const Row row = model.row_begin(0, s) + from.choice_action[c];
      const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
      out.choice_action.push_back(from.choice_action[c]);
      out.choice_weight.push_back(from.choice_weight[c]);
      out.outcome_slot.push_back(static_cast<std::int64_t>(out.move_begin.size()));
      for (std::int64_t i = 0; i < outcomes + !from.landing_begin.empty(); ++i) {
        out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
        const auto slot = from.outcome_slot[c] + i;
        for (auto m = from.move_begin[slot]; m < from.move_begin[slot + 1]; ++m)
          out.moves.push_back({from.moves[m].memory + (i < outcomes ? more : 0),  // or a plan
                               from.moves[m].weight});
      }
    }
    out.choice_begin.push_back(static_cast<std::int64_t>(out.choice_action.size()));
  };
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    for (const std::int32_t point : points) add(s, from.begin(own) + controller.memory(s, point));
    for (auto node = from.begin(own); node < from.end(own); ++node) add(s, node);
    out.node_begin.push_back(static_cast<std::int64_t>(out.choice_begin.size()) - 1);
  }
  out.move_begin.push_back(static_cast<std::int64_t>(out.moves.size()));
  return policy;
}

}  // namespace redoubt::internal
