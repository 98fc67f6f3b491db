#include "redoubt/solve.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "method.h"
#include "redoubt/advanced/checkpoint.h"
#include "redoubt/evaluate.h"
#include "redoubt/io.h"
#include "redoubt/verify.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

void bind_rcvi(nb::module_& m) {
  nb::enum_<Fallback>(m, "Fallback")
      .value("reward", Fallback::reward)
      .value("utility", Fallback::utility);
  nb::enum_<Rounding>(m, "Rounding").value("up", Rounding::up).value("mixed", Rounding::mixed);
  nb::class_<RcviOptions>(m, "RcviOptions")
      .def(nb::init<>())
      .def_rw("slack", &RcviOptions::slack)
      .def_rw("fallback", &RcviOptions::fallback)
      .def_rw("budget_step", &RcviOptions::budget_step)
      .def_rw("budget_cells", &RcviOptions::budget_cells)
      .def_rw("rounding", &RcviOptions::rounding)
      .def_rw("tolerance", &RcviOptions::tolerance)
      .def_rw("memory_limit", &RcviOptions::memory_limit);
  nb::class_<MemoryPlan>(
      m, "MemoryPlan",
      R"doc(Bytes of RAM that a solve needs; made by `plan_robust` and `plan_frontier`.

>>> plan = rd.plan_robust(rd.make("river_swim(horizon=5,start=3)"))
>>> plan.model > 0, plan.growth
(True, 0.0))doc")
      .def_ro("model", &MemoryPlan::model)
      .def_ro("values", &MemoryPlan::values)
      .def_ro("policy", &MemoryPlan::policy)
      .def_ro("growth", &MemoryPlan::growth, "What a search that refines itself may add, at most.")
      .def_prop_ro("bytes", &MemoryPlan::bytes, "All of it, to begin with.");
  nb::class_<RcviPlan>(m, "RcviPlan", R"doc(Memory and work of an RCVI solve; made by `plan_rcvi`.

>>> rd.plan_rcvi(rd.make("river_swim(horizon=5,start=3)")).row_evaluations > 0
True)doc")
      .def_ro("axes", &RcviPlan::axes)
      .def_ro("stages", &RcviPlan::stages)
      .def_ro("most_memory_states", &RcviPlan::most_memory_states)
      .def_prop_ro("bytes", [](const RcviPlan& plan) { return plan.memory.bytes(); })
      .def_ro("row_evaluations", &RcviPlan::row_evaluations);
  bind_method<RcviOptions>(m, "rcvi", &rcvi);
  m.def(
      "plan_rcvi",
      [](const Problem& problem, const RcviOptions& options) {
        return plan_rcvi(problem, options);
      },
      nb::arg("problem"), nb::arg("options"));
}

}  // namespace

void bind_solve(nb::module_& m) {
  nb::class_<Checkpoint>(m, "Checkpoint", "Where long work keeps its state and finds it again.")
      .def("part", &Checkpoint::part, nb::arg("name"))
      .def("remove", &Checkpoint::remove);
  m.def("checkpoint_file", &checkpoint_file, nb::arg("path"), nb::arg("interval") = 5.0);
  nb::class_<Execution>(m, "Execution", "How work is carried out.")
      .def(nb::init<>())
      .def_rw("threads", &Execution::threads)
      .def_rw("time_limit", &Execution::time_limit)
      .def_rw("checkpoint", &Execution::checkpoint);
  bind_rcvi(m);
  nb::class_<RobustOptions>(m, "RobustOptions")
      .def(nb::init<>())
      .def_rw("tolerance", &RobustOptions::tolerance);
  bind_method<RobustOptions>(m, "robust", &robust);
  bind_method<RobustOptions>(m, "nominal", &nominal);
  m.def("plan_robust", &plan_robust, nb::arg("problem"));
  nb::class_<AchievableRange>(
      m, "AchievableRange",
      R"doc(Totals that policies reach on a constraint; made by `achievable_range`.

>>> span = rd.achievable_range(rd.make("river_swim(horizon=5,start=3)"))
>>> span.best < span.worst
True)doc")
      .def(
          "__init__",
          [](AchievableRange* self, double best, double worst) {
            new (self) AchievableRange{best, worst};
          },
          nb::arg("best"), nb::arg("worst"))
      .def_ro("best", &AchievableRange::best)
      .def_ro("worst", &AchievableRange::worst);
  m.def(
      "achievable_range",
      [](const Problem& problem, int constraint, const Execution& execution) {
        return released(execution, [&](const Execution& e) {
          return achievable_range(problem, constraint, e);
        });
      },
      nb::arg("problem"), nb::arg("constraint"), nb::arg("execution"));
  m.def(
      "evaluate",
      [](const Problem& problem, const Policy& policy, const Execution& execution) {
        return released(execution,
                        [&](const Execution& e) { return evaluate(problem, policy, e); });
      },
      nb::arg("problem"), nb::arg("policy"), nb::arg("execution"));
  m.def(
      "verify",
      [](const Problem& problem, const Policy& policy) {
        return released({}, [&](const Execution& e) { return verify(problem, policy, e); });
      },
      nb::arg("problem"), nb::arg("policy"));
}
