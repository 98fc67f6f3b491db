#include "solvers/frontier/search/search.h"

#include <algorithm>

// What a checkpoint keeps between two passes of a search: what the next one shall look at. All else
// follows from the problem.
namespace redoubt::internal {

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
  if (problem_.infinite()) visit_stage(archive);
}

// The stage that the next pass goes on from: what is known of it, and the actions that it takes.
void FrontierSearch::visit_stage(Archive& archive) {
  if (stages_.empty()) stages_.push_back(make_stage(plan_.front().directions));
  FrontierStage& stage = stages_.front();
  Prices prices;
  for (int list = 0; list < stage.table.directions().lists(); ++list)
    prices.push_back(stage.table.directions().prices(list));
  archive.visit("stage_prices", prices);
  if (Directions read(prices); !(read == stage.table.directions())) stage = make_stage(read);
  const Model& model = problem_.model();
  const std::int64_t size = stage.table.directions().size(), stride = stage.table.stride();
  const std::int64_t each = stride + size;
  std::vector<double> values(model.own_states() * each);
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    stage.recipes[s].action.resize(size, -1);
    std::copy_n(stage.table.bounds(s), stride, values.begin() + own * each);
    std::copy_n(stage.recipes[s].action.begin(), size, values.begin() + own * each + stride);
  }
  archive.visit_states("stage", each, [&](State own) { return values.data() + own * each; });
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    std::copy_n(values.begin() + own * each, stride, stage.table.bounds(s));
    for (std::int64_t k = 0; k < size; ++k)
      stage.recipes[s].action[k] = static_cast<std::int32_t>(values[own * each + stride + k]);
  }
  exchange_.update({stage.table.bounds(0), stride, 1, 0, stride});
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

}  // namespace redoubt::internal
