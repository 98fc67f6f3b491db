#include "rank_plans.h"

#include <fmt/format.h>

#include "redoubt/ranks.h"
#include "table.h"
#include "text.h"

namespace redoubt::app {

std::vector<RankPlan> plan_ranks(const Problem& problem, const RcviOptions& options, int count) {
  const auto blocks = balanced_blocks(problem.model(), count);
  std::vector<RankPlan> plans(count);
  run_ranks(count, [&](Communicator& ranks) {
    Execution execution;
    if (count > 1) execution.ranks = &ranks;
    const Problem part = count > 1 ? part_of(problem, blocks, ranks.rank()) : problem;
    const RcviPlan plan = plan_rcvi(part, options, execution);
    RankPlan& mine = plans[ranks.rank()];
    mine.states = part.model().own_states();
    mine.others = part.model().states() - mine.states;
    mine.memory = plan.memory;
    const double values = static_cast<double>(plan.most_memory_states) *
                          (1.0 + static_cast<double>(plan.axes.size()));
    mine.received = mine.others * values * sizeof(double);
  });
  return plans;
}

Json memory_json(const MemoryPlan& memory) {
  return {{"model", memory.model},
          {"values", memory.values},
          {"halo", memory.halo},
          {"policy", memory.policy}};
}

Json rank_plans_json(const std::vector<RankPlan>& plans) {
  Json list = Json::array();
  for (const RankPlan& plan : plans) {
    Json entry = {{"states", plan.states}, {"others", plan.others}};
    entry["bytes"] = plan.memory.bytes();
    entry["memory"] = memory_json(plan.memory);
    entry["received"] = plan.received;
    list.push_back(entry);
  }
  return list;
}

void print_rank_plans(const std::vector<RankPlan>& plans) {
  fmt::print("\nOn {} ranks, what each needs, and what it gets from the others in a stage\n",
             plans.size());
  std::vector<Cells> rows = {
      {"rank", "states", "others", "memory", "model", "values", "of others", "policy", "gets"}};
  for (std::size_t r = 0; r < plans.size(); ++r) {
    const RankPlan& plan = plans[r];
    rows.push_back({fmt::format("{}", r), count_text(plan.states), count_text(plan.others),
                    memory_text(plan.memory.bytes()), memory_text(plan.memory.model),
                    memory_text(plan.memory.values), memory_text(plan.memory.halo),
                    memory_text(plan.memory.policy), memory_text(plan.received)});
  }
  print_table(rows);
}

}  // namespace redoubt::app
