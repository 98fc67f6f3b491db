#pragma once

#include "redoubt/model.h"

// Labels of choices become actions. UMB asks nothing of them; rows of a state have different
// actions, in increasing order.
namespace redoubt::internal::io {

// How often an action comes again in a state, at most: 0 where all differ.
std::int32_t most_repeats(const ModelArrays& arrays);

// Choices of a state with the same action get actions of their own: "go", "go (2)" and so on, which
// is every action of `repeats` more lists of them.
void tell_apart(ModelArrays& arrays, std::int32_t repeats);
void number_actions(ModelArrays& arrays);  // by the place of a choice in its state, without names
void sort_actions(ModelArrays& arrays);    // puts the rows of each state in the order of actions

}  // namespace redoubt::internal::io
