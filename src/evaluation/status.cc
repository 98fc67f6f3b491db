#include "redoubt/solution.h"

#include <array>

namespace redoubt {

std::string_view name(Status status) {
  constexpr std::array kNames = {"certified", "feasible", "violated", "infeasible", "stopped"};
  return kNames[static_cast<std::size_t>(status)];
}

}  // namespace redoubt
