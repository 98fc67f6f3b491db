#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace redoubt::internal {

// Solves x = b + P x for the states of a Markov chain that leaves them with certainty, by
// elimination of one state after the other: whoever leads to it leads to where it leads. Nothing is
// ever subtracted, so that the result is as exact as its input. (Grassmann, Taksar and Heyman.)
class ChainElimination {
 public:
  struct Entry {
    std::int32_t to;
    double probability;
  };

  void begin(std::int32_t states);
  // To another state.
  void lead(std::int32_t from, std::int32_t to, double probability);
  // Out of these states; and b.
  void set(std::int32_t state, double leaves, double b) {
    leaves_[state] = leaves;
    x_[state] = b;
  }

  // False, and no solution, when it would take more additions than that, or more entries than that
  // with those of the chain.
  bool solve(double most_work,
             std::int64_t most_entries = std::numeric_limits<std::int64_t>::max());
  double operator[](std::int32_t state) const { return x_[state]; }

 private:
  using Candidate = std::pair<std::int64_t, std::int32_t>;  // cost, state
  std::int64_t cost(std::int32_t state) const;
  void find_leading(std::int32_t state);
  void normalise(std::int32_t state);
  void lead_past(std::int32_t from, std::int32_t gone);

  std::int32_t states_ = 0;
  std::int64_t entries_ = 0;  // of all rows
  std::vector<std::vector<Entry>>
      rows_;  // to states that are left; of one that is gone, at that time
  std::vector<std::vector<std::int32_t>> leading_;  // states that may lead to each
  std::vector<char> gone_;
  std::vector<double> leaves_, x_;
  std::vector<std::int32_t>
      place_;  // of each state in the row at hand, from 1 on; 0: it is not there
};

}  // namespace redoubt::internal
