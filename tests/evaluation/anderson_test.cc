#include "evaluation/anderson.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/random.h"

namespace redoubt {
using namespace internal;
namespace {

// x -> earned + discount * (where a walk on a line leads), which plain steps solve slowly.
class Walk {
 public:
  Walk(std::size_t nodes, double discount) : discount_(discount), earned_(nodes), on_(nodes) {
    testing::Random random(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      earned_[i] = random.uniform();
      on_[i] = 0.3 + 0.4 * random.uniform();
    }
  }

  std::vector<double> step(const std::vector<double>& x) const {
    std::vector<double> next(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double left = x[i > 0 ? i - 1 : i], right = x[i + 1 < x.size() ? i + 1 : i];
      next[i] = earned_[i] + discount_ * (on_[i] * right + (1 - on_[i]) * left);
    }
    return next;
  }

  std::vector<double> solution() const {
    std::vector<double> x(earned_.size(), 0.0);
    for (int n = 0; n < 60'000; ++n) x = step(x);
    return x;
  }

 private:
  double discount_;
  std::vector<double> earned_, on_;
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

std::vector<double> after(const Walk& walk, std::size_t nodes, int steps, bool combined) {
  Anderson anderson;
  std::vector<double> x(nodes, 0.0);
  for (int n = 0; n < steps; ++n) {
    std::vector<double> next = walk.step(x);
    if (combined) anderson.combine(x, next, one_process());
    x = std::move(next);
  }
  return x;
}

TEST(Anderson, FewStepsDoWhatManyPlainOnesDo) {
  for (const std::size_t nodes : {7, 40, 133}) {
    const Walk walk(nodes, 0.999);
    const std::vector<double> solution = walk.solution();
    const double plain = distance(after(walk, nodes, 300, false), solution);
    EXPECT_GT(plain, 100) << nodes;
    EXPECT_LT(distance(after(walk, nodes, 300, true), solution), 1e-2 * plain) << nodes;
  }
}

TEST(Anderson, StaysWhereNothingChanges) {
  const Walk walk(20, 0.9);
  const std::vector<double> solution = walk.solution();
  Anderson anderson;
  std::vector<double> x = solution;
  for (int n = 0; n < 30; ++n) {
    std::vector<double> next = walk.step(x);
    anderson.combine(x, next, one_process());
    x = std::move(next);
  }
  EXPECT_LT(distance(x, solution), 1e-12);
  std::vector<double> same = {1, 2, 3};
  anderson.forget();
  for (int n = 0; n < 3; ++n) anderson.combine(std::vector<double>{1, 2, 3}, same, one_process());
  EXPECT_EQ(same, (std::vector<double>{1, 2, 3}));
}

// Each rank has some of the numbers, and knows all of them: the same bits.
TEST(Anderson, SameBitsOnAnyNumberOfRanks) {
  constexpr std::size_t kNodes = 48;  // shared out evenly
  const Walk walk(kNodes, 0.99);
  const std::vector<double> alone = after(walk, kNodes, 60, true);
  for (const int count : {2, 3}) {
    run_ranks(count, [&](Communicator& ranks) {
      const std::size_t begin = kNodes * ranks.rank() / count;
      const std::size_t end = kNodes * (ranks.rank() + 1) / count;
      Anderson anderson;
      std::vector<double> x(kNodes, 0.0);
      for (int n = 0; n < 60; ++n) {
        const std::vector<double> next = walk.step(x);
        const std::vector<double> before(x.begin() + begin, x.begin() + end);
        std::vector<double> own(next.begin() + begin, next.begin() + end);
        anderson.combine(before, own, ranks);
        x.clear();
        const std::vector<std::byte> bytes = ranks.gather(std::as_bytes(std::span(own)));
        const std::size_t each = bytes.size() / sizeof(double);
        x.resize(each);
        std::memcpy(x.data(), bytes.data(), bytes.size());
      }
      EXPECT_EQ(x, alone) << count << " ranks";
    });
  }
}

}  // namespace
}  // namespace redoubt
