#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "redoubt/advanced/ranks.h"
#include "redoubt/io.h"
#include "support/folders.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

// Passes everything on and remembers the most bytes that were under way to one rank at a time, and
// how often something was.
class Watched : public Communicator {
 public:
  Watched(Communicator& ranks, std::atomic<std::size_t>& most, std::atomic<int>* times = nullptr)
      : ranks_(ranks), most_(most), times_(times) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    return ranks_.gather(mine);
  }
  void begin(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    if (times_) ++*times_;
    std::size_t bytes = 0;
    for (const Incoming& message : incoming) bytes += message.bytes.size();
    for (std::size_t before = most_; before < bytes && !most_.compare_exchange_weak(before, bytes);)
      ;
    ranks_.begin(outgoing, incoming);
  }
  void finish() override { ranks_.finish(); }

 private:
  Communicator& ranks_;
  std::atomic<std::size_t>& most_;
  std::atomic<int>* times_;
};

// Ranks that own blocks write their own decisions: all that they pass on is where the file is.
TEST(StagePiecesTest, AreWrittenByTheirOwners) {
  constexpr int kRanks = 4, kStages = 30, kStates = 100, kMemory = 7;
  const auto path = testing::own_path("pieces.h5");
  const auto choice = [](int rank, int stage, int node) {
    return MixedChoice{.safe = static_cast<std::uint8_t>(rank),
                       .other = static_cast<std::uint8_t>(stage),
                       .weight = static_cast<std::uint16_t>(node)};
  };
  const Problem whole = testing::random_problem(1, {.states = kRanks * kStates});
  std::vector<State> blocks;
  for (int r = 0; r <= kRanks; ++r) blocks.push_back(r * kStates);
  std::atomic<std::size_t> most = 0;
  run_ranks(kRanks, [&](Communicator& ranks) {
    Watched watched(ranks, most);
    Solution solution;
    solution.policy.states = kStates;
    for (int h = 0; h < kStages; ++h) {
      Policy::Stage& stage = solution.policy.stages.emplace_back();
      stage.memory = kMemory;
      for (int node = 0; node < kStates * kMemory; ++node)
        stage.mixed.edit().push_back(choice(ranks.rank(), h, node));
    }
    Execution execution;
    execution.ranks = &watched;
    save_solution(solution, path, subproblem(whole, blocks, ranks.rank()).model(), execution);
  });
  EXPECT_LT(most, kStates * kMemory * sizeof(MixedChoice) / 10);
  const Policy policy = load_solution(path).policy;
  std::filesystem::remove(path);
  ASSERT_EQ(policy.states, kRanks * kStates);
  ASSERT_EQ(policy.stages.size(), std::size_t{kStages});
  for (int h = 0; h < kStages; ++h) {
    for (int node = 0; node < kRanks * kStates * kMemory; ++node)
      ASSERT_EQ(policy.stages[h].mixed[node],
                choice(node / (kStates * kMemory), h, node % (kStates * kMemory)));
  }
}

// Landing plans go together, many in one message, and not all of them at once.
TEST(StagePiecesTest, PassLandingPlansOnInBatches) {
  constexpr int kRanks = 2, kPlans = 15'000;
  constexpr State kStates = 3;  // of each rank
  const auto path = testing::own_path("plans.h5");
  const auto memory = [](std::int64_t plan, State state) {
    return static_cast<std::int32_t>(7 * plan + state);
  };
  const Problem whole = testing::random_problem(1, {.states = kRanks * kStates});
  const std::vector<std::int32_t> owners = {0, 1, 1, 0, 1, 0};
  std::atomic<std::size_t> most = 0;
  std::atomic<int> times = 0;
  run_ranks(kRanks, [&](Communicator& ranks) {
    Watched watched(ranks, most, &times);
    const Model part =
        subproblem(whole, Partition({0, kStates, 2 * kStates}, owners), ranks.rank()).model();
    Solution solution;
    solution.policy.states = kStates;
    Policy::Stage& stage = solution.policy.stages.emplace_back();
    stage.node_begin = {0, 0, 0, 0};
    stage.choice_begin = stage.move_begin = stage.landing_begin = {0};
    for (std::int64_t plan = 0; plan < kPlans; ++plan) {
      for (State s = 0; s < kStates; ++s) {
        const State number = part.arrays().submodel->number[part.own(s)];
        stage.landing_moves.resize(stage.landing_moves.size() + number % 3,
                                   {memory(plan, number), 0.5});
        stage.landing_begin.push_back(static_cast<std::int64_t>(stage.landing_moves.size()));
      }
    }
    Execution execution;
    execution.ranks = &watched;
    save_solution(solution, path, part, execution);
  });
  EXPECT_LT(times, 200);
  EXPECT_LT(most, kPlans * kStates * 2 * sizeof(std::int64_t));  // a place and a size for each
  const Policy::Stage stage = load_solution(path).policy.stages.front();
  std::filesystem::remove(path);
  ASSERT_EQ(stage.landing_begin.size(), std::size_t{kPlans * 2 * kStates + 1});
  for (std::int64_t slot = 0; slot < kPlans * 2 * kStates; ++slot) {
    const auto state = static_cast<State>(slot % (2 * kStates));
    ASSERT_EQ(stage.landing_begin[slot + 1] - stage.landing_begin[slot], state % 3);
    for (auto m = stage.landing_begin[slot]; m < stage.landing_begin[slot + 1]; ++m)
      ASSERT_EQ(stage.landing_moves[m].memory, memory(slot / (2 * kStates), state));
  }
}

}  // namespace
}  // namespace redoubt
