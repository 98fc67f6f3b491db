#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/environments.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_environments(nb::module_& m) {
  nb::class_<ParameterInfo>(m, "ParameterInfo", R"doc(A parameter of a built-in problem.

>>> river = next(one for one in rd.environments() if one.name == "river_swim")
>>> "horizon" in [parameter.name for parameter in river.parameters]
True)doc")
      .def_ro("name", &ParameterInfo::name)
      .def_ro("default_value", &ParameterInfo::default_value)
      .def_ro("description", &ParameterInfo::description);
  nb::class_<EnvironmentInfo>(m, "EnvironmentInfo", R"doc(A built-in problem, for `make`.

>>> {one.name for one in rd.environments()} >= {"river_swim", "grid"}
True)doc")
      .def_ro("name", &EnvironmentInfo::name)
      .def_ro("description", &EnvironmentInfo::description)
      .def_ro("parameters", &EnvironmentInfo::parameters);
  m.def("environments", &environments);
  m.def("make", &make, nb::arg("id"), nb::call_guard<nb::gil_scoped_release>());
}
