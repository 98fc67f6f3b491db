#include "solvers/frontier/search/mixture_backup.h"

#include <algorithm>
#include <cmath>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

// Next values of recipes, one list for each choice; the last place of a row with a landing is it.
struct RecipePoints {
  std::span<const std::vector<double>> points;
  std::span<const double> floors;

  double operator()(int, std::int64_t choice, int outcome, State) const {
    return points[choice][outcome];
  }
  double floor(int, std::int64_t choice) const { return floors[choice]; }
};

}  // namespace

void MixtureBackup::find_rows(int stage, State state, const FrontierStage& next) {
  const Model& model = problem_->model();
  rows_.first = model.row_begin(stage, state);
  rows_.next = &next.table;
  rows_.curves = &next.curves;
  rows_.supports = &next.supports;
  rows_.places.clear();
  rows_.landing.clear();
  for (Row row = rows_.first; row < model.row_end(stage, state); ++row) {
    std::vector<std::int64_t>& places = rows_.places.emplace_back();
    places.assign(model.arrays().next.begin() + model.outcome_begin(row),
                  model.arrays().next.begin() + model.outcome_end(row));
    rows_.landing.push_back(landings_->anywhere());
    if (landings_->anywhere()) places.push_back(model.states());
  }
}

void MixtureBackup::begin(const Directions& directions, bool keep_rivals, Causes& causes) {
  causes.slot.assign(directions.size(), 0);
  causes.weight.assign(static_cast<std::size_t>(directions.size()) * rows_.actions(), 0.0);
  causes.kernels.clear();
  causes.rivals.clear();
  causes.rest.assign(keep_rivals ? directions.size() : 0, -kInfinity);
  causes.offset.clear();
  std::int32_t offset = 0;
  for (const auto& places : rows_.places) {
    causes.offset.push_back(offset);
    offset += static_cast<std::int32_t>(places.size()) * directions.signals();
  }
}

void MixtureBackup::run(int stage, State state, const FrontierStage& next, FrontierStage& here,
                        const BackupOptions& options) {
  const Directions& directions = here.table.directions();
  const int size = directions.size(), signals = directions.signals();
  Causes& causes = here.causes[state];
  find_rows(stage, state, next);
  begin(directions, options.keep_rivals, causes);
  game_.begin(rows_);
  Recipes own;
  own.action.assign(size, -1);
  own.slot.assign(size, 0);
  lanes_.clear();
  std::vector<double> weights(signals);
  for (int lane = 0; lane < size; ++lane) {
    if (!std::isfinite(options.tolerance[lane])) continue;
    lanes_.push_back(lane);
    for (int j = 0; j < signals; ++j) weights[j] = directions.weight(lane, j);
    game_.solve(weights, options.tolerance[lane], options.rounds, end_);
    here.table.bounds(state)[lane] = end_.bound;
    share_.assign(rows_.actions(), 0.0);
    for (const GameColumn& column : end_.columns) share_[column.action] += column.weight;
    keep_cause(lane, causes);
    write_recipe(lane, next, options.last, own);
  }
  own.choice_begin.push_back(static_cast<std::int32_t>(own.choices.size()));
  if (signals != 2) own.begin.push_back(static_cast<std::int32_t>(own.moves.size()));
  fill_bounds(directions, lanes_, here.table.bounds(state));

  const std::vector<double> points = evaluate(next, own, directions);
  keep_best_points(state, lanes_, points, std::move(own), here);
}

// The gap is followed on by the weights of the policy, and by the action with the largest bound as
// far as it comes from that: of its next sets too little may be known.
void MixtureBackup::keep_cause(int lane, Causes& causes) {
  const auto most = std::max_element(end_.bounds.begin(), end_.bounds.end());
  const double gap = *most - end_.value;
  double excess = 0;
  for (std::size_t a = 0; a < share_.size(); ++a) excess += share_[a] * (*most - end_.bounds[a]);
  const double part = gap > 0 ? std::clamp(excess / gap, 0.0, 1.0) : 0;
  double* weight = causes.weight.data() + static_cast<std::size_t>(lane) * share_.size();
  for (std::size_t a = 0; a < share_.size(); ++a) weight[a] = (1 - part) * share_[a];
  weight[most - end_.bounds.begin()] += part;
  causes.action[lane] =
      static_cast<std::int32_t>(std::max_element(share_.begin(), share_.end()) - share_.begin());
  causes.slot[lane] = static_cast<std::int32_t>(causes.kernels.size());
  causes.kernels.insert(causes.kernels.end(), end_.kernel.begin(), end_.kernel.end());
}

// Turns what the policy plays into what the next stage has recipes for.
void MixtureBackup::write_recipe(int lane, const FrontierStage& next, bool last, Recipes& recipes) {
  const bool one = next.table.directions().constraints() == 1;
  recipes.action[lane] =
      static_cast<std::int32_t>(std::max_element(share_.begin(), share_.end()) - share_.begin());
  recipes.slot[lane] = static_cast<std::int32_t>(recipes.choice_begin.size());
  recipes.choice_begin.push_back(static_cast<std::int32_t>(recipes.choices.size()));
  for (int a = 0; a < rows_.actions(); ++a) {
    if (share_[a] <= 0) continue;
    const auto slot = static_cast<std::int32_t>(one ? recipes.mixes.size() : recipes.begin.size());
    recipes.choices.push_back({a, slot, share_[a]});
    for (std::size_t i = 0; i < rows_.places[a].size(); ++i)
      write_entry(a, i, share_[a], next, last, recipes);
  }
}

void MixtureBackup::write_entry(int action, std::size_t outcome, double share,
                                const FrontierStage& next, bool last, Recipes& recipes) {
  const std::int64_t place = rows_.places[action][outcome];
  const bool one = next.table.directions().constraints() == 1;
  moves_.clear();
  double utility = 0;
  for (const GameColumn& column : end_.columns) {
    if (column.action != action) continue;
    const std::int32_t point = last ? 0 : column.points[outcome];
    const double weight = column.weight / share;
    if (one) utility += weight * next.table.points(place, 1)[point];
    const auto known = std::find_if(moves_.begin(), moves_.end(),
                                    [&](const MemoryMove& move) { return move.memory == point; });
    if (known == moves_.end())
      moves_.push_back({point, weight});
    else
      known->weight += weight;
  }
  if (one) {
    int near = 0;
    recipes.mixes.push_back(mix_along(next.curves[place], utility, near));
    return;
  }
  recipes.begin.push_back(static_cast<std::int32_t>(recipes.moves.size()));
  recipes.moves.insert(recipes.moves.end(), moves_.begin(), moves_.end());
}

std::vector<double> MixtureBackup::evaluate(const FrontierStage& next, const Recipes& recipes,
                                            const Directions& directions) {
  const Model& model = problem_->model();
  const int size = directions.size(), signals = directions.signals();
  items_.clear(), row_.clear(), weight_.clear(), next_points_.clear();
  std::vector<double> floors;
  for (int j = 0; j < signals; ++j) {
    const Channel& channel = channels_[j];
    for (const int lane : lanes_) {
      const auto first = static_cast<std::int64_t>(row_.size());
      for_each_choice(recipes, lane, [&](const Recipes::Choice& choice) {
        const std::vector<std::int64_t>& places = rows_.places[choice.action];
        std::vector<double>& points = next_points_.emplace_back(places.size(), 0.0);
        for (std::size_t i = 0; i < places.size(); ++i) {
          const auto entry = choice.slot + static_cast<std::int64_t>(i);
          for_each_move(recipes, next.curves, entry, places[i], [&](const MemoryMove& move) {
            points[i] += move.weight * next.table.points(places[i], j)[move.memory];
          });
        }
        row_.push_back(rows_.first + choice.action);
        weight_.push_back(choice.weight);
        const double extra =
            channel.sign * model.outcome_value(channel.signal, model.outcome_begin(row_.back()));
        floors.push_back(rows_.landing[choice.action]
                             ? points.back()
                             : points.front() + extra / problem_->discount());  // there is none
      });
      items_.push_back(
          {first, static_cast<int>(static_cast<std::int64_t>(row_.size()) - first), channel});
    }
  }
  result_.resize(items_.size());
  game_.batch().worst(items_, {row_.data(), weight_.data()}, RecipePoints{next_points_, floors},
                      result_.data(), false, [](int, const StateLanes&, int) {});
  std::vector<double> points(static_cast<std::size_t>(signals) * size);
  for (int j = 0; j < signals; ++j) {
    for (std::size_t n = 0; n < lanes_.size(); ++n)
      points[static_cast<std::size_t>(j) * size + lanes_[n]] = result_[j * lanes_.size() + n];
  }
  return points;
}

}  // namespace redoubt::internal
