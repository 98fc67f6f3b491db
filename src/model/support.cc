#include "model/support.h"

#include <cmath>

namespace redoubt::internal {
namespace {

constexpr double kRounding = 1e-12;  // on the side of a nature that can do more

}  // namespace

bool Support::possible(Row row, std::int64_t outcome) const {
  const ModelArrays& a = model_->arrays();
  if (std::holds_alternative<Interval>(*uncertainty_)) return a.upper[outcome] > 0;
  if (a.probability[outcome] > 0) return true;
  const auto* tv = std::get_if<TV>(uncertainty_);  // a landing that is listed
  return tv != nullptr && tv->radius.of(row) > 0 && !a.upper.empty() && a.upper[outcome] > 0;
}

bool Support::lands_anywhere(Row row) const {
  const auto* tv = std::get_if<TV>(uncertainty_);
  return tv != nullptr && tv->reach == Reach::anywhere && tv->radius.of(row) > 0;
}

bool Support::may_leave_out(Row row, double left_out, double kept, double most,
                            bool must_leave) const {
  if (std::holds_alternative<Interval>(*uncertainty_)) return !must_leave && most >= 1 - kRounding;
  if (const auto* tv = std::get_if<TV>(uncertainty_))
    return left_out <= tv->radius.of(row) + kRounding;
  if (kept <= 0) return false;
  if (const auto* chi2 = std::get_if<Chi2>(uncertainty_))
    return left_out <= chi2->radius.of(row) * kept + kRounding;
  if (const auto* kl = std::get_if<KL>(uncertainty_))
    return -std::log(kept) <= kl->radius.of(row) + kRounding;
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
