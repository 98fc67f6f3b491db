#include "support/on_ranks.h"

#include <fmt/format.h>

#include "redoubt/ranks.h"

namespace redoubt::testing {

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> list = {{1, 1}, {1, 2}, {2, 1}, {2, 2},
                                                  {3, 1}, {3, 2}, {4, 1}, {4, 2}};
  return list;
}

std::string name(const Configuration& c) {
  return fmt::format("{} ranks with {} threads", c.ranks, c.threads);
}

std::vector<Solution> solve_on_ranks(const Problem& problem, const Configuration& configuration,
                                     const SolvePart& solve) {
  std::vector<Solution> solutions(configuration.ranks);
  run_ranks(configuration.ranks, [&](Communicator& ranks) {
    const auto blocks = balanced_blocks(problem.model(), ranks.size());
    const Problem part = part_of(problem, blocks, ranks.rank());
    Execution execution{.threads = configuration.threads};
    execution.ranks = &ranks;
    solutions[ranks.rank()] = solve(part, execution);
  });
  return solutions;
}

Policy policy_of_states(const Policy& policy, State begin, State end) {
  Policy part = policy;
  part.states = end - begin;
  for (Policy::Stage& stage : part.stages) {
    const Policy::Stage whole = std::move(stage);
    const auto first = whole.begin(begin), last = whole.begin(end);
    stage = {};
    stage.memory = whole.memory;
    if (!whole.mixed.empty()) {
      stage.mixed.assign(whole.mixed.begin() + first, whole.mixed.begin() + last);
      continue;
    }
    const auto from = whole.choice_begin[first], to = whole.choice_begin[last];
    for (auto n = first; n <= last; ++n) stage.choice_begin.push_back(whole.choice_begin[n] - from);
    stage.choice_action.assign(whole.choice_action.begin() + from,
                               whole.choice_action.begin() + to);
    stage.choice_weight.assign(whole.choice_weight.begin() + from,
                               whole.choice_weight.begin() + to);
  }
  return part;
}

Policy join_policies(const std::vector<Solution>& parts) {
  Policy whole = parts.front().policy;
  for (std::size_t r = 1; r < parts.size(); ++r) {
    const Policy& part = parts[r].policy;
    whole.states += part.states;
    for (std::size_t h = 0; h < whole.stages.size(); ++h) {
      Policy::Stage& to = whole.stages[h];
      const Policy::Stage& from = part.stages[h];
      const auto append = [](auto& list, const auto& more) {
        list.insert(list.end(), more.begin(), more.end());
      };
      append(to.mixed, from.mixed);
      for (std::size_t n = 1; n < from.choice_begin.size(); ++n)
        to.choice_begin.push_back(static_cast<std::int64_t>(to.choice_action.size()) +
                                  from.choice_begin[n]);
      append(to.choice_action, from.choice_action);
      append(to.choice_weight, from.choice_weight);
    }
  }
  return whole;
}

}  // namespace redoubt::testing
