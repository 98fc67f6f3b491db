#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "method.h"
#include "redoubt/gradient.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_gradient(nb::module_& m) {
  nb::enum_<FirstPolicy>(m, "FirstPolicy")
      .value("uniform", FirstPolicy::uniform)
      .value("random", FirstPolicy::random);
  nb::enum_<ChoiceRule>(m, "ChoiceRule")
      .value("neg", ChoiceRule::neg)
      .value("repo", ChoiceRule::repo);
  nb::class_<GradientOptions>(m, "GradientOptions")
      .def(nb::init<>())
      .def_rw("step", &GradientOptions::step)
      .def_rw("iterations", &GradientOptions::iterations)
      .def_rw("first_policy", &GradientOptions::first_policy)
      .def_rw("seed", &GradientOptions::seed)
      .def_rw("start_weights", &GradientOptions::start_weights)
      .def_rw("tolerance", &GradientOptions::tolerance)
      .def_rw("slack", &GradientOptions::slack)
      .def_rw("rule", &GradientOptions::rule)
      .def_rw("weight", &GradientOptions::weight)
      .def_rw("inner", &GradientOptions::inner)
      .def_rw("dual_step", &GradientOptions::dual_step);
  bind_method<GradientOptions>(m, "rnpg", &rnpg, true);
  bind_method<GradientOptions>(m, "crpo", &crpo, true);
  bind_method<GradientOptions>(m, "epirc", &epirc, true);
  bind_method<GradientOptions>(m, "rppg", &rppg, true);
  bind_method<GradientOptions>(m, "primal_dual", &primal_dual, true);
  bind_method<GradientOptions>(m, "rrpo", &rrpo, true);
}
