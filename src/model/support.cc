#include "model/support.h"

#include <cmath>

#include "model/set_traits.h"

namespace redoubt::internal {
namespace {

constexpr double kRounding = 1e-12;  // on the side of a nature that can do more

// Whether nature can leave outcomes of this mass out. One function for each set: the compiler asks
// for that of a new one.
struct Leaves {
  double radius, left_out, kept, most;
  bool must_leave;

  bool operator()(const Nominal&) const { return false; }
  bool operator()(const TV&) const { return left_out <= radius + kRounding; }
  bool operator()(const Chi2&) const { return kept > 0 && left_out <= radius * kept + kRounding; }
  bool operator()(const KL&) const { return kept > 0 && -std::log(kept) <= radius + kRounding; }
  bool operator()(const Tilt&) const { return false; }
  bool operator()(const Interval&) const { return !must_leave && most >= 1 - kRounding; }
  bool operator()(const Composed& set) const {
    switch (set.ball) {
      case Composed::Ball::tv:
        return (*this)(TV{});
      case Composed::Ball::chi2:
        return (*this)(Chi2{});
      case Composed::Ball::kl:
        return (*this)(KL{});
    }
    return false;
  }
};

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
  const Leaves leaves{radius_of(*uncertainty_, row), left_out, kept, most, must_leave};
  return std::visit(leaves, *uncertainty_);
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
