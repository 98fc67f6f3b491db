#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "redoubt/estimate.h"
#include "redoubt/execution.h"
#include "redoubt/simulator.h"
#include "redoubt/solution.h"

namespace redoubt {

// How far a run of `learn` has come, after each of its rounds.
struct LearnRound {
  std::int64_t samples = 0;  // of all rows so far
  double worst = kUnknown;   // reward that the policy of the round guarantees
  double bound = kUnknown;   // that no policy can exceed; kUnknown: none keeps the constraints
  bool feasible = false;     // the policy is proved to keep the constraints
  Row most_drawn = -1;       // the row with the most samples
  bool operator==(const LearnRound&) const = default;
};

struct LearnOptions {
  double epsilon = 0.1;  // the gap that ends the run, and how far a constraint may be exceeded
  double delta = 0.05;   // all that is claimed holds with probability at least 1 - delta
  // Keep every constraint within its bound, not within bound and epsilon. Chance constraints are
  // always kept as they are.
  bool strict = false;
  bool uniform = false;             // draw all rows equally often, for comparison
  std::int64_t first_samples = 32;  // of each row in the first round
  std::int64_t most_samples = 0;    // of all rows together; 0: no limit
  std::uint64_t seed = 0;
  // Finds the policy, on what is known when the samples are enough; empty: frontier. Rounds and
  // bound are those of frontier in any case: a method may never come within epsilon of the bound,
  // however many samples there are. The status is of the policy that it finds.
  std::function<Solution(const Problem& problem, const Execution& execution)> method = {};
  // Where samples are kept as they arrive; empty: nowhere. A run that finds its samples here asks
  // only for the others, and gives the bits of a run that was never disturbed.
  std::filesystem::path store = {};
  // Called after each round; returning false ends the run with what there is.
  std::function<bool(const LearnRound& round)> round = {};
};

// A policy and what is proved of it. With probability at least 1 - delta, all at once and on the
// true model: its worst-case reward is at least solution.reward.worst, its constraints' worst cases
// are no worse than those of the solution, and no policy that keeps the constraints has more than
// solution.reward.bound. docs/sampling.md has the proof.
//
// The status is `certified` (constraints proved, within epsilon unless strict, and the gap at most
// epsilon), `feasible` (constraints proved, the gap larger), `infeasible` (proved: no policy keeps
// the constraints on the true model), or `stopped` (samples or time ended before any of these).
struct Learned {
  Solution solution;
  // What is known: the estimated rows, an interval for each probability, and the user's set around
  // all rows within them. The policy is one of this problem, and `evaluate` and `verify` on it give
  // the numbers of the solution.
  Problem problem;
  std::vector<std::int64_t> samples;  // of each row
  std::vector<LearnRound> rounds;
  std::int64_t queries = 0;  // asked in this call
  std::int64_t reused = 0;   // taken from the store instead
};

// Draws samples in rounds, where they matter most, until the certificate holds. The answer depends
// on the simulator, the seed and the options, not on threads. Sets none, tv, chi2 and kl; a finite
// horizon or a discount. Rewards and signals of outcomes must not vary from draw to draw unless the
// simulator declares their ranges.
Learned learn(Simulator& simulator, const Terms& terms, const LearnOptions& options = {},
              const Execution& execution = {});

// Recorded data with the same intervals: with probability `confidence` all true rows are within
// the set's reach. Rows without data may be anything. Values that data do not show are taken to lie
// between the least and the largest that they do show.
Problem composed_problem(const Estimate& estimate, Terms terms, double confidence);

// The same where rows are mixtures of factors that they share: with probability `confidence` all
// true factors are within their sets' reach, each set around a factor. Features as for
// estimate_factors(); factors that the data do not tell apart may be anything.
Problem composed_factors(const Estimate& rows, const Model& features, Terms terms,
                         double confidence);

}  // namespace redoubt
