#pragma once

#include <span>
#include <vector>

#include "redoubt/problem.h"
#include "support/grouped.h"

namespace redoubt::internal {

// Which states a backward step changed, and which the next one may change. Where rows are the same
// at every stage and nature stays on their outcomes, a state keeps its value and its action for as
// long as the values that its rows lead to are the same. So a step from values of which few have
// changed, such as before anything can have been reached, need not look at the others.
class ChangedStates {
 public:
  explicit ChangedStates(const Problem& problem);

  static double bytes(const Model& model);

  // After a step over all states that has changed `count` of them.
  void compare(const std::vector<double>& before, const std::vector<double>& after, State count);

  // True when the last step is known to have changed few states.
  bool few() const { return few_; }
  // The states that lead to a changed one, each once; and others.
  std::span<const State> affected();
  // The number of a list that stays as it is until another has a number, or none; 0: none.
  int list() const { return closed_ ? lists_ : 0; }
  // After a step over these: their new values.
  void update(std::span<const double> found, std::vector<double>& values);

 private:
  void find_leading();
  void start_again();
  bool cover(const std::vector<State>& states);
  void close();

  const Model* model_;
  bool possible_;
  bool few_ = false;
  bool closed_ = false;                         // all affected states are covered
  bool listed_ = true;                          // changed_ is what the last step has changed
  int updates_ = 0;                             // since all affected states are covered
  int lists_ = 0;                               // how often that became so
  int same_ = 0;                                // steps for which affected_ has been the same
  std::vector<State> changed_;                  // by the last step
  std::vector<State> covered_, affected_;       // those, or more, and the states that lead to them
  std::vector<char> is_covered_, is_affected_;  // the same, by state
  Grouped<State> leading_;                      // to each state
};

}  // namespace redoubt::internal
