#pragma once

#include <nanobind/stl/string.h>

#include <string>

#include "redoubt/compare.h"
#include "released.h"

// A method: a function of `solve`, and a maker of contestants for `compare`. The arguments are the
// same for every method, so that the package calls them all alike. `iterates` as in Contestant.
template <class Options>
void bind_method(nanobind::module_& m, const std::string& name,
                 redoubt::Solution (*method)(const redoubt::Problem&, const Options&,
                                             const redoubt::Execution&),
                 bool iterates = false) {
  namespace nb = nanobind;
  m.def(
      name.c_str(),
      [method](const redoubt::Problem& problem, const Options& options,
               const redoubt::Execution& execution, nb::object report) {
        return solve_released(execution, std::move(report), [&](const redoubt::Execution& e) {
          return method(problem, options, e);
        });
      },
      nb::arg("problem"), nb::arg("options"), nb::arg("execution"), nb::arg("report").none());
  m.def((name + "_contestant").c_str(),
        [method, iterates](std::string label, const Options& options) {
          const auto solve = [method, options](const redoubt::Problem& problem,
                                               const redoubt::Execution& execution) {
            return method(problem, options, execution);
          };
          return redoubt::Contestant{std::move(label), solve, iterates};
        },
        nb::arg("name"), nb::arg("options"));
}
