#pragma once

#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// What a policy, or nature with a choice of rows, makes of a problem: one of its own, and the rows
// that are taken in it.
struct TakenProblem {
  Problem problem;
  TakenRows rows;
};

enum class WhoPicks {
  policy,  // takes each of a state's listed rows with its weight
  nature,  // takes any one of them; weights may be left out
};

// Of a problem that traps(), without its traps: every kernel comes to an end. The states are those
// of the problem and, where there was a trap, behind them one in which an episode that is kept has
// ended.
//
// A trap is an end component: nature can stay there for ever, for nothing. Whoever can leave a set
// of outcomes out of a row can also leave all but one of them out, and give that one some of its
// mass (tv, chi2, kl, intervals: less is left out). Within a trap nature comes from each state to
// each other. So it may end the episode there or leave by whichever outcome it likes best, with
// certainty, and a trap is one state with one row over all of these, of which nature picks any.
TakenProblem without_traps(const Problem& problem, const TakenRows& rows, WhoPicks who);

// The last stage of a policy with memory, for ever, as a policy without: its nodes are the states,
// in their order, and the rows that it takes there are all that there are. Where memory is drawn
// after an outcome, a state behind the nodes does that. Of a policy without memory it is the
// problem itself. Of an undiscounted problem whose rows list all that nature may make of them; an
// Error otherwise.
TakenProblem node_problem(const Problem& problem, const Policy& policy);

// Worst-case totals of a policy that takes these rows for ever, of all states, in one channel and
// proved from below; of a problem without a discount. `evaluations` is added to.
std::vector<double> totals_of(const Problem& problem, const TakenRows& rows, const Channel& channel,
                              Workers& workers, double& evaluations);

}  // namespace redoubt::internal
