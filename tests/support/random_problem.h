#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "redoubt/problem.h"

namespace redoubt::testing {

// What a random problem looks like. The same seed and options give the same problem on every
// platform. Rewards and signals lie in [0, 1]; probabilities are softmax-like and never tiny.
struct RandomOptions {
  State states = 5;
  int actions = 3;     // of every state, unless `ragged`
  int successors = 3;  // of every row, as far as there are states
  int signals = 1;     // named "cost0", "cost1", ...
  std::optional<int> horizon = 5;
  double discount = 1.0;

  bool ragged = false;           // 1..actions of the action numbers for each state
  bool terminal = false;         // the last state has no action
  bool stage_dependent = false;  // other rows at every stage (needs a finite horizon)
  bool outcome_values = false;   // reward and signals also of outcomes; some outcomes share their
                                 // next state
  bool arrivals = false;         // some states give rewards and signals to whoever arrives
  bool random_start = false;     // a distribution over all states; otherwise state 0
  bool names = false;            // states and actions have (awkward) names

  // The number of constraints, on the signals in turn; each bound is met by chance: it is half the
  // discounted number of stages. The first is at_most, the next at_least, and so on.
  int constraints = 1;

  Uncertainty uncertainty = KL{0.05};  // Interval: bounds are drawn around the nominal rows
  bool row_radii = false;              // radii in [0, 2 radius], one for each row (or state)
};

// The options with some of the shapes that recursions must get right, one bit each: outcome values,
// stage-dependent rows, a random start and arrivals that earn; ragged actions with a terminal state
// and a radius by row.
RandomOptions shaped(RandomOptions options, std::uint64_t bits);

// One of every uncertainty set. (Chance constraints refuse a composed set with reach anywhere.)
inline const std::vector<Uncertainty> kEverySet = {
    Nominal{},
    TV{0.2},
    TV{0.2, Reach::support},
    Chi2{0.3},
    KL{0.1},
    Tilt{0.5},
    Interval{},
    Composed{Composed::Ball::tv, 0.1, Reach::support},
    Composed{Composed::Ball::kl, 0.05}};

// One of every set that the rows of a state may share.
inline const std::vector<Uncertainty> kSharedSets = {
    TV{0.2, Reach::anywhere, Scope::state}, TV{0.2, Reach::support, Scope::state},
    Chi2{0.3, Scope::state}, KL{0.1, Scope::state}};

// Small sizes and a mix of all the shapes and sets, for properties that hold of every problem.
RandomOptions random_options(std::uint64_t seed);

Problem random_problem(std::uint64_t seed, const RandomOptions& options = {});
Model random_model(std::uint64_t seed, const RandomOptions& options = {});

// The same problem where every row has the whole radius of its state to itself: whatever a policy
// guarantees there, it guarantees here.
Problem with_row_scope(const Problem& problem);

// The same with labels whose names every format can write; a blank is in them all the same.
Problem with_plain_labels(const Problem& problem);

}  // namespace redoubt::testing
