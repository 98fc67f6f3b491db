#include "support/on_ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "redoubt/advanced/ranks.h"
#include "redoubt/evaluate.h"
#include "redoubt/io.h"
#include "support/folders.h"
#include "support/patience.h"

namespace redoubt::testing {

namespace {

// Where a state is when states are scattered: neighbours are rarely together, and no two ranks have
// equally many.
int scattered_owner(State state, int ranks) {
  const auto mixed = (static_cast<std::uint32_t>(state) + 1) * 2654435761U;
  return static_cast<int>((mixed >> 16) % static_cast<std::uint32_t>(ranks));
}

template <class Value, class From>
void append(std::vector<Value>& to, const From& from, std::int64_t begin, std::int64_t end) {
  to.insert(to.end(), from.begin() + begin, from.begin() + end);
}

void append_offsets(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from,
                    std::int64_t begin, std::int64_t end) {
  if (to.empty()) to.push_back(0);
  for (auto e = begin; e < end; ++e) to.push_back(to.back() + from[e + 1] - from[e]);
}

// Adds the decisions of a state of a part.
void append_state(Policy::Stage& to, const Policy::Stage& from, State state) {
  const auto first = from.begin(state), last = from.end(state);
  to.memory = from.memory;
  if (!from.node_begin.empty()) append_offsets(to.node_begin, from.node_begin, state, state + 1);
  if (!from.mixed.empty()) return append(to.mixed.edit(), from.mixed, first, last);
  if (from.choice_begin.empty()) return;  // stopped before this stage
  append_offsets(to.choice_begin, from.choice_begin, first, last);
  const auto choice = from.choice_begin[first], end = from.choice_begin[last];
  append(to.choice_action, from.choice_action, choice, end);
  append(to.choice_weight, from.choice_weight, choice, end);
  if (from.outcome_slot.empty()) {
    if (!from.move_begin.empty() && to.move_begin.empty()) to.move_begin = {0};
    return;
  }
  const auto slot = [&](std::int64_t c) {
    return c < static_cast<std::int64_t>(from.outcome_slot.size())
               ? from.outcome_slot[c]
               : static_cast<std::int64_t>(from.move_begin.size()) - 1;
  };
  if (to.move_begin.empty()) to.move_begin = {0};
  for (auto c = choice; c < end; ++c) {
    to.outcome_slot.push_back(static_cast<std::int64_t>(to.move_begin.size()) - 1);
    append(to.moves, from.moves, from.move_begin[slot(c)], from.move_begin[slot(c + 1)]);
    append_offsets(to.move_begin, from.move_begin, slot(c), slot(c + 1));
  }
}

// A rank, and the place of a state among its own.
struct Home {
  std::size_t rank = 0;
  State place = 0;
};

// Adds what the landing plans of all parts say of the states.
void join_landings(const std::vector<Solution>& parts, const std::vector<Home>& homes,
                   std::size_t stage, Policy::Stage& to) {
  std::int64_t plans = 0;
  for (const Solution& part : parts) {
    const auto slots = static_cast<std::int64_t>(part.policy.stages[stage].landing_begin.size());
    if (slots > 0) to.landing_begin = {0};
    if (slots > 1) plans = (slots - 1) / part.policy.states;
  }
  for (std::int64_t plan = 0; plan < plans; ++plan) {
    for (const auto& [rank, place] : homes) {
      const Policy::Stage& from = parts[rank].policy.stages[stage];
      const auto slot = plan * parts[rank].policy.states + place;
      append(to.landing_moves, from.landing_moves, from.landing_begin[slot],
             from.landing_begin[slot + 1]);
      append_offsets(to.landing_begin, from.landing_begin, slot, slot + 1);
    }
  }
}

}  // namespace

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all = {{1, 1},       {1, 2},       {2, 1},      {2, 2},
                                                 {3, 1},       {3, 2},       {4, 1},      {4, 2},
                                                 {2, 2, true}, {4, 1, true}, {3, 2, true}};
  static const std::vector<Configuration> few = {{1, 2}, {3, 2}, {2, 2, true}, {3, 2, true}};
  return kSanitized ? few : all;  // a race or a wrong index of one is one of the others too
}

Partition division_of(const Problem& problem, const Configuration& c) {
  Partition partition = balanced_blocks(problem.model(), c.ranks);
  for (State s = 0; c.scattered && s < partition.states(); ++s)
    partition.owner.push_back(scattered_owner(s, c.ranks));
  return partition;
}

std::string name(const Configuration& c) {
  return fmt::format("{} ranks with {} threads{}", c.ranks, c.threads,
                     c.scattered ? ", states scattered" : "");
}

Problem part_for(const Problem& problem, const Configuration& c, int rank) {
  return subproblem(problem, division_of(problem, c), rank);
}

std::vector<Solution> solve_on_ranks(const Problem& problem, const Configuration& configuration,
                                     const SolvePart& solve) {
  std::vector<Solution> solutions(configuration.ranks);
  run_ranks(configuration.ranks, [&](Communicator& ranks) {
    const Problem part = part_for(problem, configuration, ranks.rank());
    Execution execution{.threads = configuration.threads};
    execution.ranks = &ranks;
    solutions[ranks.rank()] = solve(part, execution);
  });
  return solutions;
}

std::vector<Policy> stored_parts(const Problem& problem, const Policy& policy,
                                 const Configuration& configuration) {
  const auto path = testing::own_path("parts.h5");
  Solution solution;
  solution.policy = policy;
  save_solution(solution, path);
  std::vector<Policy> parts;
  for (int r = 0; r < configuration.ranks; ++r)
    parts.push_back(load_solution(path, part_for(problem, configuration, r).model()).policy);
  std::filesystem::remove(path);
  return parts;
}

Policy join_policies(const std::vector<Solution>& parts, bool scattered) {
  Policy whole = parts.front().policy;
  whole.stages.assign(whole.stages.size(), {});
  whole.states = 0;
  for (const Solution& part : parts) whole.states += part.policy.states;
  std::vector<State> done(parts.size());
  std::vector<Home> homes;
  std::size_t rank = 0;
  for (State s = 0; s < whole.states; ++s) {
    while (!scattered && done[rank] == parts[rank].policy.states) ++rank;
    if (scattered) rank = scattered_owner(s, static_cast<int>(parts.size()));
    for (std::size_t h = 0; h < whole.stages.size(); ++h)
      append_state(whole.stages[h], parts[rank].policy.stages[h], done[rank]);
    homes.push_back({rank, done[rank]++});
  }
  for (std::size_t h = 0; h < whole.stages.size(); ++h)
    join_landings(parts, homes, h, whole.stages[h]);
  return whole;
}

namespace {

void expect_same_bits(const Solution& one, const Solution& many) {
  EXPECT_EQ(one.status, many.status);
  EXPECT_EQ(one.reward, many.reward);
  EXPECT_EQ(one.constraints, many.constraints);
  EXPECT_EQ(one.hopeless, many.hopeless);
  EXPECT_EQ(one.curve, many.curve);
  EXPECT_EQ(one.cut, many.cut);
  EXPECT_EQ(one.trace.bound, many.trace.bound);
  EXPECT_EQ(one.trace.reward, many.trace.reward);
  EXPECT_EQ(one.trace.constraints, many.trace.constraints);
  EXPECT_EQ(one.trace.row_evaluations, many.trace.row_evaluations);
  EXPECT_EQ(one.row_evaluations, many.row_evaluations);
  EXPECT_EQ(one.iterations, many.iterations);
  EXPECT_EQ(one.notes, many.notes);
}

}  // namespace

void expect_same_on_ranks(const Problem& problem, const SolvePart& solve) {
  const Solution one = solve(problem, {});
  for (const Configuration& configuration : configurations()) {
    SCOPED_TRACE(name(configuration));
    const auto parts = solve_on_ranks(problem, configuration, solve);
    for (const Solution& part : parts) expect_same_bits(one, part);
    EXPECT_EQ(join_policies(parts, configuration.scattered), one.policy);
  }
}

void expect_same_evaluation(const Problem& problem, const Policy& policy) {
  const Evaluation one = evaluate(problem, policy);
  for (const Configuration& configuration : configurations()) {
    SCOPED_TRACE(name(configuration));
    const auto stored = stored_parts(problem, policy, configuration);
    const auto parts = solve_on_ranks(
        problem, configuration, [&](const Problem& part, const Execution& execution) {
          const Evaluation found = evaluate(part, stored[execution.ranks->rank()], execution);
          Solution solution;
          solution.reward = found.reward;
          solution.constraints = found.constraints;
          solution.hopeless = found.hopeless;
          return solution;
        });
    for (const Solution& part : parts) {
      EXPECT_EQ(part.reward, one.reward);
      EXPECT_EQ(part.constraints, one.constraints);
      EXPECT_EQ(part.hopeless, one.hopeless);
    }
  }
}

}  // namespace redoubt::testing
