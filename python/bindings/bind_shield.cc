#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/shield.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_shield(nb::module_& m) {
  nb::class_<Shield>(m, "Shield", "Keeps the constraints whatever a foreign policy wants.")
      .def(
          "__init__",
          [](Shield* self, const Problem& problem, const Policy& policy, std::uint64_t seed,
             std::uint64_t stream, const Execution& execution) {
            released(execution, [&](const Execution& e) {
              return new (self) Shield(problem, policy, seed, stream, e);
            });
          },
          nb::arg("problem"), nb::arg("policy"), nb::arg("seed"), nb::arg("stream"),
          nb::arg("execution"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("start", &Shield::start)
      .def(
          "allowed",
          [](Shield& self, State state) {
            std::map<std::int32_t, double> largest;
            for (const Permission& one : self.allowed(state)) largest[one.action] = one.largest;
            return largest;
          },
          nb::arg("state"))
      .def("take", &Shield::take, nb::arg("action"))
      .def("observe", &Shield::observe, nb::arg("next"), nb::arg("signals") = ObservedSignals())
      .def("observe_outcome", &Shield::observe_outcome, nb::arg("outcome"))
      .def_prop_ro("stage", &Shield::stage)
      .def_prop_ro("ended", &Shield::ended)
      .def_prop_ro("promise", &Shield::promise)
      .def_prop_ro("steps", &Shield::steps)
      .def_prop_ro("corrected", &Shield::corrected);
}
