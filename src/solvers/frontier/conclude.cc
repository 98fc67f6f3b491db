#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/part.h"
#include "policy/evaluation.h"
#include "solvers/frontier/controller.h"
#include "solvers/frontier/search.h"

// The answer of a search that has ended: its policy, its curve, and what they guarantee.
namespace redoubt {

Solution FrontierSearch::conclude(Solution solution, bool early) {
  solution.method = "frontier";
  if (std::isfinite(bound_)) solution.reward.bound = bound_;
  try {
    if (!early) return answer(std::move(solution));
  } catch (const Stopped&) {
  }
  return stopped(whole_, std::move(solution), watch_, workers_, std::move(best_), tolerance_);
}

// Of a search that came to its end: the policy of its last pass. Throws Stopped.
Solution FrontierSearch::answer(Solution solution) {
  if (problem_.infinite() && make_stationary(solution.policy)) {
    solution.trace.reward.back() = root_.value;
    const std::vector<std::int32_t> points = points_at_start();
    set_start(points, points, solution.policy);
    solution.curve = curve_of_points(points, points);
  } else {
    Found found = policy_of_pass();
    solution.policy = std::move(found.policy);
    solution.curve = std::move(found.curve);
    if (problem_.infinite()) solution.cut = static_cast<int>(plan_.size());
  }
  finish(problem_, solution, workers_, tolerance_);
  for (std::size_t c = 0; c < required_.size(); ++c) {
    solution.constraints[c].best_achievable =
        channels_[c + 1].sign * extremes_.most(c + 1, problem_.start()) + 0.0;
  }
  if (infeasible()) {
    solution.status = Status::infeasible;
    solution.reward.bound.reset();  // there is nothing to bound
  } else if (!root_.reachable) {
    solution.notes.emplace_back(
        "no policy was found that meets all constraints at once, and none was proved to be "
        "impossible");
  }
  if (solution.status != Status::infeasible && solution.status != Status::certified &&
      !limit_.empty())
    solution.notes.push_back("the search ended above its tolerance: " + limit_);
  solution.seconds = watch_.seconds();
  return solution;
}

// Of the pass that was completed last. Throws Stopped.
FrontierSearch::Found FrontierSearch::policy_of_pass() {
  const std::vector<std::int32_t> points = points_at_start();
  std::vector<std::int32_t> memory(points.size());  // of each point
  std::iota(memory.begin(), memory.end(), 0);
  Found found;
  found.policy = make_controller(problem_, landings_, stages_, exchange_, workers_, points,
                                 problem_.infinite() ? &end_policy_ : nullptr);
  if (problem_.infinite()) {
    found.policy.stages.push_back(tail());
    found.policy.repeats_last = true;
  }
  set_start(points, memory, found.policy);
  found.curve = curve_of_points(points, memory);
  return found;
}

// From here on this is what a stop returns, if nothing better was found before. Throws Stopped.
void FrontierSearch::offer_pass() {
  Found found = policy_of_pass();
  Evaluation evaluation = evaluate(whole_, found.policy, workers_).evaluation;
  const bool asks_for_all = whole_.constraints().size() == required_.size();
  if (!asks_for_all) found.curve.clear();  // it is about some of the constraints
  best_.offer({std::move(found.policy), std::move(evaluation), std::move(found.curve),
               "the best that the search had found"});
}

// The corners of the trade-off curve, and what the answer draws.
std::vector<std::int32_t> FrontierSearch::points_at_start() const {
  const TradeOffs start = at_start(stages_.front().table, problem_.start());
  std::vector<std::int32_t> points =
      required_.size() == 1 ? curve_of(start, 0).point : undominated(start, 0);
  for (const MemoryMove& move : root_.mixture) {
    if (std::find(points.begin(), points.end(), move.memory) == points.end())
      points.push_back(move.memory);
  }
  return points;
}

std::vector<CurvePoint> FrontierSearch::curve_of_points(
    const std::vector<std::int32_t>& points, const std::vector<std::int32_t>& memory) const {
  const TradeOffs start = at_start(stages_.front().table, problem_.start());
  std::vector<CurvePoint> curve;
  for (std::size_t n = 0; n < points.size(); ++n) {
    CurvePoint corner{start.points(0, 0)[points[n]], {}, memory[n]};
    for (std::size_t c = 0; c < required_.size(); ++c) {
      corner.constraints.push_back(channels_[c + 1].sign *
                                       start.points(0, static_cast<int>(c) + 1)[points[n]] +
                                   0.0);  // no -0
    }
    curve.push_back(std::move(corner));
  }
  return curve;
}

void FrontierSearch::set_start(const std::vector<std::int32_t>& points,
                               const std::vector<std::int32_t>& memory, Policy& policy) const {
  for (const State s : problem_.start().states)
    policy.start_states.push_back(whole_number(problem_.model(), s));
  policy.start_begin = {0};
  for (std::size_t i = 0; i < policy.start_states.size(); ++i) {
    for (const MemoryMove& move : root_.mixture) {
      const auto at = std::find(points.begin(), points.end(), move.memory) - points.begin();
      policy.start_moves.push_back({memory[at], move.weight});
    }
    policy.start_begin.push_back(static_cast<std::int64_t>(policy.start_moves.size()));
  }
}

// An infinite horizon with one rule for all time. What is promised does not depend on the stage, so
// all points of all stages can be had at once: the best of them lead to each other, and keep at
// least what they kept before. What that is worth is found by evaluating it; if it is as good as
// the staged policy, within what is allowed, it takes its place.
bool FrontierSearch::make_stationary(Policy& policy) {
  TradeOffs table = stages_.front().table;
  Policy found = pool_stages(problem_, landings_, stages_, workers_);
  const EvaluationPass pass = evaluate(problem_, found, workers_);
  for (State s = 0; s < problem_.model().states(); ++s) {
    for (int j = 0; j < static_cast<int>(channels_.size()); ++j)
      std::copy_n(pass.at_first_stage(problem_.model(), found, j, s), table.directions().size(),
                  table.points(s, j));
  }
  const Root root = solve_root(table, problem_.start(), required_, scales_);
  if (root_.reachable && !root.reachable) return false;
  if (root_.reachable && root.value < root_.value && bound_ - root.value > allowed()) return false;
  stages_.front().table = std::move(table);
  root_ = root;
  policy = std::move(found);
  return true;
}

// From the end of the search on, memory j follows the policy that is best for channel j, for ever.
Policy::Stage FrontierSearch::tail() const {
  Policy::Stage stage;
  const Model& model = problem_.model();
  stage.memory = static_cast<std::int32_t>(extremes_.best.size());
  stage.choice_begin.push_back(0);
  for (State own = 0; own < model.own_states(); ++own) {
    const State s = model.own(own);
    for (std::int32_t j = 0; j < stage.memory; ++j) {
      for_each_choice(
          extremes_.best[j].policy.stages.front(), own, [&](std::int32_t action, double weight) {
            const Row row = model.row_begin(0, s) + action;
            stage.choice_action.push_back(action);
            stage.choice_weight.push_back(weight);
            stage.outcome_slot.push_back(static_cast<std::int64_t>(stage.move_begin.size()));
            const auto places =
                model.outcome_end(row) - model.outcome_begin(row) + landings_.anywhere();
            for (std::int64_t i = 0; i < places; ++i) {
              stage.move_begin.push_back(static_cast<std::int64_t>(stage.moves.size()));
              stage.moves.push_back({j, 1.0});  // a landing's plan has the same number
            }
          });
      stage.choice_begin.push_back(static_cast<std::int64_t>(stage.choice_action.size()));
    }
  }
  stage.move_begin.push_back(static_cast<std::int64_t>(stage.moves.size()));
  for (std::int32_t j = 0; landings_.anywhere() && j < stage.memory; ++j) {
    for (State own = 0; own < model.own_states(); ++own) {
      stage.landing_begin.push_back(static_cast<std::int64_t>(stage.landing_moves.size()));
      stage.landing_moves.push_back({j, 1.0});
    }
  }
  if (landings_.anywhere())
    stage.landing_begin.push_back(static_cast<std::int64_t>(stage.landing_moves.size()));
  return stage;
}

}  // namespace redoubt
