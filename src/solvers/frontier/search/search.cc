#include "solvers/frontier/search/search.h"

#include <algorithm>
#include <cmath>

#include "bellman/steps.h"
#include "evaluation/evaluation.h"
#include "solvers/frontier/search/gap_attribution_sums.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

// Passes in a row that close less than a tenth of the gap. The search makes its games more even
// meanwhile, which takes a few of them.
constexpr int kMostIdle = 8, kMostIdleWhenFull = 2;
constexpr int kMostIdleOfSeveral = 16;  // passes that add few directions each
// Looks for prices at the start within one pass, and the share of its gap that is not worth one.
constexpr int kMostLooks = 16;
constexpr double kLittle = 0.01;
constexpr double kNear = 5;          // times the gap that is allowed
constexpr double kWellClosed = 0.1;  // share of the gap that a pass leaves, if all goes well

// The last pass closed less of the gap than a finer grid should.
bool slow(const Trace& trace) {
  const std::size_t passes = trace.bound.size();
  const auto gap = [&](std::size_t pass) { return trace.bound[pass] - trace.reward[pass]; };
  return passes > 1 && gap(passes - 1) > kWellClosed * gap(passes - 2);
}

}  // namespace

std::string method_text(const FrontierOptions& options) {
  return fmt::format("frontier(tolerance={}, least_gap={}, most_directions={}, whole_curve={})",
                     options.tolerance, options.least_gap, options.most_directions,
                     options.whole_curve);
}

FrontierSearch::FrontierSearch(const Problem& problem, const FrontierOptions& options,
                               const Extremes& extremes, const Beginning& beginning,
                               const Problem& whole, BestPolicy& best, const Execution& execution)
    : problem_(problem),
      whole_(whole),
      best_(best),
      options_(options),
      watch_(execution),
      checkpoint_(execution, problem, method_text(options), watch_),
      workers_(execution, &watch_),
      exchange_(problem.model(), workers_.ranks()),
      landings_(problem, workers_.ranks()),
      extremes_(extremes),
      channels_(extremes.channels),
      required_(extremes.required),
      scales_(extremes.spread),
      tolerance_{options.tolerance, extremes.most(0, problem.start()) - extremes.least[0],
                 options.least_gap},
      first_prices_(beginning.prices),
      plan_(problem, extremes, most_directions(problem, options), workers_),
      bound_(beginning.bound) {
  for (int w = 0; w < workers_.count(); ++w) backups_.emplace_back(problem_, channels_, landings_);
  // A constraint never adds reward. (The values of an infinite horizon stop short of their limit.)
  if (!problem.infinite()) bound_ = std::min(bound_, extremes.most(0, problem.start()));
}

Solution FrontierSearch::run() {
  Solution solution;
  bool stopped = false;
  try {
    stopped = !search(solution);
  } catch (const Stopped&) {  // what was evaluated by then stands
    stopped = true;
  }
  return conclude(std::move(solution), stopped);
}

// The first pass looks around the prices at which memoryless policies meet the constraints. (An
// infinite horizon with one constraint has room for enough prices to do without.) Throws Stopped.
void FrontierSearch::begin() {
  if (problem_.infinite() && required_.size() > 1 && !first_prices_.empty()) {
    const Location location = locate_around(first_prices_, extremes_);
    return plan_.begin(&location);
  }
  if (problem_.infinite() || required_.empty()) return plan_.begin(nullptr);
  const Location location = locate(problem_, extremes_, workers_, exchange_);
  evaluations_before_ += location.row_evaluations;
  plan_.begin(&location);
  Evaluation evaluation = evaluate(whole_, location.policy, workers_).evaluation;
  best_.offer({location.policy,
               std::move(evaluation),
               {},
               "a mixture of memoryless policies that the search began with"});
}

bool FrontierSearch::search(Solution& solution) {
  begin();
  const auto state = [&](Archive& archive) { visit(archive, solution); };
  checkpoint_.restore(state);
  find_memory_limit();
  for (;;) {
    std::vector<FrontierStage> stages;
    if (!sweep(stages)) return !limit_.empty() && !stages_.empty();
    adopt(std::move(stages));
    ++solution.iterations;
    record(solution);
    if (infeasible() || (root_.reachable && excess() <= 0) || !limit_.empty() || stagnant())
      return true;
    if (breaks_another()) {
      limit_ = "it was asked for some of the constraints, and its policy breaks another one";
      return true;
    }
    offer_pass(stages_.front());
    const PassPlan::Size size = plan_.size();
    AnsweredPass pass{problem_, landings_, {}, steps_to_follow(), root_, scales_};
    for (const FrontierStage& stage : stages_) pass.stages.push_back(&stage);
    if (slow(solution.trace)) plan_.play_more_evenly();
    const double times = problem_.infinite() ? pass.steps : 1;  // through the same stage
    GapAttribution gaps = attribute_gap(pass, plan_.negligible(allowed(), times), backups_.front(),
                                        exchange_, workers_);
    if (problem_.infinite())
      make_whole(1 - std::pow(contraction(problem_, workers_), pass.steps), gaps);
    if (!plan_.refine(gaps, {root_, bound_, allowed()})) {
      limit_ = fmt::format("nothing is left to refine with {} directions of a stage",
                           most_directions(problem_, options_));
      return true;
    }
    checkpoint_.offer(state);
    if (!has_room_for_pass(size)) return true;
  }
}

// Proved: one constraint on its own is out of reach, or all of them together would bound the reward
// below what every policy has.
bool FrontierSearch::infeasible() const {
  return root_.beyond_reach ||
         (!root_.reachable &&
          bound_ < extremes_.least[0] - 1e-9 * std::max(scales_[0], std::abs(extremes_.least[0])));
}

// Whether the answer comes near and will not do, so that the search has to ask for more.
bool FrontierSearch::breaks_another() {
  const bool asks_for_all = required_.size() == whole_.constraints().size();
  if (asks_for_all || required_.size() < 2 || !root_.reachable ||
      bound_ - root_.value > kNear * allowed())
    return false;
  const Policy policy = policy_of_pass(stages_.front()).policy;
  return !evaluate(whole_, policy, workers_).evaluation.satisfied();
}

// A pass may be large and gain nothing: prices are limited in number, and landings are known by
// their states only one direction at a time.
bool FrontierSearch::stagnant() {
  const double open = root_.reachable ? bound_ - root_.value : root_.shortfall;
  idle_.add(open, root_.reachable);
  const bool several = !problem_.infinite() && required_.size() > 1;
  const int most = plan_.full() ? kMostIdleWhenFull : several ? kMostIdleOfSeveral : kMostIdle;
  if (idle_.count < most) return false;
  limit_ = fmt::format("{} passes in a row closed less than a tenth of the gap{}", idle_.count,
                       plan_.full() ? fmt::format(", with all {} directions of a stage",
                                                  most_directions(problem_, options_))
                                    : "");
  return true;
}

double FrontierSearch::allowed() const { return tolerance_.allowed(root_.value, bound_); }

FrontierStage FrontierSearch::make_stage(const Directions& directions) const {
  FrontierStage stage;
  stage.table =
      TradeOffs(directions, std::int64_t{problem_.model().states()} + landings_.anywhere());
  stage.recipes.resize(problem_.model().states());
  stage.causes.resize(problem_.model().states());
  return stage;
}

// All stages backward as planned. False when stopped.
bool FrontierSearch::sweep(std::vector<FrontierStage>& stages) {
  if (problem_.infinite()) return settle(stages);
  const std::vector<StagePlan>& plan = plan_.stages();
  const int horizon = static_cast<int>(plan.size());
  stages.resize(horizon + 1);
  stages[horizon] = make_stage(Directions(static_cast<int>(required_.size()), {}));
  complete_stage(landings_, stages[horizon], workers_);
  for (int h = horizon; h-- > 0;) {
    if (watch_.stop(1 - (h + 1.0) / horizon) || !has_room_for_stage()) return false;
    stages[h] = make_stage(plan[h].directions);
    step(h, plan[h], stages[h + 1], stages[h], h + 1 == horizon);
    if (h > 0) complete_stage(landings_, stages[h], workers_);
  }
  warm_starts_ = {};
  if (horizon == 0) return true;
  complete_first_stage(landings_, stages.front(), workers_);
  return required_.size() < 2 || find_prices(stages);
}

// With several constraints: the prices at the start are those of the best mixture of its points,
// and each direction that they ask for may bring a better mixture, with other prices. The first
// stage alone is played for that. False when stopped.
bool FrontierSearch::find_prices(std::vector<FrontierStage>& stages) {
  FrontierStage& first = stages.front();
  double before = -std::numeric_limits<double>::infinity();
  bool was_reachable = false;
  for (int looks = 0; looks < kMostLooks; ++looks) {
    const Root root = solve_root(first.table, problem_.start(), required_, scales_);
    const double found = root.reachable ? root.value : -root.shortfall;
    const double open = root.reachable ? root.bound - root.value : root.shortfall;
    const bool better = found > before + kLittle * open || root.reachable != was_reachable;
    if (root.beyond_reach || open <= 0 || !better) break;
    before = found;
    was_reachable = root.reachable;
    std::vector<double> wanted = {root.reachable ? 1.0 : 0.0};
    wanted.insert(wanted.end(), root.prices.begin(), root.prices.end());
    if (!plan_.add_at_start(wanted)) break;
    if (watch_.stop(1)) return false;
    const StagePlan& plan = plan_.stages().front();
    first = make_stage(plan.directions);
    step(0, plan, stages[1], first, stages.size() == 2);
    complete_first_stage(landings_, first, workers_);
  }
  return true;
}

void FrontierSearch::step(int h, const StagePlan& plan, const FrontierStage& next,
                          FrontierStage& here, bool last) {
  const auto size = static_cast<std::size_t>(plan.directions.size());
  const Model& model = problem_.model();
  const double work =
      200.0 * static_cast<double>(model.outcomes()) / model.stages() * static_cast<double>(size);
  const LayerView layer{here.table.bounds(0), here.table.stride(), 1, 0, here.table.stride()};
  NextStageLayout ahead;
  if (required_.size() == 1) ahead = lay_out_next_stage(next.table, next.curves, plan.directions);
  warm_starts_.next.swap(warm_starts_.here);
  forget(warm_starts_.here, model.states());
  exchange_.sweep(workers_, {work}, layer, [&](State s, std::int64_t, int worker) {
    const double* tolerance =
        plan.tolerance.data() + std::int64_t{model.own_place(s)} * static_cast<std::int64_t>(size);
    backups_[worker].run(h, s, next, here,
                         {.tolerance = {tolerance, size},
                          .rounds = plan_.rounds(),
                          .keep_rivals = problem_.infinite(),
                          .last = last,
                          .ahead = &ahead,
                          .warm_starts = &warm_starts_.here,
                          .later_warm_starts = &warm_starts_.next});
  });
}

void FrontierSearch::adopt(std::vector<FrontierStage> stages) {
  stages_ = std::move(stages);
  root_ = solve_root(stages_.front().table, problem_.start(), required_, scales_);
  bound_ = std::min(bound_, root_.bound);
}

double FrontierSearch::own_evaluations() const {
  double sum = evaluations_before_;
  for (const ValueIteration& best : extremes_.best)
    sum += workers_.ranks().rank() == 0 ? best.row_evaluations : 0;  // it counts all ranks'
  for (const StateBackup& backup : backups_) sum += backup.evaluations();
  return sum;
}

void FrontierSearch::record(Solution& solution) const {
  solution.row_evaluations = evaluations();
  Trace& trace = solution.trace;
  trace.iteration.push_back(static_cast<double>(solution.iterations));
  trace.row_evaluations.push_back(solution.row_evaluations);
  trace.seconds.push_back(watch_.seconds());
  trace.reward.push_back(root_.value);
  trace.bound.push_back(bound_);
}

}  // namespace redoubt::internal
