#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluation/evaluation.h"
#include "numerics/exact_sum.h"
#include "solvers/frontier/search/search.h"

// What each pass of a search looks at: prices, and how exactly the games are played.
namespace redoubt::internal {
namespace {

constexpr int kMostRounds = 1 << 16;
// How the allowed gap is shared out: to what is lost between prices, to games that are not played
// to the end, and to directions that are not followed. The rest is for what these estimates miss.
constexpr double kForPrices = 0.25, kForGames = 0.45, kForgotten = 0.02;
// What a first, coarse pass says of losses between prices is too little by about this.
constexpr double kOfFirst = 0.3;
constexpr double kLeastShare = 1e-3;

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
  for (const Sums& part : all_gather_one(ranks, own)) {
    all.visits.add(part.visits);
    all.roots.add(part.roots);
    all.lanes.add(part.lanes);
  }
  return {all.visits.value(unit), all.roots.value(unit), all.lanes.value(unit)};
}

}  // namespace

// Prices around the rate at which the best policies for two channels exchange them; the search
// moves to where the answer is.
FrontierSearch::Prices FrontierSearch::begin_with() const {
  Prices prices;
  for (std::size_t lead = 0; lead < channels_.size(); ++lead) {
    for (std::size_t j = lead + 1; j < channels_.size(); ++j) {
      prices.push_back(first_prices(required_.size()));
      for (double& price : prices.back()) price *= extremes_.exchange_rate(lead, j);
    }
  }
  return prices;
}

// The first pass. On a finite horizon it looks around the prices at which memoryless policies meet
// the constraints, at every stage as far as prices are spread by then. Throws Stopped.
void FrontierSearch::begin() {
  Prices prices = begin_with();
  // What games leave open adds up over the stages.
  const double share = problem_.infinite() ? 1e-2 * (1 - problem_.discount()) : 1e-3;
  plan_.clear();
  if (problem_.infinite() || required_.empty()) {
    plan_.assign(problem_.infinite() ? 1 : problem_.horizon(),
                 make_plan(Directions(prices), share * scales_[0]));
    return;
  }
  const Location location = locate(problem_, extremes_, workers_, exchange_);
  evaluations_before_ += location.row_evaluations;
  for (const std::vector<double>& deviation : location.deviation) {
    for (std::size_t c = 0; c < required_.size(); ++c)
      prices[c] = prices_around(location.prices[c], deviation[c], required_.size());
    plan_.push_back(make_plan(Directions(prices), share * scales_[0]));
  }
  Evaluation evaluation = evaluate(whole_, location.policy, workers_).evaluation;
  best_.offer({location.policy,
               std::move(evaluation),
               {},
               "a mixture of memoryless policies that the search began with"});
}

FrontierSearch::PassSize FrontierSearch::size_of_pass() const {
  PassSize size;
  const auto looks_at = [](double tolerance) { return std::isfinite(tolerance); };
  for (const StagePlan& plan : plan_) {
    size.lanes +=
        static_cast<double>(std::count_if(plan.tolerance.begin(), plan.tolerance.end(), looks_at));
    size.cells += static_cast<double>(plan.tolerance.size());
  }
  return size;
}

// A gap at the start that may come from every direction of every state and stage.
double FrontierSearch::negligible() {
  const double passes = problem_.infinite() ? steps_to_follow() : 1;  // through the same stage
  return kForgotten * share_ * allowed() /
         (passes * sum_over_ranks(workers_.ranks(), size_of_pass().lanes));
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
bool FrontierSearch::refine(const GapAttribution& gaps) {
  if (!root_.reachable && required_.size() > 1 && plan_towards(root_.prices)) return true;
  while (!plan_finer(gaps)) {
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
bool FrontierSearch::plan_finer(const GapAttribution& gaps) {
  // Early passes, whose prices are still coarse, are not worth games of the final accuracy. Games
  // that cost more than they were allowed to need more rounds.
  const double for_games = kForGames * share_ * allowed();
  const bool unfinished = gaps.games > std::max(for_games, 1.2 * for_games_);
  const double before = for_games_;
  const bool first = std::isinf(before);
  for_games_ = std::max(for_games, 0.01 * (bound_ - root_.value));
  const bool more = for_games_ < before || (unfinished && rounds_ < kMostRounds);
  if (unfinished) rounds_ = std::min(2 * rounds_, kMostRounds);
  const double target = (first ? kOfFirst : 1) * kForPrices * share_ * allowed();
  const bool finer = required_.size() == 1 ? plan_grids(gaps, target) : plan_prices(gaps, target);
  return more || finer;
}

// With one constraint every state has a grid of its own, and plays its games less exactly where
// little comes to: what one unit of work saves is then the same everywhere.
bool FrontierSearch::plan_grids(const GapAttribution& gaps, double target) {
  Communicator& ranks = workers_.ranks();
  const std::vector<PriceGrid> grids = refine_grids(
      gaps, target, most_directions(problem_, options_), plan_, problem_.model(), workers_);
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
bool FrontierSearch::plan_prices(const GapAttribution& gaps, double target) {
  double roots = 0;
  for (const double mass : gaps.mass) roots += std::sqrt(mass);
  std::vector<Prices> prices = listed_prices();
  add_prices(gaps, target, most_prices(required_.size(), most_directions(problem_, options_)),
             prices);
  bool finer = false;
  for (std::size_t h = 0; h < plan_.size(); ++h) {
    Directions directions(prices[h]);
    finer |= directions.size() > plan_[h].directions.size();
    const double tolerance = for_games_ / (roots * std::sqrt(std::max(gaps.mass[h], 1e-12)));
    plan_[h] = make_plan(std::move(directions), tolerance);
  }
  return finer;
}

}  // namespace redoubt::internal
