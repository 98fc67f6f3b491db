#include "bellman/min_over_states.h"

#include <algorithm>
#include <limits>

#include "parallel/collectives.h"

namespace redoubt::internal {

void min_over_states(Workers& workers, State states,
                     const std::function<const double*(State)>& values_of,
                     const std::function<double(State)>& worth_of, std::span<double> least) {
  const std::size_t count = least.size();
  std::vector<double> found(workers.count() * count, std::numeric_limits<double>::infinity());
  const double work = 0.3 * static_cast<double>(states) * static_cast<double>(count);
  workers.for_each(states, work, [&](std::int64_t begin, std::int64_t end, int worker) {
    double* own = found.data() + worker * count;
    for (auto s = begin; s < end; ++s) {
      const double* values = values_of(static_cast<State>(s));
      const double worth = worth_of(static_cast<State>(s));
      for (std::size_t i = 0; i < count; ++i) own[i] = std::min(own[i], values[i] + worth);
    }
  });
  std::copy_n(found.begin(), count, least.begin());
  for (int w = 1; w < workers.count(); ++w) {
    for (std::size_t i = 0; i < count; ++i) least[i] = std::min(least[i], found[w * count + i]);
  }
  min_over_ranks(workers.ranks(), least);
  // Of 0 and -0 the least is the first: which one that is must not depend on the order of states.
  for (double& value : least) value += 0.0;
}

}  // namespace redoubt::internal
