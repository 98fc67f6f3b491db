#include "model/strong_components.h"

#include <algorithm>

namespace redoubt::internal {

// Tarjan's algorithm, with a stack of its own: paths are as long as the model. A node is on a path
// from the first one, then waits on the stack until its component is whole.
StrongComponents strong_components(std::span<const std::int64_t> begin,
                                   std::span<const std::int32_t> to) {
  const auto nodes = static_cast<std::int32_t>(begin.size()) - 1;
  constexpr std::int32_t kWaits = -1;
  StrongComponents found;
  found.begin.push_back(0);
  found.nodes.reserve(nodes);
  found.of_node.assign(nodes, kWaits);
  std::vector<std::int32_t> index(nodes, -1), low(nodes, 0), path, stack;
  std::vector<std::int64_t> at(begin.begin(), begin.end() - 1);
  std::int32_t next = 0;
  for (std::int32_t first = 0; first < nodes; ++first) {
    if (index[first] >= 0) continue;
    path.push_back(first);
    while (!path.empty()) {
      const std::int32_t node = path.back();
      if (index[node] < 0) {
        index[node] = low[node] = next++;
        stack.push_back(node);
      }
      bool deeper = false;
      for (; at[node] < begin[node + 1]; ++at[node]) {
        const std::int32_t other = to[at[node]];
        if (index[other] < 0) {  // looked at again when it is done
          path.push_back(other);
          deeper = true;
          break;
        }
        if (found.of_node[other] == kWaits) low[node] = std::min(low[node], low[other]);
      }
      if (deeper) continue;
      path.pop_back();
      if (low[node] != index[node]) continue;
      for (std::int32_t member = -1; member != node;) {
        member = stack.back();
        stack.pop_back();
        found.of_node[member] = found.count();
        found.nodes.push_back(member);
      }
      found.begin.push_back(static_cast<std::int32_t>(found.nodes.size()));
    }
  }
  return found;
}

}  // namespace redoubt::internal
