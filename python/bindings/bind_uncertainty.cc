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

// A number, or anything numpy reads as one number for each row or state, in their order.
Radius to_radius(const nb::object& argument, Scope scope) {
  if (nb::hasattr(argument, "__float__") && !nb::hasattr(argument, "__len__"))
    return Radius(nb::cast<double>(nb::float_(argument)));
  const auto numpy = nb::module_::import_("numpy");
  std::vector<double> radii = to_vector(nb::cast<Array<double>>(
      numpy.attr("ascontiguousarray")(argument, "float64").attr("ravel")()));
  return scope == Scope::state ? Radius::of_states(std::move(radii)) : Radius(std::move(radii));
}

nb::object from_radius(const Radius& r, nb::handle owner) {
  if (!r.states.empty()) return nb::cast(view(r.states, owner));
  return r.rows.empty() ? nb::cast(r.all) : nb::cast(view(r.rows, owner));
}

Reach to_reach(const std::string& word) {
  if (word == "anywhere") return Reach::anywhere;
  if (word == "support") return Reach::support;
  throw Error("reach = '" + word + "', must be 'anywhere' or 'support'");
}

const char* from_reach(Reach reach) { return reach == Reach::anywhere ? "anywhere" : "support"; }

Scope to_scope(const std::optional<std::string>& word) {
  if (!word || *word == name(Scope::row)) return Scope::row;
  if (*word == name(Scope::state)) return Scope::state;
  throw Error("scope = '" + *word + "', must be 'row' or 'state'");
}

nb::object written(const char* name, nb::handle self, const std::string& between, Scope scope) {
  return nb::str("{}({}{}{})")
      .format(name, self.attr("radius"), between, scope == Scope::state ? ", scope='state'" : "");
}

const auto kEquals = nb::sig("def __eq__(self, other: object, /) -> bool");

template <class Set>
nb::class_<Set> bind_ball(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<Set>(m, name, doc)
      .def_prop_ro(
          "radius",
          [](nb::pointer_and_handle<Set> self) { return from_radius(self.p->radius, self.h); },
          nb::rv_policy::reference)
      .def_prop_ro("scope", [](const Set& self) { return redoubt::name(scope_of(self)); })
      .def(nb::self == nb::self, kEquals);
}

template <class Set>
void bind_plain_ball(nb::module_& m, const char* name, const char* doc) {
  bind_ball<Set>(m, name, doc)
      .def(
          "__init__",
          [](Set* self, const nb::object& radius, const std::optional<std::string>& scope) {
            const Scope of = to_scope(scope);
            new (self) Set{to_radius(radius, of), of};
          },
          nb::arg("radius"), nb::arg("scope") = nb::none(),
          nb::sig("def __init__(self, radius: numpy.typing.ArrayLike, "
                  "scope: typing.Literal['row', 'state'] | None = None) -> None"))
      .def(
          "__repr__",
          [name](nb::handle self) {
            return written(name, self, "", nb::cast<const Set&>(self).scope);
          },
          nb::sig("def __repr__(self) -> str"));
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
With scope="state" the rows of a state share it, and there may be one for each state.

>>> rd.worst_case(rd.TV(0.25), [0.5, 0.5], [0.0, 1.0])
0.25)doc")
      .def(
          "__init__",
          [](TV* self, const nb::object& radius, const std::optional<std::string>& reach,
             const std::optional<std::string>& scope) {
            TV set;
            set.scope = to_scope(scope);
            set.radius = to_radius(radius, set.scope);
            if (reach) set.reach = to_reach(*reach);
            new (self) TV(std::move(set));
          },
          nb::arg("radius"), nb::arg("reach") = nb::none(), nb::arg("scope") = nb::none(),
          nb::sig("def __init__(self, radius: numpy.typing.ArrayLike, "
                  "reach: typing.Literal['anywhere', 'support'] | None = None, "
                  "scope: typing.Literal['row', 'state'] | None = None) -> None"))
      .def_prop_ro("reach", [](const TV& self) { return from_reach(self.reach); })
      .def(
          "__repr__",
          [](nb::handle self) {
            const TV& set = nb::cast<const TV&>(self);
            return written("TV", self, std::string(", reach='") + from_reach(set.reach) + "'",
                           set.scope);
          },
          nb::sig("def __repr__(self) -> str"));
  bind_plain_ball<Chi2>(
      m, "Chi2",
      R"doc(Chi-square: sum (P - p)^2 / p <= radius, a number, or one for each row of the model.

With scope="state" the rows of a state share the radius: their distances add up to at most that.

>>> round(rd.worst_case(rd.Chi2(0.04), [0.5, 0.5], [0.0, 1.0]), 6)
0.4)doc");
  bind_plain_ball<KL>(
      m, "KL",
      R"doc(Kullback-Leibler: sum P log(P / p) <= radius, a number, or one for each row of the model.

With scope="state" the rows of a state share the radius: their distances add up to at most that.

>>> rd.KL(0.1, scope="state")
KL(0.1, scope='state')
>>> round(rd.worst_case(rd.KL(0.1), [0.5, 0.5], [0.0, 1.0]), 4)
0.2802)doc");
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
  bind_ball<Composed>(m, "Composed",
                      "A ball around any row that keeps the bounds, which are part of the model.")
      .def(
          "__init__",
          [](Composed* self, const Uncertainty& ball) {
            const Uncertainty made = composed(ball);
            const auto* set = std::get_if<Composed>(&made);
            if (set == nullptr) throw Error("Composed of none, must be of tv, chi2 or kl");
            new (self) Composed(*set);
          },
          nb::arg("ball"))
      .def_prop_ro("ball",
                   [](const Composed& self) -> Uncertainty {
                     using enum Composed::Ball;
                     if (self.ball == tv) return TV{self.radius, self.reach};
                     if (self.ball == chi2) return Chi2{self.radius};
                     return KL{self.radius};
                   })
      .def("__repr__",
           [](nb::handle self) { return nb::str("Composed({})").format(self.attr("ball")); });
  m.def(
      "uncertainty_name", [](const Uncertainty& set) { return name(set); }, nb::arg("uncertainty"));
}
