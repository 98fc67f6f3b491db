#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/bytes.h"
#include "model/set_traits.h"
#include "parallel/memory_limit.h"
#include "redoubt/frontier.h"
#include "solvers/frontier/search/search.h"

// What a search takes, as far as it is known before it begins.
namespace redoubt {
using namespace internal;
namespace {

// Lists that grow have room for about half as much again; a promise is a mixture of two points.
constexpr double kSpare = 1.5, kMixed = 2;
// The policy of the answer, measured: the share of the points that it uses.
constexpr double kUsed = 0.6;

struct Shape {
  double own, known;      // states: those of this rank, and all whose values it has
  double rows, outcomes;  // of a stage; a landing counts as an outcome
  double places;          // where a decision leads, on average
  double signals, landings;
  bool shared;  // a radius by the rows of a state
  bool kl;
};

Shape shape_of(const Problem& problem) {
  const Model& model = problem.model();
  Shape shape{};
  shape.own = model.own_states();
  shape.known = model.states();
  shape.signals = 1.0 + static_cast<double>(problem.constraints().size());
  shape.landings = lands_anywhere(problem);
  shape.rows = static_cast<double>(model.rows()) / model.stages();
  shape.outcomes = static_cast<double>(model.outcomes()) / model.stages() +
                   (shape.landings > 0 ? shape.rows : 0);
  // Where the rows of a state share a radius, a point may take all of them.
  shape.shared = shares_radius(problem);
  shape.places = shape.outcomes / std::max(1.0, shape.shared ? shape.own : shape.rows);
  shape.kl = std::holds_alternative<KL>(problem.uncertainty());
  return shape;
}

// What is known of a set in a direction, and with one constraint its curve.
double bytes_of_direction(double signals) { return 8 * (signals + 1) + (signals == 2 ? 28 : 0); }

// Of one stage, with every state looking at every direction.
MemoryPlan stage_bytes(const Shape& shape, double directions) {
  const double row = directions * shape.places;
  // Of a state or landing.
  const double table =
      bytes_of_direction(shape.signals) * directions + (shape.signals == 2 ? 96 : 0);
  // Of a state: mixtures of points, and the kernels that its bounds come from.
  const double mixture = shape.signals == 2 ? sizeof(CurveMix) : 4 + 16 * kMixed;
  const double recipes = 192 + 24 * directions + kSpare * row * (mixture + 8 * shape.signals);
  const double landed = shape.landings * directions * (8 + 16 * kMixed);
  MemoryPlan plan;
  plan.values = shape.own * table + shape.landings * table;
  plan.halo = (shape.known - shape.own) * table;
  plan.policy = shape.own * (recipes + landed);
  return plan;
}

// Of all stages of a pass, `passes` times, beside the policy of the answer.
MemoryPlan search_bytes(const Problem& problem, int stages, double directions, int passes) {
  const Shape shape = shape_of(problem);
  const MemoryPlan stage = stage_bytes(shape, directions);
  const double extremes = 20 * shape.signals;  // the best decision for each signal
  const double move = 8 + 16 * kMixed;
  const double found = kUsed * directions * (28 + shape.places * move);
  MemoryPlan plan;
  plan.model = bytes_of(problem.model());
  plan.values = stages * (passes * stage.values + 8 * directions * shape.own);  // and the plan
  plan.halo = stages * passes * stage.halo;
  plan.policy = stages * (passes * stage.policy + shape.own * (extremes + found));
  // The next stage, laid out for lanes.
  if (shape.signals == 2) plan.values += (shape.known + shape.landings) * (104 * directions + 184);
  // With one constraint, where the games of this stage and the next have ended.
  if (shape.signals == 2 && !shape.shared && (shape.kl || !problem.infinite()))
    plan.values += 2 * directions * (32 * shape.rows + (shape.kl ? 8 : 12) * shape.outcomes);
  return plan;
}

// Where nothing is uncertain: the expected values of rows, two layers of totals, and the decisions
// of a handful of policies, beside the mixture of them.
MemoryPlan column_bytes(const Problem& problem) {
  constexpr double kColumns = 6;
  const Model& model = problem.model();
  const double channels = 1.0 + static_cast<double>(problem.constraints().size());
  const double stages = problem.infinite() ? 1 : problem.horizon();
  MemoryPlan plan;
  plan.model = bytes_of(model);
  plan.values = 8 * (channels + 1) * (static_cast<double>(model.rows()) + 2.0 * model.own_states());
  plan.halo = 2 * 8 * (channels + 1) * (model.states() - model.own_states());
  plan.policy = 2 * (8 + 4 + 8) * kColumns * stages * model.own_states();
  return plan;
}

}  // namespace

namespace {

// In the first pass.
double directions_at_first(const Problem& problem) {
  const std::size_t constraints = problem.constraints().size();
  if (constraints != 1)
    return directions_around(std::vector<double>(constraints, 1.0),
                             std::vector<double>(constraints, 1.0))
        .size();
  return 1.0 +
         static_cast<double>(
             (problem.infinite() ? first_prices() : prices_around(1, 1, problem.horizon())).size());
}

}  // namespace

double internal::frontier_bytes_for_each_state(const Problem& problem) {
  const std::size_t constraints = problem.constraints().size();
  const double directions = directions_at_first(problem);
  Shape shape{};  // of one state, rows apart
  shape.own = shape.known = 1;
  shape.signals = 1.0 + static_cast<double>(constraints);
  if (problem.infinite()) return 0;
  return problem.horizon() * (stage_bytes(shape, directions).values + 8 * directions);
}

MemoryPlan plan_frontier(const Problem& problem, const FrontierOptions& options) {
  if (std::holds_alternative<Nominal>(problem.uncertainty())) return column_bytes(problem);
  // An infinite horizon has one that leads to itself, and the one before it.
  const int stages = problem.infinite() ? 2 : problem.horizon();
  MemoryPlan plan = search_bytes(problem, stages, directions_at_first(problem), 1);
  const MemoryPlan most = search_bytes(problem, stages, 1 + most_directions(problem, options), 2);
  plan.growth = most.bytes() - plan.bytes();
  return plan;
}

// A search that cannot come near its limit need not look.
void FrontierSearch::find_memory_limit() {
  memory_.held_before = held_memory();
  const MemoryPlan plan = plan_frontier(problem_, options_);
  const double limit = memory_limit(options_.memory_limit);
  if (!has_room(2 * (plan.bytes() + plan.growth), limit, workers_.ranks())) memory_.limit = limit;
}

// The next pass, beside the last one and the policies that were made of it.
bool FrontierSearch::has_room_for_pass(const PassPlan::Size& last) {
  if (std::isinf(memory_.limit)) return true;
  const PassPlan::Size next = plan_.size();
  const double each = bytes_of_direction(static_cast<double>(channels_.size()));
  const double looked_at =
      std::max(0.0, held_memory() - memory_.held_before - each * last.cells) / last.lanes;
  const double more = each * next.cells + looked_at * next.lanes;
  if (has_room(more, memory_.limit, workers_.ranks())) return true;
  limit_ =
      fmt::format("the next pass would take it above its {:.3g} GB of RAM", memory_.limit / 1e9);
  return false;
}

// What was foreseen of a pass may be too little.
bool FrontierSearch::has_room_for_stage() {
  if (std::isinf(memory_.limit)) return true;
  const double of_stages = std::max(0.0, held_memory() - memory_.held_before);
  const double more = 2 * of_stages / static_cast<double>(plan_.stages().size());
  if (has_room(more, memory_.limit, workers_.ranks())) return true;
  limit_ =
      fmt::format("a pass would have taken it above its {:.3g} GB of RAM", memory_.limit / 1e9);
  return false;
}

// Nor is it known how much a sweep over an infinite horizon takes beside its stage: its kernels,
// its controller and their values.
bool FrontierSearch::has_room_for_sweep() {
  if (std::isinf(memory_.limit)) return true;
  const double more = std::max(0.0, held_memory() - memory_.held_before);
  if (has_room(more, memory_.limit, workers_.ranks())) return true;
  limit_ =
      fmt::format("a sweep would have taken it above its {:.3g} GB of RAM", memory_.limit / 1e9);
  return false;
}

}  // namespace redoubt
