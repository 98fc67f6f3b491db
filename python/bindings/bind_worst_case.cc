#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/worst_case.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_worst_case(nb::module_& m) {
  const auto span = [](const Array<double>& array) {
    return std::span(array.data(), array.shape(0));
  };
  nb::class_<WorstCaseOf> result(m, "WorstCaseOf");
  def_view(result, "value", &WorstCaseOf::value);
  def_view(result, "distribution", &WorstCaseOf::distribution);
  m.def(
      "worst_case",
      [span](const Uncertainty& uncertainty, const Array<double>& probability,
             const Array<double>& lower, const Array<double>& upper, const Array<double>& values,
             bool with_distribution) {
        return worst_case(uncertainty, {span(probability), span(lower), span(upper)}, span(values),
                          with_distribution);
      },
      nb::arg("uncertainty"), nb::arg("probability"), nb::arg("lower"), nb::arg("upper"),
      nb::arg("values"), nb::arg("with_distribution"));
}
