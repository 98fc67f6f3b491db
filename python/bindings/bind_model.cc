#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/model.h"
#include "redoubt/objective.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

// A view that keeps the arrays of the model alive, however long the model itself lives: copies of a
// model share them.
template <class T>
auto model_view(std::vector<T> ModelArrays::*member) {
  return [member](const Model& model) {
    nb::capsule owner(new Model(model), [](void* p) noexcept { delete static_cast<Model*>(p); });
    return view(model.arrays().*member, owner);
  };
}

auto signal_view(std::vector<double> Signal::*member) {
  return [member](const Model& model, int signal) {
    nb::capsule owner(new Model(model), [](void* p) noexcept { delete static_cast<Model*>(p); });
    return view(model.arrays().signals.at(signal).*member, owner);
  };
}

void give_every_action(ModelArrays& arrays, std::int32_t actions) {
  const std::int64_t slots = std::int64_t{arrays.states} * arrays.stages, rows = slots * actions;
  arrays.state_rows.resize(slots + 1);
  for (std::int64_t slot = 0; slot <= slots; ++slot) arrays.state_rows[slot] = slot * actions;
  arrays.action.resize(rows);
  const auto first = arrays.action.begin();
  std::iota(first, first + std::min<std::int64_t>(actions, rows), 0);
  for (std::int64_t done = actions; done < rows; done *= 2)
    std::copy_n(first, std::min(done, rows - done), first + done);
}

using Offsets = std::variant<Array<std::int64_t>, Array<std::int32_t>>;

void build(Model* self, ModelArrays& taken, const Offsets& row_outcomes, const Array<State>& next,
           const Array<double>& probability, const Array<double>& reward,
           const std::vector<Array<double>>& signals) {
  const auto look_at = [](const auto& array) { return std::span(array.data(), array.size()); };
  ModelViews views{{}, look_at(next), look_at(probability), look_at(reward), {}};
  std::visit([&](const auto& offsets) { views.row_outcomes = look_at(offsets); }, row_outcomes);
  for (const auto& signal : signals) views.signals.push_back(look_at(signal));
  const nb::gil_scoped_release others_may_run;
  new (self) Model(std::move(taken), views);
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<ModelArrays> arrays(m, "ModelArrays", "What a model is made of.");
  arrays.def(nb::init<>())
      .def_rw("states", &ModelArrays::states)
      .def_rw("stages", &ModelArrays::stages)
      .def_rw("groups", &ModelArrays::groups)
      .def_rw("factors", &ModelArrays::factors)
      .def_rw("state_names", &ModelArrays::state_names)
      .def_rw("action_names", &ModelArrays::action_names)
      .def("add_label",
           [](ModelArrays& self, std::string name, std::vector<State> states) {
             self.labels.push_back({std::move(name), std::move(states)});
           })
      .def("give_every_action", &give_every_action, nb::arg("actions"),
           "Every state has rows of the actions 0..actions-1 at every stage.")
      .def("add_signal", [](ModelArrays& self, std::string name, const Array<double>& outcome,
                            const Array<double>& arrival) {
        self.signals.push_back({std::move(name), {}, to_vector(outcome), to_vector(arrival)});
      });
  def_array(arrays, "state_rows", &ModelArrays::state_rows);
  def_array(arrays, "action", &ModelArrays::action);
  def_array(arrays, "outcome_reward", &ModelArrays::outcome_reward);
  def_array(arrays, "arrival_reward", &ModelArrays::arrival_reward);
  def_array(arrays, "lower", &ModelArrays::lower);
  def_array(arrays, "upper", &ModelArrays::upper);

  nb::class_<Model>(m, "Model", "States, actions, outcomes, reward and signals; immutable.")
      .def("__init__", &build, nb::arg("arrays"), nb::arg("row_outcomes"), nb::arg("next"),
           nb::arg("probability"), nb::arg("reward"), nb::arg("signals"),
           "Takes the arrays over, which are empty afterwards, and copies the others: offsets and "
           "outcomes, and the row values of the reward and of each signal.")
      .def_prop_ro("states", &Model::states)
      .def_prop_ro("stages", &Model::stages)
      .def_prop_ro("groups", &Model::groups)
      .def_prop_ro("factors", &Model::factors)
      .def_prop_ro("ordinary", &Model::ordinary)
      .def_prop_ro("rows", &Model::rows)
      .def_prop_ro("outcomes", &Model::outcomes)
      .def_prop_ro("actions", &Model::actions)
      .def_prop_ro("most_actions", &Model::most_actions)
      .def_prop_ro("most_outcomes", &Model::most_outcomes)
      .def_prop_ro("signal_names",
                   [](const Model& model) {
                     std::vector<std::string> names;
                     for (const Signal& s : model.arrays().signals) names.push_back(s.name);
                     return names;
                   })
      .def_prop_ro("state_names", [](const Model& model) { return model.arrays().state_names; })
      .def_prop_ro("action_names", [](const Model& model) { return model.arrays().action_names; })
      .def_prop_ro("labels",
                   [](const Model& model) {
                     std::vector<std::pair<std::string, std::vector<State>>> labels;
                     for (const Label& one : model.arrays().labels)
                       labels.emplace_back(one.name, one.states);
                     return labels;
                   })
      .def_prop_ro("state_rows", model_view(&ModelArrays::state_rows), nb::rv_policy::reference)
      .def_prop_ro("action", model_view(&ModelArrays::action), nb::rv_policy::reference)
      .def_prop_ro("row_outcomes", model_view(&ModelArrays::row_outcomes), nb::rv_policy::reference)
      .def_prop_ro("next", model_view(&ModelArrays::next), nb::rv_policy::reference)
      .def_prop_ro("probability", model_view(&ModelArrays::probability), nb::rv_policy::reference)
      .def_prop_ro("reward", model_view(&ModelArrays::reward), nb::rv_policy::reference)
      .def_prop_ro("outcome_reward", model_view(&ModelArrays::outcome_reward),
                   nb::rv_policy::reference)
      .def_prop_ro("arrival_reward", model_view(&ModelArrays::arrival_reward),
                   nb::rv_policy::reference)
      .def_prop_ro("lower", model_view(&ModelArrays::lower), nb::rv_policy::reference)
      .def_prop_ro("upper", model_view(&ModelArrays::upper), nb::rv_policy::reference)
      .def("signal", signal_view(&Signal::row), nb::rv_policy::reference, nb::arg("signal"))
      .def("outcome_signal", signal_view(&Signal::outcome), nb::rv_policy::reference,
           nb::arg("signal"))
      .def("arrival_signal", signal_view(&Signal::arrival), nb::rv_policy::reference,
           nb::arg("signal"))
      .def("state_name", &Model::state_name, nb::arg("state"))
      .def("action_name", &Model::action_name, nb::arg("action"))
      .def("row_name", &Model::row_name, nb::arg("row"))
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));

  nb::class_<Objective>(m, "Objective", "What a problem maximises in place of its reward.")
      .def(
          "__init__",
          [](Objective* self, std::string signal, bool minimise, bool none) {
            new (self) Objective{std::move(signal), minimise, none};
          },
          nb::arg("signal") = "", nb::arg("minimise") = false, nb::arg("none") = false)
      .def_prop_ro("chosen", &Objective::chosen)
      .def_ro("signal", &Objective::signal)
      .def_ro("minimise", &Objective::minimise)
      .def_ro("none", &Objective::none);
  m.def("with_objective", &with_objective, nb::arg("model"), nb::arg("objective"),
        nb::arg("rewarded"), nb::call_guard<nb::gil_scoped_release>());
}
