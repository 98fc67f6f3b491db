#include "redoubt/solution.h"

namespace redoubt {

std::string_view name(Status status) {
  switch (status) {
    case Status::certified:
      return "certified";
    case Status::feasible:
      return "feasible";
    case Status::violated:
      return "violated";
    case Status::infeasible:
      return "infeasible";
    case Status::stopped:
      return "stopped";
  }
  return "";
}

}  // namespace redoubt
