#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/policy.h"

namespace nb = nanobind;
using namespace redoubt;

void bind_policy(nb::module_& m) {
  nb::class_<BudgetAxis> axis(
      m, "BudgetAxis", R"doc(Memory of a policy by `rcvi`: what one constraint must still earn.

>>> policy = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "rcvi").policy
>>> [axis.constraint for axis in policy.budget]
[0])doc");
  axis.def_ro("constraint", &BudgetAxis::constraint)
      .def_ro("sign", &BudgetAxis::sign)
      .def_ro("bound", &BudgetAxis::bound)
      .def_ro("step", &BudgetAxis::step)
      .def_ro("exact", &BudgetAxis::exact)
      .def("requirement", &BudgetAxis::requirement, nb::arg("stage"), nb::arg("cell"))
      .def("start", &BudgetAxis::start);
  def_view(axis, "low", &BudgetAxis::low);
  def_view(axis, "cells", &BudgetAxis::cells);

  nb::class_<Policy>(m, "Policy", "A finite-memory policy.")
      .def_ro("states", &Policy::states)
      .def_ro("repeats_last", &Policy::repeats_last)
      .def_ro("budget", &Policy::budget)
      .def_prop_ro("stages", [](const Policy& self) { return self.stages.size(); })
      .def_prop_ro("memory_states", &Policy::memory_states)
      .def(
          "memories",
          [](const Policy& self, int stage, State state) {
            const Policy::Stage& nodes = self.at(stage);
            return nodes.end(state) - nodes.begin(state);
          },
          nb::arg("stage"), nb::arg("state"))
      .def(
          "choices",
          [](const Policy& self, int stage, State state, std::int32_t memory) {
            const Policy::Stage& nodes = self.at(stage);
            std::vector<std::int32_t> action;
            std::vector<double> weight;
            for_each_choice(nodes, nodes.begin(state) + memory, [&](std::int32_t a, double w) {
              action.push_back(a);
              weight.push_back(w);
            });
            return std::pair(action, weight);
          },
          nb::arg("stage"), nb::arg("state"), nb::arg("memory"))
      .def(
          "start_moves",
          [](const Policy& self, State state) {
            std::vector<std::pair<std::int32_t, double>> moves;
            for (const MemoryMove& move : start_memory(self, state))
              moves.emplace_back(move.memory, move.weight);
            return moves;
          },
          nb::arg("state"), "Memory states in which an episode begins, and their weights.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
  m.def("markov_policy", &markov_policy, nb::arg("problem"), nb::arg("weights"));
  m.def("check_policy", &check_policy, nb::arg("problem"), nb::arg("policy"));
}
