#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/chance.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_chance(nb::module_& m) {
  nb::class_<AugmentedProblem> augmented(
      m, "AugmentedProblem",
      "A problem with chance constraints as an ordinary one, whose states remember what is left.");
  augmented.def_ro("original", &AugmentedProblem::original)
      .def_ro("problem", &AugmentedProblem::problem)
      .def_ro("chance", &AugmentedProblem::chance)
      .def_ro("budget", &AugmentedProblem::budget)
      .def_ro("kept", &AugmentedProblem::kept)
      .def_prop_ro("exact", &AugmentedProblem::exact)
      .def("kept_at_start", &AugmentedProblem::kept_at_start, nb::arg("index"));
  def_view(augmented, "state", &AugmentedProblem::state);
  def_view(augmented, "outcome", &AugmentedProblem::outcome);
  m.def("with_probability", &with_probability, nb::arg("constraint"), nb::arg("probability"));
  m.def("has_chance_constraints", &has_chance_constraints, nb::arg("problem"));
  m.def("augment", &augment, nb::arg("problem"), nb::call_guard<nb::gil_scoped_release>());
  m.def("to_original", &to_original, nb::arg("augmented"), nb::arg("policy"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def("to_augmented", &to_augmented, nb::arg("augmented"), nb::arg("policy"),
        nb::call_guard<nb::gil_scoped_release>());
}
