// When states are renumbered, and to what.
#include "model/near_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/bytes.h"
#include "model/machine.h"
#include "model/part.h"
#include "redoubt/environments.h"
#include "support/expect_error.h"
#include "support/on_ranks.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

// The same board, its squares numbered at random by whoever made it.
Problem shuffled_board(int size) {
  const Problem board = make("grid(size=" + std::to_string(size) + ")");
  const auto order = testing::shuffled(board.model().states());
  const Problem moved = renumbered(board, order);
  ModelArrays arrays = moved.model().arrays();
  arrays.part.reset();
  return Problem(Model(std::move(arrays)), moved.terms());
}

State furthest(const Model& model, const std::vector<State>& order) {
  std::vector<State> turn(order.size());
  for (State i = 0; i < model.states(); ++i) turn[order[i]] = i;
  State most = 0;
  for (State s = 0; s < model.states(); ++s) {
    for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
      for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
        most = std::max(most, std::abs(turn[model.arrays().next[i]] - turn[s]));
    }
  }
  return most;
}

TEST(NearOrder, OfABoardIsAsGoodAsRowByRow) {
  const Model board = shuffled_board(30).model();
  const auto order = near_order(board);
  EXPECT_LE(furthest(board, order), 2 * 30);
  std::vector<State> given(board.states());
  for (State s = 0; s < board.states(); ++s) given[s] = s;
  EXPECT_GE(furthest(board, given), 20 * 30);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), given.begin()));
}

TEST(NearOrder, HasEveryState) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    testing::RandomOptions options;
    options.states = 50;
    options.successors = 1;  // in several pieces
    options.actions = 1;
    const Model model = testing::random_model(seed, testing::shaped(options, seed));
    auto order = near_order(model);
    std::sort(order.begin(), order.end());
    for (State s = 0; s < model.states(); ++s) ASSERT_EQ(order[s], s);
  }
}

TEST(Renumbered, TellsTheSame) {
  testing::RandomOptions options;
  options.states = 12;
  options.names = options.outcome_values = options.stage_dependent = options.ragged = true;
  options.row_radii = true;
  const Problem given = testing::random_problem(3, options);
  const Model& model = given.model();
  const auto order = testing::shuffled(model.states());
  const Problem other = renumbered(given, order);
  for (State i = 0; i < model.states(); ++i) {
    const State s = order[i];
    EXPECT_EQ(other.model().state_name(i), model.state_name(s));
    EXPECT_EQ(whole_number(other.model(), i), s);
    EXPECT_EQ(number_here(other.model(), s), i);
    EXPECT_EQ(other.model().own_place(i), s);
    EXPECT_EQ(other.model().own(s), i);
    EXPECT_EQ(other.model().visited(i), i);
    for (int h = 0; h < model.stages(); ++h) {
      const Row here = other.model().row_begin(h, i), there = model.row_begin(h, s);
      ASSERT_EQ(other.model().row_end(h, i) - here, model.row_end(h, s) - there);
      for (Row a = 0; a < model.row_end(h, s) - there; ++a) {
        EXPECT_EQ(other.model().row_name(here + a), model.row_name(there + a));
        for (State to = 0; to < model.states(); ++to)
          EXPECT_EQ(row_lists(other.model(), here + a, to), row_lists(model, there + a, to));
        std::vector<State> ours, theirs;
        listed_states(other.model(), here + a, ours);
        listed_states(model, there + a, theirs);
        EXPECT_EQ(ours, theirs);
      }
    }
  }
  // And back again.
  std::vector<State> back(order.size());
  for (State i = 0; i < model.states(); ++i) back[order[i]] = i;
  ModelArrays arrays = renumbered(other, back).model().arrays();
  EXPECT_TRUE(std::is_sorted(arrays.part->number.begin(), arrays.part->number.end()));
  arrays.part.reset();
  EXPECT_EQ(Model(std::move(arrays)), model);
}

TEST(Renumbered, NeedsEveryStateOnce) {
  const Problem problem = testing::random_problem(1);
  EXPECT_THAT(error_of([&] {
                renumbered(problem, {0, 1, 2});
              }),
              HasSubstr("an order of 3 states, must have each of 5 once"));
  EXPECT_THAT(error_of([&] {
                renumbered(problem, {0, 1, 2, 3, 1});
              }),
              HasSubstr("state 1 of an order, must be in 0..4 and come once"));
  EXPECT_THAT(error_of([&] {
                renumbered(problem, {0, 1, 2, 3, 5});
              }),
              HasSubstr("state 5 of an order"));
}

// Values of a state are so large that the nearest cache holds those of 100.
const ValueReads kMany{nearest_cache() / 100, 40};
constexpr double kRoom = 1e9;

FarOutcomes look(const Problem& problem, const ValueReads& reads, double room = kRoom,
                 Order order = Order::near) {
  FarOutcomes found;
  Execution execution;
  execution.order = order;
  execution.ordered = [&](const FarOutcomes& far) { found = far; };
  const Problem ordered = in_near_order(problem, reads, room, execution);
  EXPECT_EQ(found.taken == Order::near, ordered.model().arrays().part.has_value());
  EXPECT_EQ(bytes_of_both(problem, ordered) > 1.5 * bytes_of(problem.model()),
            found.taken == Order::near);
  return found;
}

TEST(NearOrder, IsTakenWhereItPays) {
  const FarOutcomes far = look(shuffled_board(30), kMany);
  EXPECT_EQ(far.taken, Order::near);
  EXPECT_GT(far.given, 0.5);
  EXPECT_LT(far.near, 0.01);
}

TEST(NearOrder, IsLeftAloneWhereItDoesNot) {
  const Problem board = shuffled_board(30);
  // Squares are near in the first place, or nothing can be near.
  const FarOutcomes good = look(make("grid(size=30)"), kMany);
  EXPECT_EQ(good.taken, Order::given);
  EXPECT_LT(good.given, 0.01);
  const FarOutcomes random = look(make("garnet(states=1000,actions=3,successors=10)"), kMany);
  EXPECT_EQ(random.taken, Order::given);
  EXPECT_GT(random.near, 0.7);
  // The cache holds everything; there is too little work; too little memory; or nobody wants it.
  EXPECT_EQ(look(board, {nearest_cache() / 2000, 40}).given, 0);
  EXPECT_EQ(look(board, {kMany.bytes, 0.001}).taken, Order::given);
  EXPECT_EQ(look(board, kMany, bytes_of(board.model()) - 1).taken, Order::given);
  EXPECT_EQ(look(board, kMany, kRoom, Order::given).taken, Order::given);
}

// Ranks do the same, whatever their own part looks like.
TEST(NearOrder, IsOneForAllRanks) {
  const Problem board = shuffled_board(30);
  std::vector<FarOutcomes> found(3);
  run_ranks(3, [&](Communicator& ranks) {
    const Problem part = testing::part_for(board, {3, 1}, ranks.rank());
    Execution execution;
    execution.ranks = &ranks;
    execution.ordered = [&](const FarOutcomes& far) { found[ranks.rank()] = far; };
    in_near_order(part, kMany, kRoom, execution);
  });
  for (const FarOutcomes& far : found) {
    EXPECT_EQ(far.taken, Order::near);
    EXPECT_EQ(far.given, found[0].given);
    EXPECT_EQ(far.near, found[0].near);
  }
}

}  // namespace
}  // namespace redoubt
