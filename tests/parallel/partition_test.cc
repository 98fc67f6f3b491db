#include "parallel/partition.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/random_problem.h"

namespace redoubt {
using namespace internal;
namespace {

using ::testing::HasSubstr;

// A chain whose states are numbered so that neighbours are far apart: even places first.
constexpr State kStates = 40;
State number_at(State place) { return place % 2 == 0 ? place / 2 : (kStates + place) / 2; }
State place_of(State number) {
  return number < kStates / 2 ? 2 * number : 2 * number - kStates + 1;
}

Model chain() {
  ModelBuilder builder(kStates, {});
  for (State place = 0; place < kStates; ++place) {
    const State before = number_at(std::max(0, place - 1)),
                after = number_at(std::min(kStates - 1, place + 1));
    builder.add(
        0, number_at(place), 0,
        {.outcomes = {{.next = before, .probability = 0.5}, {.next = after, .probability = 0.5}}});
  }
  return builder.build();
}

// Equal stretches of the chain.
std::vector<std::int32_t> stretches(const StateGraph& graph, int ranks) {
  std::vector<std::int32_t> owner;
  for (State s = 0; s < graph.states(); ++s) owner.push_back(place_of(s) * ranks / kStates);
  return owner;
}

struct Divided {
  Partition partition = std::vector<State>{0};
  NeededStates needed;
};
Divided divided(const Model& model, int ranks, const Partitioner& partition) {
  std::vector<Divided> found(ranks);
  run_ranks(ranks, [&](Communicator& all) {
    Divided& mine = found[all.rank()];
    mine.partition = make_partition(
        model, all, {partition, [&](const NeededStates& needed) { mine.needed = needed; }});
  });
  for (const Divided& each : found) {  // ranks agree
    EXPECT_EQ(each.partition.blocks, found[0].partition.blocks);
    EXPECT_EQ(each.partition.owner, found[0].partition.owner);
    EXPECT_EQ(each.needed.blocks, found[0].needed.blocks);
    EXPECT_EQ(each.needed.partition, found[0].needed.partition);
    EXPECT_EQ(each.needed.partitioned, found[0].needed.partitioned);
  }
  return found[0];
}

TEST(DivideTest, APartitionThatSavesMessagesIsTaken) {
  for (int ranks = 2; ranks <= 4; ++ranks) {
    const auto [partition, needed] = divided(chain(), ranks, stretches);
    EXPECT_TRUE(needed.partitioned);
    EXPECT_EQ(needed.partition, 2 * (ranks - 1));  // both ends of every cut
    EXPECT_GE(needed.blocks, kStates - 2);         // next to every state is one of another block
    for (State s = 0; s < kStates; ++s)
      EXPECT_EQ(partition.owner[s], place_of(s) * ranks / kStates);
  }
}

TEST(DivideTest, BlocksAreKeptWhereAPartitionSavesLittle) {
  const auto blocks = [](const StateGraph& graph, int ranks) {
    std::vector<std::int32_t> owner;
    for (State s = 0; s < graph.states(); ++s) owner.push_back(s * ranks / graph.states());
    return owner;
  };
  const auto nothing = [](const StateGraph&, int) { return std::vector<std::int32_t>(); };
  for (const Partitioner& partitioner : {Partitioner(blocks), Partitioner(nothing)}) {
    const auto [partition, needed] = divided(chain(), 2, partitioner);
    EXPECT_FALSE(needed.partitioned);
    EXPECT_EQ(needed.partition, needed.blocks);
    EXPECT_TRUE(partition.owner.empty());
    EXPECT_EQ(partition.blocks, balanced_blocks(chain(), 2));
  }
}

TEST(DivideTest, CountsTheStatesThatPartsHaveOfOthers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    testing::RandomOptions options = testing::random_options(seed);
    options.states += 20;
    const Problem whole = testing::random_problem(seed, options);
    const Model& model = whole.model();
    Partition partition = balanced_blocks(model, 3);
    const auto graph = graph_of(model.arrays(), {0, model.states(), 0, model.states()});
    for (const bool scattered : {false, true}) {
      for (State s = 0; scattered && s < model.states(); ++s) partition.owner.push_back(s * 7 % 3);
      std::int64_t others = 0;
      for (int r = 0; r < 3; ++r) {
        const Model part = subproblem(whole, partition, r).model();
        std::vector<bool> leads(part.states());
        for (const State next : part.arrays().next) leads[next] = true;
        for (State s = 0; s < part.states(); ++s) others += leads[s] && !part.owns(s);
      }
      EXPECT_EQ(states_needed(graph, partition), others);
    }
  }
}

TEST(DivideTest, WrongPartitionsAreRefusedByAllRanks) {
  const auto error_of = [](std::vector<std::int32_t> owner) {
    return testing::error_of(
        [&] { divided(chain(), 2, [&](const StateGraph&, int) { return owner; }); });
  };
  EXPECT_THAT(error_of(std::vector<std::int32_t>(3)),
              HasSubstr("a partition of 40 states with 3 owners"));
  EXPECT_THAT(error_of(std::vector<std::int32_t>(kStates, 2)),
              HasSubstr("rank 2 owns a state, must be in 0..1"));
}

}  // namespace
}  // namespace redoubt
