#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "python_simulator.h"
#include "redoubt/estimate.h"
#include "redoubt/samples.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

// Ctrl-C is an exception: half an estimate is none, and what was collected is in the store.
Estimate run(Simulator& simulator, const EstimateOptions& options, const Execution& execution,
             nb::object report) {
  return released(execution, Watch(std::move(report), false),
                  [&](const Execution& e) { return estimate(simulator, options, e); });
}

std::unique_ptr<Simulator> started(const std::string& command, const ExternalOptions& options) {
  const nb::gil_scoped_release release;
  return external_simulator(command, options);
}

using Function = std::function<Sample(const Query&)>;

void bind_values(nb::module_& m) {
  nb::class_<Query>(
      m, "Query",
      R"doc(One question to a simulator: what follows from this action? `seed` is for its random numbers.

>>> asked = []
>>> def simulator(query):
...     asked.append((query.state, query.action))
...     return 0
>>> _ = rd.estimate(simulator, samples=1, states=1, actions=2, horizon=1)
>>> asked
[(0, 0), (0, 1)])doc")
      .def_ro("stage", &Query::stage)
      .def_ro("state", &Query::state)
      .def_ro("action", &Query::action)
      .def_ro("draw", &Query::draw)
      .def_ro("seed", &Query::seed);
  nb::class_<Sample>(m, "Sample")
      .def(nb::init<State, double, std::vector<double>>(), nb::arg("next"), nb::arg("reward"),
           nb::arg("signals"));
  nb::class_<EstimateOptions>(m, "EstimateOptions")
      .def(nb::init<>())
      .def_rw("samples", &EstimateOptions::samples)
      .def_rw("seed", &EstimateOptions::seed)
      .def_rw("store", &EstimateOptions::store);
  nb::class_<ExternalOptions>(m, "ExternalOptions")
      .def(nb::init<>())
      .def_rw("window", &ExternalOptions::window)
      .def_rw("timeout", &ExternalOptions::timeout);
  nb::class_<Estimate>(m, "Estimate", "An empirical model.")
      .def_ro("model", &Estimate::model)
      .def_ro("terms", &Estimate::terms)
      .def_ro("visits", &Estimate::visits)
      .def_ro("counts", &Estimate::counts)
      .def_ro("unvisited", &Estimate::unvisited)
      .def_ro("queries", &Estimate::queries)
      .def_ro("reused", &Estimate::reused);
}

void bind_estimates(nb::module_& m) {
  m.def(
      "estimate_problem",
      [](const Problem& problem, const EstimateOptions& options, const Execution& execution,
         nb::object report) {
        return run(*problem_simulator(problem), options, execution, std::move(report));
      },
      nb::arg("problem"), nb::arg("options"), nb::arg("execution"), nb::arg("report").none());
  m.def(
      "estimate_command",
      [](const std::string& command, const ExternalOptions& external,
         const EstimateOptions& options, const Execution& execution, nb::object report) {
        const auto simulator = started(command, external);
        return run(*simulator, options, execution, std::move(report));
      },
      nb::arg("command"), nb::arg("external"), nb::arg("options"), nb::arg("execution"),
      nb::arg("report").none());
  m.def(
      "estimate_function",
      [](Function function, State states, std::int32_t actions, std::vector<std::string> signals,
         int stages, const std::vector<State>& terminal, const EstimateOptions& options,
         const Execution& execution, nb::object report) {
        const auto shape = regular_shape(states, actions, std::move(signals), stages, terminal);
        return run(*function_simulator(shape, std::move(function)), options, execution,
                   std::move(report));
      },
      nb::arg("function"), nb::arg("states"), nb::arg("actions"), nb::arg("signals"),
      nb::arg("stages"), nb::arg("terminal"), nb::arg("options"), nb::arg("execution"),
      nb::arg("report").none());
  m.def(
      "estimate_batches",
      [](nb::object function, int batch, State states, std::int32_t actions,
         std::vector<std::string> signals, int stages, const std::vector<State>& terminal,
         const EstimateOptions& options, const Execution& execution, nb::object report) {
        const auto shape = regular_shape(states, actions, std::move(signals), stages, terminal);
        PythonSimulator simulator(shape, std::move(function), batch);
        return run(simulator, options, execution, std::move(report));
      },
      nb::arg("function"), nb::arg("batch"), nb::arg("states"), nb::arg("actions"),
      nb::arg("signals"), nb::arg("stages"), nb::arg("terminal"), nb::arg("options"),
      nb::arg("execution"), nb::arg("report").none());
  m.def(
      "read_recorded",
      [](std::string_view text, std::string_view name, std::optional<State> states,
         std::optional<std::int32_t> actions, const std::vector<State>& terminal, bool simplex,
         const Objective& objective) {
        return read_recorded(text, name,
                             {states, actions, terminal,
                              simplex ? Unvisited::simplex : Unvisited::error, objective});
      },
      nb::arg("text"), nb::arg("name"), nb::arg("states").none(), nb::arg("actions").none(),
      nb::arg("terminal"), nb::arg("simplex"), nb::arg("objective"));
  m.def("estimated_problem", &estimated_problem, nb::arg("estimate"), nb::arg("terms"));
  m.def("confident_problem", &confident_problem, nb::arg("estimate"), nb::arg("terms"),
        nb::arg("delta"));
}

}  // namespace

void bind_sampling(nb::module_& m) {
  bind_values(m);
  bind_estimates(m);
  nb::class_<SampleSize>(
      m, "SampleSize",
      R"doc(How many samples a guarantee needs, or what they buy; made by `samples_needed` and `samples_buy`.

>>> size = rd.samples_needed(rd.make("river_swim(horizon=5,start=3)"), epsilon=0.5)
>>> size.total == 12 * size.per_row
True)doc")
      .def_ro("per_row", &SampleSize::per_row)
      .def_ro("total", &SampleSize::total)
      .def_ro("epsilon", &SampleSize::epsilon)
      .def_ro("delta", &SampleSize::delta)
      .def_ro("reward_error", &SampleSize::reward_error)
      .def_ro("violation", &SampleSize::violation)
      .def_ro("slack", &SampleSize::slack)
      .def_ro("lemma_per_row", &SampleSize::lemma_per_row)
      .def_ro("lemma_total", &SampleSize::lemma_total)
      .def_ro("theorem_total", &SampleSize::theorem_total);
  m.def("samples_needed", &samples_needed, nb::arg("problem"), nb::arg("epsilon"), nb::arg("delta"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def("samples_buy", &samples_buy, nb::arg("problem"), nb::arg("per_row"), nb::arg("delta"),
        nb::call_guard<nb::gil_scoped_release>());
}
