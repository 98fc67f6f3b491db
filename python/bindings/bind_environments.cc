#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "redoubt/environments.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_environments(nb::module_& m) {
  nb::class_<ParameterInfo>(m, "ParameterInfo")
      .def_ro("name", &ParameterInfo::name)
      .def_ro("default_value", &ParameterInfo::default_value)
      .def_ro("description", &ParameterInfo::description);
  nb::class_<EnvironmentInfo>(m, "EnvironmentInfo")
      .def_ro("name", &EnvironmentInfo::name)
      .def_ro("description", &EnvironmentInfo::description)
      .def_ro("parameters", &EnvironmentInfo::parameters);
  m.def("environments", &environments);
  m.def("make", &make, nb::arg("id"), nb::call_guard<nb::gil_scoped_release>());
}
