#include "redoubt/frontier.h"

#include <cmath>

#include "model/require.h"
#include "solvers/frontier/search.h"

namespace redoubt {

Solution frontier(const Problem& problem, const FrontierOptions& options,
                  const Execution& execution) {
  require(!std::holds_alternative<Tilt>(problem.uncertainty()),
          "set tilt with method frontier: a tilt is not a set of distributions, so there is no "
          "worst case to bound");
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance = {}, must be in (0, 1)",
          options.tolerance);
  require(options.most_directions >= 2, "most_directions = {}, must be at least 2",
          options.most_directions);
  return FrontierSearch(problem, options, execution).run();
}

}  // namespace redoubt
