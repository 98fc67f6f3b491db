#pragma once

#include <span>
#include <vector>

#include "bellman/state_batch.h"
#include "numerics/simplex.h"
#include "redoubt/solve.h"
#include "solvers/rcvi/budget_decisions.h"

namespace redoubt::internal {

// The decision at one node where the rows of the state share a radius: the weights of the actions
// with the largest worst case of the reward among those whose worst case on every axis meets its
// requirement. Nature knows the weights, so worst cases are concave functions of them, and not
// sums of what the actions have on their own. Every answer of nature to some weights is a plane
// above such a function; the weights that are best under all planes so far are tried next, by a
// linear program, until they are worth what the planes say. One for each thread.
class MixtureDecision {
 public:
  // Array 0 is the reward, then one for each axis; `units` are those of the requirements.
  MixtureDecision(const Problem& problem, std::span<const Channel> channels, Fallback fallback,
                  std::vector<double> units);

  // A state with these rows, of which `lanes` nodes will be decided.
  void begin(Row first, int actions, int lanes);
  // Next values of a row, of each outcome and last, where there are landings, of the worst one:
  // [lane]. `less` is taken from what the row earns.
  void set_next(int action, int array, int place, const double* values);
  void set_less(int action, int array, double less) { less_[action * arrays_ + array] = less; }

  // As BudgetDecision::decide.
  void decide(int lane, std::span<const double> required, std::span<double> value,
              DecisionList& decisions);

  double evaluations() const { return batch_.evaluations(); }

 private:
  using Plane = std::vector<double>;  // what each action is worth
  struct Tried {
    std::vector<double> weight, value;  // [action], [array]
  };

  void read(int lane);
  void price_rows(int array, std::span<const double> chosen, Plane& plane) const;
  Tried attempt(std::vector<double> weight);
  double margin(const Tried& tried) const;
  bool find_safe();
  Tried maximise_reward();
  bool best_weights(bool reward, std::vector<double>& weight, double& level);
  bool keeps(const Tried& tried) const { return margin(tried) >= 0; }
  Tried between(const Tried& from, const Tried& to, double share) const;

  const Problem* problem_;
  std::vector<Channel> channels_;
  std::size_t arrays_;
  Fallback fallback_;
  std::vector<double> units_;
  StateBatch batch_;
  Simplex simplex_;
  Row first_ = 0;
  int actions_ = 0, lanes_ = 0;
  bool limited_ = true;                    // the requirements count
  std::vector<int> begin_;                 // of each action's places
  std::vector<std::vector<double>> next_;  // [place * arrays + array][lane]
  std::vector<double> less_;               // [action][array]
  std::vector<double> here_;               // next values of the node at hand, [array][place]
  std::vector<double> required_;
  std::vector<std::vector<Plane>> planes_;  // of each array
  std::vector<Plane> nominal_;              // of each array
  Tried safe_;                              // of all that was tried, what keeps the most
  std::vector<StateItem> items_;
  std::vector<Row> row_;
  std::vector<double> row_weight_;
  std::vector<int> action_;
};

}  // namespace redoubt::internal
