#include "bindings.h"
#include "redoubt/controller.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_controller(nb::module_& m) {
  using Observe = void (Controller::*)(State);
  using ObserveAction = void (Controller::*)(std::int32_t, State);
  nb::class_<Controller>(m, "Controller", "Runs a policy, episode after episode.")
      .def(nb::init<const Problem&, const Policy&, std::uint64_t, std::uint64_t>(),
           nb::arg("problem"), nb::arg("policy"), nb::arg("seed"), nb::arg("stream"),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("start", &Controller::start,
           "A new episode. The random numbers go on from where they were.")
      .def("act", &Controller::act, nb::arg("state"),
           "The action for the state at hand. Asking twice draws twice.")
      .def("observe", static_cast<Observe>(&Controller::observe), nb::arg("next"),
           "What the last action led to.")
      .def("observe", static_cast<ObserveAction>(&Controller::observe), nb::arg("action"),
           nb::arg("next"), "What another action than the last one led to.")
      .def("observe_outcome", &Controller::observe_outcome, nb::arg("action"), nb::arg("outcome"),
           "The outcome of the row, counted from its first.")
      .def_prop_ro("stage", &Controller::stage)
      .def_prop_ro("memory", &Controller::memory)
      .def_prop_ro("ended", &Controller::ended);
}
