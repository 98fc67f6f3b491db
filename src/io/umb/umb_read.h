#pragma once

#include "io/archives.h"
#include "redoubt/advanced/ranks.h"
#include "redoubt/io.h"

namespace redoubt::internal::io {

// What one rank keeps of a UMB archive: the rows of the states that it owns, as `make_submodel`
// takes them. On one rank these are the arrays of the model.
struct UmbShare {
  ModelArrays block;
  Partition partition;
  Terms terms;           // of the whole problem, but radii only of the rows here
  bool rewarded = true;  // false: no reward structure is called the reward
};

// Every rank calls this with the same archive and reads its submodel, and no more than a megabyte
// of anything else at a time. To be divided otherwise than in blocks, ranks first read where the
// rows of a block lead.
UmbShare read_share(TarReader& archive, Communicator& ranks, const PartitionOptions& options = {});

// The same on one rank, which reads everything.
Draft read_whole(TarReader& archive);

}  // namespace redoubt::internal::io
