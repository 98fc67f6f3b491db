#include "solvers/frontier/search/search.h"

#include <algorithm>

// What a checkpoint keeps between two passes of a search: what the next one shall look at. All else
// follows from the problem.
namespace redoubt::internal {

void IdlePasses::visit(Archive& archive) {
  std::int64_t passes = count, reachable = was_reachable ? 1 : 0;
  archive.visit("idle", passes);
  archive.visit("least_open", least_open);
  archive.visit("was_reachable", reachable);
  count = static_cast<int>(passes);
  was_reachable = reachable > 0;
}

void FrontierSearch::visit(Archive& archive, Solution& solution) {
  double evaluations_so_far = own_evaluations();
  archive.visit("passes", solution.iterations);
  archive.visit("trace", solution.trace);
  archive.visit("bound", bound_);
  plan_.visit(archive);
  idle_.visit(archive);
  archive.visit_sum("row_evaluations", evaluations_so_far);
  evaluations_before_ += evaluations_so_far - own_evaluations();
  if (problem_.infinite()) visit_stage(archive);
}

// The stage that the next pass goes on from: what is known of it, and the actions that it takes.
void FrontierSearch::visit_stage(Archive& archive) {
  if (stages_.empty()) stages_.push_back(make_stage(plan_.stages().front().directions));
  FrontierStage& stage = stages_.front();
  std::vector<double> weights = stage.table.directions().weights();
  archive.visit("stage_directions", weights);
  if (Directions read(static_cast<int>(required_.size()), weights);
      !(read == stage.table.directions()))
    stage = make_stage(read);
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

}  // namespace redoubt::internal
