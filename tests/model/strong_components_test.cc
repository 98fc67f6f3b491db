#include "model/strong_components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace redoubt::internal {
namespace {

struct Graph {
  std::vector<std::int64_t> begin = {0};
  std::vector<std::int32_t> to;
  int nodes() const { return static_cast<int>(begin.size()) - 1; }
};

Graph random_graph(int nodes, double share, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution leads(share);
  Graph graph;
  for (int n = 0; n < nodes; ++n) {
    for (int m = 0; m < nodes; ++m)
      if (leads(random)) graph.to.push_back(m);
    graph.begin.push_back(static_cast<std::int64_t>(graph.to.size()));
  }
  return graph;
}

// reaches[n][m]: there is a path, perhaps of no edge.
std::vector<std::vector<char>> paths(const Graph& graph) {
  std::vector<std::vector<char>> reaches(graph.nodes(), std::vector<char>(graph.nodes(), 0));
  for (int n = 0; n < graph.nodes(); ++n) {
    reaches[n][n] = 1;
    for (auto i = graph.begin[n]; i < graph.begin[n + 1]; ++i) reaches[n][graph.to[i]] = 1;
  }
  for (int k = 0; k < graph.nodes(); ++k)
    for (int n = 0; n < graph.nodes(); ++n)
      for (int m = 0; m < graph.nodes(); ++m)
        reaches[n][m] |= static_cast<char>(reaches[n][k] & reaches[k][m]);
  return reaches;
}

TEST(StrongComponents, AreThoseOfAllPaths) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph =
        random_graph(1 + static_cast<int>(seed % 25), 0.03 + 0.02 * (seed % 5), seed);
    const auto reaches = paths(graph);
    const StrongComponents found = strong_components(graph.begin, graph.to);
    for (int n = 0; n < graph.nodes(); ++n) {
      for (int m = 0; m < graph.nodes(); ++m) {
        EXPECT_EQ(found.of_node[n] == found.of_node[m], reaches[n][m] && reaches[m][n]);
        if (!reaches[n][m]) continue;
        EXPECT_GE(found.of_node[n], found.of_node[m]);
      }
    }
    std::vector<int> count(graph.nodes(), 0);
    for (int c = 0; c < found.count(); ++c) {
      for (const int node : found.members(c)) {
        ++count[node];
        EXPECT_EQ(found.of_node[node], c);
      }
    }
    EXPECT_EQ(std::count(count.begin(), count.end(), 1), graph.nodes());
  }
}

TEST(StrongComponents, OfAPathAndOfACircleThatIsLong) {
  constexpr int kNodes = 1'000'000;  // deeper than any stack of calls
  Graph graph;
  for (int n = 0; n < kNodes; ++n) {
    if (n + 1 < kNodes) graph.to.push_back(n + 1);
    graph.begin.push_back(static_cast<std::int64_t>(graph.to.size()));
  }
  const StrongComponents path = strong_components(graph.begin, graph.to);
  EXPECT_EQ(path.count(), kNodes);
  EXPECT_EQ(path.nodes.front(), kNodes - 1);
  graph.to.push_back(0);
  ++graph.begin.back();
  EXPECT_EQ(strong_components(graph.begin, graph.to).count(), 1);
  EXPECT_EQ(strong_components(std::vector<std::int64_t>{0}, {}).count(), 0);
}

}  // namespace
}  // namespace redoubt::internal
