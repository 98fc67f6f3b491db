#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>

#include "arrays.h"
#include "bindings.h"
#include "redoubt/error.h"
#include "redoubt/uncertainty.h"

namespace nb = nanobind;
using namespace redoubt;

namespace {

// A number, or anything numpy reads as one number for each row, in the order of the rows.
Radius to_radius(const nb::object& argument) {
  if (nb::hasattr(argument, "__float__") && !nb::hasattr(argument, "__len__"))
    return Radius(nb::cast<double>(nb::float_(argument)));
  const auto numpy = nb::module_::import_("numpy");
  return Radius(to_vector(nb::cast<Array<double>>(
      numpy.attr("ascontiguousarray")(argument, "float64").attr("ravel")())));
}

nb::object from_radius(const Radius& r, nb::handle owner) {
  return r.rows.empty() ? nb::cast(r.all) : nb::cast(view(r.rows, owner));
}

Reach to_reach(const std::string& word) {
  if (word == "anywhere") return Reach::anywhere;
  if (word == "support") return Reach::support;
  throw Error("reach = '" + word + "', must be 'anywhere' or 'support'");
}

const char* from_reach(Reach reach) { return reach == Reach::anywhere ? "anywhere" : "support"; }

auto written(const char* name) {
  return [name](nb::handle self) { return nb::str("{}({})").format(name, self.attr("radius")); };
}

const auto kFromRadius = nb::sig("def __init__(self, radius: numpy.typing.ArrayLike) -> None");
const auto kEquals = nb::sig("def __eq__(self, other: object, /) -> bool");

template <class Set>
nb::class_<Set> bind_ball(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Set>(m, name, doc)
      .def_prop_ro(
          "radius",
          [](nb::pointer_and_handle<Set> self) { return from_radius(self.p->radius, self.h); },
          nb::rv_policy::reference)
      .def(nb::self == nb::self, kEquals);
}

}  // namespace

void bind_uncertainty(nb::module_& m) {
  nb::class_<Nominal>(m, "Nominal", R"doc(No uncertainty: nature keeps to the nominal rows.

>>> rd.worst_case(rd.Nominal(), [0.5, 0.5], [0.0, 1.0])
0.5)doc")
      .def(nb::init<>())
      .def("__repr__", [](const Nominal&) { return "Nominal()"; })
      .def(nb::self == nb::self, kEquals);
  bind_ball<TV>(m, "TV",
                R"doc(Total variation: 1/2 sum |P - p| <= radius.

The mass may go to any state of the model (reach="anywhere") or to the row's own outcomes only
(reach="support"). An arrival that the row does not list earns the row's own reward and signals, and
what is earned on arrival (`on_arrival`). A radius is a number, or one for each row of the model.

>>> rd.worst_case(rd.TV(0.25), [0.5, 0.5], [0.0, 1.0])
0.25)doc")
      .def(
          "__init__",
          [](TV* self, const nb::object& radius, const std::optional<std::string>& reach) {
            TV set{to_radius(radius)};
            if (reach) set.reach = to_reach(*reach);
            new (self) TV(std::move(set));
          },
          nb::arg("radius"), nb::arg("reach") = nb::none(),
          nb::sig("def __init__(self, radius: numpy.typing.ArrayLike, "
                  "reach: typing.Literal['anywhere', 'support'] | None = None) -> None"))
      .def_prop_ro("reach", [](const TV& self) { return from_reach(self.reach); })
      .def("__repr__", [](nb::handle self) {
        return nb::str("TV({}, reach='{}')").format(self.attr("radius"), self.attr("reach"));
      });
  bind_ball<Chi2>(
      m, "Chi2",
      R"doc(Chi-square: sum (P - p)^2 / p <= radius, a number, or one for each row of the model.

>>> round(rd.worst_case(rd.Chi2(0.04), [0.5, 0.5], [0.0, 1.0]), 6)
0.4)doc")
      .def(
          "__init__", [](Chi2* self, const nb::object& r) { new (self) Chi2{to_radius(r)}; },
          nb::arg("radius"), kFromRadius)
      .def("__repr__", written("Chi2"));
  bind_ball<KL>(
      m, "KL",
      R"doc(Kullback-Leibler: sum P log(P / p) <= radius, a number, or one for each row of the model.

>>> round(rd.worst_case(rd.KL(0.1), [0.5, 0.5], [0.0, 1.0]), 4)
0.2802)doc")
      .def(
          "__init__", [](KL* self, const nb::object& r) { new (self) KL{to_radius(r)}; },
          nb::arg("radius"), kFromRadius)
      .def("__repr__", written("KL"));
  nb::class_<Tilt>(m, "Tilt", R"doc(P proportional to p exp(-value / temperature); not a ball.

>>> round(rd.worst_case(rd.Tilt(1.0), [0.5, 0.5], [0.0, 1.0]), 6)
0.268941)doc")
      .def(
          "__init__", [](Tilt* self, double temperature) { new (self) Tilt{temperature}; },
          nb::arg("temperature"))
      .def_ro("temperature", &Tilt::temperature)
      .def("__repr__",
           [](nb::handle self) { return nb::str("Tilt({})").format(self.attr("temperature")); })
      .def(nb::self == nb::self, kEquals);
  nb::class_<Interval>(m, "Interval", "lower <= P <= upper; the bounds are part of the model.")
      .def(nb::init<>())
      .def("__repr__", [](const Interval&) { return "Interval()"; })
      .def(nb::self == nb::self, kEquals);
  m.def(
      "uncertainty_name", [](const Uncertainty& set) { return name(set); }, nb::arg("uncertainty"));
}
