#pragma once

#include "redoubt/solution.h"
#include "released.h"

// A method of `solve`. The arguments are the same for every method, so that the package calls them
// all alike.
template <class Options>
void bind_method(nanobind::module_& m, const char* name,
                 redoubt::Solution (*method)(const redoubt::Problem&, const Options&,
                                             const redoubt::Execution&)) {
  namespace nb = nanobind;
  m.def(
      name,
      [method](const redoubt::Problem& problem, const Options& options,
               const redoubt::Execution& execution, nb::object report) {
        return solve_released(execution, std::move(report), [&](const redoubt::Execution& e) {
          return method(problem, options, e);
        });
      },
      nb::arg("problem"), nb::arg("options"), nb::arg("execution"), nb::arg("report").none());
}

// The same for a method that has no options of its own.
inline void bind_method(nanobind::module_& m, const char* name,
                        redoubt::Solution (*method)(const redoubt::Problem&,
                                                    const redoubt::Execution&)) {
  namespace nb = nanobind;
  m.def(
      name,
      [method](const redoubt::Problem& problem, const redoubt::Execution& execution,
               nb::object report) {
        return solve_released(execution, std::move(report),
                              [&](const redoubt::Execution& e) { return method(problem, e); });
      },
      nb::arg("problem"), nb::arg("execution"), nb::arg("report").none());
}
