#pragma once

#include "redoubt/advanced/ranks.h"

// The processes that this program runs as. Two implementations, of which the build chooses one.
namespace redoubt {

// Those that mpirun started; one, when the program was started without it or built without MPI.
Communicator& processes();

// True when every process has come here within a short time, as all do that have found the same
// error. False: this one is alone, and the others must be told by `abandon`.
bool everyone_is_here();

// States divided by METIS, which programs for several processes have; an Error in others.
Partitioner partition_by_metis();

void end_processes();                   // once everything is done, on every process
[[noreturn]] void abandon(int status);  // ends all processes, whatever they are doing

}  // namespace redoubt
