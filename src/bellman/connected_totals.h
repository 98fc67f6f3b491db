#pragma once

#include "bellman/kernel_totals.h"
#include "numerics/chain_elimination.h"

namespace redoubt::internal {

// Totals in one strongly connected component of several states, by policy iteration. Rows that lead
// to their own state are divided by the probability that they leave it: whoever takes one takes it
// until then.
class ConnectedTotals {
 public:
  ConnectedTotals(const KernelRows& rows, std::span<const char> use, double sign, double accuracy,
                  Workers& workers);

  // For the states of a component, given the values of all that they lead to outside.
  void solve(std::span<const State> members, std::vector<double>& values,
             std::vector<std::int32_t>& actions);

 private:
  struct LocalRow {
    double earned = 0;  // with the values outside
    double leaves = 0;  // the probability that it leads outside
    std::int64_t begin = 0, end = 0;
    std::int32_t position = 0;  // among all rows of the state
  };
  struct Entry {
    std::int32_t to;  // a member
    double probability;
  };
  struct Way {
    int sweeps;   // at most, or
    double work;  // additions of elimination for each state
  };
  void gather(std::span<const State> members, const std::vector<double>& values,
              const std::vector<std::int32_t>& actions);
  void add_row(Row row, std::int32_t member, std::int32_t position,
               const std::vector<double>& values);
  std::int32_t count() const { return static_cast<std::int32_t>(x_.size()); }
  double worth(const LocalRow& row) const {
    double sum = row.earned;
    for (auto k = row.begin; k < row.end; ++k) sum += entries_[k].probability * x_[entries_[k].to];
    return sum;
  }
  std::int32_t best_row(std::int32_t member, double& value) const;
  double size() const;
  void find_order();
  void sweep_best();
  void keep_ends();
  double follow(double accuracy);
  bool eliminate(double work);
  double sweep_policy();
  bool follow_by_sweeps(double accuracy, int most);
  bool improve(double noise, double& gain);
  void polish();

  const KernelRows& rows_;
  std::span<const char> use_;
  double sign_, accuracy_;
  Workers& workers_;
  std::vector<std::int32_t> place_;  // of each state among the members; -1: it is none
  std::vector<LocalRow> local_;
  std::vector<std::int32_t> first_;  // local row of each member, and the end
  std::vector<Entry> entries_;
  std::vector<std::int32_t> order_;   // in which members are swept over
  std::vector<double> x_, before_;    // values of members, in the sign in which they are large
  double largest_ = 0;                // size of a value of the last sweep over a policy's rows
  std::vector<std::int32_t> pick_;    // the local row of each member that the policy takes
  std::vector<std::int32_t> ending_;  // and of the policy that it began with
  std::size_t way_ = 0;               // in which policies of this component are followed
  ChainElimination elimination_;
};

}  // namespace redoubt::internal
