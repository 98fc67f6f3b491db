#pragma once

#include <span>
#include <vector>

#include "solvers/frontier/games/averaged_response_game.h"
#include "solvers/frontier/games/kl_game.h"
#include "solvers/frontier/sets/landings.h"
#include "solvers/frontier/sets/recipes.h"
#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// Where the bounds of one state come from. That of direction k is the bound of action[k] (-1: the
// direction was left out, or the state is terminal), whose game ended with the kernels from
// kernels[slot[k]] on, [place][signal].
struct Causes {
  std::vector<std::int32_t> action, slot;
  std::vector<double> kernels;

  // For bounds that are to be improved with the same kernels: other actions that might be better
  // than what is guaranteed, and what all the rest are worth at most, in each direction.
  struct Rival {
    std::int32_t direction, action, slot;
  };
  std::vector<Rival> rivals;
  std::vector<double> rest;
};

// All that is known of one stage.
struct FrontierStage {
  TradeOffs table;
  std::vector<Recipes> recipes;  // of each state
  std::vector<Causes> causes;    // of each state
  std::vector<Curve> curves;     // of each place, with one constraint
  LandingPlans landings;         // how the points of the landings are achieved
};

// Adds what follows from the states' entries of a stage: its curves and the entries of its
// landings. Ranks call this together. Throws Stopped.
void complete_stage(const Landings& landings, FrontierStage& stage, Workers& workers);

// The most that the points of a place are worth in a direction. With one constraint, `corner` is a
// guess of the corner of the curve that has it, and receives it.
double best_inside(const FrontierStage& stage, std::int64_t place, const double* q, int& corner);

// A direction that was left out lies between two that were not, or between one and the ray: its
// bound is theirs, mixed. With several constraints none is.
void fill_bounds(const Directions& directions, std::span<const int> lanes, double* bounds);

// What to spend on one state.
struct BackupOptions {
  // Of each direction: a gap of a row's game that is small enough. Infinite: not worth the work, to
  // be filled in from the neighbours.
  std::span<const double> tolerance;
  int rounds = 20;                         // of a game, at most
  bool keep_rivals = false;                // see Causes
  bool last = false;                       // the next stage is the end of the horizon
  const NextStageLayout* ahead = nullptr;  // the next stage, with one constraint
  // Against kl, where the games of this stage and of the next begin.
  StageWarmStarts* warm_starts = nullptr;
  const StageWarmStarts* later_warm_starts = nullptr;
};

// One backward step for one state, in all directions of the stage. One for each thread.
class StateBackup {
 public:
  StateBackup(const Problem& problem, std::span<const Channel> channels, const Landings& landings)
      : problem_(&problem),
        channels_(channels),
        landings_(&landings),
        saddle_(problem, channels),
        kl_(problem, channels) {
    if (channels.size() == 2 && std::holds_alternative<KL>(problem.uncertainty()))
      means_ = Means::newton;
  }

  void run(int stage, State state, const FrontierStage& next, FrontierStage& here,
           const BackupOptions& options);
  RowEvaluator& rows() { return saddle_.rows(); }
  double evaluations() const { return saddle_.rows().evaluations() + kl_.evaluations(); }

  // Where a row leads: to the states of its outcomes and, last, to its landing if it has one.
  std::span<const std::int64_t> places_of(Row row);

 private:
  enum class Means { averages, newton };  // of finding where a game ends

  // The state at hand, between two stages.
  struct Step {
    int stage;
    State state;
    const FrontierStage& next;
    FrontierStage& here;
    const BackupOptions& options;
  };
  void play(const Step& step, int action, std::span<const int> lanes, int rounds, Means means);
  bool guess_best(State state, const FrontierStage& next, const Directions& directions,
                  const NextStageLayout* ahead);
  KlHistory warm_starts_of(int stage, State state, int action, int directions,
                           const BackupOptions& options) const;
  void write_recipes(int stage, State state, const FrontierStage& next, bool last,
                     Recipes& recipes) const;
  // The worst cases of what recipes lead to, for several points of one state that take the same
  // action: [signal][point].
  void evaluate(Row row, const FrontierStage& next, const Recipes& recipes,
                std::span<const std::int32_t> points, std::vector<double>& result);
  void keep_bounds(int actions, const Directions& directions, double* bounds, bool keep_rivals,
                   Causes& causes) const;
  std::vector<std::int32_t> best_points(const Directions& directions,
                                        const std::vector<double>& points) const;
  void keep_best_points(int stage, State state, Recipes own, const FrontierStage& next,
                        FrontierStage& here);

  const Problem* problem_;
  std::span<const Channel> channels_;
  const Landings* landings_;
  AveragedResponseGame saddle_;
  KlGame kl_;
  Means means_ = Means::averages;  // that the games of this problem begin with
  std::vector<GameEnd> ends_;
  std::vector<std::int64_t> places_;
  std::vector<int> lanes_;  // active directions of the state at hand
  std::vector<double> weights_, tolerance_, beat_;
  std::vector<double> bound_, gap_;          // [action][direction]
  std::vector<std::vector<double>> kernel_;  // that the last game ended with
  std::vector<double> best_value_;           // of each direction
  std::vector<std::int32_t> best_action_, likely_;
  std::vector<std::vector<Promise>> best_promises_;  // of each direction and place
  std::vector<std::vector<std::vector<MemoryMove>>>
      best_mixture_;  // of each direction and place, with several constraints
  std::vector<std::vector<double>> next_points_;
  std::vector<const double*> pointers_;
};

}  // namespace redoubt::internal
