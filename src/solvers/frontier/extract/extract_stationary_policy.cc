#include <algorithm>

#include "numerics/small_lp.h"
#include "policy/stage_builder.h"
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
                        const FrontierStage& next, const StationaryPolicy& stationary,
                        const std::vector<std::vector<std::int32_t>>& points)
      : model_(problem.model()),
        landings_(landings),
        here_(here),
        next_(next),
        stationary_(stationary),
        points_(points),
        size_(here.table.directions().size()) {}

  Policy::Stage stage(Workers& workers) const {
    StageBuilder out({true, true, landings_.anywhere()});
    for (State own = 0; own < model_.own_states(); ++own) {
      workers.check();
      for (const std::int32_t point : points_[own]) add_node(model_.own(own), point, out);
      out.end_state();
    }
    if (landings_.anywhere()) add_plans(out);
    return out.take();
  }

 private:
  void add_node(State s, std::int32_t point, StageBuilder& out) const {
    const Recipes& recipes = here_.recipes[s];
    for_each_choice(recipes, point, [&](const Recipes::Choice& choice) {
      const Row row = model_.row_begin(0, s) + choice.action;
      const auto first = model_.outcome_begin(row), outcomes = model_.outcome_end(row) - first;
      out.choose(choice.action, choice.weight);
      for (std::int64_t i = 0; i < outcomes + landings_.anywhere(); ++i) {
        const std::int64_t place = i < outcomes ? model_.arrays().next[first + i] : model_.states();
        keep(promise(recipes, choice.slot + i, place), place, [&](const MemoryMove& move) {
          const std::int32_t memory =
              i < outcomes ? stationary_.memory(static_cast<State>(place), move.memory)
                           : move.memory;
          out.move({memory, move.weight});
        });
        out.end_outcome();
      }
    });
    out.end_node();
  }

  // What a recipe promises at a place.
  std::vector<double> promise(const Recipes& recipes, std::int64_t entry,
                              std::int64_t place) const {
    std::vector<double> promise(here_.table.directions().signals(), 0.0);
    for_each_move(recipes, next_.curves, entry, place, [&](const MemoryMove& move) {
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
      if (place >= model_.states() || stationary_.memory(static_cast<State>(place), k) ==
                                          static_cast<std::int32_t>(points.size()))
        points.push_back(k);
    }
    return points;
  }

  // A point of a landing is a plan, which every state of the landing can keep.
  void add_plans(StageBuilder& out) const {
    const LandingPlans& plans = here_.landings;
    for (std::size_t slot = 0; slot + 1 < plans.begin.size(); ++slot) {
      const State to = model_.own(static_cast<State>(slot % model_.own_states()));
      for (auto n = plans.begin[slot]; n < plans.begin[slot + 1]; ++n)
        out.land({stationary_.memory(to, plans.moves[n].memory), plans.moves[n].weight});
      out.end_landing();
    }
  }

  const Model& model_;
  const Landings& landings_;
  const FrontierStage &here_, &next_;
  const StationaryPolicy& stationary_;
  const std::vector<std::vector<std::int32_t>>& points_;  // of each own state
  int size_;
};

}  // namespace

StationaryPolicy make_stationary(const Problem& problem, const Landings& landings,
                                 const FrontierStage& here, const FrontierStage& next,
                                 Exchange& exchange, Workers& workers) {
  const Model& model = problem.model();
  StationaryPolicy found;
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

Policy begin_with_points(const StationaryPolicy& stationary, const Model& model,
                         const std::vector<std::int32_t>& points) {
  const Policy::Stage& from = stationary.policy.stages.front();
  const auto more = static_cast<std::int32_t>(points.size());
  StageBuilder out({.nodes_by_state = true, .moves_by_table = true});
  const auto add = [&](State s, std::int64_t node) {
    for (auto c = from.choice_begin[node]; c < from.choice_begin[node + 1]; ++c) {
      const Row row = model.row_begin(0, s) + from.choice_action[c];
      const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
      out.choose(from.choice_action[c], from.choice_weight[c]);
      for (std::int64_t i = 0; i < outcomes + !from.landing_begin.empty(); ++i) {
        const auto slot = from.outcome_slot[c] + i;
        for (auto m = from.move_begin[slot]; m < from.move_begin[slot + 1]; ++m)
          out.move({from.moves[m].memory + (i < outcomes ? more : 0),  // or a plan
                    from.moves[m].weight});
        out.end_outcome();
      }
    }
    out.end_node();
  };
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    for (const std::int32_t point : points) add(s, from.begin(own) + stationary.memory(s, point));
    for (auto node = from.begin(own); node < from.end(own); ++node) add(s, node);
    out.end_state();
  }
  Policy::Stage stage = out.take();
  stage.landing_begin = from.landing_begin;
  stage.landing_moves = from.landing_moves;
  for (MemoryMove& move : stage.landing_moves) move.memory += more;
  Policy policy;
  policy.states = stationary.policy.states;
  policy.repeats_last = true;
  policy.stages.push_back(std::move(stage));
  return policy;
}

}  // namespace redoubt::internal
