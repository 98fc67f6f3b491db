#include "bellman/over_states.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
