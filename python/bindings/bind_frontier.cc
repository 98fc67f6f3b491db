#include "redoubt/frontier.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "method.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_frontier(nb::module_& m) {
  nb::class_<FrontierOptions>(m, "FrontierOptions")
      .def(nb::init<>())
      .def_rw("tolerance", &FrontierOptions::tolerance)
      .def_rw("least_gap", &FrontierOptions::least_gap)
      .def_rw("most_directions", &FrontierOptions::most_directions)
      .def_rw("memory_limit", &FrontierOptions::memory_limit)
      .def_rw("whole_curve", &FrontierOptions::whole_curve);
  bind_method<FrontierOptions>(m, "frontier", &frontier);
  m.def("plan_frontier", &plan_frontier, nb::arg("problem"), nb::arg("options"));
  m.def(
      "certify",
      [](const Problem& problem, Solution solution, const FrontierOptions& options,
         const Execution& execution) {
        return released(execution, [&](const Execution& e) {
          certify(problem, solution, options, e);
          return solution;
        });
      },
      nb::arg("problem"), nb::arg("solution"), nb::arg("options"), nb::arg("execution"));
  m.def("policy_at", &policy_at, nb::arg("problem"), nb::arg("solution"), nb::arg("bounds"));
  m.def("reward_at", &reward_at, nb::arg("problem"), nb::arg("solution"), nb::arg("bounds"));
}
