#include <algorithm>
#include <cmath>

#include "bellman/steps.h"
#include "evaluation/evaluation.h"
#include "numerics/infinity.h"
#include "solvers/column_generation/weighted_sum.h"
#include "solvers/frontier/extract/extract_policy.h"
#include "solvers/frontier/games/kept_kernels.h"
#include "solvers/frontier/search/search.h"

// A pass over an infinite horizon: one stage that leads to itself, brought closer to what it is
// from both sides.
namespace redoubt::internal {
namespace {

// Share of the gap at the start that is no gain. Averages, which games end with unless they are
// found by Newton's method, come to rest only when more rounds are played: by a later pass.
constexpr double kSettled = 0.005, kSettledByAverages = 0.01;
// Sweeps in which games are played. With several constraints averages gain little after a few.
constexpr int kMostGames = 100, kMostAverages = 10;
constexpr double kForEvaluation = 0.001;  // of the gap that is open
constexpr double kFollowed = 0.25;        // weight that is left where nothing is followed on

}  // namespace

int FrontierSearch::steps_to_follow() {
  if (!problem_.infinite()) return problem_.horizon();
  return stages_until_negligible(problem_, kFollowed, workers_);
}

// What is known of an infinite horizon without any search: nobody has more of a signal than its own
// best, with several constraints nobody has more of a direction than against one nature, and the
// policies that are best for one signal achieve what they achieve.
FrontierStage FrontierSearch::first_guess(const Directions& directions) {
  FrontierStage stage = make_stage(directions);
  const State states = problem_.model().states();
  std::vector<std::vector<double>>
      achieved;  // by the best policy of each channel: [channel][state]
  for (const ValueIteration& best : extremes_.best)
    achieved.push_back(evaluate(problem_, best.policy, workers_).values.front());
  for (State s = 0; s < states; ++s) {
    for (int k = 0; k < directions.size(); ++k) {
      double most = -kInfinity;
      std::size_t chosen = 0;
      for (std::size_t best = 0; best < achieved.size(); ++best) {
        double value = 0;
        for (int j = 0; j < directions.signals(); ++j)
          value += directions.weight(k, j) * achieved[best][j * states + s];
        if (value <= most) continue;
        most = value;
        chosen = best;
      }
      for (int j = 0; j < directions.signals(); ++j) {
        const ValueIteration& best = extremes_.best[j];
        stage.table.bounds(s)[k] += directions.weight(k, j) * (best.values[s] + best.error);
        stage.table.points(s, j)[k] = achieved[chosen][j * states + s];
      }
    }
  }
  if (required_.size() > 1) bound_by_one_nature(stage.table);
  return stage;
}

void FrontierSearch::bound_by_one_nature(TradeOffs& table) {
  const Directions& directions = table.directions();
  std::vector<double> weights(directions.signals());
  for (int k = 0; k < directions.size(); ++k) {
    workers_.check_together();
    for (int j = 0; j < directions.signals(); ++j) weights[j] = directions.weight(k, j);
    const ValueIteration best =
        value_iteration(weighted_sum(problem_, channels_, weights), Channel{}, workers_);
    for (State s = 0; s < problem_.model().states(); ++s)
      table.bounds(s)[k] = std::min(table.bounds(s)[k], best.values[s] + best.error);
  }
}

// Games are played until they gain nothing more at the start. After each sweep of them both sides
// go as far as the decisions and the kernels at hand allow, for which no game is needed. False when
// stopped.
bool FrontierSearch::settle(std::vector<FrontierStage>& stages) {
  const StagePlan& plan = plan_.stages().front();
  FrontierStage next = stages_.empty() ? first_guess(plan.directions) : stages_.front();
  complete_stage(landings_, next, workers_);
  warm_starts_ = {};
  const bool newton = required_.size() == 1 && std::holds_alternative<KL>(problem_.uncertainty());
  const double no_gain = newton ? kSettled : kSettledByAverages;
  const int most = required_.size() > 1 ? kMostAverages : kMostGames;
  double open = kInfinity;
  bool followed = false;  // what is next has a policy
  for (int sweeps = 1;; ++sweeps) {
    if (watch_.stop(sweeps / (sweeps + 3.0))) return false;
    FrontierStage here = make_stage(plan.directions);
    step(0, plan, next, here, false);
    if (!has_room_for_sweep() && (followed || !stages_.empty())) {
      // The last sweep is the answer or, where it cannot be followed yet, the last pass.
      if (followed) stages.push_back(std::move(next));
      root_ = solve_root((followed ? stages : stages_).front().table, problem_.start(), required_,
                         scales_);
      return followed;
    }
    // Recipes can be followed for ever when they lead to points of the same directions.
    const bool same = here.table.directions() == next.table.directions();
    complete_stage(landings_, here, workers_);
    if (same) {
      improve(here, next);
      complete_stage(landings_, here, workers_);
    }
    root_ = solve_root(here.table, problem_.start(), required_, scales_);
    bound_ = std::min(bound_, root_.bound);
    const double left = root_.reachable ? bound_ - root_.value : kInfinity;
    const bool settled =
        (root_.reachable && excess() <= 0) || left > (1 - no_gain) * open || sweeps >= most;
    if (same) open = left;
    if (same && settled) {
      stages.clear();
      stages.push_back(std::move(here));
      return true;
    }
    if (same && root_.reachable) offer_pass(here);
    next = std::move(here);
    followed = same;
  }
}

void FrontierSearch::improve(FrontierStage& here, const FrontierStage& next) {
  KeptKernels(problem_, channels_, here, backups_.front())
      .lower(scales_, exchange_, workers_, here.table);
  for (std::int64_t place = 0; place < problem_.model().states(); ++place) {
    for (int k = 0; k < here.table.directions().size(); ++k)
      here.table.bounds(place)[k] =
          std::min(here.table.bounds(place)[k], next.table.bounds(place)[k]);
  }
  raise_points(next, here);
}

// The points become what following the recipes for ever guarantees.
void FrontierSearch::raise_points(const FrontierStage& next, FrontierStage& here) {
  const Model& model = problem_.model();
  stationary_ = make_stationary(problem_, landings_, here, next, exchange_, workers_);
  const Policy& policy = stationary_.policy;
  StageEvaluation evaluation(problem_, policy, channels_, workers_);
  const auto nodes = evaluation.nodes(0);
  std::vector<double> values(nodes * channels_.size(), 0.0);
  const auto for_each_point = [&](auto visit) {
    for (State own = 0; own < model.own_states(); ++own) {
      const State s = model.own(own);
      for (int k = 0; k < stationary_.directions; ++k) {
        const auto node = evaluation.first_node(0, s) + stationary_.memory(s, k);
        for (int j = 0; j < evaluation.channels(); ++j)
          visit(s, here.table.points(s, j)[k], values[j * nodes + node], j);
      }
    }
  };
  for_each_point([](State, double& point, double& value, int) { value = point; });
  evaluation.exchange().update(evaluation.layer(0, values));
  const double open = std::isfinite(bound_) && root_.reachable && !stages_.empty()
                          ? std::max(bound_ - root_.value, allowed())
                          : scales_[0];
  const auto width = [&](int channel, double) {
    return kForEvaluation * open * scales_[channel] / scales_[0];
  };
  const std::vector<Bracket> brackets =
      improve_values(evaluation, problem_, policy, 0, channels_, workers_, width, values);
  for_each_point([&](State s, double& point, double& value, int j) {
    if (model.row_begin(0, s) < model.row_end(0, s)) point = value + brackets[j].low;
  });
  const std::int64_t stride = here.table.stride();
  exchange_.update({here.table.bounds(0), stride, 1, 0, stride});
}

}  // namespace redoubt::internal
