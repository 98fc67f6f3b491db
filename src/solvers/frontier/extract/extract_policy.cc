#include "solvers/frontier/extract/extract_policy.h"

#include <algorithm>

#include "parallel/collectives.h"
#include "policy/stage_builder.h"

namespace redoubt::internal {
namespace {

// The points of each state that are used at one stage, and the number each gets as a memory state.
struct Used {
  std::vector<std::vector<std::int32_t>> points;  // of each state, in order of memory
  std::vector<std::vector<std::int32_t>> memory;  // of each state and point; -1: not used

  Used(State states, int directions)
      : points(states), memory(states, std::vector<std::int32_t>(directions, -1)) {}
  void use(State state, std::int32_t point) {
    if (memory[state][point] >= 0) return;
    memory[state][point] = static_cast<std::int32_t>(points[state].size());
    points[state].push_back(point);
  }
};

class PolicyBuild {
 public:
  PolicyBuild(const Problem& problem, const Landings& landings,
              const std::vector<FrontierStage>& stages, Workers& workers)
      : problem_(problem), landings_(landings), stages_(stages), workers_(workers) {}

  // The points of the next stage that the used ones of this one lead to, on any rank.
  void use_targets(int h, const Used& here, Exchange& exchange, Used& next) const {
    const Model& model = problem_.model();
    const std::int64_t size = stages_[h + 1].table.directions().size();
    std::vector<double> used(model.states() * size, 0.0);
    std::vector<double> plans(landings_.anywhere() * size, 0.0);  // negative: it is used
    for (State own = 0; own < model.own_states(); ++own) {
      workers_.check();
      const State s = model.own(own);
      used[s * size] = 1;  // every state has at least one memory state
      for (const std::int32_t point : here.points[s]) use_targets_of(h, s, point, used, plans);
    }
    min_over_ranks(exchange.ranks(), plans);
    const LandingPlans& landed = stages_[h + 1].landings;
    for (std::size_t slot = 0; slot + 1 < landed.begin.size(); ++slot) {
      if (plans[slot / model.own_states()] == 0) continue;
      const State to = model.own(static_cast<State>(slot % model.own_states()));
      for (auto n = landed.begin[slot]; n < landed.begin[slot + 1]; ++n)
        used[to * size + landed.moves[n].memory] = 1;
    }
    const LayerView layer{used.data(), size, 1, 0, size};
    exchange.collect(layer, [size](double* into, const double* from) {
      for (std::int64_t k = 0; k < size; ++k) into[k] = std::max(into[k], from[k]);
    });
    exchange.update(layer);
    for (State s = 0; s < model.states(); ++s) {
      for (std::int32_t k = 0; k < size; ++k) {
        if (used[s * size + k] > 0) next.use(s, k);
      }
    }
  }

  Policy::Stage stage(int h, const Used& here, const Used& next, bool last) const {
    const Model& model = problem_.model();
    StageBuilder out({true, true, landings_.anywhere()});
    make_room(h, here, out);
    for (State own = 0; own < model.own_states(); ++own) {
      workers_.check();
      const State s = model.own(own);
      const Recipes& recipes = stages_[h].recipes[s];
      for (const std::int32_t point : here.points[s]) {
        for_each_choice(recipes, point, [&](const Recipes::Choice& choice) {
          const Row row = model.row_begin(h, s) + choice.action;
          const auto first = model.outcome_begin(row), outcomes = model.outcome_end(row) - first;
          out.choose(choice.action, choice.weight);
          for (std::int64_t i = 0; i < outcomes + landings_.anywhere(); ++i) {
            add_moves(h, recipes, row, choice.slot, i, next, last, out);
            out.end_outcome();
          }
        });
        out.end_node();
      }
      out.end_state();
    }
    add_landings(h, next, last, out);
    return out.take();
  }

 private:
  void make_room(int h, const Used& here, StageBuilder& out) const {
    const Model& model = problem_.model();
    std::size_t nodes = 0, places = 0;
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      nodes += here.points[s].size();
      for (const std::int32_t point : here.points[s]) {
        for_each_choice(stages_[h].recipes[s], point, [&](const Recipes::Choice& choice) {
          const Row row = model.row_begin(h, s) + choice.action;
          places += model.outcome_end(row) - model.outcome_begin(row) + landings_.anywhere();
        });
      }
    }
    out.reserve(model.own_states(), nodes, places, 2 * places);  // moves of one constraint: all
  }

  // The same for one point, landings apart: of them, only which plans are used.
  void use_targets_of(int h, State s, std::int32_t point, std::vector<double>& used,
                      std::vector<double>& plans) const {
    const Recipes& recipes = stages_[h].recipes[s];
    const Model& model = problem_.model();
    const std::int64_t size = stages_[h + 1].table.directions().size();
    for_each_choice(recipes, point, [&](const Recipes::Choice& choice) {
      const Row row = model.row_begin(h, s) + choice.action;
      const auto first = model.outcome_begin(row), outcomes = model.outcome_end(row) - first;
      for (std::int64_t i = 0; i < outcomes + landings_.anywhere(); ++i) {
        const std::int64_t place = i < outcomes ? model.arrays().next[first + i] : model.states();
        for_each_move(recipes, stages_[h + 1].curves, choice.slot + i, place,
                      [&](const MemoryMove& move) {
                        if (i < outcomes)
                          used[place * size + move.memory] = 1;
                        else
                          plans[move.memory] = -1;
                      });
      }
    });
  }

  void add_moves(int h, const Recipes& recipes, Row row, std::int32_t slot, std::int64_t i,
                 const Used& next, bool last, StageBuilder& out) const {
    const Model& model = problem_.model();
    const auto o = model.outcome_begin(row) + i;
    if (o < model.outcome_end(row)) {
      const State to = model.arrays().next[o];
      for_each_move(recipes, stages_[h + 1].curves, slot + i, to, [&](const MemoryMove& move) {
        out.move({last ? 0 : next.memory[to][move.memory], move.weight});
      });
    } else {
      for_each_move(recipes, stages_[h + 1].curves, slot + i, model.states(),
                    [&](const MemoryMove& move) { out.move(move); });
    }
  }

  void add_landings(int h, const Used& next, bool last, StageBuilder& out) const {
    if (!landings_.anywhere()) return;
    const LandingPlans& plans = stages_[h + 1].landings;
    const Model& model = problem_.model();
    for (std::size_t slot = 0; slot + 1 < plans.begin.size(); ++slot) {
      const State to = model.own(static_cast<State>(slot % model.own_states()));
      for (auto n = plans.begin[slot]; n < plans.begin[slot + 1]; ++n) {
        const std::int32_t memory = last ? 0 : next.memory[to][plans.moves[n].memory];
        if (memory >= 0) out.land({memory, plans.moves[n].weight});
      }
      out.end_landing();
    }
  }

  const Problem& problem_;
  const Landings& landings_;
  const std::vector<FrontierStage>& stages_;
  Workers& workers_;
};

}  // namespace

Policy make_policy(const Problem& problem, const Landings& landings,
                   const std::vector<FrontierStage>& stages, Exchange& exchange, Workers& workers,
                   const std::vector<std::int32_t>& first_points) {
  const State states = problem.model().states();
  const PolicyBuild build(problem, landings, stages, workers);
  Policy policy;
  policy.states = problem.model().own_states();
  Used here(states, stages.front().table.directions().size());
  for (State s = 0; s < states; ++s) {
    for (const std::int32_t point : first_points) here.use(s, point);
  }
  const int horizon = static_cast<int>(stages.size()) - 1;
  for (int h = 0; h < horizon; ++h) {
    workers.check_together();
    const bool last = h + 1 == horizon;
    Used next(states, stages[h + 1].table.directions().size());
    if (!last) build.use_targets(h, here, exchange, next);
    policy.stages.push_back(build.stage(h, here, next, last));
    here = std::move(next);
  }
  return policy;
}

}  // namespace redoubt::internal
