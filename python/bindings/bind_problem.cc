#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/problem.h"
#include "redoubt/reorder.h"
#include "words.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

void bind_goals(nb::module_& m) {
  m.def(
      "reach", &reach, nb::arg("label"),
      R"doc(The probability that an episode comes to a state of the label, as constraints and rewards take it.

The start counts, and so does the last arrival of the horizon.

>>> problem = rd.make("grid(size=3,horizon=6)", constraints=[rd.at_most(rd.reach("hazard"), 0.5)])
>>> rd.solve(problem).constraints[0].name
'reach hazard')doc");
  m.def("avoid", &avoid, nb::arg("label"),
        R"doc(The probability that an episode never comes to a state of the label.

>>> rd.at_least(rd.avoid("hazard"), 0.9)
at_least('avoid hazard', 0.9))doc");
  m.def(
      "until", &until, nb::arg("before"), nb::arg("label"),
      R"doc(The probability that an episode comes to the label, and is in states of `before` until then.

>>> rd.at_least(rd.until("safe", "goal"), 0.9)
at_least('safe until goal', 0.9))doc");
  m.def(
      "steps_to", &steps_to, nb::arg("label"),
      R"doc(How many decisions are taken until an episode comes to the label; all of them if it does not.

>>> problem = rd.make("river_swim(horizon=10)", minimise=rd.steps_to("goal"), constraints=[])
>>> 0 <= -rd.solve(problem).reward.worst <= 10
True)doc");
  m.def("total_until", &total_until, nb::arg("signal"), nb::arg("label"),
        R"doc(What a signal, or "reward", earns until an episode comes to the label.

>>> rd.at_most(rd.total_until("cost", "goal"), 4)
at_most('total of cost until goal', 4))doc");
}

}  // namespace

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
      .def_rw("uncertainty", &Terms::uncertainty)
      .def_rw("objective", &Terms::objective)
      .def_rw("helpful_nature", &Terms::helpful_nature)
      .def_rw("helpful_groups", &Terms::helpful_groups);
  nb::class_<Draft>(m, "Draft", "A model and what was said of it so far.")
      .def(
          "__init__",
          [](Draft* self, Model model, Terms terms, bool rewarded) {
            new (self) Draft{std::move(model), std::move(terms), rewarded};
          },
          nb::arg("model"), nb::arg("terms"), nb::arg("rewarded") = true)
      .def_ro("model", &Draft::model)
      .def_ro("terms", &Draft::terms)
      .def_ro("rewarded", &Draft::rewarded);
  m.def("pose", &pose, nb::arg("draft"), nb::arg("objective"),
        nb::call_guard<nb::gil_scoped_release>());
  bind_goals(m);
  nb::class_<Problem>(m, "Problem", "A model and the terms it is solved under; immutable.")
      .def(nb::init<Model, Terms>(), nb::arg("model"), nb::arg("terms"))
      .def(nb::init<const Problem&>(), nb::arg("problem"))
      .def_prop_ro("model", &Problem::model)
      .def_prop_ro("terms", &Problem::terms)
      .def_prop_ro("given", &Problem::given)
      .def_prop_ro("given_states", &Problem::given_state)
      .def_prop_ro("two_stages", &Problem::two_stages)
      .def("is_factor", &Problem::is_factor, nb::arg("state"))
      .def_prop_ro("merged", [](const Problem& problem) { return problem.merged() != nullptr; })
      .def_prop_ro("improper", &Problem::improper)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
  m.def(
      "reorder", [](const Problem& problem) { return reorder(problem); }, nb::arg("problem"),
      nb::call_guard<nb::gil_scoped_release>());
}
