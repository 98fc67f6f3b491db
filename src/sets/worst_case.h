#pragma once

#include <optional>

#include "numerics/isa.h"
#include "redoubt/uncertainty.h"
#include "sets/row.h"

// The worst case of ONE row, for a block of lanes at once. A lane is one vector of outcome values:
// a budget, a signal, a direction, whatever the caller sweeps over. Sets know rows and lanes; they
// know no states and no stages.
namespace redoubt::internal {

// The lane kernel of a set, for the best instructions of this machine. Choose it once, outside the
// loop over rows. A lane's result has the same bits wherever it stands, whatever the other lanes
// are; radius 0 has the same bits as no uncertainty.
WorstCase worst_case_kernel(const Uncertainty& uncertainty,
                            InstructionSet instructions = best_instruction_set());

// What a row on its own asks its set for, by one look at it. Only of sets whose rows are
// probabilities, with one radius for all, and that break no rule.
struct SetOfOneRow {
  WorstCase kernel;
  double radius = 0;  // or what its kernel reads as that
  bool anywhere = false;
};
std::optional<SetOfOneRow> set_of_one_row(const Uncertainty& uncertainty);

// The same for lanes that have a row each: the result of a row is what it is alone. For lanes that
// have a state each, whose rows share the radius (null for sets that have no scope). And without
// lanes, the expectations of the nominal rows, and the best of a state's rows; and what brings rows
// side by side.
WorstCases worst_cases_kernel(const Uncertainty& uncertainty,
                              InstructionSet instructions = best_instruction_set());
WorstOfStates worst_of_states_kernel(const Uncertainty& uncertainty, InstructionSet instructions);
BestOfStates best_of_states_kernel(const Uncertainty& uncertainty, InstructionSet instructions);
ExpectedValues expected_values_kernel(InstructionSet instructions = best_instruction_set());
BestExpected best_expected_kernel(InstructionSet instructions = best_instruction_set());
BestAlike best_alike_kernel(InstructionSet instructions = best_instruction_set());
LayOut lay_out_kernel(InstructionSet instructions = best_instruction_set());

}  // namespace redoubt::internal
