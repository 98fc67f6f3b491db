#pragma once

#include <cstdint>
#include <vector>

#include "redoubt/execution.h"
#include "redoubt/solution.h"

// The policy-gradient methods of the literature on Markov policies: time-dependent ones for a
// finite horizon, stationary ones for an infinite one. They share one loop (evaluate the policy in
// the worst case, step along one of its values, repeat) and differ in what they follow, and how.
// None of them has a certificate; docs/gradient.md says what each of them is and where the
// published listing was unclear.
namespace redoubt {

enum class FirstPolicy {
  uniform,  // over the actions of each state
  random,   // softmax of standard normal numbers, by `seed`
};

// When RNPG and RPPG follow the reward, J being the worst-case reward and v by how much the worst
// of the constraints is missed (negative: by how much it is met).
enum class ChoiceRule {
  neg,   // -J / weight >= v: consistent with max{-J / weight, v} as the objective, settles inside
  repo,  // J / weight >= v: what the published code does; settles J / weight outside of the bound
};

struct GradientOptions {
  double step = 0.1;      // iteration counts scale as one over it: report more than one
  int iterations = 1000;  // updates of the policy
  FirstPolicy first_policy = FirstPolicy::uniform;
  std::uint64_t seed = 0;
  // Start from these weights instead, in the form that markov_policy() takes.
  std::vector<std::vector<double>> start_weights = {};
  // An infinite horizon is evaluated to this share of the largest total (or of one).
  double tolerance = 1e-10;

  double slack = 0;                   // crpo, rrpo: a constraint missed by no more than this is met
  ChoiceRule rule = ChoiceRule::neg;  // rnpg, rppg
  double weight = 50;                 // rnpg, rppg: of the constraints against the reward
  int inner = 100;                    // epirc: updates for each guess of the optimum
  double dual_step = 0;               // primal_dual: step of the multipliers; zero: as `step`
};

// Every solution holds the best iterate that met all constraints or, if there was none, the one
// that missed them least (the notes say which), and a trace with one record for the first policy
// and one for each update; its last record is the last iterate.

// Robust natural policy gradient: reward or worst constraint, as `rule` says.
Solution rnpg(const Problem& problem, const GradientOptions& options = {},
              const Execution& execution = {});
// Robust CRPO: the reward while all constraints are met, otherwise the one missed most.
Solution crpo(const Problem& problem, const GradientOptions& options = {},
              const Execution& execution = {});
// EpiRC-PGS: bisection on the optimum; for each guess, projected gradient steps on whatever is
// furthest from its bound.
Solution epirc(const Problem& problem, const GradientOptions& options = {},
               const Execution& execution = {});
// Robust projected policy gradient: the choice of RNPG, with Euclidean projection.
Solution rppg(const Problem& problem, const GradientOptions& options = {},
              const Execution& execution = {});
// One natural step on the Lagrangian, one projected step on its multipliers. Strong duality fails
// for robust constraints, so it may circle.
Solution primal_dual(const Problem& problem, const GradientOptions& options = {},
                     const Execution& execution = {});
// RRPO: the first constraint that is missed, otherwise the reward, whose own threshold it raises.
// With one constraint its path is that of CRPO.
Solution rrpo(const Problem& problem, const GradientOptions& options = {},
              const Execution& execution = {});

}  // namespace redoubt
