#include <benchmark/benchmark.h>

#include <vector>

#include "numerics/kernels.h"
#include "support/set_rows.h"
#include "topics.h"

namespace redoubt::bench {
using namespace internal;

namespace {

// Random one-constraint LPs whose optimum is usually a mix.
class Mixes {
 public:
  explicit Mixes(int actions) : actions_(actions), values_(2 * actions * kLanes), out_(2 * kLanes) {
    std::mt19937_64 random(1);
    for (double& v : values_) v = testing::uniform(random);
    for (int a = 0; a < actions; ++a) {
      reward_.push_back(&values_[2 * a * kLanes]);
      utility_.push_back(&values_[(2 * a + 1) * kLanes]);
    }
    for (int lane = 0; lane < kLanes; ++lane)
      threshold_.push_back(testing::uniform(random, 0.5, 1));
  }

  std::function<void()> solve(MixFunction function) {
    return [this, function] {
      function({actions_, kLanes, reward_.data(), utility_.data(), threshold_.data()},
               {choice_, out_.data(), out_.data() + kLanes});
      benchmark::ClobberMemory();
    };
  }

 private:
  static constexpr int kLanes = 64;

  int actions_;
  std::vector<double> values_, out_, threshold_;
  std::vector<const double*> reward_, utility_;
  MixedChoice choice_[kLanes];
};

}  // namespace

void mixing(Table& table) {
  table.add(
      {"mix of 20 actions, times faster along the hull than by pairs", 2.5, 4, Better::higher}, [] {
        const MixFunctions& functions = mix_functions(best_instruction_set());
        Mixes mixes(20);
        return ratio(mixes.solve(functions.by_pairs), mixes.solve(functions.by_bridge));
      });
  table.add({"bytes per policy entry", 4, 1.2}, [] { return sizeof(MixedChoice); });
}

}  // namespace redoubt::bench
