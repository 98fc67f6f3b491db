#include "rows.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>

#include "support/set_rows.h"

namespace redoubt::bench {

Rows::Rows(int outcomes, double radius, std::uint64_t seed)
    : outcomes_(outcomes),
      radius_(radius),
      values_((kStates + 1) * kLanesPerRow),
      worst_(kLanesPerRow) {
  // Where values lie relative to cache lines moves the ratios by a quarter. In a sweep over budgets
  // a lane is a shifted pointer, so they rarely start on a line: here, always three values after.
  const auto address = reinterpret_cast<std::uintptr_t>(values_.data()) / sizeof(double);
  const double* first = values_.data() + (kLaneBlock - address % kLaneBlock) + 3;
  std::mt19937_64 random(seed);
  for (double& v : values_) v = testing::uniform(random);
  std::vector<int> states(kStates);
  std::iota(states.begin(), states.end(), 0);
  for (int row = 0; row < kRows; ++row) {
    std::shuffle(states.begin(), states.end(), random);
    const auto plain = testing::plain_row(random, outcomes, radius);
    probability_.insert(probability_.end(), plain.probability.begin(), plain.probability.end());
    for (int i = 0; i < outcomes; ++i) pointers_.push_back(first + states[i] * kLanesPerRow);
  }
}

int Rows::values() const { return kRows * outcomes_ * kLanesPerRow; }

std::function<void()> Rows::backup(const Uncertainty& set) {
  return [this, kernel = worst_case_kernel(set)] {
    for (int row = 0; row < kRows; ++row) {
      kernel({outcomes_, &probability_[row * outcomes_], radius_},
             {kLanesPerRow, &pointers_[row * outcomes_]}, scratch_, worst_.data(), nullptr);
      benchmark::DoNotOptimize(worst_.data());
      benchmark::ClobberMemory();
    }
  };
}

std::function<void()> Rows::backup_of_one(const Uncertainty& set) {
  return [this, kernel = worst_case_kernel(set)] {
    for (int row = 0; row < kRows; ++row) {
      kernel({outcomes_, &probability_[row * outcomes_], radius_}, {1, &pointers_[row * outcomes_]},
             scratch_, worst_.data(), nullptr);
      benchmark::DoNotOptimize(worst_.data());
      benchmark::ClobberMemory();
    }
  };
}

std::function<void()> Rows::sort_backup() {
  return [this, order = std::vector<std::pair<double, double>>(outcomes_)]() mutable {
    for (int row = 0; row < kRows; ++row)
      for (int lane = 0; lane < kLanesPerRow; ++lane) {
        for (int i = 0; i < outcomes_; ++i)
          order[i] = {pointers_[row * outcomes_ + i][lane], probability_[row * outcomes_ + i]};
        std::sort(order.begin(), order.end());
        double left = radius_, worst = left * order.front().first;
        for (int i = outcomes_ - 1; i >= 0; --i) {
          const double moved = std::min(left, order[i].second);
          left -= moved;
          worst += (order[i].second - moved) * order[i].first;
        }
        worst_[lane] = worst;
        benchmark::DoNotOptimize(worst_.data());
      }
  };
}

}  // namespace redoubt::bench
