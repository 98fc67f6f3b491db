#include "support/on_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "redoubt/io.h"
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

std::vector<Policy> stored_parts(const Problem& problem, const Policy& policy, int ranks) {
  const auto path = std::filesystem::path(REDOUBT_BINARY_DIR) /
                    fmt::format("parts-{}.h5", static_cast<int>(::getpid()));
  Solution solution;
  solution.policy = policy;
  save_solution(solution, path);
  const auto blocks = balanced_blocks(problem.model(), ranks);
  std::vector<Policy> parts;
  for (int r = 0; r < ranks; ++r)
    parts.push_back(load_solution(path, part_of(problem, blocks, r).model()).policy);
  std::filesystem::remove(path);
  return parts;
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
      const auto append_numbers = [](auto& list, const auto& more, std::size_t first,
                                     std::size_t shift) {
        for (std::size_t n = first; n < more.size(); ++n)
          list.push_back(more[n] + static_cast<std::int64_t>(shift));
      };
      append_numbers(to.node_begin, from.node_begin, 1, to.choice_begin.size() - 1);
      append_numbers(to.outcome_slot, from.outcome_slot, 0, to.move_begin.size() - 1);
      append_numbers(to.move_begin, from.move_begin, 1, to.moves.size());
      append_numbers(to.choice_begin, from.choice_begin, 1, to.choice_action.size());
      append(to.mixed, from.mixed);
      append(to.choice_action, from.choice_action);
      append(to.choice_weight, from.choice_weight);
      append(to.moves, from.moves);
    }
  }
  return whole;
}

}  // namespace redoubt::testing
