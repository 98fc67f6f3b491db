#include "redoubt/frontier.h"

#include "bindings.h"
#include "method.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_frontier(nb::module_& m) {
  nb::class_<FrontierOptions>(m, "FrontierOptions")
      .def(nb::init<>())
      .def_rw("tolerance", &FrontierOptions::tolerance)
      .def_rw("most_directions", &FrontierOptions::most_directions);
  bind_method<FrontierOptions>(m, "frontier", &frontier);
}
