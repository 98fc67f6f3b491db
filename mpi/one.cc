#include <cstdlib>

#include "processes.h"

namespace redoubt {

Communicator& processes() { return one_process(); }
bool everyone_is_here() { return true; }
void end_processes() {}
void abandon(int status) { std::exit(status); }

}  // namespace redoubt
