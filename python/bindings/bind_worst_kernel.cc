#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/induced_model.h"
#include "redoubt/worst_kernel.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_worst_kernel(nb::module_& m) {
  nb::class_<Nature>(m, "Nature", "Which total nature works against.")
      .def(nb::init<>())
      .def_prop_ro("nominal",
                   [](const Nature& self) { return self.against == Nature::Against::nothing; });
  m.def("nature_of", &nature_of, nb::arg("problem"), nb::arg("word"));

  nb::class_<RowDistribution> row(m, "RowDistribution",
                                  R"doc(Nature's choice for one row; made by `WorstKernel.at`.

>>> problem = rd.make("river_swim(horizon=5,start=3)")
>>> row = rd.worst_kernel(problem, rd.solve(problem, "robust")).at(state=3, action=1)
>>> len(row.probability), row.landing_state  # it stays within the row
(3, -1))doc");
  def_view(row, "probability", &RowDistribution::probability, "Of each outcome of the row.");
  row.def_ro("landing", &RowDistribution::landing, "Probability of `landing_state`.")
      .def_ro("landing_state", &RowDistribution::landing_state, "-1: no mass outside of the row.")
      .def_ro("value", &RowDistribution::value,
              "The worst-case total from this decision on; costs count negative.");

  nb::class_<WorstKernel>(m, "WorstKernel", "What nature does against a policy.")
      .def(
          "__init__",
          [](WorstKernel* self, const Problem& problem, const Policy& policy, Nature nature,
             const Execution& execution) {
            released(execution, [&](const Execution& e) {
              return new (self) WorstKernel(problem, policy, nature, e);
            });
          },
          nb::arg("problem"), nb::arg("policy"), nb::arg("nature"), nb::arg("execution"),
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("at", &WorstKernel::at, nb::arg("stage"), nb::arg("state"), nb::arg("memory"),
           nb::arg("action"), nb::rv_policy::copy);

  nb::class_<MarkovKernel>(
      m, "MarkovKernel",
      R"doc(Nature's choice for every row at every stage; made by `WorstKernel.rows`.

>>> problem = rd.make("river_swim(horizon=5,start=3)")
>>> len(rd.worst_kernel(problem, rd.solve(problem, "robust")).rows().probability)  # one list for each stage
5)doc")
      .def_ro("probability", &MarkovKernel::probability)
      .def_ro("landing", &MarkovKernel::landing)
      .def_ro("landing_state", &MarkovKernel::landing_state);
  m.def(
      "induced_model",
      [](const Problem& problem, const Policy& policy, Nature nature, const Execution& execution) {
        return released(execution, [&](const Execution& e) {
          return induced_model(problem, policy, nature, e);
        });
      },
      nb::arg("problem"), nb::arg("policy"), nb::arg("nature"), nb::arg("execution"));
  m.def(
      "worst_kernel",
      [](const Problem& problem, const Policy& policy, Nature nature, const Execution& execution) {
        return released(execution, [&](const Execution& e) {
          return worst_kernel(problem, policy, nature, e);
        });
      },
      nb::arg("problem"), nb::arg("policy"), nb::arg("nature"), nb::arg("execution"));
}
