#include "solvers/frontier/search.h"

// What a checkpoint keeps between two passes of a search: what the next one shall look at. All else
// follows from the problem.
namespace redoubt {

void FrontierSearch::visit(Archive& archive, Solution& solution) {
  std::int64_t rounds = rounds_, idle = idle_, was_reachable = was_reachable_ ? 1 : 0;
  double evaluations_so_far = evaluations();
  archive.visit("passes", solution.iterations);
  archive.visit("trace", solution.trace);
  archive.visit("bound", bound_);
  archive.visit("for_games", for_games_);
  archive.visit("share", share_);
  archive.visit("asked_at", asked_at_);
  archive.visit("rounds", rounds);
  archive.visit("idle", idle);
  archive.visit("least_open", least_open_);
  archive.visit("was_reachable", was_reachable);
  archive.visit("row_evaluations", evaluations_so_far);
  rounds_ = static_cast<int>(rounds);
  idle_ = static_cast<int>(idle);
  was_reachable_ = was_reachable > 0;
  evaluations_before_ += evaluations_so_far - evaluations();
  visit_plan(archive);
}

void FrontierSearch::visit_plan(Archive& archive) {
  std::vector<std::vector<double>> prices,
      tolerances;            // of each stage and constraint; of each stage
  std::vector<char> active;  // of all stages
  for (const StagePlan& stage : plan_) {
    for (int c = 0; c < static_cast<int>(required_.size()); ++c)
      prices.push_back(stage.directions.prices(c));
    tolerances.push_back(stage.tolerance);
    active.insert(active.end(), stage.active.begin(), stage.active.end());
  }
  archive.visit("prices", prices);
  archive.visit("tolerances", tolerances);
  archive.visit("active", active);
  auto begin = active.begin();
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    const auto first = prices.begin() + static_cast<std::ptrdiff_t>(h * required_.size());
    Directions directions(Prices(first, first + static_cast<std::ptrdiff_t>(required_.size())));
    const auto end = begin + std::int64_t{problem_.model().states()} * directions.size();
    plan_[h] = {std::move(directions), std::vector<char>(begin, end), tolerances[h]};
    begin = end;
  }
}

}  // namespace redoubt
