#pragma once

#include <random>
#include <string>
#include <vector>

#include "sets/state_lanes.h"
#include "support/set_rows.h"

namespace redoubt::testing {

// One state whose rows share a radius, with the weights of its actions, as a value.
struct SetState {
  struct Action {
    std::vector<double> probability, value;  // of each outcome
    double weight = 1;
    double floor = 0;  // of the worst landing, where the set has any
  };
  std::vector<Action> actions;
  double radius = 0;

  StateShape shape() const;
};

struct StateResult {
  double worst = 0;
  std::vector<std::vector<double>> minimiser;  // [action][outcome, then the floor]
};

// Worst cases, all at once; states of equal shape share lanes.
std::vector<StateResult> solve(const Uncertainty& set, const std::vector<SetState>& states,
                               InstructionSet instructions = best_instruction_set());

struct BestResult {
  double best = 0;
  std::vector<double> weight;
};
std::vector<BestResult> solve_best(const Uncertainty& set, const std::vector<SetState>& states);

long double reference_worst_case(const Uncertainty& set, const SetState& state);

// As nasty as the rows of `nasty_row`, with weights down to 1e-9 and of zero.
SetState nasty_state(std::mt19937_64& random, const Uncertainty& set);
// As models have them: flat Dirichlet rows, values and weights uniform.
SetState plain_state(std::mt19937_64& random, int actions, int outcomes, double radius);

// Far from every kink and from rounding.
bool is_benign(const Uncertainty& set, const SetState& state);
double error_unit(const SetState& state);
// The worst case of one of its actions taken with certainty.
double alone(const Uncertainty& set, const SetState& state, int action, double radius);

// The sets that the rows of a state may share.
const std::vector<Uncertainty>& shared_sets();
bool lands(const Uncertainty& set);

// The first law of a state's worst case that is broken, or nothing: radius 0 is the nominal
// expectation; one action is its row; weights 0 and 1 are the row of that action; concave in weight
// times value; a larger radius, a smaller worst case; not below the sum of the actions at the whole
// radius each, not above it with the radius divided; minimisers lie in the set and attain the
// value; adding a number to the values of an action adds it times its weight; a state's bits do not
// depend on the states beside it.
std::string broken_state_law(const Uncertainty& set, const SetState& state, const SetState& other,
                             double tolerance = 1e-9);

}  // namespace redoubt::testing
