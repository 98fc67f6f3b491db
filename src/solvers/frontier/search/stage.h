#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solvers/frontier/games/averaged_response_game.h"
#include "solvers/frontier/games/curve_game.h"
#include "solvers/frontier/games/kl_game.h"
#include "solvers/frontier/games/level_game.h"
#include "solvers/frontier/search/frontier_stage.h"
#include "solvers/frontier/search/mixture_backup.h"

namespace redoubt::internal {

// One backward step for one state, in all directions of the stage. One for each thread.
class StateBackup {
 public:
  StateBackup(const Problem& problem, std::span<const Channel> channels, const Landings& landings)
      : problem_(&problem),
        channels_(channels),
        landings_(&landings),
        saddle_(problem, channels),
        curve_(problem, channels),
        kl_(problem, channels),
        level_(problem, channels),
        kl_set_(channels.size() == 2 && std::holds_alternative<KL>(problem.uncertainty())),
        level_set_(channels.size() == 2 && !problem.infinite() &&
                   LevelGame::plays(problem.uncertainty())) {
    if (scope_of(problem.uncertainty()) == Scope::state)
      mixtures_.emplace(problem, channels, landings);
  }

  void run(int stage, State state, const FrontierStage& next, FrontierStage& here,
           const BackupOptions& options);
  RowEvaluator& rows() { return saddle_.rows(); }
  double evaluations() const {
    return saddle_.rows().evaluations() + curve_.evaluations() + kl_.evaluations() +
           level_.evaluations() + (mixtures_ ? mixtures_->evaluations() : 0);
  }

  // Where a row leads: to the states of its outcomes and, last, to its landing if it has one.
  std::span<const std::int64_t> places_of(Row row);

 private:
  // The state at hand, between two stages.
  struct Step {
    int stage;
    State state;
    const FrontierStage& next;
    FrontierStage& here;
    const BackupOptions& options;
  };
  void begin(int actions, int lanes, const BackupOptions& options);
  void play(const Step& step, int action, std::span<const int> lanes, int rounds, bool newton);
  bool newton_settles(Row row) const;
  bool guess_best(State state, const FrontierStage& next, const Directions& directions,
                  const NextStageLayout* ahead);
  GameHistory warm_starts_of(int stage, State state, int action, int directions,
                             const BackupOptions& options) const;
  void write_recipes(int stage, State state, const FrontierStage& next, bool last,
                     Recipes& recipes) const;
  // The worst cases of what recipes lead to, for several points of one state that take the same
  // action: [signal][point].
  void evaluate(Row row, const FrontierStage& next, const Recipes& recipes,
                std::span<const std::int32_t> points, std::vector<double>& result);
  void keep_bounds(int actions, const Directions& directions, double* bounds, bool keep_rivals,
                   Causes& causes) const;
  void evaluate_recipes(int stage, State state, Recipes own, const FrontierStage& next,
                        FrontierStage& here);

  const Problem* problem_;
  std::span<const Channel> channels_;
  const Landings* landings_;
  AveragedResponseGame saddle_;  // with several constraints, or without a horizon
  CurveGame curve_;              // with one, stage by stage; where the two below do not settle
  KlGame kl_;                    // with one, against kl
  LevelGame level_;              // stage by stage, against tv without landings, chi2 and intervals
  std::optional<MixtureBackup> mixtures_;  // where the rows of a state share a radius
  bool kl_set_, level_set_;                // games are played by Newton's method
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
