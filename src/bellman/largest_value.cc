#include "bellman/largest_value.h"

#include <algorithm>
#include <cmath>

#include "parallel/collectives.h"

namespace redoubt::internal {

double largest_value(const Model& model, int signal, Communicator& ranks) {
  double largest = 0;
  for (Row row = 0; row < model.rows(); ++row) {
    const double own = model.value(signal, row);
    largest = std::max(largest, std::abs(own));
    if (model.outcome_values(signal).empty()) continue;
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i)
      largest = std::max(largest, std::abs(own + model.outcome_value(signal, i)));
  }
  for (const double arrival : model.arrival_values(signal))
    largest = std::max(largest, std::abs(arrival));
  return max_over_ranks(ranks, largest);
}

}  // namespace redoubt::internal
