#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/exchange.h"
#include "redoubt/frontier.h"
#include "solvers/finish.h"
#include "solvers/frontier/extract/extract_policy.h"
#include "solvers/frontier/search/pass_plan.h"
#include "solvers/solver_checkpoint.h"

namespace redoubt::internal {

// What the first pass of a search of a finite horizon takes for each state, at least.
double frontier_bytes_for_each_state(const Problem& problem);

std::string method_text(const FrontierOptions& options);  // as checkpoints have it

// Of one stage. With one constraint what is lost between n directions falls with 1/n^2, and adds up
// over the stages. The one stage of an infinite horizon serves all time.
inline int most_directions(const Problem& problem, const FrontierOptions& options) {
  constexpr double kUsual = 400, kUsualTolerance = 1e-3, kUsualStages = 20, kMost = 1e6;
  double most = options.most_directions;
  if (most == 0) {
    const bool one = problem.constraints().size() == 1;
    const double finer = one ? std::max(1.0, kUsualTolerance / options.tolerance) : 1;
    const double stages = problem.infinite() ? 1 : problem.horizon();
    const double longer = one ? std::max(1.0, stages / kUsualStages) : 1;
    most = std::min(kMost, kUsual * std::sqrt(finer * longer));
  }
  return (problem.infinite() ? 8 : 1) * static_cast<int>(most);
}

// Passes in a row that gained nothing.
struct IdlePasses {
  int count = 0;
  double least_open = std::numeric_limits<double>::infinity();
  bool was_reachable = false;

  // After a pass that left this much of the gap, or of the constraints.
  void add(double open, bool reachable) {
    const bool better = open < 0.9 * least_open || reachable != was_reachable;
    count = better ? 0 : count + 1;
    if (better) least_open = open;
    was_reachable = reachable;
  }
  void visit(Archive& archive);  // in a checkpoint
};

// What is known before a search.
struct Beginning {
  double bound = std::numeric_limits<double>::infinity();  // no policy has more reward
  std::vector<double> prices;  // of each constraint, near the answer; empty: not known

  // Of a search that asks for some of the constraints.
  Beginning about(const Constraints& asked) const {
    Beginning some{bound, {}};
    for (const std::size_t c : asked)
      if (!prices.empty()) some.prices.push_back(prices[c]);
    return some;
  }
};

// The search behind `frontier`: passes over all stages, each finer than the last where the gap at
// the start comes from.
class FrontierSearch {
 public:
  // `whole` is the problem with all of its constraints, of which this one may ask for some: what
  // the search evaluates on its way it offers to `best`, and when it is stopped its answer is that.
  FrontierSearch(const Problem& problem, const FrontierOptions& options, const Extremes& extremes,
                 const Beginning& beginning, const Problem& whole, BestPolicy& best,
                 const Execution& execution);

  Solution run();

 private:
  bool search(Solution& solution);  // false: stopped between two stages
  void visit(Archive& archive, Solution& solution);
  void visit_stage(Archive& archive);
  void begin();
  bool sweep(std::vector<FrontierStage>& stages);
  bool find_prices(std::vector<FrontierStage>& stages);
  bool settle(std::vector<FrontierStage>& stages);
  void improve(FrontierStage& here, const FrontierStage& next);
  void raise_points(const FrontierStage& next, FrontierStage& here);
  int steps_to_follow();
  FrontierStage make_stage(const Directions& directions) const;
  void step(int h, const StagePlan& plan, const FrontierStage& next, FrontierStage& here,
            bool last);
  void adopt(std::vector<FrontierStage> stages);
  FrontierStage first_guess(const Directions& directions);
  void bound_by_one_nature(TradeOffs& table);
  void record(Solution& solution) const;
  Solution conclude(Solution solution, bool early);
  Solution answer(Solution solution);
  struct Found {
    Policy policy;
    std::vector<CurvePoint> curve;
  };
  Found policy_of_pass(const FrontierStage& first);
  void offer_pass(const FrontierStage& first);
  std::vector<std::int32_t> points_of(const TradeOffs& start) const;
  std::vector<CurvePoint> curve_of_points(const TradeOffs& start,
                                          const std::vector<std::int32_t>& points,
                                          const std::vector<std::int32_t>& memory) const;
  void set_start(const std::vector<std::int32_t>& points, const std::vector<std::int32_t>& memory,
                 Policy& policy) const;
  bool infeasible() const;
  bool stagnant();
  bool breaks_another();
  double allowed() const;
  double excess() const { return bound_ - root_.value - allowed(); }  // gap beyond what is allowed
  void find_memory_limit();
  bool has_room_for_pass(const PassPlan::Size& last);
  bool has_room_for_stage();
  bool has_room_for_sweep();
  double own_evaluations() const;  // of this rank
  double evaluations() const { return sum_over_ranks(workers_.ranks(), own_evaluations()); }

  const Problem& problem_;
  const Problem& whole_;
  BestPolicy& best_;
  FrontierOptions options_;
  Stopwatch watch_;
  SolverCheckpoint checkpoint_;
  Workers workers_;
  Exchange exchange_;
  Landings landings_;
  const Extremes& extremes_;
  const std::vector<Channel>& channels_;  // the reward, then each constraint
  const std::vector<double>& required_;   // of each constraint, as a utility
  std::span<const double> scales_;        // the spread of each channel
  GapTolerance tolerance_;
  std::vector<StateBackup> backups_;  // of each thread
  std::vector<double> first_prices_;  // see Beginning
  PassPlan plan_;
  struct {
    StageWarmStarts here, next;
  } warm_starts_;  // of the stage at hand, and of the next
  IdlePasses idle_;
  std::vector<FrontierStage> stages_;  // of the last pass that was completed
  StationaryPolicy stationary_;        // of an infinite horizon, whose one stage is used for ever
  Root root_;
  double next_offer_ = 1;  // seconds after which a policy is evaluated in case of a stop
  std::string limit_;      // what ended the search above its tolerance, in words
  struct {
    // Bytes that this process may hold, infinite where the search cannot come near that; and what
    // it held before the first pass.
    double limit = std::numeric_limits<double>::infinity(), held_before = 0;
  } memory_;
  double evaluations_before_ = 0;                           // in the run that this one continues
  double bound_ = std::numeric_limits<double>::infinity();  // the least of all passes
};

}  // namespace redoubt::internal
