#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redoubt/goal.h"
#include "redoubt/model.h"
#include "redoubt/objective.h"
#include "redoubt/uncertainty.h"

namespace redoubt {

struct MergedStates;

enum class Sense { at_least, at_most };

// The worst-case expected discounted total of a signal, or of a goal (see goal.h), must reach a
// bound (at_least: a utility) or stay within it (at_most: a cost). With a probability: the total
// itself must, with at least that probability in the worst case.
struct Constraint {
  std::string signal;
  Sense sense = Sense::at_most;
  double bound = 0;
  std::optional<double> probability = {};
  bool operator==(const Constraint&) const = default;
};

Constraint at_least(std::string signal, double bound);
Constraint at_most(std::string signal, double bound);

// Where an episode begins: a distribution over states, known exactly; nature does not touch it.
struct Start {
  std::vector<State> states;
  std::vector<double> probability;

  Start() = default;
  Start(State state) : states{state}, probability{1.0} {}  // NOLINT: a state is a start
  Start(std::vector<State> s, std::vector<double> p)
      : states(std::move(s)), probability(std::move(p)) {}
  static Start uniform(State count);
  bool operator==(const Start&) const = default;
};

// What is asked of a model.
struct Terms {
  std::optional<int> horizon = {};  // number of decisions; none: infinite
  double discount = 1.0;            // in (0, 1]
  Start start = Start(0);
  std::vector<Constraint> constraints = {};
  Uncertainty uncertainty = Nominal{};
  Objective objective = {};  // a signal or goal in place of the model's reward
  // Nature works for the policy instead of against it: every worst case in an answer is the best
  // case over the set. Without constraints to keep only.
  bool helpful_nature = false;
  // The policy picks the member of a group in which an episode goes on, instead of nature: bounds
  // from above for models whose groups stand for what is not known exactly.
  bool helpful_groups = false;
  bool operator==(const Terms&) const = default;
};

// A model and what was said of it so far, which need not be enough for a problem.
struct Draft {
  Model model;
  Terms terms;
  bool rewarded = true;  // false: nothing in the model is called the reward
};

// A model and the terms it is solved under; valid once built (Error otherwise), immutable, cheap to
// copy. Where the terms speak of goals, the model is one in which these are signals; its states may
// then be pairs of a state and of which goals are decided. Without a discount and a horizon, states
// between which a policy can go to and fro for nothing are one state; where a total may grow for
// ever, that is an Error. A model with groups becomes one without, with two stages for each
// decision: in the first an action is taken, in the second the member of the group is picked. Its
// horizon is twice that of the terms, and its discount the square root of theirs. So does one with
// factors: in the first stage a factor is drawn, in the second an outcome of it.
class Problem {
 public:
  Problem(Model model, Terms terms);
  // Of a submodel of a problem without a discount and a horizon, in which no policy stays for ever.
  static Problem with_known_ends(Model model, Terms terms);

  // Of a model with the same rows that earn something else, and nothing where this one traps().
  Problem earning(Model model, Terms terms) const;

  const Model& model() const { return model_; }
  const Terms& terms() const { return terms_; }
  bool infinite() const { return !terms_.horizon; }
  int horizon() const { return terms_.horizon.value(); }
  double discount() const { return terms_.discount; }
  const Start& start() const { return terms_.start; }
  const std::vector<Constraint>& constraints() const { return terms_.constraints; }
  const Uncertainty& uncertainty() const { return terms_.uncertainty; }
  // No discount and no horizon: totals until an episode ends. Every policy then comes to an end
  // with certainty, whatever nature does, unless improper(): then some policies stay where they
  // lose reward for ever or, if traps(), nature can keep them, where nothing is earned and nothing
  // is lost.
  bool undiscounted() const { return infinite() && terms_.discount == 1; }
  bool improper() const { return improper_; }
  bool traps() const { return traps_; }
  int signal_of(int constraint) const { return constraint_signals_[constraint]; }

  // What the problem was made of; differs from it where goals are signals now, or where states have
  // become one.
  Draft given() const { return given_ ? *given_ : Draft{model_, terms_}; }
  // The state of the given model that each state stands for, of several the first; empty: they are
  // the same.
  const std::vector<State>& given_state() const { return given_state_; }
  // Two stages for each decision: outcomes lead to groups or to factors.
  bool two_stages() const { return given_ && given_->model.ordinary() < given_->model.states(); }
  // A state in which nobody decides and of which nobody knows: a factor that was drawn.
  bool is_factor(State state) const {
    return given_ && given_->model.factors() > 0 && given_state_[state] >= given_->model.ordinary();
  }
  // How states have become one, or were left out (advanced/merged_states.h); null: none did and
  // none was.
  const MergedStates* merged() const { return merged_.get(); }

  // Of a submodel: the new set lets nature do nothing that the old one did not.
  Problem with(Terms terms) const;
  bool operator==(const Problem& other) const {
    return terms_ == other.terms_ && model_ == other.model_ && given_state_ == other.given_state_;
  }

  // Of an undiscounted problem, a bound on the expected number of decisions that solvers have found
  // (zero: not yet), kept for the next one.
  std::atomic<double>& found_steps() const { return *found_steps_; }

 private:
  void become(Model model, Terms terms, std::vector<State> state);
  void find_ends(const std::vector<char>& unfinished, bool may_miss);

  Model model_;
  Terms terms_;
  std::vector<int> constraint_signals_;
  std::shared_ptr<const Draft> given_;
  std::vector<State> given_state_;
  std::shared_ptr<const MergedStates> merged_;
  bool improper_ = false, traps_ = false;
  std::shared_ptr<std::atomic<double>> found_steps_;
};

// The problem of a draft, with another objective where one is chosen. An Error where nothing is
// called the reward, and none is chosen.
Problem pose(Draft draft, const Objective& objective = {});

}  // namespace redoubt
