#pragma once

#include "io/umb/umb_values.h"
#include "redoubt/model.h"

namespace redoubt::internal::io {

// The entries of an array of the archive that are to be read, of so many.
struct UmbEntries {
  std::int64_t count = 0;
  umb::Ranges own;
};
struct UmbRows {
  UmbEntries states, choices, branches;
};

// Adds the rewards of an archive to a model that has its rows already. False: none of them is
// called the reward.
bool read_rewards(umb::Members& members, const JsonNode& index, const UmbRows& rows,
                  ModelArrays& arrays);

}  // namespace redoubt::internal::io
