#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace redoubt::internal {

// The strongly connected components of a graph, in an order in which each leads to itself and to
// earlier ones only.
struct StrongComponents {
  std::vector<std::int32_t> nodes;    // of one component after the other
  std::vector<std::int32_t> begin;    // of each component in `nodes`, and the end
  std::vector<std::int32_t> of_node;  // the component of each node

  int count() const { return static_cast<int>(begin.size()) - 1; }
  std::span<const std::int32_t> members(int component) const {
    return std::span(nodes).subspan(begin[component], begin[component + 1] - begin[component]);
  }
};

// Node n leads to the nodes to[i] for i from begin[n] up to begin[n + 1].
StrongComponents strong_components(std::span<const std::int64_t> begin,
                                   std::span<const std::int32_t> to);

}  // namespace redoubt::internal
