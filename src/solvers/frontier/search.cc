#include "solvers/frontier/search.h"

#include <algorithm>
#include <cmath>

#include "model/require.h"
#include "policy/evaluation.h"
#include "solvers/frontier/exact_sum.h"

namespace redoubt {
namespace {

constexpr int kMostPasses = 40, kMostIdle = 3;
constexpr int kMostRounds = 1 << 16;
// How the allowed gap is shared out: to what is lost between prices, to games that are not played
// to the end, and to directions that are not followed. The rest is for what these estimates miss.
constexpr double kForPrices = 0.25, kForGames = 0.6, kForgotten = 0.02;
constexpr double kLeastShare = 1e-3;
constexpr double kWellClosed = 0.1;  // share of the gap that a pass leaves, if all goes well

std::string method_text(const FrontierOptions& options) {
  return fmt::format("frontier(tolerance={}, most_directions={})", options.tolerance,
                     options.most_directions);
}

// The last pass closed less of the gap than a finer grid should.
bool slow(const Trace& trace) {
  const std::size_t passes = trace.bound.size();
  const auto gap = [&](std::size_t pass) { return trace.bound[pass] - trace.reward[pass]; };
  return passes > 1 && gap(passes - 1) > kWellClosed * gap(passes - 2);
}

// What will be followed to the directions of all grids, on all ranks.
struct Visits {
  double sum = 0, sum_of_roots = 0, lanes = 0;
};
Visits count_visits(const std::vector<PriceGrid>& grids, Communicator& ranks) {
  struct Sums {
    ExactSum visits, roots, lanes;
  } own, all;
  const double unit = ExactSum::unit_for(1);
  for (const PriceGrid& grid : grids) {
    for (const double visits : grid.visits) {
      own.visits.add(visits, unit);
      own.roots.add(std::sqrt(visits), unit);
    }
    for (const char looks_at : grid.looks_at) own.lanes.add(looks_at, unit);
  }
  for (const Sums& part : gather_value(ranks, own)) {
    all.visits.add(part.visits);
    all.roots.add(part.roots);
    all.lanes.add(part.lanes);
  }
  return {all.visits.value(unit), all.roots.value(unit), all.lanes.value(unit)};
}

}  // namespace

FrontierSearch::FrontierSearch(const Problem& problem, const FrontierOptions& options,
                               const Execution& execution)
    : problem_(problem),
      options_(options),
      watch_(execution),
      savepoint_(execution, problem, method_text(options), watch_),
      workers_(execution, &watch_),
      exchange_(problem.model(), workers_.ranks()),
      landings_(problem, workers_.ranks()) {
  channels_.push_back({});
  for (int c = 0; c < static_cast<int>(problem.constraints().size()); ++c) {
    channels_.push_back(channel_of(problem, c));
    required_.push_back(channels_.back().sign * problem.constraints()[c].bound);
  }
  for (int w = 0; w < workers_.count(); ++w) backups_.emplace_back(problem_, channels_, landings_);
  for (const Channel& channel : channels_)
    extremes_.push_back(value_iteration(problem_, channel, workers_));
  least_reward_ = value_iteration(problem_, Channel{}, workers_, true).at(problem.start());
  for (const ValueIteration& best : extremes_) {
    double scale = 1e-12;
    for (const double value : best.values) scale = std::max(scale, std::abs(value));
    scales_.push_back(agree_on_max(workers_.ranks(), scale));
  }
  // A constraint never adds reward. (The values of an infinite horizon stop short of their limit.)
  if (!problem.infinite()) bound_ = extremes_[0].at(problem.start());
}

Solution FrontierSearch::run() {
  Solution solution;
  bool stopped = false;
  try {
    stopped = !search(solution);
  } catch (const Stopped&) {  // within a pass; what the one before it found stands
    stopped = true;
  }
  return conclude(std::move(solution), stopped);
}

bool FrontierSearch::search(Solution& solution) {
  const StagePlan first = make_plan(Directions(begin_with()), 1e-3 * scales_[0]);
  plan_.assign(stages_to_plan(), first);
  const auto state = [&](Archive& archive) { visit(archive, solution); };
  savepoint_.restore(state);
  while (solution.iterations < kMostPasses) {
    std::vector<FrontierStage> stages;
    if (!sweep(stages)) return false;
    adopt(std::move(stages));
    ++solution.iterations;
    record(solution);
    if (infeasible() || (root_.reachable && excess() <= 0) || stagnant()) break;
    std::vector<const FrontierStage*> path;
    for (const FrontierStage& stage : stages_) path.push_back(&stage);
    const bool thorough = required_.size() != 1 || slow(solution.trace);
    // The answer may have moved to where games were played less exactly, and back.
    if (slow(solution.trace)) least_visits_ = std::min(1.0, 10 * least_visits_);
    if (!refine(find_demand(problem_, landings_, path, root_, scales_, negligible(), thorough,
                            backups_.front(), exchange_)))
      break;
    savepoint_.offer(state);
  }
  return true;
}

// An infinite horizon is searched to where what lies beyond it, known without a search, opens the
// gap by less than a tenth of what is allowed.
int FrontierSearch::stages_to_plan() {
  if (!problem_.infinite()) return problem_.horizon();
  end_ = first_guess(Directions(begin_with()));
  double open = 0;
  for (State s = 0; s < problem_.model().states(); ++s) {
    for (int k = 0; k < end_.table.directions().rays_begin(); ++k) {
      double scale = 0;
      for (int j = 0; j < end_.table.directions().signals(); ++j)
        scale += end_.table.directions().weight(k, j) * scales_[j];
      open = std::max(open, (end_.table.bounds(s)[k] - end_.table.along(s, k, k)) / scale);
    }
  }
  open = agree_on_max(workers_.ranks(), open);
  if (open <= 0) return 1;
  return std::max(
      1, stages_until_negligible(problem_, std::min(0.5, 0.1 * options_.tolerance / open)));
}

// Prices around the exchange rate of two totals; the search moves to where the answer is.
FrontierSearch::Prices FrontierSearch::begin_with() const {
  Prices prices;
  for (std::size_t lead = 0; lead < channels_.size(); ++lead) {
    for (std::size_t j = lead + 1; j < channels_.size(); ++j) {
      prices.push_back(first_prices(required_.size()));
      for (double& price : prices.back()) price = price * scales_[lead] / scales_[j];
    }
  }
  return prices;
}

// Proved: one constraint on its own is out of reach, or all of them together would bound the reward
// below what every policy has.
bool FrontierSearch::infeasible() const {
  return root_.beyond_reach ||
         (!root_.reachable &&
          bound_ < least_reward_ - 1e-9 * std::max(1.0, std::abs(least_reward_)));
}

// With several constraints a pass may be large and gain nothing: prices are limited in number, and
// landings are known by their states only one direction at a time.
bool FrontierSearch::stagnant() {
  if (required_.size() < 2) return false;
  const double open = root_.reachable ? bound_ - root_.value : root_.shortfall;
  const bool better = open < 0.9 * least_open_ || root_.reachable != was_reachable_;
  idle_ = better ? 0 : idle_ + 1;
  if (better) least_open_ = open;
  was_reachable_ = root_.reachable;
  return idle_ >= kMostIdle;
}

double FrontierSearch::allowed() const {
  return options_.tolerance * std::max({std::abs(root_.value), std::abs(bound_), 1e-12});
}

// A gap at the start that may come from every direction of every state and stage.
double FrontierSearch::negligible() {
  double lanes = 0;
  for (const StagePlan& plan : plan_) {
    const auto looks_at = [](double tolerance) { return std::isfinite(tolerance); };
    lanes +=
        static_cast<double>(std::count_if(plan.tolerance.begin(), plan.tolerance.end(), looks_at));
  }
  return kForgotten * share_ * allowed() / agree_on_sum(workers_.ranks(), lanes);
}

// Every state looks at every direction. `tolerance` is in the unit of the reward.
StagePlan FrontierSearch::make_plan(Directions directions, double tolerance) const {
  StagePlan plan{std::move(directions), {}};
  const std::int64_t states = problem_.model().own_states(), size = plan.directions.size();
  plan.tolerance.assign(states * size, tolerance);
  for (std::int64_t s = 0; s < states; ++s) {
    for (int k = plan.directions.rays_begin(); k < size; ++k)
      plan.tolerance[s * size + k] *= scales_[plan.directions.lead(k)] / scales_[0];
  }
  return plan;
}

// Plans the next pass: finer where the gap at the start comes from. False when nothing is left to
// do.
bool FrontierSearch::refine(const Demand& demand) {
  if (!root_.reachable && required_.size() > 1 && plan_towards(root_.prices)) return true;
  while (!plan_finer(demand)) {
    // All is as fine as the estimates ask for, and it is not enough: ask for more. Several
    // constraints would ask for too much: all combinations of their prices are directions.
    const double gap = bound_ - root_.value;
    if (required_.size() > 1 || share_ < kLeastShare || gap > 0.95 * asked_at_) return false;
    share_ /= 4;
    asked_at_ = gap;
  }
  return true;
}

std::vector<FrontierSearch::Prices> FrontierSearch::listed_prices() const {
  std::vector<Prices> prices;
  for (const StagePlan& plan : plan_) {
    Prices& stage = prices.emplace_back();
    for (int list = 0; list < plan.directions.lists(); ++list)
      stage.push_back(plan.directions.prices(list));
  }
  return prices;
}

// Adds the prices of one direction at every stage, whichever of its signals leads. False when they
// are listed already.
bool FrontierSearch::plan_towards(const std::vector<double>& wanted) {
  bool finer = false;
  std::vector<Prices> prices = listed_prices();
  const auto add = [&](std::vector<double>& list, double price) {
    const auto place = std::lower_bound(list.begin(), list.end(), price);
    if (place != list.end() && *place == price) return;
    list.insert(place, price);
    finer = true;
  };
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    const Directions& directions = plan_[h].directions;
    for (int lead = 0; lead < directions.signals(); ++lead) {
      const double weight = lead == 0 ? 1.0 : wanted[lead - 1];
      for (int j = lead + 1; weight > 0 && j < directions.signals(); ++j)
        add(prices[h][directions.list(lead, j)], wanted[j - 1] / weight);
    }
    plan_[h] = make_plan(Directions(prices[h]), plan_[h].tolerance.front());
  }
  return finer;
}

// False when it is the same plan again.
bool FrontierSearch::plan_finer(const Demand& demand) {
  // Early passes, whose prices are still coarse, are not worth games of the final accuracy. Games
  // that cost more than they were allowed to need more rounds.
  const double for_games = kForGames * share_ * allowed();
  const bool unfinished = demand.games > std::max(for_games, 1.2 * for_games_);
  const double before = for_games_;
  for_games_ = std::max(for_games, 0.02 * (bound_ - root_.value));
  const bool more = for_games_ < before || (unfinished && rounds_ < kMostRounds);
  if (unfinished) rounds_ = std::min(2 * rounds_, kMostRounds);
  const double target = kForPrices * share_ * allowed();
  const bool finer =
      required_.size() == 1 ? plan_grids(demand, target) : plan_prices(demand, target);
  return more || finer;
}

// With one constraint every state has a grid of its own, and plays its games less exactly where
// little comes to: what one unit of work saves is then the same everywhere.
bool FrontierSearch::plan_grids(const Demand& demand, double target) {
  Communicator& ranks = workers_.ranks();
  const std::vector<PriceGrid> grids =
      refine_grids(demand, target, options_.most_directions, plan_, problem_.model(), ranks);
  const Visits visits = count_visits(grids, ranks);
  const double least = least_visits_ * visits.sum / visits.lanes;
  bool finer = false;
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    const PriceGrid& grid = grids[h];
    finer |= grid.finer;
    plan_[h] = make_plan(grid.directions, for_games_ / visits.sum_of_roots);
    for (std::size_t n = 0; n < grid.visits.size(); ++n) {
      if (grid.looks_at[n])
        plan_[h].tolerance[n] /= std::sqrt(std::max(grid.visits[n], least));
      else
        plan_[h].tolerance[n] = std::numeric_limits<double>::infinity();
    }
  }
  return any_rank(ranks, finer);
}

// With several constraints the prices are those of the stage.
bool FrontierSearch::plan_prices(const Demand& demand, double target) {
  double roots = 0;
  for (const double mass : demand.mass) roots += std::sqrt(mass);
  std::vector<Prices> prices = listed_prices();
  add_prices(demand, target, most_prices(required_.size(), options_.most_directions), prices);
  bool finer = false;
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    Directions directions(prices[h]);
    finer |= directions.size() > plan_[h].directions.size();
    const double tolerance = for_games_ / (roots * std::sqrt(std::max(demand.mass[h], 1e-12)));
    plan_[h] = make_plan(std::move(directions), tolerance);
  }
  return finer;
}

FrontierStage FrontierSearch::make_stage(const Directions& directions) const {
  FrontierStage stage;
  stage.table = TradeOffs(directions, std::int64_t{problem_.model().states()} + landings_.count());
  stage.recipes.resize(problem_.model().states());
  stage.causes.resize(problem_.model().states());
  return stage;
}

// All stages backward as planned. False when stopped.
bool FrontierSearch::sweep(std::vector<FrontierStage>& stages) {
  const int horizon = static_cast<int>(plan_.size());
  stages.resize(horizon + 1);
  stages[horizon] = problem_.infinite()
                        ? end_
                        : make_stage(Directions(Prices(
                              Directions::lists(static_cast<int>(required_.size())), {0.0})));
  complete_stage(landings_, stages[horizon]);
  for (int h = horizon; h-- > 0;) {
    if (watch_.stop(1 - (h + 1.0) / horizon)) return false;
    stages[h] = make_stage(plan_[h].directions);
    step(h, plan_[h], stages[h + 1], stages[h], h + 1 == horizon && !problem_.infinite());
    complete_stage(landings_, stages[h]);
  }
  stands_ = later_stands_ = {};
  return true;
}

void FrontierSearch::step(int h, const StagePlan& plan, const FrontierStage& next,
                          FrontierStage& here, bool last) {
  const auto size = static_cast<std::size_t>(plan.directions.size());
  const Model& model = problem_.model();
  const double work =
      200.0 * static_cast<double>(model.outcomes()) / model.stages() * static_cast<double>(size);
  const LayerView layer{here.table.bounds(0), here.table.stride(), 1, 0, here.table.stride()};
  Ahead ahead;
  if (required_.size() == 1) ahead = look_ahead(next.table, next.curves, plan.directions);
  later_stands_.swap(stands_);
  forget(stands_, model.states());
  exchange_.sweep(workers_, {work}, layer, [&](State s, std::int64_t, int worker) {
    const double* tolerance =
        plan.tolerance.data() + std::int64_t{model.own_place(s)} * static_cast<std::int64_t>(size);
    backups_[worker].run(h, s, next, here,
                         {{tolerance, size}, rounds_, last, &ahead, &stands_, &later_stands_});
  });
}

void FrontierSearch::adopt(std::vector<FrontierStage> stages) {
  stages_ = std::move(stages);
  root_ = solve_root(stages_.front().table, problem_.start(), required_);
  bound_ = std::min(bound_, root_.bound);
}

// What is known of an infinite horizon without any search: nobody has more of a signal than its own
// best, and the policies that are best for one signal achieve what they achieve.
FrontierStage FrontierSearch::first_guess(const Directions& directions) {
  FrontierStage stage = make_stage(directions);
  const State states = problem_.model().states();
  std::vector<std::vector<double>>
      achieved;  // by the best policy of each channel: [channel][state]
  for (const ValueIteration& best : extremes_)
    achieved.push_back(evaluate(problem_, best.policy, workers_).values.front());
  end_policy_.assign(states, std::vector<std::int32_t>(directions.size(), 0));
  for (State s = 0; s < states; ++s) {
    for (int k = 0; k < directions.size(); ++k) {
      double most = -std::numeric_limits<double>::infinity();
      for (std::size_t best = 0; best < achieved.size(); ++best) {
        double value = 0;
        for (int j = 0; j < directions.signals(); ++j)
          value += directions.weight(k, j) * achieved[best][j * states + s];
        if (value <= most) continue;
        most = value;
        end_policy_[s][k] = static_cast<std::int32_t>(best);
      }
      for (int j = 0; j < directions.signals(); ++j) {
        stage.table.bounds(s)[k] += directions.weight(k, j) * extremes_[j].values[s];
        stage.table.points(s, j)[k] = achieved[end_policy_[s][k]][j * states + s];
      }
    }
  }
  return stage;
}

double FrontierSearch::own_evaluations() const {
  double sum = evaluations_before_;
  for (const ValueIteration& best : extremes_)
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

}  // namespace redoubt
