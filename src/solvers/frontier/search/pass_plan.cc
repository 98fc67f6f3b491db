#include "solvers/frontier/search/pass_plan.h"

#include <algorithm>
#include <cmath>

#include "bellman/steps.h"
#include "numerics/exact_sum.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

constexpr int kMostRounds = 1 << 16;
constexpr int kMostRoundsInPlace = 512;  // with several constraints
// How the allowed gap is shared out: to what is lost between prices, to games that are not played
// to the end, and to directions that are not followed. The rest is for what these estimates miss.
constexpr double kForPrices = 0.25, kForGames = 0.45, kForgotten = 0.02;
constexpr double kForGamesInPlace = 0.6;  // of an infinite horizon
// What a first, coarse pass says of losses between prices is too little by about this.
constexpr double kOfFirst = 0.3;
constexpr double kLeastShare = 1e-3;
// States with several constraints ask for different directions; each looks at some of those listed.
// The one stage of an infinite horizon is played through again and again.
constexpr int kSharedBy = 4, kSharedInPlace = 2;
// With several constraints a pass adds directions where the largest losses are, until these make up
// this share of all losses and the directions are this share more: where little is lost now may not
// be where the answer goes by then.
constexpr double kWorthwhile = 0.5, kGrowth = 0.2;
constexpr double kFar = 2.8;  // the logarithm of 16, from exchange rates to first prices

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

// The loss of a direction, of all ranks, above which a direction is added.
double largest_losses(const GapAttribution& gaps, double least, double lanes, Communicator& ranks) {
  std::vector<double> own;
  for (const auto& stage : gaps.near) {
    for (const GapAttribution::Near& near : stage)
      if (near.loss > least) own.push_back(near.loss);
  }
  std::vector<double> all = all_gather_lists(ranks, std::move(own));
  std::sort(all.begin(), all.end(), std::greater<>());
  double sum = 0, part = 0;
  for (const double loss : all) sum += loss;
  for (std::size_t n = 0; n < all.size(); ++n) {
    part += all[n];
    if (part >= kWorthwhile * sum && n + 1.0 >= kGrowth * lanes) return std::nextafter(all[n], 0.0);
  }
  return least;
}

}  // namespace

std::vector<double> PassPlan::exchange_rates() const {
  std::vector<double> rates;
  for (std::size_t c = 0; c < constraints(); ++c)
    rates.push_back(extremes_.exchange_rate(0, c + 1));
  return rates;
}

// Around the rates at which the best policies for two channels exchange them, or around the prices
// of a location; the search moves to where the answer is.
void PassPlan::begin(const Location* location) {
  // What games leave open adds up over the stages.
  const double share = problem_.infinite() ? 1e-2 * (1 - contraction(problem_, workers_)) : 1e-3;
  const double tolerance = share * extremes_.spread[0];
  const std::vector<double> rates = exchange_rates();
  stages_.clear();
  if (location == nullptr) {
    Directions directions(static_cast<int>(constraints()), {});
    if (constraints() == 1) {
      std::vector<double> prices = first_prices();
      for (double& price : prices) price *= rates[0];
      directions = Directions::of_prices(prices);
    } else if (constraints() > 1) {
      directions = directions_around(rates, std::vector<double>(rates.size(), kFar));
    }
    stages_.assign(problem_.infinite() ? 1 : problem_.horizon(),
                   make_stage(std::move(directions), tolerance));
    return;
  }
  const std::vector<double>& prices = location->prices;
  const int stages = static_cast<int>(location->deviation.size());
  for (const std::vector<double>& deviation : location->deviation)
    stages_.push_back(make_stage(
        constraints() == 1 ? Directions::of_prices(prices_around(prices[0], deviation[0], stages))
                           : directions_around(prices, deviation),
        tolerance));
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

bool PassPlan::full() const {
  return constraints() == 1 && std::any_of(stages_.begin(), stages_.end(), [&](const auto& stage) {
           return static_cast<int>(stage.directions.prices().size()) >= most_directions_;
         });
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

int PassPlan::most_shared() const {
  return problem_.infinite() ? most_directions_ / kSharedInPlace : kSharedBy * most_directions_;
}

bool PassPlan::refine(const GapAttribution& gaps, const Answer& answer) {
  bool finer = make_finer(gaps, answer);
  if (!answer.root.reachable && constraints() > 1) finer |= add_direction(answer.root.prices);
  while (!finer) {
    // All is as fine as the estimates ask for, and it is not enough: ask for more. (Averages, which
    // games of several constraints end with, would take too long in place.)
    if (several_in_place() || share_ < kLeastShare || answer.gap() > 0.95 * asked_at_) return false;
    share_ /= 4;
    asked_at_ = answer.gap();
    finer = make_finer(gaps, answer);
  }
  return true;
}

// The same stage, at which every state looks at one more direction, as exactly as at any. None when
// that is listed already.
std::optional<StagePlan> PassPlan::with_direction(const StagePlan& stage,
                                                  const std::vector<double>& wanted) const {
  std::vector<double> weights = stage.directions.weights();
  weights.insert(weights.end(), wanted.begin(), wanted.end());
  Directions directions(static_cast<int>(constraints()), weights);
  if (directions == stage.directions) return std::nullopt;
  double least = kInfinity;
  for (const double tolerance : stage.tolerance) least = std::min(least, tolerance);
  StagePlan more = make_stage(std::move(directions), min_over_ranks(workers_.ranks(), least));
  const std::int64_t old = stage.directions.size(), size = more.directions.size();
  for (std::int64_t k = 0; k < old; ++k) {
    const int at = more.directions.find(stage.directions.weights_of(static_cast<int>(k)));
    for (State s = 0; s < problem_.model().own_states(); ++s)
      more.tolerance[s * size + at] = stage.tolerance[s * old + k];
  }
  return more;
}

// At every stage, a direction which leaves the reward out. False when that is listed already.
bool PassPlan::add_direction(const std::vector<double>& wanted) {
  std::vector<double> weights = {0};
  weights.insert(weights.end(), wanted.begin(), wanted.end());
  bool added = false;
  for (StagePlan& stage : stages_) {
    std::optional<StagePlan> more = with_direction(stage, weights);
    if (!more) continue;
    added = true;
    stage = *std::move(more);
  }
  return added;
}

bool PassPlan::add_at_start(const std::vector<double>& wanted) {
  std::optional<StagePlan> more = with_direction(stages_.front(), wanted);
  if (!more) return false;
  stages_.front() = *std::move(more);
  look_at_start_only();
  return true;
}

// Where no episode starts, the first stage needs some policy and no more.
void PassPlan::look_at_start_only() {
  StagePlan& stage = stages_.front();
  const Model& model = problem_.model();
  const std::vector<State>& start = problem_.start().states;
  const std::int64_t size = stage.directions.size();
  for (State place = 0; place < model.own_states(); ++place) {
    if (std::find(start.begin(), start.end(), model.own(place)) != start.end()) continue;
    for (int k = 0; k < size; ++k) {
      if (k != stage.directions.alone(stage.directions.lead(k)))
        stage.tolerance[place * size + k] = kInfinity;
    }
  }
}

// False when it is the same plan again.
bool PassPlan::make_finer(const GapAttribution& gaps, const Answer& answer) {
  // Early passes, whose prices are still coarse, are not worth games of the final accuracy. Games
  // that cost more than they were allowed to need more rounds.
  const bool in_place = problem_.infinite();
  const int most_rounds = several_in_place() ? kMostRoundsInPlace : kMostRounds;
  const double for_games = (in_place ? kForGamesInPlace : kForGames) * share_ * answer.allowed;
  const bool unfinished = gaps.games > std::max(for_games, 1.2 * for_games_);
  const double before = for_games_;
  const bool first = std::isinf(before) && !in_place;
  for_games_ = std::max(for_games, (in_place ? 0.02 : 0.01) * answer.gap());
  const bool more = for_games_ < before || (unfinished && rounds_ < most_rounds);
  if (unfinished) rounds_ = std::min(2 * rounds_, most_rounds);
  const double target = (first ? kOfFirst : 1) * kForPrices * share_ * answer.allowed;
  const bool finer = refine_states(gaps, target);
  return more || finer;
}

// Every state has directions of its own, and plays its games less exactly where little comes to:
// what one unit of work saves is then the same everywhere.
bool PassPlan::refine_states(const GapAttribution& gaps, double target) {
  Communicator& ranks = workers_.ranks();
  const double lanes = sum_over_ranks(ranks, size().lanes);
  const std::vector<PriceGrid> grids =
      constraints() == 1
          ? refine_grids(gaps, target, most_directions_, stages_, problem_.model(), workers_)
          : add_directions(gaps, largest_losses(gaps, target / lanes, lanes, ranks), most_shared(),
                           stages_, problem_, extremes_.spread, workers_);
  const Visits visits = count_visits(grids, ranks);
  const double least = least_visits_ * visits.sum / visits.lanes;
  const bool evenly = several_in_place();
  bool finer = false;
  for (std::size_t h = 0; h < stages_.size(); ++h) {
    const PriceGrid& grid = grids[h];
    finer |= grid.finer;
    stages_[h] =
        make_stage(grid.directions, for_games_ / (evenly ? visits.sum : visits.sum_of_roots));
    for (std::size_t n = 0; n < grid.visits.size(); ++n) {
      if (grid.looks_at[n] && evenly)
        continue;
      else if (grid.looks_at[n])
        stages_[h].tolerance[n] /= std::sqrt(std::max(grid.visits[n], least));
      else
        stages_[h].tolerance[n] = std::numeric_limits<double>::infinity();
    }
  }
  return any_rank(ranks, finer);
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
  std::vector<std::vector<double>> weights;  // of all stages
  for (const StagePlan& stage : stages_) weights.push_back(stage.directions.weights());
  archive.visit("directions", weights);
  const std::int64_t states = problem_.model().own_states();
  std::int64_t each = 0;  // directions of a state, at all stages
  for (std::size_t h = 0; h < stages_.size(); ++h) {
    StagePlan& stage = stages_[h];
    stage.directions = Directions(static_cast<int>(constraints()), weights[h]);
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
