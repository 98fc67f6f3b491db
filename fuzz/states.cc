#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "set_input.h"
#include "support/set_laws.h"
#include "support/set_states.h"

namespace {

using namespace redoubt;
using namespace redoubt::fuzzing;
using redoubt::testing::SetState;

constexpr int kMostActions = 5, kMostOutcomes = 9;

SetState read_state(FuzzedDataProvider& input) {
  SetState state;
  const int actions = input.ConsumeIntegralInRange(1, kMostActions);
  for (int a = 0; a < actions; ++a) {
    SetState::Action action;
    const int outcomes = input.ConsumeIntegralInRange(1, kMostOutcomes);
    const int kind = input.ConsumeIntegralInRange(0, 5);
    action.probability = probabilities(input, outcomes);
    for (int i = 0; i < outcomes; ++i) action.value.push_back(value(input, kind));
    action.floor = action.value[0] + fraction(input) - 0.5;
    action.weight = input.ConsumeBool() ? fraction(input) : std::pow(10, -9 * fraction(input));
    state.actions.push_back(std::move(action));
  }
  state.radius = input.ConsumeBool() ? fraction(input) : std::pow(10, -12 + 18 * fraction(input));
  return state;
}

[[noreturn]] void fail(const std::string& sentence, const SetState& state) {
  fmt::print(stderr, "ERROR: {}\nradius {}\n", sentence, state.radius);
  for (const SetState::Action& action : state.actions)
    fmt::print(stderr, "weight {}, floor {}, probabilities {}, values {}\n", action.weight,
               action.floor, action.probability, action.value);
  std::abort();
}

}  // namespace

// Any state whose rows share a radius: every instruction set agrees with the long-double reference,
// and every law holds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const auto& sets = redoubt::testing::shared_sets();
  const Uncertainty& set = sets[input.ConsumeIntegralInRange<std::size_t>(0, sets.size() - 1)];
  const SetState state = read_state(input), other = read_state(input);
  const long double expected = reference_worst_case(set, state);
  for (const internal::InstructionSet instructions : internal::instruction_sets()) {
    const double worst = redoubt::testing::solve(set, {state}, instructions)[0].worst;
    if (!(std::abs(worst - expected) <= kTolerance * error_unit(state)))
      fail(fmt::format("{}, {}: {} instead of {}", redoubt::testing::describe(set),
                       name(instructions), worst, static_cast<double>(expected)),
           state);
  }
  const std::string broken = broken_state_law(set, state, other, 10 * kTolerance);
  if (!broken.empty()) fail(broken, state);
  return 0;
}
