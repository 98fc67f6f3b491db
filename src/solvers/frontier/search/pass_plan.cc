#include "solvers/frontier/search/pass_plan.h"

#include <algorithm>
#include <cmath>

#include "bellman/steps.h"
#include "numerics/exact_sum.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

constexpr int kMostRounds = 1 << 16;
// How the allowed gap is shared out: to what is lost between prices, to games that are not played
// to the end, and to directions that are not followed. The rest is for what these estimates miss.
constexpr double kForPrices = 0.25, kForGames = 0.45, kForgotten = 0.02;
constexpr double kForGamesInPlace = 0.6;  // of an infinite horizon
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
PassPlan::Prices PassPlan::exchange_rates() const {
  Prices prices;
  for (std::size_t lead = 0; lead < extremes_.channels.size(); ++lead) {
    for (std::size_t j = lead + 1; j < extremes_.channels.size(); ++j) {
      prices.push_back(first_prices(constraints()));
      for (double& price : prices.back()) price *= extremes_.exchange_rate(lead, j);
    }
  }
  return prices;
}

void PassPlan::begin(const Location* location) {
  Prices prices = exchange_rates();
  // What games leave open adds up over the stages.
  const double share = problem_.infinite() ? 1e-2 * (1 - contraction(problem_, workers_)) : 1e-3;
  const double tolerance = share * extremes_.spread[0];
  stages_.clear();
  if (location == nullptr) {
    stages_.assign(problem_.infinite() ? 1 : problem_.horizon(),
                   make_stage(Directions(prices), tolerance));
    return;
  }
  for (const std::vector<double>& deviation : location->deviation) {
    for (std::size_t c = 0; c < constraints(); ++c)
      prices[c] = prices_around(location->prices[c], deviation[c], constraints());
    stages_.push_back(make_stage(Directions(prices), tolerance));
  }
}

PassPlan::Size PassPlan::size() const {
  Size size;
  const auto looks_at = [](double tolerance) { return std::isfinite(tolerance); };
  for (const StagePlan& plan : stages_) {
    size.lanes +=
        static_cast<double>(std::count_if(plan.tolerance.begin(), plan.tolerance.end(), looks_at));
    size.cells += static_cast<double>(plan.tolerance.size());
  }
  return size;
}

double PassPlan::negligible(double allowed, double times) const {
  return kForgotten * share_ * allowed / (times * sum_over_ranks(workers_.ranks(), size().lanes));
}

// Every state looks at every direction. `tolerance` is in the unit of the reward.
StagePlan PassPlan::make_stage(Directions directions, double tolerance) const {
  StagePlan plan{std::move(directions), {}};
  const std::int64_t states = problem_.model().own_states(), size = plan.directions.size();
  plan.tolerance.assign(states * size, tolerance);
  for (std::int64_t s = 0; s < states; ++s) {
    for (int k = plan.directions.rays_begin(); k < size; ++k)
      plan.tolerance[s * size + k] *=
          extremes_.spread[plan.directions.lead(k)] / extremes_.spread[0];
  }
  return plan;
}

bool PassPlan::refine(const GapAttribution& gaps, const Answer& answer) {
  if (!answer.root.reachable && constraints() > 1 && add_direction(answer.root.prices)) return true;
  while (!make_finer(gaps, answer)) {
    // All is as fine as the estimates ask for, and it is not enough: ask for more. Several
    // constraints would ask for too much: all combinations of their prices are directions.
    if (constraints() > 1 || share_ < kLeastShare || answer.gap() > 0.95 * asked_at_) return false;
    share_ /= 4;
    asked_at_ = answer.gap();
  }
  return true;
}

std::vector<PassPlan::Prices> PassPlan::listed_prices() const {
  std::vector<Prices> prices;
  for (const StagePlan& plan : stages_) {
    Prices& stage = prices.emplace_back();
    for (int list = 0; list < plan.directions.lists(); ++list)
      stage.push_back(plan.directions.prices(list));
  }
  return prices;
}

// Adds the prices of one direction at every stage, whichever of its signals leads. False when they
// are listed already.
bool PassPlan::add_direction(const std::vector<double>& wanted) {
  bool finer = false;
  std::vector<Prices> prices = listed_prices();
  const auto add = [&](std::vector<double>& list, double price) {
    const auto place = std::lower_bound(list.begin(), list.end(), price);
    if (place != list.end() && *place == price) return;
    list.insert(place, price);
    finer = true;
  };
  for (std::size_t h = 0; h < stages_.size(); ++h) {
    const Directions& directions = stages_[h].directions;
    for (int lead = 0; lead < directions.signals(); ++lead) {
      const double weight = lead == 0 ? 1.0 : wanted[lead - 1];
      for (int j = lead + 1; weight > 0 && j < directions.signals(); ++j)
        add(prices[h][directions.list(lead, j)], wanted[j - 1] / weight);
    }
    stages_[h] = make_stage(Directions(prices[h]), stages_[h].tolerance.front());
  }
  return finer;
}

// False when it is the same plan again.
bool PassPlan::make_finer(const GapAttribution& gaps, const Answer& answer) {
  // Early passes, whose prices are still coarse, are not worth games of the final accuracy. Games
  // that cost more than they were allowed to need more rounds.
  const bool in_place = problem_.infinite();
  const double for_games = (in_place ? kForGamesInPlace : kForGames) * share_ * answer.allowed;
  const bool unfinished = gaps.games > std::max(for_games, 1.2 * for_games_);
  const double before = for_games_;
  const bool first = std::isinf(before) && !in_place;
  for_games_ = std::max(for_games, (in_place ? 0.02 : 0.01) * answer.gap());
  const bool more = for_games_ < before || (unfinished && rounds_ < kMostRounds);
  if (unfinished) rounds_ = std::min(2 * rounds_, kMostRounds);
  const double target = (first ? kOfFirst : 1) * kForPrices * share_ * answer.allowed;
  const bool finer = constraints() == 1 ? refine_states(gaps, target) : refine_stages(gaps, target);
  return more || finer;
}

// With one constraint every state has a grid of its own, and plays its games less exactly where
// little comes to: what one unit of work saves is then the same everywhere.
bool PassPlan::refine_states(const GapAttribution& gaps, double target) {
  Communicator& ranks = workers_.ranks();
  const std::vector<PriceGrid> grids =
      refine_grids(gaps, target, most_directions_, stages_, problem_.model(), workers_);
  const Visits visits = count_visits(grids, ranks);
  const double least = least_visits_ * visits.sum / visits.lanes;
  bool finer = false;
  for (std::size_t h = 0; h < stages_.size(); ++h) {
    const PriceGrid& grid = grids[h];
    finer |= grid.finer;
    stages_[h] = make_stage(grid.directions, for_games_ / visits.sum_of_roots);
    for (std::size_t n = 0; n < grid.visits.size(); ++n) {
      if (grid.looks_at[n])
        stages_[h].tolerance[n] /= std::sqrt(std::max(grid.visits[n], least));
      else
        stages_[h].tolerance[n] = std::numeric_limits<double>::infinity();
    }
  }
  return any_rank(ranks, finer);
}

// With several constraints the prices are those of the stage.
bool PassPlan::refine_stages(const GapAttribution& gaps, double target) {
  double roots = 0;
  for (const double mass : gaps.mass) roots += std::sqrt(mass);
  std::vector<Prices> prices = listed_prices();
  add_prices(gaps, target, most_prices(constraints(), most_directions_), prices);
  bool finer = false;
  for (std::size_t h = 0; h < stages_.size(); ++h) {
    Directions directions(prices[h]);
    finer |= directions.size() > stages_[h].directions.size();
    const double tolerance = for_games_ / (roots * std::sqrt(std::max(gaps.mass[h], 1e-12)));
    stages_[h] = make_stage(std::move(directions), tolerance);
  }
  return finer;
}

void PassPlan::visit(Archive& archive) {
  std::int64_t rounds = rounds_;
  archive.visit("for_games", for_games_);
  archive.visit("share", share_);
  archive.visit("asked_at", asked_at_);
  archive.visit("least_visits", least_visits_);
  archive.visit("rounds", rounds);
  rounds_ = static_cast<int>(rounds);
  visit_stages(archive);
}

void PassPlan::visit_stages(Archive& archive) {
  Prices prices;  // of all stages
  for (const Prices& stage : listed_prices())
    prices.insert(prices.end(), stage.begin(), stage.end());
  archive.visit("prices", prices);
  const std::int64_t states = problem_.model().own_states();
  std::int64_t each = 0;  // directions of a state, at all stages
  auto list = prices.begin();
  for (StagePlan& stage : stages_) {
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
      for (StagePlan& stage : stages_) {
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
