#include "sets/composed.h"

#include <algorithm>
#include <limits>

namespace redoubt::internal {
namespace {

using Kernel = SetKernel SetKernels::*;

// What a block of lanes needs beside the rows: the centre that nature takes in each lane, and the
// values as the ball around it sees them.
class Room {
 public:
  Room(int outcomes, const LaneValues& values, Scratch& scratch)
      : outcomes_(outcomes), lanes_(static_cast<std::size_t>(padded_lanes(values.lanes))) {
    static_assert(sizeof(const double*) <= sizeof(double));
    const auto count = static_cast<std::size_t>(outcomes);
    centre = scratch.more_doubles((2 * count + 2) * lanes_ + count);
    radius = centre + (count + 1) * lanes_;
    seen_ = radius + lanes_;
    pointers_ = new (seen_ + count * lanes_) const double*[count];
  }

  // Outcomes that a centre gives nothing are out of the reach of chi2 and kl, whose kernels expect
  // positive probabilities. As high as the highest that it does give something, they change
  // nothing, neither the worst case nor the range of the values.
  LaneValues within_reach(const LaneValues& values) {
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      double high = -std::numeric_limits<double>::infinity();
      for (int i = 0; i < outcomes_; ++i)
        if (centre[i * lanes_ + lane] > 0) high = std::max(high, values.values[i][lane]);
      for (int i = 0; i < outcomes_; ++i) {
        const auto at = i * lanes_ + lane;
        seen_[at] = centre[at] > 0 ? values.values[i][lane] : high;
      }
    }
    for (int i = 0; i < outcomes_; ++i) pointers_[i] = seen_ + i * lanes_;
    return {values.lanes, pointers_, values.floor};
  }

  double* centre;  // [outcome][lane], and one more for a floor
  double* radius;  // [lane]

 private:
  int outcomes_;
  std::size_t lanes_;
  double* seen_;  // [outcome][lane]
  const double** pointers_;
};

// Every lane has its own centre, so both kinds of rows end in the same lane kernel.
template <const SetKernels& kernels, Kernel ball>
void around_centres(const LaneRows& centres, const LaneValues& values, Room& room, Scratch& scratch,
                    double* worst, double* minimiser) {
  const bool tv = ball == &SetKernels::tv;  // takes no notice of outcomes without mass
  (kernels.*ball)
      .row_of_lane(centres, tv ? values : room.within_reach(values), scratch, worst, minimiser);
}

template <const SetKernels& kernels, Kernel ball>
void around_any_row(const NominalRow& row, const LaneValues& values, Scratch& scratch,
                    double* worst, double* minimiser) {
  Room room(row.outcomes, values, scratch);
  std::fill_n(room.radius, padded_lanes(values.lanes), row.radius);
  kernels.interval.one_row(row, values, scratch, worst, room.centre);
  around_centres<kernels, ball>({row.outcomes, room.centre, room.radius}, values, room, scratch,
                                worst, minimiser);
}

template <const SetKernels& kernels, Kernel ball>
void around_any_row(const LaneRows& rows, const LaneValues& values, Scratch& scratch, double* worst,
                    double* minimiser) {
  Room room(rows.outcomes, values, scratch);
  kernels.interval.row_of_lane(rows, values, scratch, worst, room.centre);
  around_centres<kernels, ball>({rows.outcomes, room.centre, rows.radius}, values, room, scratch,
                                worst, minimiser);
}

template <const SetKernels& kernels>
SetKernel choose_ball(Composed::Ball ball) {
  using enum Composed::Ball;
  constexpr Kernel kTv = &SetKernels::tv, kChi2 = &SetKernels::chi2, kKl = &SetKernels::kl;
  if (ball == tv) return {around_any_row<kernels, kTv>, around_any_row<kernels, kTv>};
  if (ball == chi2) return {around_any_row<kernels, kChi2>, around_any_row<kernels, kChi2>};
  return {around_any_row<kernels, kKl>, around_any_row<kernels, kKl>};
}

}  // namespace

SetKernel composed_kernel(Composed::Ball ball, const SetKernels& kernels) {
#ifdef __x86_64__
  if (&kernels == &avx512::set_kernels) return choose_ball<avx512::set_kernels>(ball);
  if (&kernels == &avx2::set_kernels) return choose_ball<avx2::set_kernels>(ball);
#endif
  (void)kernels;
  return choose_ball<baseline::set_kernels>(ball);
}

}  // namespace redoubt::internal
