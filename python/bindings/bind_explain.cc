#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/advanced/explain.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_explain(nb::module_& m) {
  nb::class_<Course> course_class(m, "Course", "What happens when a policy meets a nature.");
  course_class.def_ro("visits", &Course::visits).def_ro("earned", &Course::earned);
  def_view(course_class, "row_visits", &Course::row_visits);
  def_view(course_class, "row_moved", &Course::row_moved);
  def_view(course_class, "outcome_visits", &Course::outcome_visits);
  def_view(course_class, "landing_visits", &Course::landing_visits);
  m.def(
      "course",
      [](const Problem& problem, const Policy& policy, Nature nature, int most_stages,
         const Execution& execution) {
        return released(execution, [&](const Execution& e) {
          return course(problem, policy, nature, most_stages, e);
        });
      },
      nb::arg("problem"), nb::arg("policy"), nb::arg("nature"), nb::arg("most_stages"),
      nb::arg("execution"));
  m.def(
      "node_values",
      [](const Problem& problem, const Policy& policy, const Execution& execution) {
        return released(execution,
                        [&](const Execution& e) { return node_values(problem, policy, e); });
      },
      nb::arg("problem"), nb::arg("policy"), nb::arg("execution"));
  m.def("policy_json", &policy_json, nb::arg("problem"), nb::arg("policy"));
}
