#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "python_simulator.h"
#include "redoubt/compare.h"
#include "redoubt/estimate.h"
#include "redoubt/learn.h"
#include "redoubt/samples.h"
#include "released.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

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

// What a function of Python does not say itself.
struct Declared {
  State states = 0;
  std::int32_t actions = 0;
  std::vector<std::string> signals;
  int stages = 1;
  std::vector<State> terminal;
  std::vector<std::vector<State>> outcomes;  // of each row; empty: any state
  std::vector<std::optional<std::pair<double, double>>> ranges;
  bool shared_values = false;
  std::optional<Model> features;  // whose factors are asked for

  SimulatorShape shape() const {
    if (features) return factored_shape(*features);
    SimulatorShape made = regular_shape(states, actions, signals, stages, terminal);
    for (const auto& row : outcomes) {
      auto& declared = made.outcomes.emplace_back();
      for (const State next : row) declared.push_back({next, {}});
    }
    for (const auto& range : ranges) {
      auto& declared = made.ranges.emplace_back();
      if (range) declared = {range->first, range->second};
    }
    made.shared_values = shared_values;
    return made;
  }
};

// Belongs to an object of Python.
class Borrowed : public Simulator {
 public:
  explicit Borrowed(Simulator& lender) : lender_(lender) {}
  const SimulatorShape& shape() const override { return lender_.shape(); }
  void answer(const Next& next, const Receive& receive) override { lender_.answer(next, receive); }
  bool is_concurrent() const override { return lender_.is_concurrent(); }

 private:
  Simulator& lender_;
};

void bind_simulators(nb::module_& m) {
  nb::class_<Simulator>(m, "Simulator", "What can be asked for samples.")
      .def_prop_ro("states", [](const Simulator& self) { return self.shape().states; })
      .def_prop_ro("ordinary",
                   [](const Simulator& self) { return self.shape().states - self.shape().factors; })
      .def_prop_ro("factors", [](const Simulator& self) { return self.shape().factors; })
      .def_prop_ro("state_names", [](const Simulator& self) { return self.shape().state_names; })
      .def_prop_ro("terms", [](const Simulator& self) { return self.shape().terms; });
  nb::class_<Declared>(m, "Declared")
      .def(nb::init<>())
      .def_rw("states", &Declared::states)
      .def_rw("actions", &Declared::actions)
      .def_rw("signals", &Declared::signals)
      .def_rw("stages", &Declared::stages)
      .def_rw("terminal", &Declared::terminal)
      .def_rw("outcomes", &Declared::outcomes)
      .def_rw("ranges", &Declared::ranges)
      .def_rw("shared_values", &Declared::shared_values)
      .def_rw("features", &Declared::features, nb::arg().none());
  m.def(
      "factor_simulator",
      [](Simulator& draws, const Model& features) {
        return factor_simulator(std::make_unique<Borrowed>(draws), features);
      },
      nb::arg("draws"), nb::arg("features"), nb::keep_alive<0, 1>());
  m.def("problem_simulator", &problem_simulator, nb::arg("problem"));
  m.def("external_simulator", &external_simulator, nb::arg("command"), nb::arg("options"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "function_simulator",
      [](Function function, const Declared& declared) {
        return function_simulator(declared.shape(), std::move(function));
      },
      nb::arg("function"), nb::arg("declared"));
  m.def(
      "batch_simulator",
      [](nb::object function, int batch, const Declared& declared) -> std::unique_ptr<Simulator> {
        return std::make_unique<PythonSimulator>(declared.shape(), std::move(function), batch);
      },
      nb::arg("function"), nb::arg("batch"), nb::arg("declared"));
}

void bind_learn(nb::module_& m) {
  nb::class_<LearnOptions>(m, "LearnOptions")
      .def(nb::init<>())
      .def_rw("epsilon", &LearnOptions::epsilon)
      .def_rw("delta", &LearnOptions::delta)
      .def_rw("strict", &LearnOptions::strict)
      .def_rw("uniform", &LearnOptions::uniform)
      .def_rw("first_samples", &LearnOptions::first_samples)
      .def_rw("most_samples", &LearnOptions::most_samples)
      .def_rw("seed", &LearnOptions::seed)
      .def_rw("store", &LearnOptions::store)
      .def("solve_by",
           [](LearnOptions& options, const Contestant& method) { options.method = method.solve; });
  nb::class_<LearnRound>(m, "LearnRound")
      .def_ro("samples", &LearnRound::samples)
      .def_ro("worst", &LearnRound::worst)
      .def_ro("bound", &LearnRound::bound)
      .def_ro("feasible", &LearnRound::feasible)
      .def_ro("most_drawn", &LearnRound::most_drawn);
  nb::class_<Learned>(m, "Learned")
      .def_ro("solution", &Learned::solution)
      .def_ro("problem", &Learned::problem)
      .def_ro("samples", &Learned::samples)
      .def_ro("rounds", &Learned::rounds)
      .def_ro("queries", &Learned::queries)
      .def_ro("reused", &Learned::reused);
  m.def(
      "learn",
      [](Simulator& simulator, const Terms& terms, LearnOptions options, const Execution& execution,
         nb::object report, const nb::object& round) {
        if (!round.is_none())
          options.round = [&](const LearnRound& reached) {
            const nb::gil_scoped_acquire lock;
            return !round(reached).is(nb::bool_(false));
          };
        return solve_released(execution, std::move(report), [&](const Execution& e) {
          return learn(simulator, terms, options, e);
        });
      },
      nb::arg("simulator"), nb::arg("terms"), nb::arg("options"), nb::arg("execution"),
      nb::arg("report").none(), nb::arg("round").none());
  m.def("composed_factors", &composed_factors, nb::arg("rows"), nb::arg("features"),
        nb::arg("terms"), nb::arg("confidence"), nb::call_guard<nb::gil_scoped_release>());
  m.def("composed_problem", &composed_problem, nb::arg("estimate"), nb::arg("terms"),
        nb::arg("confidence"));
}

void bind_estimates(nb::module_& m) {
  m.def(
      "estimate",
      [](Simulator& simulator, const EstimateOptions& options, const Execution& execution,
         nb::object report) {
        // Ctrl-C is an exception: half an estimate is none, and what was collected is in the store.
        return released(execution, Watch(std::move(report), false),
                        [&](const Execution& e) { return estimate(simulator, options, e); });
      },
      nb::arg("simulator"), nb::arg("options"), nb::arg("execution"), nb::arg("report").none());
  m.def(
      "read_recorded",
      [](std::string_view text, std::string_view name, std::optional<State> states,
         std::optional<std::int32_t> actions, const std::vector<State>& terminal, bool simplex,
         bool factors, const Objective& objective) {
        const Unvisited unvisited = factors   ? Unvisited::ignore
                                    : simplex ? Unvisited::simplex
                                              : Unvisited::error;
        return read_recorded(text, name, {states, actions, terminal, unvisited, objective});
      },
      nb::arg("text"), nb::arg("name"), nb::arg("states").none(), nb::arg("actions").none(),
      nb::arg("terminal"), nb::arg("simplex"), nb::arg("factors"), nb::arg("objective"));
  m.def("estimate_factors", &estimate_factors, nb::arg("rows"), nb::arg("features"),
        nb::call_guard<nb::gil_scoped_release>());
  m.def("estimated_problem", &estimated_problem, nb::arg("estimate"), nb::arg("terms"));
  m.def("confident_problem", &confident_problem, nb::arg("estimate"), nb::arg("terms"),
        nb::arg("delta"));
}

}  // namespace

void bind_sampling(nb::module_& m) {
  bind_values(m);
  bind_simulators(m);
  bind_estimates(m);
  bind_learn(m);
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
