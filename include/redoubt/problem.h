#pragma once

#include <optional>
#include <string>
#include <vector>

#include "redoubt/model.h"
#include "redoubt/uncertainty.h"

namespace redoubt {

enum class Sense { at_least, at_most };

// The worst-case expected discounted total of a signal must reach a bound (at_least: a utility) or
// stay within it (at_most: a cost). With a probability: the total itself must, with at least that
// probability in the worst case.
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
  std::optional<int> horizon =
      {};                 // number of decisions; none: infinite, which needs a discount below one
  double discount = 1.0;  // in (0, 1]
  Start start = Start(0);
  std::vector<Constraint> constraints = {};
  Uncertainty uncertainty = Nominal{};
  bool operator==(const Terms&) const = default;
};

// A model and the terms it is solved under; valid once built (Error otherwise), immutable, cheap to
// copy.
class Problem {
 public:
  Problem(Model model, Terms terms);

  const Model& model() const { return model_; }
  const Terms& terms() const { return terms_; }
  bool infinite() const { return !terms_.horizon; }
  int horizon() const { return terms_.horizon.value(); }
  double discount() const { return terms_.discount; }
  const Start& start() const { return terms_.start; }
  const std::vector<Constraint>& constraints() const { return terms_.constraints; }
  const Uncertainty& uncertainty() const { return terms_.uncertainty; }
  int signal_of(int constraint) const { return constraint_signals_[constraint]; }

  Problem with(Terms terms) const { return Problem(model_, std::move(terms)); }
  bool operator==(const Problem& other) const {
    return terms_ == other.terms_ && model_ == other.model_;
  }

 private:
  Model model_;
  Terms terms_;
  std::vector<int> constraint_signals_;
};

}  // namespace redoubt
