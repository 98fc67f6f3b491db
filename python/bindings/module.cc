#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/error.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ library, name for name; the package redoubt is the way to use it.";
  m.attr("version") = REDOUBT_VERSION;
  nanobind::exception<redoubt::Error>(m, "Error", PyExc_ValueError).attr("__doc__") =
      R"doc(Something breaks a rule; the text names the thing, its value and the rule. It is a ValueError.

>>> rd.make("river_swim(horizon=-1)")
Traceback (most recent call last):
redoubt._core.Error: horizon = -1 ...)doc";
  m.def("near_matches", &redoubt::near_matches, nanobind::arg("word"), nanobind::arg("known"));
  bind_uncertainty(m);
  bind_worst_case(m);
  bind_model(m);
  bind_problem(m);
  bind_environments(m);
  bind_policy(m);
  bind_chance(m);
  bind_solution(m);
  bind_solve(m);
  bind_frontier(m);
  bind_gradient(m);
  bind_controller(m);
  bind_worst_kernel(m);
  bind_shield(m);
  bind_explain(m);
  bind_simulate(m);
  bind_compare(m);
  bind_sampling(m);
  bind_abstraction(m);
  bind_io(m);
}
