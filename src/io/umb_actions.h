#pragma once

#include "redoubt/model.h"

// Labels of choices become actions. UMB asks nothing of them; rows of a state have different
// actions, in increasing order.
namespace redoubt::io {

bool actions_differ_in_states(const ModelArrays& arrays);

void number_actions(ModelArrays& arrays);  // by the place of a choice in its state, without names
void sort_actions(ModelArrays& arrays);    // puts the rows of each state in the order of actions

}  // namespace redoubt::io
