#pragma once

#include <span>
#include <vector>

#include "solvers/frontier/games/state_game.h"
#include "solvers/frontier/search/frontier_stage.h"

namespace redoubt::internal {

// One backward step for one state whose rows share a radius, in all directions of the stage. What a
// point takes there is a mixture of actions. One for each thread.
class MixtureBackup {
 public:
  MixtureBackup(const Problem& problem, std::span<const Channel> channels, const Landings& landings)
      : problem_(&problem), channels_(channels), landings_(&landings), game_(problem, channels) {}

  void run(int stage, State state, const FrontierStage& next, FrontierStage& here,
           const BackupOptions& options);
  double evaluations() const { return game_.evaluations(); }

 private:
  void find_rows(int stage, State state, const FrontierStage& next);
  void begin(const Directions& directions, bool keep_rivals, Causes& causes);
  void keep_cause(int lane, Causes& causes);
  void write_recipe(int lane, const FrontierStage& next, bool last, Recipes& recipes);
  void write_entry(int action, std::size_t outcome, double share, const FrontierStage& next,
                   bool last, Recipes& recipes);
  // What nature leaves of the recipes, [signal][direction].
  std::vector<double> evaluate(const FrontierStage& next, const Recipes& recipes,
                               const Directions& directions);

  const Problem* problem_;
  std::span<const Channel> channels_;
  const Landings* landings_;
  StateGame game_;
  StateGameEnd end_;
  StateRows rows_;
  std::vector<int> lanes_;  // directions that the state looks at
  std::vector<double> share_;
  std::vector<StateItem> items_;
  std::vector<Row> row_;
  std::vector<double> weight_, result_;
  std::vector<std::vector<double>> next_points_;  // of each choice: [place]
  std::vector<MemoryMove> moves_;
};

}  // namespace redoubt::internal
