#pragma once

#include <functional>
#include <vector>

#include "parallel/workers.h"
#include "redoubt/problem.h"

namespace redoubt::internal {

// How many decisions an undiscounted problem that is not improper has at most, in expectation, from
// each state, whatever policy and nature do. Proved: in every state it is at least one more than
// after any row under any kernel of the set.
std::vector<double> most_steps(const Problem& problem, Workers& workers);

// The same for any way to go on, such as that of one policy: run(steps, longer) sets one more than
// the largest expectation of `steps` after a decision, zero where there is none.
using StepOn = std::function<void(const std::vector<double>& steps, std::vector<double>& longer)>;
std::vector<double> most_steps(std::size_t states, const StepOn& run, Workers& workers);

// What all bounds on an infinite horizon go by: the discount or, without one, the number that has
// its place. Let N be the largest of `most_steps`. What every decision changes by at most c changes
// totals by at most c N = c / (1 - discount), with discount = 1 - 1 / N.
double contraction(const Problem& problem, Workers& workers);

// The number of decisions after which everything that may still follow is below this share of the
// largest total. Without a discount: after which an episode goes on with a worst-case probability
// below that share over N. (Weighted by most_steps, what is left shrinks by 1 - 1 / N each time.)
int stages_until_negligible(const Problem& problem, double tolerance, Workers& workers);

}  // namespace redoubt::internal
