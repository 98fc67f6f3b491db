#include "python_simulator.h"

#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "redoubt/error.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

// A copy of one field of the queries.
template <class Field>
auto column(const std::vector<Query>& queries, Field field) {
  using T = std::decay_t<decltype(field(queries.front()))>;
  std::vector<T> values;
  values.reserve(queries.size());
  for (const Query& query : queries) values.push_back(field(query));
  return owned(std::move(values));
}

}  // namespace

void PythonSimulator::answer(const Next& next, const Receive& receive) {
  std::vector<Query> queries;
  for (bool more = true; more;) {
    queries.clear();
    Query query;
    while (static_cast<int>(queries.size()) < batch_ && (more = next(query)))
      queries.push_back(query);
    if (!queries.empty()) answer_batch(queries, receive);
  }
}

void PythonSimulator::answer_batch(const std::vector<Query>& queries,
                                   const Receive& receive) const {
  std::vector<Sample> samples(queries.size());
  {
    nb::gil_scoped_acquire lock;
    nb::object answers = function_(column(queries, [](const Query& q) { return q.stage; }),
                                   column(queries, [](const Query& q) { return q.state; }),
                                   column(queries, [](const Query& q) { return q.action; }),
                                   column(queries, [](const Query& q) { return q.seed; }));
    const auto next = nb::cast<Array<State>>(answers[0]);
    const auto values = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig>>(answers[1]);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double* row = values.data() + i * values.shape(1);
      samples[i] = {next(i), row[0], {row + 1, row + values.shape(1)}};
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) receive(queries[i], samples[i]);
}
