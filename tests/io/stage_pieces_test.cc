#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "redoubt/io.h"
#include "redoubt/ranks.h"
#include "support/random_problem.h"

namespace redoubt {
namespace {

// Passes everything on and remembers the most bytes that were under way to one rank at a time.
class Watched : public Communicator {
 public:
  Watched(Communicator& ranks, std::atomic<std::size_t>& most) : ranks_(ranks), most_(most) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  std::vector<std::byte> gather(std::span<const std::byte> mine) override {
    return ranks_.gather(mine);
  }
  void begin(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
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
};

// A solution of several ranks is written stage by stage and rank by rank: the one that writes never
// has more than one stage of one other rank.
TEST(StagePiecesTest, ArePassedOnOneByOne) {
  constexpr int kRanks = 4, kStages = 30, kStates = 100, kMemory = 7;
  const auto path =
      std::filesystem::path(REDOUBT_BINARY_DIR) / ("pieces-" + std::to_string(::getpid()) + ".h5");
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
        stage.mixed.push_back(choice(ranks.rank(), h, node));
    }
    Execution execution;
    execution.ranks = &watched;
    save_solution(solution, path, part_of(whole, blocks, ranks.rank()).model(), execution);
  });
  EXPECT_EQ(most, kStates * kMemory * sizeof(MixedChoice));
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

}  // namespace
}  // namespace redoubt
