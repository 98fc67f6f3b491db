#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/problem.h"
#include "redoubt/reorder.h"
#include "words.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_problem(nb::module_& m) {
  nb::class_<Constraint>(
      m, "Constraint",
      R"doc(A bound on the worst-case total of a signal; made by `at_least`, `at_most` and `chance`.

>>> constraint = rd.at_most("cost", 4)
>>> constraint.signal, constraint.sense, constraint.bound
('cost', 'at_most', 4.0))doc")
      .def_ro("signal", &Constraint::signal)
      .def_prop_ro("sense", [](const Constraint& self) { return word(self.sense); })
      .def_ro("bound", &Constraint::bound)
      .def_rw("probability", &Constraint::probability, nb::arg().none())
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
  m.def("at_least", &at_least, nb::arg("signal"), nb::arg("bound"),
        R"doc(The worst-case expected total of the signal must reach the bound (a utility).

>>> rd.at_least("energy", 3)
at_least('energy', 3))doc");
  m.def("at_most", &at_most, nb::arg("signal"), nb::arg("bound"),
        R"doc(The worst-case expected total of the signal must stay within the bound (a cost).

>>> problem = rd.make("river_swim(horizon=5,start=3)", constraints=[rd.at_most("cost", 2)])
>>> problem.constraints
[at_most('cost', 2)])doc");
  nb::class_<Start>(m, "Start", "Where an episode begins: a distribution over states.")
      .def(nb::init<State>(), nb::arg("state"))
      .def(nb::init<std::vector<State>, std::vector<double>>(), nb::arg("states"),
           nb::arg("probability"))
      .def_static("uniform", &Start::uniform, nb::arg("count"))
      .def_ro("states", &Start::states)
      .def_ro("probability", &Start::probability)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
  nb::class_<Terms>(m, "Terms", "What is asked of a model.")
      .def(nb::init<>())
      .def(nb::init<const Terms&>())
      .def_rw("horizon", &Terms::horizon, nb::arg().none())
      .def_rw("discount", &Terms::discount)
      .def_rw("start", &Terms::start)
      .def_rw("constraints", &Terms::constraints)
      .def_rw("uncertainty", &Terms::uncertainty);
  nb::class_<Problem>(m, "Problem", "A model and the terms it is solved under; immutable.")
      .def(nb::init<Model, Terms>(), nb::arg("model"), nb::arg("terms"))
      .def(nb::init<const Problem&>(), nb::arg("problem"))
      .def_prop_ro("model", &Problem::model)
      .def_prop_ro("terms", &Problem::terms)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
  m.def(
      "reorder", [](const Problem& problem) { return reorder(problem); }, nb::arg("problem"),
      nb::call_guard<nb::gil_scoped_release>());
}
