#include "bellman/largest_value.h"

#include <algorithm>
#include <cmath>

#include "parallel/collectives.h"

namespace redoubt::internal {
namespace {

double largest_of_rows(const Model& model, int signal, Row begin, Row end) {
  double largest = 0;
  const bool at_outcomes = !model.outcome_values(signal).empty();
  for (Row row = begin; row < end; ++row) {
    const double own = model.value(signal, row);
    largest = std::max(largest, std::abs(own));
    for (auto i = model.outcome_begin(row); at_outcomes && i < model.outcome_end(row); ++i)
      largest = std::max(largest, std::abs(own + model.outcome_value(signal, i)));
  }
  return largest;
}

double with_arrivals(const Model& model, int signal, double largest, Communicator& ranks) {
  for (const double arrival : model.arrival_values(signal))
    largest = std::max(largest, std::abs(arrival));
  return max_over_ranks(ranks, largest);
}

}  // namespace

double largest_value(const Model& model, int signal, Communicator& ranks) {
  return with_arrivals(model, signal, largest_of_rows(model, signal, 0, model.rows()), ranks);
}

double largest_value(const Model& model, int signal, Workers& workers) {
  std::vector<double> found(workers.count(), 0.0);
  workers.for_each(model.rows(), static_cast<double>(model.rows()),
                   [&](std::int64_t begin, std::int64_t end, int number) {
                     found[number] =
                         std::max(found[number], largest_of_rows(model, signal, begin, end));
                   });
  return with_arrivals(model, signal, *std::max_element(found.begin(), found.end()),
                       workers.ranks());
}

}  // namespace redoubt::internal
