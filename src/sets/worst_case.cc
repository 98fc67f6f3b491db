#include "sets/worst_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sets/kernels/kernels.h"

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

// The worst case over a ball around any row that keeps its bounds. The row that starts from the
// lower bounds and fills up the lowest values first is below every other in the stochastic order of
// the values, whatever they are, and the worst case over a ball grows in that order; so nature
// takes that row, which is the one that the interval kernel chooses, and then the ball around it.
// docs/uncertainty.md has the proof.
SetKernel composed_kernel(Composed::Ball ball, const SetKernels& kernels) {
#ifdef __x86_64__
  if (&kernels == &avx512::set_kernels) return choose_ball<avx512::set_kernels>(ball);
  if (&kernels == &avx2::set_kernels) return choose_ball<avx2::set_kernels>(ball);
#endif
  (void)kernels;
  return choose_ball<baseline::set_kernels>(ball);
}

const SetKernels& kernels_for(InstructionSet instructions) {
#ifdef __x86_64__
  if (instructions == InstructionSet::avx512) return avx512::set_kernels;
  if (instructions == InstructionSet::avx2) return avx2::set_kernels;
#endif
  (void)instructions;
  return baseline::set_kernels;
}

const SetKernels& best_kernels() {
  static const SetKernels& kernels = kernels_for(best_instruction_set());
  return kernels;
}

SetKernel choose(const Nominal&, const SetKernels& k) { return k.nominal; }
SetKernel choose(const TV&, const SetKernels& k) { return k.tv; }
SetKernel choose(const Chi2&, const SetKernels& k) { return k.chi2; }
SetKernel choose(const KL&, const SetKernels& k) { return k.kl; }
SetKernel choose(const Tilt&, const SetKernels& k) { return k.tilt; }
SetKernel choose(const Interval&, const SetKernels& k) { return k.interval; }
SetKernel choose(const Composed& set, const SetKernels& k) { return composed_kernel(set.ball, k); }

SetKernel choose(const Uncertainty& uncertainty, const SetKernels& kernels) {
  return std::visit([&](const auto& set) { return choose(set, kernels); }, uncertainty);
}

StateKernel choose_state(const Uncertainty& set, const SetKernels& k) {
  if (std::holds_alternative<TV>(set)) return k.state_tv;
  if (std::holds_alternative<Chi2>(set)) return k.state_chi2;
  if (std::holds_alternative<KL>(set)) return k.state_kl;
  return {};
}

}  // namespace

WorstCase worst_case_kernel(const Uncertainty& uncertainty, InstructionSet instructions) {
  return choose(uncertainty, kernels_for(instructions)).one_row;
}

std::optional<SetOfOneRow> set_of_one_row(const Uncertainty& uncertainty) {
  return std::visit(
      [](const auto& set) -> std::optional<SetOfOneRow> {
        using Set = std::decay_t<decltype(set)>;
        SetOfOneRow found;
        if constexpr (std::is_same_v<Set, Interval> || std::is_same_v<Set, Composed>) return {};
        if constexpr (requires { set.scope; })
          if (set.scope != Scope::row) return {};
        if constexpr (requires { set.radius; }) {
          if (!set.radius.rows.empty()) return {};
          found.radius = set.radius.all;
        }
        if constexpr (requires { set.temperature; }) found.radius = set.temperature;
        if constexpr (requires { set.reach; }) found.anywhere = set.reach == Reach::anywhere;
        if (!(found.radius >= 0 && std::isfinite(found.radius))) return {};
        if (std::is_same_v<Set, Tilt> && found.radius == 0) return {};
        found.kernel = choose(set, best_kernels()).one_row;
        return found;
      },
      uncertainty);
}

WorstCases worst_cases_kernel(const Uncertainty& uncertainty, InstructionSet instructions) {
  return choose(uncertainty, kernels_for(instructions)).row_of_lane;
}

WorstOfStates worst_of_states_kernel(const Uncertainty& uncertainty, InstructionSet instructions) {
  return choose_state(uncertainty, kernels_for(instructions)).worst;
}

BestOfStates best_of_states_kernel(const Uncertainty& uncertainty, InstructionSet instructions) {
  return choose_state(uncertainty, kernels_for(instructions)).best;
}

ExpectedValues expected_values_kernel(InstructionSet instructions) {
  return kernels_for(instructions).expected_values;
}

BestExpected best_expected_kernel(InstructionSet instructions) {
  return kernels_for(instructions).best_expected;
}

BestAlike best_alike_kernel(InstructionSet instructions) {
  return kernels_for(instructions).best_alike;
}

LayOut lay_out_kernel(InstructionSet instructions) { return kernels_for(instructions).lay_out; }

const RowChecks& row_checks(InstructionSet instructions) {
  return kernels_for(instructions).checks;
}
const RowChecks& row_checks() { return best_kernels().checks; }

}  // namespace redoubt::internal
