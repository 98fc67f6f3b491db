#pragma once

#include "evaluation/taken_rows.h"

namespace redoubt::internal {

// What a policy, or nature with a choice of rows, makes of a problem that traps(), without its
// traps: every kernel comes to an end. The states are those of the problem and, where there was a
// trap, behind them one in which an episode that is kept has ended.
//
// A trap is an end component: nature can stay there for ever, for nothing. Whoever can leave a set
// of outcomes out of a row can also leave all but one of them out, and give that one some of its
// mass (tv, chi2, kl, intervals: less is left out). Within a trap nature comes from each state to
// each other. So it may end the episode there or leave by whichever outcome it likes best, with
// certainty, and a trap is one state with one row over all of these, of which nature picks any.
struct WithoutTraps {
  Problem problem;
  TakenRows rows;
};

enum class WhoPicks {
  policy,  // takes each of a state's listed rows with its weight
  nature,  // takes any one of them; weights may be left out
};
WithoutTraps without_traps(const Problem& problem, const TakenRows& rows, WhoPicks who);

// Worst-case totals of a policy that takes these rows for ever, of all states, in one channel and
// proved from below; of a problem without a discount. `evaluations` is added to.
std::vector<double> totals_of(const Problem& problem, const TakenRows& rows, const Channel& channel,
                              Workers& workers, double& evaluations);

}  // namespace redoubt::internal
