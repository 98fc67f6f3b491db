#pragma once

#include "io/umb/umb_values.h"
#include "redoubt/model.h"
#include "support/json_node.h"

// What a UMB archive says of its states, choices and branches, for a model that has its rows.
namespace redoubt::internal::io {

// Atomic propositions of states as labels; those of choices and branches are ignored. `states` is
// how many the file has. Of layers, one for each stage, the first counts: labels do not depend on
// the stage.
void read_labels(umb::Members& members, const JsonNode& index, std::int64_t states,
                 ModelArrays& arrays);

// The entries of an array of the archive that are to be read, of so many.
struct UmbEntries {
  std::int64_t count = 0;
  umb::Ranges own;
};
struct UmbRows {
  UmbEntries states, choices, branches;
};

// Adds the rewards. False: none of them is called the reward.
bool read_rewards(umb::Members& members, const JsonNode& index, const UmbRows& rows,
                  ModelArrays& arrays);

// The variables of states as their names, "x=1, y=true", where all states have the same variables,
// of whole numbers and truth values, and no two states the same values. Otherwise states keep
// numbers.
void read_valuations(umb::Members& members, const JsonNode& index, ModelArrays& arrays);

// Labels of choices become actions. UMB asks nothing of them; rows of a state have different
// actions, in increasing order.

// How often an action comes again in a state, at most: 0 where all differ.
std::int32_t most_repeats(const ModelArrays& arrays);

// Choices of a state with the same action get actions of their own: "go", "go (2)" and so on, which
// is every action of `repeats` more lists of them.
void tell_apart(ModelArrays& arrays, std::int32_t repeats);
void number_actions(ModelArrays& arrays);  // by the place of a choice in its state, without names
void sort_actions(ModelArrays& arrays);    // puts the rows of each state in the order of actions

}  // namespace redoubt::internal::io
