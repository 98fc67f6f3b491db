#pragma once

#include "model/two_stages.h"

namespace redoubt::internal {

// An Error unless every row of an ordinary state mixes factors, every factor has one row over
// ordinary states, and nothing that is earned tells which factor was drawn.
void check_factors(const Model& model);

// Every decision takes two stages: an action leads to a factor, with probabilities that are known,
// and the factor to a state, with the set of the terms around it. The worst case of a factor is
// then found once in a sweep, and that of a row is a sum over factors. Mass that total variation
// may put anywhere goes to outcomes of nominal probability zero.
//
// In this problem a policy could remember which factor was drawn. It must not: see
// Problem::is_factor.
TwoStages with_factors(const Model& model, const Terms& terms);

}  // namespace redoubt::internal
