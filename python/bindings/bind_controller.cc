#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "redoubt/controller.h"
#include "redoubt/error.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

Unmodelled to_unmodelled(const std::string& word) {
  if (word == "error") return Unmodelled::error;
  if (word == "continue") return Unmodelled::go_on;
  throw Error("unmodelled = '" + word + "', must be 'error' or 'continue'");
}

}  // namespace

void bind_controller(nb::module_& m) {
  using Observe = void (Controller::*)(State, const ObservedSignals&);
  using ObserveAction = void (Controller::*)(std::int32_t, State, const ObservedSignals&);
  nb::class_<Controller>(m, "Controller",
                         R"doc(Runs a policy, episode after episode; made by `Policy.start`.

>>> controller = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "robust").policy.start(seed=0)
>>> action = controller.act(3)
>>> controller.observe(4)
>>> controller.stage, controller.ended
(1, False))doc")
      .def(
          "__init__",
          [](Controller* self, const Problem& problem, const Policy& policy, std::uint64_t seed,
             std::uint64_t stream, const std::string& unmodelled) {
            new (self) Controller(problem, policy, seed, stream, to_unmodelled(unmodelled));
          },
          nb::arg("problem"), nb::arg("policy"), nb::arg("seed"), nb::arg("stream"),
          nb::arg("unmodelled") = "error", nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("start", &Controller::start,
           "A new episode. The random numbers go on from where they were.")
      .def("act", &Controller::act, nb::arg("state"),
           "The action for the state at hand. Asking twice draws twice.")
      .def("observe", static_cast<Observe>(&Controller::observe), nb::arg("next"),
           nb::arg("signals") = ObservedSignals(),
           "What the last action led to. Where several outcomes lead to that state, the signals of "
           "the step, by name, tell them apart.")
      .def("observe", static_cast<ObserveAction>(&Controller::observe), nb::arg("action"),
           nb::arg("next"), nb::arg("signals") = ObservedSignals(),
           "What another action than the last one led to.")
      .def("observe_outcome", &Controller::observe_outcome, nb::arg("action"), nb::arg("outcome"),
           "The outcome of the row, counted from its first.")
      .def_prop_ro("stage", &Controller::stage)
      .def_prop_ro("memory", &Controller::memory)
      .def_prop_ro("ended", &Controller::ended)
      .def_prop_ro("unmodelled", &Controller::unmodelled,
                   "How often it went on in what the model did not foresee.");
}
