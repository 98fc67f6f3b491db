#include "evaluation/nature_in_traps.h"

#include <algorithm>
#include <cmath>

#include "evaluation/without_traps.h"

namespace redoubt::internal {
namespace {

constexpr double kFar = 1e6;  // in units: nature does not go there if it need not

}  // namespace

std::vector<int> traps_of_nodes(const Problem& problem, const Policy& policy,
                                const Uncertainty& uncertainty) {
  const TakenProblem nodes = node_problem(problem, policy);
  const Model& model = nodes.problem.model();
  const Uncertainty& set =
      std::holds_alternative<Nominal>(uncertainty) ? uncertainty : nodes.problem.uncertainty();
  return end_components(model, Support(model, set), Keep::each_by_some_kernel,
                        is_taken(model, nodes.rows))
      .of_state;
}

NatureInTraps::NatureInTraps(const Problem& problem, const Policy& policy, const Channel& channel,
                             std::span<const double> values)
    : problem_(problem),
      model_(problem.model()),
      policy_(policy),
      channel_(channel),
      stage_(static_cast<int>(policy.stages.size()) - 1),
      support_(model_, problem.uncertainty()),
      trap_(traps_of_nodes(problem, policy, problem.uncertainty())),
      ways_(*std::max_element(trap_.begin(), trap_.end()) + 1),
      distance_(trap_.size(), kFar) {
  for (const double value : model_.outcome_values(channel.signal))
    unit_ = std::max(unit_, 1 + std::abs(value));
  for (const double value : model_.arrival_values(channel.signal))
    unit_ = std::max(unit_, 1 + std::abs(value));
  look_for_ways(values);
  find_distances();
}

std::int64_t NatureInTraps::node_of(State s, std::int32_t memory) const {
  return internal::node_of(policy_, stage_, s, memory);
}

template <class Visit>
void NatureInTraps::for_each_decision(const Visit& visit) const {
  const Policy::Stage& here = policy_.at(stage_);
  for (State s = 0; s < model_.states(); ++s) {
    if (model_.row_begin(0, s) == model_.row_end(0, s)) continue;
    for (auto node = here.begin(s); node < here.end(s); ++node) {
      if (!contains(node)) continue;
      const auto memory = static_cast<std::int32_t>(node - here.begin(s));
      for_each_choice(here, node, [&](std::int32_t action, double weight) {
        if (weight > 0) visit(node, decision(policy_, stage_, s, memory, action));
      });
    }
  }
}

// Calls visit(outcome, next state, what it pays beyond its row).
template <class Visit>
void NatureInTraps::for_each_outcome(const Decision& taken, const Visit& visit) const {
  const Row row = model_.row_begin(0, taken.state) + taken.action;
  const auto begin = model_.outcome_begin(row), end = model_.outcome_end(row);
  for (auto i = begin; i < end; ++i)
    if (support_.possible(row, i))
      visit(i - begin, model_.arrays().next[i], model_.outcome_value(channel_.signal, i));
  for (State s = 0; support_.lands_anywhere(row) && s < model_.states(); ++s)
    if (!model_.lists(row, s)) visit(end - begin, s, model_.arrival_value(channel_.signal, s));
}

double NatureInTraps::distance_after(const Decision& taken, std::int64_t outcome, State to,
                                     int trap) const {
  std::vector<MemoryMove> moves;
  memory_moves(problem_, policy_, taken, outcome, to, moves);
  double farthest = 0;
  for (const MemoryMove& move : moves) {
    if (move.weight <= 0) continue;
    const auto node = node_of(to, move.memory);
    if (trap_[node] != trap) return -1;
    farthest = std::max(farthest, distance_[node]);
  }
  return farthest;
}

// The best outcome that leads out, where that is better than to stay for ever.
void NatureInTraps::look_for_ways(std::span<const double> values) {
  double scale = 0;
  for (const double value : values) scale = std::max(scale, std::abs(value));
  for (Way& way : ways_) way.worth = -1e-11 * scale;
  std::vector<MemoryMove> moves;
  for_each_decision([&](std::int64_t node, const Decision& taken) {
    const Row row = model_.row_begin(0, taken.state) + taken.action;
    for_each_outcome(taken, [&](std::int64_t outcome, State to, double beyond) {
      if (distance_after(taken, outcome, to, trap_[node]) >= 0) return;
      double worth = channel_.sign * (model_.value(channel_.signal, row) + beyond);
      memory_moves(problem_, policy_, taken, outcome, to, moves);
      for (const MemoryMove& move : moves) worth += move.weight * values[node_of(to, move.memory)];
      Way& way = ways_[trap_[node]];
      if (worth < way.worth) way = {true, worth, node, taken.action, outcome, to};
    });
  });
}

void NatureInTraps::find_distances() {
  for (const Way& way : ways_)
    if (way.leaves) distance_[way.node] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for_each_decision([&](std::int64_t node, const Decision& taken) {
      for_each_outcome(taken, [&](std::int64_t outcome, State to, double) {
        const double after = distance_after(taken, outcome, to, trap_[node]);
        if (after < 0 || after + 1 >= distance_[node]) return;
        distance_[node] = after + 1;
        changed = true;
      });
    });
  }
}

double NatureInTraps::guide(const Decision& taken, std::int64_t outcome, State to) const {
  const auto node = node_of(taken.state, taken.memory);
  const Way& way = ways_[trap_[node]];
  const double after = distance_after(taken, outcome, to, trap_[node]);
  if (after >= 0) return way.leaves ? unit_ * after : 0;
  const bool leaves = way.leaves && way.node == node && way.action == taken.action &&
                      way.outcome == outcome && way.to == to;
  return leaves ? -2 * unit_ : kFar * unit_;
}

}  // namespace redoubt::internal
