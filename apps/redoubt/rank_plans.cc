#include "rank_plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "every_rank.h"
#include "processes.h"
#include "redoubt/advanced/ranks.h"
#include "table.h"
#include "text.h"

namespace redoubt::app {
namespace {

// Bytes of what is known of one state in the widest stage.
double bytes_of_state(const RcviPlan& plan) {
  return static_cast<double>(plan.most_memory_states) *
         (1.0 + static_cast<double>(plan.axes.size())) * sizeof(double);
}

}  // namespace

std::vector<RankPlan> plan_ranks(const Problem& problem, const RcviOptions& options, int count,
                                 const PartitionOptions& divided) {
  std::vector<RankPlan> plans(count);
  run_ranks(count, [&](Communicator& ranks) {
    Execution execution;
    if (count > 1) execution.ranks = &ranks;
    PartitionOptions how = divided;
    if (ranks.rank() > 0) how.compared = {};  // once is enough
    const Problem part =
        count > 1 ? subproblem(problem, make_partition(problem.model(), ranks, how), ranks.rank())
                  : problem;
    const RcviPlan plan = plan_rcvi(part, options, execution);
    RankPlan& mine = plans[ranks.rank()];
    mine.states = part.model().own_states();
    mine.others = part.model().states() - mine.states;
    mine.memory = plan.memory;
    mine.received = plan.others * bytes_of_state(plan);
    mine.other = plan_others(part);
  });
  return plans;
}

OtherPlans plan_others(const Problem& problem) {
  OtherPlans plans;
  if (std::any_of(problem.constraints().begin(), problem.constraints().end(),
                  [](const Constraint& c) { return c.probability.has_value(); }))
    return plans;
  plans.robust = plan_robust(problem);
  if (!std::holds_alternative<Tilt>(problem.uncertainty())) plans.frontier = plan_frontier(problem);
  return plans;
}

void add_other_plans(Json& object, const OtherPlans& plans) {
  const auto add = [&](const char* method, const std::optional<MemoryPlan>& plan) {
    if (plan) object[method] = {{"bytes", plan->bytes()}, {"memory", memory_json(*plan)}};
  };
  add("robust", plans.robust);
  add("frontier", plans.frontier);
}

Json memory_json(const MemoryPlan& memory) {
  Json object = {{"model", memory.model},
                 {"values", memory.values},
                 {"halo", memory.halo},
                 {"policy", memory.policy}};
  if (memory.growth > 0) object["growth"] = memory.growth;
  return object;
}

Json rank_plans_json(const std::vector<RankPlan>& plans) {
  Json list = Json::array();
  for (const RankPlan& plan : plans) {
    Json entry = {{"states", plan.states}, {"others", plan.others}};
    entry["bytes"] = plan.memory.bytes();
    entry["memory"] = memory_json(plan.memory);
    entry["received"] = plan.received;
    add_other_plans(entry, plan.other);
    list.push_back(entry);
  }
  return list;
}

void print_rank_plans(const std::vector<RankPlan>& plans) {
  fmt::print(
      "\nOn {} ranks, what each needs, and what it gets from the others in a stage, by rcvi\n",
      plans.size());
  std::vector<Cells> rows = {
      {"rank", "states", "others", "RAM", "model", "values", "of others", "policy", "gets"}};
  for (std::size_t r = 0; r < plans.size(); ++r) {
    const RankPlan& plan = plans[r];
    rows.push_back({fmt::format("{}", r), count_text(plan.states), count_text(plan.others),
                    memory_text(plan.memory.bytes()), memory_text(plan.memory.model),
                    memory_text(plan.memory.values), memory_text(plan.memory.halo),
                    memory_text(plan.memory.policy), memory_text(plan.received)});
  }
  print_table(rows);
  if (!plans.front().other.robust) return;
  fmt::print("\nWhat each needs by other methods\n");
  rows = {{"rank", "robust", "frontier, first pass", "at most"}};
  for (std::size_t r = 0; r < plans.size(); ++r) {
    const auto& [robust, frontier] = plans[r].other;
    rows.push_back({fmt::format("{}", r), memory_text(robust->bytes()),
                    frontier ? memory_text(frontier->bytes()) : "",
                    frontier ? memory_text(frontier->bytes() + frontier->growth) : ""});
  }
  print_table(rows);
}

void MemoryOfRanks::hear(const MemoryPlan& mine) {
  constexpr double kMuch = 1e9;
  ranks_ = of_every_rank(mine);
  const MemoryPlan& most = *std::max_element(
      ranks_.begin(), ranks_.end(),
      [](const MemoryPlan& a, const MemoryPlan& b) { return a.bytes() < b.bytes(); });
  const bool much = most.bytes() + most.growth >= kMuch;
  if (silent_ || processes().rank() > 0 || (ranks_.size() == 1 && !much)) return;
  const std::string who = ranks_.size() == 1
                              ? "This needs"
                              : fmt::format("Each of {} ranks needs up to", ranks_.size());
  const std::string growth = most.growth > 0
                                 ? fmt::format(" in its first pass, at most {} in later ones",
                                               memory_text(most.bytes() + most.growth))
                                 : "";
  fmt::print(stderr, "{} {} of RAM{}: {}\n", who, memory_text(most.bytes()), growth,
             memory_text(most));
}

void MemoryOfRanks::add_to(Json& object) const {
  object["bytes"] = Json::array();
  object["memory"] = Json::array();
  for (const MemoryPlan& rank : ranks_) {
    object["bytes"].push_back(rank.bytes());
    object["memory"].push_back(memory_json(rank));
  }
}

void print_needed(const NeededStates& needed, const RcviPlan& plan) {
  fmt::print("{}\n", needed_text(needed, bytes_of_state(plan)));
}

}  // namespace redoubt::app
