#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/simulate.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_simulate(nb::module_& m) {
  nb::class_<SimulateOptions>(m, "SimulateOptions")
      .def(nb::init<>())
      .def_rw("episodes", &SimulateOptions::episodes)
      .def_rw("seed", &SimulateOptions::seed)
      .def_rw("nature", &SimulateOptions::nature)
      .def_rw("tolerance", &SimulateOptions::tolerance);
  nb::class_<SampledTotal> total(m, "SampledTotal",
                                 R"doc(One quantity over all episodes; made by `simulate`.

>>> problem = rd.make("river_swim(horizon=5,start=3)")
>>> reward = rd.simulate(problem, rd.solve(problem, "robust"), episodes=100).reward
>>> reward.name, len(reward.totals), reward.standard_error > 0
('reward', 100, True))doc");
  total.def_ro("name", &SampledTotal::name)
      .def_ro("mean", &SampledTotal::mean)
      .def_ro("standard_error", &SampledTotal::standard_error);
  def_view(total, "totals", &SampledTotal::totals, "The discounted total of each episode.");
  nb::class_<Simulation>(
      m, "Simulation", R"doc(Discounted totals of episodes, in the user's sign; made by `simulate`.

>>> problem = rd.make("river_swim(horizon=5,start=3)")
>>> episodes = rd.simulate(problem, rd.solve(problem, "robust"), episodes=100)
>>> [total.name for total in (episodes.reward, *episodes.constraints)]
['reward', 'cost'])doc")
      .def_ro("reward", &Simulation::reward)
      .def_ro("constraints", &Simulation::constraints)
      .def_ro("cut", &Simulation::cut);
  m.def(
      "simulate",
      [](const Problem& problem, const Policy& policy, const SimulateOptions& options,
         const Execution& execution) {
        return released(execution,
                        [&](const Execution& e) { return simulate(problem, policy, options, e); });
      },
      nb::arg("problem"), nb::arg("policy"), nb::arg("options"), nb::arg("execution"));
}
