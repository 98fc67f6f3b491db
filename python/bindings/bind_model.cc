#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/model.h"

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

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<ModelArrays> arrays(m, "ModelArrays", "What a model is made of.");
  arrays.def(nb::init<>())
      .def_rw("states", &ModelArrays::states)
      .def_rw("stages", &ModelArrays::stages)
      .def_rw("state_names", &ModelArrays::state_names)
      .def_rw("action_names", &ModelArrays::action_names)
      .def("add_signal", [](ModelArrays& self, std::string name, const Array<double>& row,
                            const Array<double>& outcome) {
        self.signals.push_back({std::move(name), to_vector(row), to_vector(outcome)});
      });
  def_offsets(arrays, "state_rows", &ModelArrays::state_rows);
  def_array(arrays, "action", &ModelArrays::action);
  def_offsets(arrays, "row_outcomes", &ModelArrays::row_outcomes);
  def_array(arrays, "next", &ModelArrays::next);
  def_array(arrays, "probability", &ModelArrays::probability);
  def_array(arrays, "reward", &ModelArrays::reward);
  def_array(arrays, "outcome_reward", &ModelArrays::outcome_reward);
  def_array(arrays, "lower", &ModelArrays::lower);
  def_array(arrays, "upper", &ModelArrays::upper);

  nb::class_<Model>(m, "Model", "States, actions, outcomes, reward and signals; immutable.")
      .def(
          "__init__", [](Model* self, ModelArrays& taken) { new (self) Model(std::move(taken)); },
          nb::call_guard<nb::gil_scoped_release>(), nb::arg("arrays"),
          "Takes the arrays over: they are empty afterwards.")
      .def(
          "__init__",
          [](Model* self, ModelArrays& taken, const Array<State>& next,
             const Array<double>& probability) {
            new (self) Model(std::move(taken), {{next.data(), next.size()},
                                                {probability.data(), probability.size()}});
          },
          nb::call_guard<nb::gil_scoped_release>(), nb::arg("arrays"), nb::arg("next"),
          nb::arg("probability"), "The same for arrays without outcomes, which are copied.")
      .def_prop_ro("states", &Model::states)
      .def_prop_ro("stages", &Model::stages)
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
      .def_prop_ro("state_rows", model_view(&ModelArrays::state_rows), nb::rv_policy::reference)
      .def_prop_ro("action", model_view(&ModelArrays::action), nb::rv_policy::reference)
      .def_prop_ro("row_outcomes", model_view(&ModelArrays::row_outcomes), nb::rv_policy::reference)
      .def_prop_ro("next", model_view(&ModelArrays::next), nb::rv_policy::reference)
      .def_prop_ro("probability", model_view(&ModelArrays::probability), nb::rv_policy::reference)
      .def_prop_ro("reward", model_view(&ModelArrays::reward), nb::rv_policy::reference)
      .def_prop_ro("outcome_reward", model_view(&ModelArrays::outcome_reward),
                   nb::rv_policy::reference)
      .def_prop_ro("lower", model_view(&ModelArrays::lower), nb::rv_policy::reference)
      .def_prop_ro("upper", model_view(&ModelArrays::upper), nb::rv_policy::reference)
      .def("signal", signal_view(&Signal::row), nb::rv_policy::reference, nb::arg("signal"))
      .def("outcome_signal", signal_view(&Signal::outcome), nb::rv_policy::reference,
           nb::arg("signal"))
      .def("state_name", &Model::state_name, nb::arg("state"))
      .def("action_name", &Model::action_name, nb::arg("action"))
      .def("row_name", &Model::row_name, nb::arg("row"))
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
}
