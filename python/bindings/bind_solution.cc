#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/solution.h"
#include "words.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

// What nobody knows is None.
std::optional<double> known(double worst) {
  return is_known(worst) ? std::optional(worst) : std::nullopt;
}

}  // namespace

void bind_solution(nb::module_& m) {
  nb::class_<RewardResult>(
      m, "RewardResult",
      R"doc(What the policy guarantees, `worst`, and what none can beat: `bound` against a nature that sees the
history, `static_bound` also against one that must fix its kernel in advance; None where unknown.

>>> solution = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "frontier")
>>> solution.reward.worst <= solution.reward.bound
True)doc")
      .def_prop_ro("worst", [](const RewardResult& self) { return known(self.worst); })
      .def_ro("bound", &RewardResult::bound)
      .def_ro("static_bound", &RewardResult::static_bound);
  nb::class_<ConstraintResult>(m, "ConstraintResult",
                               R"doc(The worst case of one constraint, in the sign of its signal.

>>> solution = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "frontier")
>>> cost = solution.constraints[0]
>>> cost.name, cost.satisfied, cost.worst <= cost.bound + 1e-9
('cost', True, True))doc")
      .def_ro("name", &ConstraintResult::name)
      .def_prop_ro("sense", [](const ConstraintResult& self) { return word(self.sense); })
      .def_ro("bound", &ConstraintResult::bound)
      .def_ro("probability", &ConstraintResult::probability)
      .def_prop_ro("worst", [](const ConstraintResult& self) { return known(self.worst); })
      .def_prop_ro("satisfied",
                   [](const ConstraintResult& self) {
                     return known(self.worst) ? std::optional(self.satisfied) : std::nullopt;
                   })
      .def_ro("best_achievable", &ConstraintResult::best_achievable);
  nb::class_<Evaluation>(m, "Evaluation",
                         R"doc(The worst cases of a policy; made by `evaluate` and `verify`.

>>> problem = rd.make("river_swim(horizon=5,start=3)")
>>> found = rd.evaluate(problem, rd.solve(problem, "frontier"))
>>> found.satisfied, found.constraints[0].name
(True, 'cost'))doc")
      .def_ro("reward", &Evaluation::reward)
      .def_ro("constraints", &Evaluation::constraints)
      .def_ro("hopeless", &Evaluation::hopeless)
      .def_prop_ro("satisfied", &Evaluation::satisfied);
  nb::class_<Trace> trace(m, "Trace");
  def_view(trace, "iteration", &Trace::iteration);
  def_view(trace, "row_evaluations", &Trace::row_evaluations);
  def_view(trace, "seconds", &Trace::seconds);
  def_view(trace, "reward", &Trace::reward);
  def_view(trace, "bound", &Trace::bound);
  trace.def_ro("constraints", &Trace::constraints);
  nb::class_<CurvePoint>(m, "CurvePoint")
      .def_ro("reward", &CurvePoint::reward)
      .def_ro("constraints", &CurvePoint::constraints)
      .def_ro("memory", &CurvePoint::memory);
  nb::class_<Solution>(m, "Solution", "What a method found.")
      .def(
          "__init__",
          [](Solution* self, const Policy& policy) { (new (self) Solution)->policy = policy; },
          nb::arg("policy"), "A solution that is nothing but its policy.")
      .def_prop_ro("status", [](const Solution& self) { return name(self.status); })
      .def_ro("method", &Solution::method)
      .def_ro("reward", &Solution::reward)
      .def_prop_ro("gap", &Solution::gap)
      .def_ro("constraints", &Solution::constraints)
      .def_ro("hopeless", &Solution::hopeless)
      .def_ro("policy", &Solution::policy)
      .def_ro("trace", &Solution::trace)
      .def_ro("curve", &Solution::curve)
      .def_ro("seconds", &Solution::seconds)
      .def_ro("row_evaluations", &Solution::row_evaluations)
      .def_ro("iterations", &Solution::iterations)
      .def_ro("cut", &Solution::cut)
      .def_ro("unfinished", &Solution::unfinished)
      .def_ro("notes", &Solution::notes)
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
}
