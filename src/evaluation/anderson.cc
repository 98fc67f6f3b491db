#include "evaluation/anderson.h"

#include <algorithm>
#include <cmath>

#include "numerics/exact_sum.h"
#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

constexpr double kDistinct = 1e-14;  // share of a step's square that others must leave of it

// In eight sums, which the processor adds up side by side. Terms are rounded, so that their order
// does not matter.
double product(const std::vector<double>& a, const std::vector<double>& b, double unit,
               const Grid& grid) {
  constexpr std::size_t kSums = 8;
  std::array<double, kSums> sums{};
  std::size_t i = 0;
  for (; i + kSums <= a.size(); i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += grid(a[i + k] * b[i + k] * unit);
  }
  for (; i < a.size(); ++i) sums[0] += grid(a[i] * b[i] * unit);
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

void Anderson::remember(std::span<const double> x, std::span<const double> g, Communicator& ranks) {
  if (first_) {
    change_.resize(x.size());
    length_ = sum_over_ranks(ranks, static_cast<double>(x.size()));
  }
  Step& step = steps_[newest_ = first_ ? 0 : (newest_ + 1) % kMost];
  step.change.resize(x.size());
  step.g.resize(x.size());
  double largest = 0, largest_step = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double change = g[i] - x[i];
    step.change[i] = change - change_[i];
    change_[i] = change;
    largest = std::max(largest, std::abs(change));
    largest_step = std::max(largest_step, std::abs(step.change[i]));
  }
  for (std::size_t i = 0; !first_ && i < x.size(); ++i) step.g[i] = g[i] - g_[i];
  g_.assign(g.begin(), g.end());
  size_ = max_over_ranks(ranks, largest);
  step.size = max_over_ranks(ranks, largest_step);
  if (first_)
    newest_ = kMost - 1;  // there was nothing to differ from
  else
    count_ = std::min(count_ + 1, kMost);
}

void Anderson::multiply(Communicator& ranks) {
  const Grid grid(length_);
  const Step& newest = steps_[newest_];
  std::array<double, 2 * kMost> own{};
  for (std::size_t n = 0; n < count_; ++n) {
    const Step& step = steps_[n];
    own[n] = product(newest.change, step.change, 1 / (newest.size * step.size), grid);
    own[kMost + n] = product(change_, step.change, 1 / (size_ * step.size), grid);
  }
  std::array<double, 2 * kMost> all{};
  for (const auto& part : all_gather_one(ranks, own)) {
    for (std::size_t n = 0; n < all.size(); ++n) all[n] += part[n];
  }
  for (std::size_t n = 0; n < count_; ++n) {
    products_[n][newest_] = products_[newest_][n] = all[n];
    with_last_[n] = all[kMost + n];
  }
}

// The least squares, by Cholesky's method.
bool Anderson::find_weights() {
  std::array<std::array<double, kMost>, kMost> root{};
  weight_ = with_last_;
  for (std::size_t r = 0; r < count_; ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      double left = products_[r][c];
      for (std::size_t k = 0; k < c; ++k) left -= root[r][k] * root[c][k];
      if (c < r)
        root[r][c] = left / root[c][c];
      else if (left > kDistinct * products_[r][r])
        root[r][r] = std::sqrt(left);
      else
        return false;
    }
    for (std::size_t k = 0; k < r; ++k) weight_[r] -= root[r][k] * weight_[k];
    weight_[r] /= root[r][r];
  }
  for (std::size_t r = count_; r-- > 0;) {
    for (std::size_t k = r + 1; k < count_; ++k) weight_[r] -= root[k][r] * weight_[k];
    weight_[r] /= root[r][r];
  }
  return true;
}

void Anderson::combine(std::span<const double> x, std::span<double> g, Communicator& ranks) {
  remember(x, g, ranks);
  const bool was_first = first_;
  first_ = false;
  if (was_first) return;
  const auto nothing = [&](std::size_t n) { return !(steps_[n].size > 0); };
  if (!(size_ > 0) || nothing(newest_)) return forget();
  multiply(ranks);
  if (!find_weights()) return forget();
  for (std::size_t n = 0; n < count_; ++n) {
    const double weight = weight_[n] * size_ / steps_[n].size;
    const std::vector<double>& step = steps_[n].g;
    for (std::size_t i = 0; i < g.size(); ++i) g[i] -= weight * step[i];
  }
}

}  // namespace redoubt::internal
