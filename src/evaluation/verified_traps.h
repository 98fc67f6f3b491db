#pragma once

#include <map>
#include <vector>

#include "evaluation/verified_budget.h"
#include "model/support.h"

namespace redoubt::internal::verified {

// An outcome of a row that a policy takes: the nodes that follow, with their probabilities, and
// what it pays in each total.
struct TakenOutcome {
  TakenOutcome(std::int64_t in_list, State next) : place(in_list), to(next) {}
  std::int64_t place;  // in the model's list; -1: it lands in `to` outside of the row
  State to;
  std::vector<std::pair<int, Real>> nodes;
  std::vector<Real> pays;
};
struct TakenRow {
  Row row = 0;
  std::vector<TakenOutcome> outcomes;
};

// Where nature can keep a policy for ever, for nothing, of nodes by their numbers with the rows
// that are taken in them: apart from end_components, which evaluations ask. Nature then stays or
// leaves by the outcome that it likes best.
class Traps {
 public:
  Traps() = default;
  Traps(const Problem& problem, const std::vector<std::vector<TakenRow>>& taken);

  bool contains(int node) const { return !trap_.empty() && trap_[node] >= 0; }
  // What nature makes of each total there, given what nodes are worth: worth(node, total).
  template <class Worth>
  std::vector<Real> least(int node, std::size_t totals, const Worth& worth) const {
    std::vector<Real> found(totals, 0);
    for (const TakenOutcome& way : ways_.at(trap_[node])) {
      for (std::size_t t = 0; t < totals; ++t) {
        Real sum = t < way.pays.size() ? way.pays[t] : 0;
        for (const auto& [next, weight] : way.nodes) sum += weight * worth(next, t);
        found[t] = std::min(found[t], sum);
      }
    }
    return found;
  }

 private:
  bool inside(const TakenOutcome& outcome, int trap) const;
  bool kept(const Support& support, const std::vector<TakenRow>& rows, int trap) const;
  void split(const std::vector<std::vector<TakenRow>>& taken, int& count);

  std::vector<int> trap_;                          // of each node; -1: in none
  std::map<int, std::vector<TakenOutcome>> ways_;  // out of each trap
};

// The same for nodes by themselves: which of those that have values nature can keep for ever.
template <class Node>
class KeptNodes {
 public:
  KeptNodes() = default;
  // rows(node, numbers): the rows that are taken there.
  template <class Values, class Rows>
  KeptNodes(const Problem& problem, const Values& values, const Rows& rows) {
    for (const auto& [node, unused] : values) {
      number_[node] = static_cast<int>(nodes_.size());
      nodes_.push_back(node);
    }
    std::vector<std::vector<TakenRow>> taken;
    for (const Node& node : nodes_) taken.push_back(rows(node, number_));
    traps_ = Traps(problem, taken);
  }

  bool contains(const Node& node) const {
    return !nodes_.empty() && traps_.contains(number_.at(node));
  }
  template <class Values>
  std::vector<Real> least(const Node& node, const Values& values) const {
    return traps_.least(number_.at(node), values.at(node).size(),
                        [&](int next, std::size_t t) { return values.at(nodes_[next])[t]; });
  }

 private:
  std::map<Node, int> number_;
  std::vector<Node> nodes_;
  Traps traps_;
};

}  // namespace redoubt::internal::verified
