#pragma once

#include "redoubt/advanced/abstraction.h"

namespace redoubt::internal {

void check_input(const Abstraction::Input& input);

}  // namespace redoubt::internal
