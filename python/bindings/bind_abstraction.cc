#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/advanced/product_rows.h"
#include "redoubt/error.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

AxisNoise::Law to_law(const std::string& word) {
  if (word == "none") return AxisNoise::Law::none;
  if (word == "gaussian") return AxisNoise::Law::gaussian;
  if (word == "uniform") return AxisNoise::Law::uniform;
  throw Error("law = '" + word + "', must be 'none', 'gaussian' or 'uniform'");
}

template <class T>
auto abstraction_view(const std::vector<T>& (Abstraction::*member)() const) {
  return [member](nb::pointer_and_handle<Abstraction> self) {
    return view((self.p->*member)(), self.h);
  };
}

}  // namespace

void bind_abstraction(nb::module_& m) {
  nb::class_<Grid>(m, "Grid", "A box of real vectors, cut into cells along each axis.")
      .def(
          "__init__",
          [](Grid* self, std::vector<std::vector<double>> lines) {
            new (self) Grid{std::move(lines)};
          },
          nb::arg("lines"))
      .def_ro("lines", &Grid::lines)
      .def("cell", [](const Grid& self, const std::vector<double>& point) {
        if (static_cast<int>(point.size()) != self.axes())
          throw Error("a point of " + std::to_string(point.size()) + " coordinates, must have " +
                      std::to_string(self.axes()));
        return self.cell(point);
      });
  nb::class_<Abstraction::Input>(m, "GridInput", "A continuous system on a grid.")
      .def(
          "__init__",
          [](Abstraction::Input* self, const Grid& grid, const std::vector<std::string>& laws,
             const std::vector<double>& scales, std::vector<double> follows, State states,
             const Array<State>& state_of_cell, State outside, int actions,
             const Array<std::int64_t>& open, int parts, const Array<double>& low,
             const Array<double>& high, double least_piece) {
            new (self) Abstraction::Input;
            self->grid = grid;
            for (std::size_t axis = 0; axis < laws.size() && axis < scales.size(); ++axis)
              self->noise.push_back({to_law(laws[axis]), scales[axis]});
            self->follows = std::move(follows);
            self->states = states;
            self->state_of_cell = to_vector(state_of_cell);
            self->outside = outside;
            self->actions = actions;
            self->open = to_vector(open);
            self->parts = parts;
            self->low = to_vector(low);
            self->high = to_vector(high);
            self->least_piece = least_piece;
          },
          nb::arg("grid"), nb::arg("laws"), nb::arg("scales"), nb::arg("follows"),
          nb::arg("states"), nb::arg("state_of_cell"), nb::arg("outside"), nb::arg("actions"),
          nb::arg("open"), nb::arg("parts"), nb::arg("low"), nb::arg("high"),
          nb::arg("least_piece"));
  nb::class_<Abstraction>(m, "Rows", "The rows of a continuous system on a grid.")
      .def(
          "__init__",
          [](Abstraction* self, const Abstraction::Input& input) {
            const nb::gil_scoped_release others_may_run;
            new (self) Abstraction(input);
          },
          nb::arg("input"))
      .def_prop_ro("groups", &Abstraction::groups)
      .def_prop_ro("state_rows", abstraction_view(&Abstraction::state_rows),
                   nb::rv_policy::reference)
      .def_prop_ro("action", abstraction_view(&Abstraction::action), nb::rv_policy::reference)
      .def_prop_ro("row_outcomes", abstraction_view(&Abstraction::row_outcomes),
                   nb::rv_policy::reference)
      .def_prop_ro("next", abstraction_view<State>(&Abstraction::next), nb::rv_policy::reference)
      .def_prop_ro("probability", abstraction_view(&Abstraction::probability),
                   nb::rv_policy::reference)
      .def(
          "follow",
          [](const Abstraction& self, std::int64_t place, int action,
             const std::vector<double>& noise) { return self.next(place, action, noise); },
          nb::arg("place"), nb::arg("action"), nb::arg("noise"),
          "The state or group that an open cell's action leads to with this noise.");
  nb::class_<ProductRows>(m, "ProductRows",
                          "Rows of a continuous system that are products of a law for each axis.")
      .def(
          "__init__",
          [](ProductRows* self, const Abstraction::Input& input) {
            const nb::gil_scoped_release others_may_run;
            new (self) ProductRows(input);
          },
          nb::arg("input"))
      .def(
          "expectations",
          [](const ProductRows& self, const Array<double>& values, bool helpful, int threads) {
            std::vector<double> expected;
            {
              const nb::gil_scoped_release others_may_run;
              expected = self.expectations({values.data(), values.shape(0)}, helpful, threads);
            }
            return owned(std::move(expected));
          },
          nb::arg("values"), nb::arg("helpful"), nb::arg("threads") = 1,
          "What each row expects of the values of states.");
}
