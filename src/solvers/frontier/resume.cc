#include "solvers/frontier/search.h"

#include <algorithm>

// What a checkpoint keeps between two passes of a search: what the next one shall look at. All else
// follows from the problem.
namespace redoubt {

void FrontierSearch::visit(Archive& archive, Solution& solution) {
  std::int64_t rounds = rounds_, idle = idle_, was_reachable = was_reachable_ ? 1 : 0;
  double evaluations_so_far = own_evaluations();
  archive.visit("passes", solution.iterations);
  archive.visit("trace", solution.trace);
  archive.visit("bound", bound_);
  archive.visit("for_games", for_games_);
  archive.visit("share", share_);
  archive.visit("asked_at", asked_at_);
  archive.visit("least_visits", least_visits_);
  archive.visit("rounds", rounds);
  archive.visit("idle", idle);
  archive.visit("least_open", least_open_);
  archive.visit("was_reachable", was_reachable);
  archive.visit_sum("row_evaluations", evaluations_so_far);
  rounds_ = static_cast<int>(rounds);
  idle_ = static_cast<int>(idle);
  was_reachable_ = was_reachable > 0;
  evaluations_before_ += evaluations_so_far - own_evaluations();
  visit_plan(archive);
}

void FrontierSearch::visit_plan(Archive& archive) {
  Prices prices;  // of all stages
  for (const Prices& stage : listed_prices())
    prices.insert(prices.end(), stage.begin(), stage.end());
  archive.visit("prices", prices);
  const std::int64_t states = problem_.model().own_states();
  std::int64_t each = 0;  // directions of a state, at all stages
  auto list = prices.begin();
  for (StagePlan& stage : plan_) {
    const auto end = list + stage.directions.lists();
    stage.directions = Directions(Prices(list, end));
    list = end;
    each += stage.directions.size();
    stage.tolerance.resize(states * stage.directions.size());
  }
  std::vector<double> tolerance(states * each);  // [state][stage][direction]
  const auto for_each_list = [&](auto visit) {
    std::int64_t at = 0;
    for (State s = 0; s < states; ++s) {
      for (StagePlan& stage : plan_) {
        const std::int64_t size = stage.directions.size();
        visit(tolerance.begin() + at, stage.tolerance.begin() + s * size, size);
        at += size;
      }
    }
  };
  for_each_list([](auto all, auto stage, auto size) { std::copy_n(stage, size, all); });
  archive.visit_states("tolerance", each, [&](State own) { return tolerance.data() + own * each; });
  for_each_list([](auto all, auto stage, auto size) { std::copy_n(all, size, stage); });
}

}  // namespace redoubt
