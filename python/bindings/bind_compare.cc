#include "redoubt/compare.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_compare(nb::module_& m) {
  nb::class_<Contestant>(m, "Contestant", "A method to compare, with its options inside.");
  nb::class_<ComparisonLine>(m, "ComparisonLine", R"doc(What `compare` says of one contestant.

>>> comparison = rd.compare(rd.make("river_swim(horizon=5,start=3)"), ["frontier"])
>>> comparison.lines[0].name, comparison.lines[0].gap >= 0
('frontier', True))doc")
      .def_ro("name", &ComparisonLine::name)
      .def_ro("solution", &ComparisonLine::solution)
      .def_ro("first_feasible", &ComparisonLine::first_feasible)
      .def_ro("last_reward", &ComparisonLine::last_reward)
      .def_ro("last_constraints", &ComparisonLine::last_constraints)
      .def_ro("best_reward", &ComparisonLine::best_reward)
      .def_ro("gap", &ComparisonLine::gap);
  nb::class_<Comparison>(m, "Comparison", "Several methods on one problem.")
      .def_ro("bound", &Comparison::bound)
      .def_ro("lines", &Comparison::lines);
  m.def(
      "compare",
      [](const Problem& problem, const std::vector<Contestant>& contestants,
         const Execution& execution, nb::object report) {
        return solve_released(execution, std::move(report),
                              [&](const Execution& e) { return compare(problem, contestants, e); });
      },
      nb::arg("problem"), nb::arg("contestants"), nb::arg("execution"), nb::arg("report").none());
  m.def("trace_csv", &trace_csv, nb::arg("problem"), nb::arg("comparison"));
}
