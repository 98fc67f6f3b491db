#include "model/support.h"

#include <cmath>

#include "model/set_traits.h"

namespace redoubt::internal {
namespace {

constexpr double kRounding = 1e-12;  // on the side of a nature that can do more

}  // namespace

bool Support::possible(Row row, std::int64_t outcome) const {
  const ModelArrays& a = model_->arrays();
  if (needs_bounds(*uncertainty_)) return a.upper[outcome] > 0;
  if (a.probability[outcome] > 0) return true;
  const auto* tv = std::get_if<TV>(uncertainty_);  // a landing that is listed
  return tv != nullptr && tv->radius.of(row) > 0 && !a.upper.empty() && a.upper[outcome] > 0;
}

bool Support::lands_anywhere(Row row) const {
  return internal::lands_anywhere(*uncertainty_) && radius_of(*uncertainty_, row) > 0;
}

bool Support::may_leave_out(Row row, double left_out, double kept, double most,
                            bool must_leave) const {
  if (std::holds_alternative<Interval>(*uncertainty_)) return !must_leave && most >= 1 - kRounding;
  const double radius = radius_of(*uncertainty_, row);
  const auto* composed = std::get_if<Composed>(uncertainty_);
  const auto is = [&](bool alone, Composed::Ball ball) {
    return alone || (composed != nullptr && composed->ball == ball);
  };
  if (is(std::holds_alternative<TV>(*uncertainty_), Composed::Ball::tv))
    return left_out <= radius + kRounding;
  if (kept <= 0) return false;
  if (is(std::holds_alternative<Chi2>(*uncertainty_), Composed::Ball::chi2))
    return left_out <= radius * kept + kRounding;
  if (is(std::holds_alternative<KL>(*uncertainty_), Composed::Ball::kl))
    return -std::log(kept) <= radius + kRounding;
  return false;
}

bool Support::is_fixed(Row row) const {
  if (lands_anywhere(row)) return false;
  const auto begin = model_->outcome_begin(row), end = model_->outcome_end(row);
  for (auto i = begin; i < end; ++i) {
    if (!possible(row, i) || end - begin == 1) continue;
    const State left = model_->arrays().next[i];
    if (!must_meet(row, [&](State s) { return s == left; })) return false;
  }
  return true;
}

}  // namespace redoubt::internal
