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

  nb::class_<WorstCasesOf> results(m, "WorstCasesOf");
  def_view(results, "value", &WorstCasesOf::value);
  def_view(results, "distribution", &WorstCasesOf::distribution);
  def_view(results, "outside", &WorstCasesOf::outside);
  m.def(
      "worst_cases",
      [span](const Uncertainty& uncertainty, const Array<std::int64_t>& begin,
             const Array<std::int32_t>& column, const Array<double>& probability,
             const Array<double>& lower, const Array<double>& upper, const Array<double>& floor,
             const Array<double>& values, bool with_distribution) {
        const ManyRows rows{{begin.data(), begin.shape(0)},
                            {column.data(), column.shape(0)},
                            span(probability),
                            span(lower),
                            span(upper),
                            span(floor)};
        const nb::gil_scoped_release release;
        return worst_cases(uncertainty, rows, span(values), with_distribution);
      },
      nb::arg("uncertainty"), nb::arg("begin"), nb::arg("column"), nb::arg("probability"),
      nb::arg("lower"), nb::arg("upper"), nb::arg("floor"), nb::arg("values"),
      nb::arg("with_distribution"));
}
