#include "sets/worst_case.h"

#include <cmath>
#include <type_traits>

#include "sets/composed.h"
#include "sets/kernels/kernels.h"

namespace redoubt::internal {

namespace {

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
