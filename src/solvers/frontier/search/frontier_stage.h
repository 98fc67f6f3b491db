#pragma once

#include <span>
#include <vector>

#include "solvers/frontier/games/warm_starts.h"
#include "solvers/frontier/sets/landings.h"
#include "solvers/frontier/sets/next_stage_layout.h"
#include "solvers/frontier/sets/recipes.h"
#include "solvers/frontier/sets/supports.h"

namespace redoubt::internal {

// Where the bounds of one state come from. That of direction k is the bound of action[k] (-1: the
// direction was left out, or the state is terminal), whose game ended with the kernels from
// kernels[slot[k]] on, [place][signal].
//
// Where the rows of a state share a radius, all actions have kernels, those of action a offset[a]
// behind the first, and the bound is that of the best of them; the policy weighs them by
// weight[k * actions + a]. action[k] is one of those with the largest weight.
struct Causes {
  std::vector<std::int32_t> action, slot;
  std::vector<double> kernels;
  std::vector<std::int32_t> offset;
  std::vector<double> weight;

  // For bounds that are to be improved with the same kernels: other actions that might be better
  // than what is guaranteed, and what all the rest are worth at most, in each direction.
  struct Rival {
    std::int32_t direction, action, slot;
  };
  std::vector<Rival> rivals;
  std::vector<double> rest;
};

// Calls visit(action, weight, kernels) for every action that the bound of a direction comes from.
template <class Visit>
void for_each_cause(const Causes& causes, std::int32_t direction, Visit visit) {
  const double* kernels = causes.kernels.data() + causes.slot[direction];
  if (causes.offset.empty()) return visit(causes.action[direction], 1.0, kernels);
  const std::size_t actions = causes.offset.size();
  for (std::size_t a = 0; a < actions; ++a)
    visit(static_cast<std::int32_t>(a), causes.weight[direction * actions + a],
          kernels + causes.offset[a]);
}

// All that is known of one stage.
struct FrontierStage {
  TradeOffs table;
  std::vector<Recipes> recipes;  // of each state
  std::vector<Causes> causes;    // of each state
  std::vector<Curve> curves;     // of each place, with one constraint
  Supports supports;             // of the places, with several
  LandingPlans landings;         // how the points of the landings are achieved
};

// Adds what follows from the states' entries of a stage: its curves and the entries of its
// landings. Ranks call this together. Throws Stopped.
void complete_stage(const Landings& landings, FrontierStage& stage, Workers& workers);

// The same for the first stage, in which nobody lands.
void complete_first_stage(const Landings& landings, FrontierStage& stage, Workers& workers);

// The most that the points of a place are worth in a direction. With one constraint, `corner` is a
// guess of the corner of the curve that has it, and receives it.
double best_inside(const FrontierStage& stage, std::int64_t place, const double* q, int& corner);

// The directions of a place that bound what it has in direction q. With one constraint, `near` is a
// guess of the one with the next lower price, and receives it.
void split(const FrontierStage& stage, std::int64_t place, const double* q, int& near,
           Directions::Parts& parts);

// A direction that was left out lies between two that were not, or between one and the ray: its
// bound is theirs, mixed. With several constraints it stays infinite: others say all there is.
void fill_bounds(const Directions& directions, std::span<const int> lanes, double* bounds);

// Gives every direction of a state the best of the points, [signal][direction], that the recipes of
// the directions in `lanes` make.
void keep_best_points(State state, std::span<const int> lanes, const std::vector<double>& points,
                      Recipes own, FrontierStage& here);

// What to spend on one state.
struct BackupOptions {
  // Of each direction: a gap of a row's game that is small enough. Infinite: not worth the work, to
  // be filled in from the neighbours.
  std::span<const double> tolerance;
  int rounds = 20;                         // of a game, at most
  bool keep_rivals = false;                // see Causes
  bool last = false;                       // the next stage is the end of the horizon
  const NextStageLayout* ahead = nullptr;  // the next stage, with one constraint
  // With one constraint, where the games of this stage and of the next begin.
  StageWarmStarts* warm_starts = nullptr;
  const StageWarmStarts* later_warm_starts = nullptr;
};

}  // namespace redoubt::internal
