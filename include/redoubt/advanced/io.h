#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redoubt/advanced/ranks.h"
#include "redoubt/advanced/stage_store.h"
#include "redoubt/io.h"

namespace redoubt {

// This rank's subproblem of the problem in a file; every rank calls it. From .umb each rank reads
// its own rows and no others, so that a model may be larger than any one machine; from a plain
// archive (see Packing) ranks share the reading, too. Other formats are read whole, by every rank.
// `change` may replace terms before they are used; there, states have the numbers and names of the
// whole model. `options` say which states are the rank's own.
using ChangeTerms =
    std::function<void(Terms& terms, State states, const std::vector<std::string>& state_names)>;
Problem load_subproblem(const std::filesystem::path& path, Communicator& ranks,
                        const ChangeTerms& change = {}, const PartitionOptions& options = {},
                        const Objective& objective = {});

// A place for the stages of a policy in a file without a name in this folder; it goes with the
// process.
std::unique_ptr<StageStore> stages_on_disk(const std::filesystem::path& folder);

}  // namespace redoubt
