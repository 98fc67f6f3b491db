#include "solvers/frontier/search/stage.h"
#include "numerics/infinity.h"

#include <algorithm>
#include <cmath>

namespace redoubt::internal {
namespace {

constexpr int kFirstLook = 2, kNewtonRounds = 64;

}  // namespace

std::span<const std::int64_t> StateBackup::places_of(Row row) {
  const Model& model = problem_->model();
  places_.assign(model.arrays().next.begin() + model.outcome_begin(row),
                 model.arrays().next.begin() + model.outcome_end(row));
  if (landings_->anywhere()) places_.push_back(model.states());
  return places_;
}

void StateBackup::run(int stage, State state, const FrontierStage& next, FrontierStage& here,
                      const BackupOptions& options) {
  const Model& model = problem_->model();
  const Directions& directions = here.table.directions();
  const int actions = static_cast<int>(model.row_end(stage, state) - model.row_begin(stage, state));
  Recipes& recipes = here.recipes[state];
  recipes = {};
  here.causes[state].action.assign(directions.size(), -1);
  if (actions == 0) {  // terminal: the only point is zero, and the table holds it already
    recipes.action.assign(directions.size(), -1);
    return;
  }
  if (mixtures_) return mixtures_->run(stage, state, next, here, options);
  begin(actions, directions.size(), options);

  // The actions that are likely to be the best go first: the others then only have to be shown not
  // to be better.
  const Step step{stage, state, next, here, options};
  const bool newton = kl_set_ || level_set_;
  if (!guess_best(state, next, directions, options.ahead)) {
    for (int a = 0; a < actions; ++a) play(step, a, lanes_, kFirstLook, newton);
    for (const int lane : lanes_) likely_[lane] = best_action_[lane];
  }
  std::vector<int> chosen;
  const auto play_open = [&](int a, bool by_newton, const auto& included) {
    chosen.clear();
    for (const int lane : lanes_) {
      const auto at = static_cast<std::size_t>(a) * directions.size() + lane;
      if (included(lane) && gap_[at] > options.tolerance[lane] && bound_[at] > best_value_[lane])
        chosen.push_back(lane);
    }
    if (!chosen.empty()) play(step, a, chosen, options.rounds, by_newton);
  };
  for (const bool likely : {true, false}) {
    for (int a = 0; a < actions; ++a)
      play_open(a, newton, [&](int lane) { return (likely_[lane] == a) == likely; });
  }
  // Where Newton's method does not settle a game (against kl: one of many rounds), averages do.
  if (level_set_ || (kl_set_ && options.rounds > kNewtonRounds)) {
    for (int a = 0; a < actions; ++a) play_open(a, false, [](int) { return true; });
  }
  keep_bounds(actions, directions, here.table.bounds(state), options.keep_rivals,
              here.causes[state]);
  fill_bounds(directions, lanes_, here.table.bounds(state));
  Recipes own;
  write_recipes(stage, state, next, options.last, own);
  evaluate_recipes(stage, state, std::move(own), next, here);
}

// Nothing is known of any action, in the directions that the state looks at.
void StateBackup::begin(int actions, int lanes, const BackupOptions& options) {
  bound_.assign(static_cast<std::size_t>(actions) * lanes, kInfinity);
  gap_.assign(bound_.size(), kInfinity);
  if (kernel_.size() < bound_.size()) kernel_.resize(bound_.size());
  for (std::size_t at = 0; at < bound_.size(); ++at) kernel_[at].clear();
  best_value_.assign(lanes, -kInfinity);
  best_action_.assign(lanes, 0);
  best_promises_.resize(lanes);
  best_mixture_.resize(lanes);

  lanes_.clear();
  for (int lane = 0; lane < lanes; ++lane) {
    if (std::isfinite(options.tolerance[lane])) lanes_.push_back(lane);
  }
}

// The action that the next stage takes at the nearest price, where rows are the same in both.
bool StateBackup::guess_best(State state, const FrontierStage& next, const Directions& directions,
                             const NextStageLayout* ahead) {
  likely_.assign(directions.size(), 0);
  const std::vector<std::int32_t>& later = next.recipes[state].action;
  if (problem_->model().stages() > 1 || directions.constraints() != 1 || later.empty() ||
      later.front() < 0)
    return false;
  for (int k = 0; k < directions.size(); ++k) likely_[k] = later[ahead->nearest[k]];
  return true;
}

// No action does better than the one with the largest bound.
void StateBackup::keep_bounds(int actions, const Directions& directions, double* bounds,
                              bool keep_rivals, Causes& causes) const {
  causes.slot.assign(directions.size(), 0);
  causes.kernels.clear();
  causes.rivals.clear();
  causes.rest.assign(keep_rivals ? directions.size() : 0, -kInfinity);
  causes.kernels.reserve(lanes_.size() * directions.signals() *
                         (problem_->model().most_outcomes() + 1));
  for (const int lane : lanes_) {
    const auto bound = [&](int a) {
      return bound_[static_cast<std::size_t>(a) * directions.size() + lane];
    };
    const auto kernel = [&](int a) -> const std::vector<double>& {
      return kernel_[static_cast<std::size_t>(a) * directions.size() + lane];
    };
    int cause = best_action_[lane];
    bounds[lane] = bound(cause);
    for (int a = 0; a < actions; ++a) {
      bounds[lane] = std::max(bounds[lane], bound(a));
      if (bound(a) > bound(cause) && !kernel(a).empty()) cause = a;
    }
    const auto add_kernel = [&](int a) {
      const auto slot = static_cast<std::int32_t>(causes.kernels.size());
      causes.kernels.insert(causes.kernels.end(), kernel(a).begin(), kernel(a).end());
      return slot;
    };
    causes.action[lane] = cause;
    causes.slot[lane] = add_kernel(cause);
    for (int a = 0; keep_rivals && a < actions; ++a) {
      if (a == cause) continue;
      if (bound(a) > best_value_[lane] && !kernel(a).empty())
        causes.rivals.push_back({lane, a, add_kernel(a)});
      else
        causes.rest[lane] = std::max(causes.rest[lane], bound(a));
    }
  }
}

// Where the games of an action stand, and where those of the next stage stood if the row is the
// same there.
GameHistory StateBackup::warm_starts_of(int stage, State state, int action, int directions,
                                        const BackupOptions& options) const {
  const Model& model = problem_->model();
  auto& actions = (*options.warm_starts)[state];
  actions.resize(model.row_end(stage, state) - model.row_begin(stage, state));
  GameHistory history{&actions[action], nullptr};
  if (history.own->warm_starts.empty()) history.own->warm_starts.resize(directions);
  if (model.stages() > 1 || options.later_warm_starts->empty()) return history;
  const auto& later = (*options.later_warm_starts)[state];
  if (!later.empty() && !later[action].warm_starts.empty()) history.later = &later[action];
  return history;
}

// False where nature has no choice.
bool StateBackup::newton_settles(Row row) const {
  const Model& model = problem_->model();
  if (model.outcome_end(row) - model.outcome_begin(row) < 2) return false;
  const Radius* radius = nature_of_rows(*problem_).radius;
  return !radius || radius->of(row) > 0;
}

// Plays the game of one action in some directions and keeps what is better than before.
void StateBackup::play(const Step& step, int action, std::span<const int> lanes, int rounds,
                       bool newton) {
  const auto& [stage, state, next, here, options] = step;
  const Directions& directions = here.table.directions();
  const int signals = directions.signals(), count = static_cast<int>(lanes.size());
  const Row row = problem_->model().row_begin(stage, state) + action;
  weights_.resize(static_cast<std::size_t>(signals) * count);
  tolerance_.resize(count);
  beat_.resize(count);
  for (int n = 0; n < count; ++n) {
    for (int j = 0; j < signals; ++j) weights_[j * count + n] = directions.weight(lanes[n], j);
    tolerance_[n] = options.tolerance[lanes[n]];
    beat_[n] = best_value_[lanes[n]];
  }
  const auto places = places_of(row);
  if (static_cast<int>(ends_.size()) < count) ends_.resize(count);
  const RowGame game{row,           places,       landings_->anywhere(),
                     &next.table,   &next.curves, &next.supports,
                     options.ahead, weights_,     tolerance_,
                     beat_,         rounds};
  newton = newton && newton_settles(row);
  // In place averages that go on stop short of some answers that averages of one sweep find.
  if (signals > 2 || (problem_->infinite() && !newton)) {
    saddle_.solve(game, ends_);
  } else {
    const GameHistory history = warm_starts_of(stage, state, action, directions.size(), options);
    if (newton && kl_set_) {
      kl_.solve(game, lanes, history, ends_);
    } else if (newton) {
      level_.solve(game, lanes, history, ends_);
    } else {
      curve_.solve(game, lanes, history, ends_);
    }
  }
  for (int n = 0; n < count; ++n) {
    const int lane = lanes[n];
    const auto at = static_cast<std::size_t>(action) * directions.size() + lane;
    bound_[at] = std::min(bound_[at], ends_[n].bound);
    // Other kernels may leave a lower bound as long as little is known of where these lead. They
    // are where the game ends, so that is where to learn more.
    if (!ends_[n].kernel.empty() && (ends_[n].gap <= gap_[at] || kernel_[at].empty()))
      kernel_[at].swap(ends_[n].kernel);
    gap_[at] = ends_[n].gap;
    if (ends_[n].value <= best_value_[lane]) continue;
    best_value_[lane] = ends_[n].value;
    best_action_[lane] = action;
    best_promises_[lane].swap(ends_[n].promises);
    if (signals <= 2) continue;
    best_mixture_[lane].assign(places.size(), {});
    for (std::size_t i = 0; i < places.size(); ++i)
      saddle_.mixture(static_cast<int>(i), n, best_mixture_[lane][i]);
  }
}

// Turns the chosen points into what the next stage has recipes for.
void StateBackup::write_recipes(int stage, State state, const FrontierStage& next, bool last,
                                Recipes& recipes) const {
  const Model& model = problem_->model();
  const int signals = next.table.directions().signals();
  std::vector<int> near(model.most_outcomes() + 1, 0);  // neighbours stand close
  recipes.action.assign(best_action_.size(), -1);
  recipes.slot.assign(best_action_.size(), 0);
  if (signals == 2) recipes.mixes.reserve(lanes_.size() * near.size());
  for (const int lane : lanes_) {
    const Row row = model.row_begin(stage, state) + best_action_[lane];
    const auto outcomes = model.outcome_end(row) - model.outcome_begin(row);
    recipes.action[lane] = best_action_[lane];
    recipes.slot[lane] =
        static_cast<std::int32_t>(signals == 2 ? recipes.mixes.size() : recipes.begin.size());
    for (std::int64_t i = 0; i < outcomes + landings_->anywhere(); ++i) {
      if (signals == 2) {
        const std::int64_t place = i < outcomes ? model.arrays().next[model.outcome_begin(row) + i]
                                                : std::int64_t{model.states()};
        const Promise& promise = best_promises_[lane][i];
        if (promise.near >= 0) near[i] = promise.near;
        recipes.mixes.push_back(mix_along(next.curves[place], promise.utility, near[i]));
        continue;
      }
      recipes.begin.push_back(static_cast<std::int32_t>(recipes.moves.size()));
      if (last || signals == 1) {
        recipes.moves.push_back({0, 1.0});
      } else {
        recipes.moves.insert(recipes.moves.end(), best_mixture_[lane][i].begin(),
                             best_mixture_[lane][i].end());
      }
    }
  }
  if (signals != 2) recipes.begin.push_back(static_cast<std::int32_t>(recipes.moves.size()));
}

void StateBackup::evaluate(Row row, const FrontierStage& next, const Recipes& recipes,
                           std::span<const std::int32_t> points, std::vector<double>& result) {
  const auto places = places_of(row);
  const int signals = next.table.directions().signals(), count = static_cast<int>(points.size());
  const int padded = padded_lanes(signals * count);
  if (next_points_.size() < places.size()) next_points_.resize(places.size());
  pointers_.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    next_points_[i].assign(padded, 0.0);
    pointers_[i] = next_points_[i].data();
    for (int n = 0; n < count; ++n) {
      if (signals == 2) {
        const CurveMix& mix = recipes.mixes[recipes.slot[points[n]] + i];
        next_points_[i][n] = average(mix, next.curves[places[i]].reward);
        next_points_[i][count + n] = average(mix, next.curves[places[i]].utility);
        continue;
      }
      for_each_move(recipes, next.curves, recipes.slot[points[n]] + static_cast<std::int64_t>(i),
                    places[i], [&](const MemoryMove& move) {
                      for (int j = 0; j < signals; ++j)
                        next_points_[i][j * count + n] +=
                            move.weight * next.table.points(places[i], j)[move.memory];
                    });
    }
  }
  result.resize(padded);
  rows().worst(row, channels_, signals * count, pointers_.data(),
               landings_->anywhere() ? pointers_[places.size() - 1] : nullptr, result.data(),
               nullptr);
}

// Evaluates the recipes, so that the points are what a policy that follows them guarantees, and
// gives every direction the best of them.
void StateBackup::evaluate_recipes(int stage, State state, Recipes own, const FrontierStage& next,
                                   FrontierStage& here) {
  const Directions& directions = here.table.directions();
  const int size = directions.size(), signals = directions.signals();
  const auto actions = *std::max_element(own.action.begin(), own.action.end()) + 1;
  std::vector<double> points(static_cast<std::size_t>(signals) * size), result;
  std::vector<std::int32_t> same;
  for (std::int32_t a = 0; a < actions; ++a) {
    same.clear();
    for (std::int32_t k = 0; k < size; ++k) {
      if (own.action[k] == a) same.push_back(k);
    }
    if (same.empty()) continue;
    evaluate(problem_->model().row_begin(stage, state) + a, next, own, same, result);
    for (std::size_t n = 0; n < same.size(); ++n) {
      for (int j = 0; j < signals; ++j) points[j * size + same[n]] = result[j * same.size() + n];
    }
  }
  keep_best_points(state, lanes_, points, std::move(own), here);
}

}  // namespace redoubt::internal
