#pragma once

#include "io/tar.h"
#include "redoubt/io.h"
#include "redoubt/ranks.h"

namespace redoubt::io {

// What one rank keeps of a UMB archive: the rows of a block of states, as `make_part` takes them.
// On one rank these are the arrays of the model.
struct UmbShare {
  ModelArrays block;
  Division division;
  Terms terms;  // of the whole problem, but radii only of the rows in the block
};

// Every rank calls this with the same archive and reads its own share, and no more than a megabyte
// of anything else at a time.
UmbShare read_share(TarReader& archive, Communicator& ranks);

// The same on one rank, which reads everything.
Draft read_whole(TarReader& archive);

}  // namespace redoubt::io
