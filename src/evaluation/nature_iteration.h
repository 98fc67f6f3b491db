#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bellman/residual.h"
#include "parallel/workers.h"

namespace redoubt::internal {

// What nature's policy iteration does to the values of a policy that is followed for ever. There
// are one or more channels, and a number of each is returned or given.
struct NatureSweeps {
  // A robust sweep. `keep`: nature's answers are kept.
  std::function<std::vector<Residual>(bool keep)> robust;
  // Adds a number to all values of a channel, but for those that are worth nothing for ever.
  std::function<void(std::span<const double> by)> shift;
  // Sets all values to zero.
  std::function<void()> reset;
  // A sweep with the answers that were kept: a product with a sparse matrix.
  std::function<std::vector<Residual>()> kept;
  // Where there is one: asked after so many of these; true when it has set the values to what such
  // sweeps would converge to.
  std::function<bool(std::int64_t sweeps)> solve = nullptr;
};

// Nature's modified policy iteration: brings values closer to those of the policy. It ends when the
// brackets of the last robust sweep are no wider than `width` (of the largest size of a value of
// the channel), or than rounding allows. The values of the policy lie within these brackets of the
// values. Should nature's answers lead to what is not a number, none is kept any more, and values
// begin at zero. Not for `tilt`, whose distributions are no minimum. `discount`: or what has its
// place. Throws Stopped.
using Width = std::function<double(int channel, double scale)>;
std::vector<Bracket> iterate_nature(const NatureSweeps& sweeps, double discount, const Width& width,
                                    Workers& workers);

// Of the bracket that they begin with, what sweeps leave along a chain that is the same for ever.
inline constexpr double kShareOfFixed = 0.05;
// As many sweeps as must leave that little, whatever the chain.
std::int64_t sweeps_to_share(double discount);

// True when sweeps cannot make a bracket much narrower, because the worst cases of rows are no more
// exact: `last` is how wide it was one sweep earlier, `scale` the largest size of a value.
// The discount is that of the problem, or a contraction (see bellman/steps.h).
bool as_narrow_as_rounding(double discount, double width, double last, double scale);

}  // namespace redoubt::internal
