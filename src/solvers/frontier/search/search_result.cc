#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluation/evaluation.h"
#include "model/submodel.h"
#include "parallel/collectives.h"
#include "solvers/frontier/extract/extract_policy.h"
#include "solvers/frontier/search/search.h"

// The answer of a search that has ended: its policy, its curve, and what they guarantee.
namespace redoubt::internal {
namespace {

constexpr const char* kEnded = "the search ended above its tolerance: ";

}  // namespace

Solution FrontierSearch::conclude(Solution solution, bool early) {
  solution.method = "frontier";
  if (std::isfinite(bound_)) solution.reward.bound = bound_;
  try {
    if (!early) return answer(std::move(solution));
  } catch (const Stopped&) {
  }
  solution = stopped(whole_, std::move(solution), watch_, workers_, std::move(best_), tolerance_);
  if (!limit_.empty()) solution.notes.push_back(kEnded + limit_);
  return solution;
}

// Of a search that came to its end: the policy of its last pass. Throws Stopped.
Solution FrontierSearch::answer(Solution solution) {
  Found found = policy_of_pass(stages_.front());
  solution.policy = std::move(found.policy);
  solution.curve = std::move(found.curve);
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
    solution.notes.push_back(kEnded + limit_);
  solution.seconds = watch_.seconds();
  return solution;
}

// Of the pass that was completed last or, on an infinite horizon, of its last sweep. Throws
// Stopped.
FrontierSearch::Found FrontierSearch::policy_of_pass(const FrontierStage& first) {
  const TradeOffs start = at_start(first.table, problem_.start());
  const std::vector<std::int32_t> points = points_of(start);
  std::vector<std::int32_t> memory(points.size());  // of each point
  std::iota(memory.begin(), memory.end(), 0);
  Found found;
  found.policy = problem_.infinite()
                     ? begin_with_points(stationary_, problem_.model(), points)
                     : make_policy(problem_, landings_, stages_, exchange_, workers_, points);
  set_start(points, memory, found.policy);
  found.curve = curve_of_points(start, points, memory);
  return found;
}

// From here on this is what a stop returns, if nothing better was found before. Not all of them are
// worth an evaluation: it takes a small share of the time, and whoever stops within a second has
// the answers to the first questions. Throws Stopped.
void FrontierSearch::offer_pass(const FrontierStage& first) {
  const double begin = max_over_ranks(workers_.ranks(), watch_.seconds());
  if (begin < next_offer_) return;
  Found found = policy_of_pass(first);
  Evaluation evaluation = evaluate(whole_, found.policy, workers_).evaluation;
  const bool asks_for_all = whole_.constraints().size() == required_.size();
  if (!asks_for_all) found.curve.clear();  // it is about some of the constraints
  best_.offer({std::move(found.policy), std::move(evaluation), std::move(found.curve),
               "the best that the search had found"});
  const double end = max_over_ranks(workers_.ranks(), watch_.seconds());
  next_offer_ = end + std::max(1.0, 5 * (end - begin));
}

// The corners of the trade-off curve, and what the answer draws.
std::vector<std::int32_t> FrontierSearch::points_of(const TradeOffs& start) const {
  std::vector<std::int32_t> points =
      required_.size() == 1 ? curve_of(start, 0).point : undominated(start, 0);
  for (const MemoryMove& move : root_.mixture) {
    if (std::find(points.begin(), points.end(), move.memory) == points.end())
      points.push_back(move.memory);
  }
  return points;
}

std::vector<CurvePoint> FrontierSearch::curve_of_points(
    const TradeOffs& start, const std::vector<std::int32_t>& points,
    const std::vector<std::int32_t>& memory) const {
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

}  // namespace redoubt::internal
