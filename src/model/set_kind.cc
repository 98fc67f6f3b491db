#include <algorithm>
#include <array>

#include "model/row_name.h"
#include "model/set_traits.h"
#include "redoubt/uncertainty.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

using Numbers = SetKind::Numbers;
using Ball = Composed::Ball;

// In the order of the alternatives of Uncertainty; the last has one entry for each ball.
constexpr std::size_t kComposed = std::variant_size_v<Uncertainty> - 1;
constexpr std::array<SetKind, kComposed + 3> kKinds = {{
    {.name = "none", .make = [](const Numbers&) -> Uncertainty { return Nominal{}; }},
    {.name = "tv",
     .make = [](const Numbers& n) -> Uncertainty {
       return TV{n.radius, n.reach, n.scope};
     },
     .radius = true,
     .reach = true,
     .scope = true},
    {.name = "chi2",
     .make = [](const Numbers& n) -> Uncertainty {
       return Chi2{n.radius, n.scope};
     },
     .radius = true,
     .scope = true},
    {.name = "kl",
     .make = [](const Numbers& n) -> Uncertainty {
       return KL{n.radius, n.scope};
     },
     .radius = true,
     .scope = true},
    {.name = "tilt",
     .make = [](const Numbers& n) -> Uncertainty { return Tilt{n.temperature}; },
     .temperature = true},
    {.name = "interval", .make = [](const Numbers&) -> Uncertainty { return Interval{}; }},
    {.name = "interval-tv",
     .make = [](const Numbers& n) -> Uncertainty {
       return Composed{Ball::tv, n.radius, n.reach};
     },
     .radius = true,
     .reach = true},
    {.name = "interval-chi2",
     .make = [](const Numbers& n) -> Uncertainty {
       return Composed{Ball::chi2, n.radius};
     },
     .radius = true},
    {.name = "interval-kl",
     .make = [](const Numbers& n) -> Uncertainty {
       return Composed{Ball::kl, n.radius};
     },
     .radius = true},
}};

}  // namespace

std::string_view name(const Uncertainty& uncertainty) {
  const auto* composed = std::get_if<Composed>(&uncertainty);
  return kKinds[uncertainty.index() + (composed ? static_cast<std::size_t>(composed->ball) : 0)]
      .name;
}

Uncertainty composed(const Uncertainty& set) {
  require_row_scope(set, "a set around rows that are known by bounds");
  if (std::holds_alternative<Nominal>(set)) return Interval{};
  if (const auto* tv = std::get_if<TV>(&set)) return Composed{Ball::tv, tv->radius, tv->reach};
  if (const auto* chi2 = std::get_if<Chi2>(&set)) return Composed{Ball::chi2, chi2->radius};
  const auto* kl = std::get_if<KL>(&set);
  require(kl != nullptr,
          "set {} around rows that are known by bounds, must be none, tv, chi2 or kl", name(set));
  return Composed{Ball::kl, kl->radius};
}

bool internal::needs_bounds(const Uncertainty& set) {
  return std::holds_alternative<Interval>(set) || std::holds_alternative<Composed>(set);
}

bool internal::lands_anywhere(const Uncertainty& set) {
  if (const auto* tv = std::get_if<TV>(&set)) return tv->reach == Reach::anywhere;
  const auto* composed = std::get_if<Composed>(&set);
  return composed != nullptr && composed->ball == Ball::tv && composed->reach == Reach::anywhere;
}

void internal::keep_to_support(Uncertainty& set) {
  if (auto* tv = std::get_if<TV>(&set)) tv->reach = Reach::support;
  if (auto* composed = std::get_if<Composed>(&set)) composed->reach = Reach::support;
}

double internal::radius_of(const Uncertainty& set, std::int64_t row) {
  return std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.radius; }) return kind.radius.of(row);
        return 0.0;
      },
      set);
}

Scope scope_of(const Uncertainty& uncertainty) {
  return std::visit(
      [](const auto& set) {
        if constexpr (requires { set.scope; }) return set.scope;
        return Scope::row;
      },
      uncertainty);
}

std::string_view name(Scope scope) { return scope == Scope::state ? "state" : "row"; }

std::span<const SetKind> SetKind::all() { return kKinds; }

const SetKind* SetKind::find(std::string_view name) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const SetKind& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::vector<std::string> SetKind::names() {
  std::vector<std::string> names;
  for (const SetKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

void internal::require_row_scope(const Uncertainty& uncertainty, std::string_view what) {
  if (scope_of(uncertainty) == Scope::row) return;
  throw Error(fmt::format("set {} of scope state is not there yet for {}, must be of scope row",
                          name(uncertainty), what));
}

}  // namespace redoubt

namespace redoubt::internal {
namespace {

// Calls visit(place, first row, end of its rows) for every state of every stage.
template <class Visit>
void for_each_place(const Model& model, Visit visit) {
  std::size_t place = 0;
  for (int h = 0; h < model.stages(); ++h) {
    for (State s = 0; s < model.states(); ++s)
      visit(place++, model.row_begin(h, s), model.row_end(h, s));
  }
}

void check_radii_of_states(const Model& model, const Radius& radius) {
  const auto places = static_cast<std::size_t>(model.stages()) * model.states();
  require(radius.states.size() == places,
          "{} radii with scope state for {} states{}, must be one for each state{}",
          radius.states.size(), model.states(),
          model.stages() > 1 ? fmt::format(" of {} stages", model.stages()) : "",
          model.stages() > 1 ? " of each stage" : "");
}

void check_radii_of_rows(const Model& model, const Radius& radius) {
  for_each_place(model, [&](std::size_t, Row begin, Row end) {
    for (Row row = begin; row < end; ++row)
      require(radius.rows[row] == radius.rows[begin],
              "radius {} of {} with scope state, must be {} as in the other rows of its state",
              radius.rows[row], RowName{model, row}, radius.rows[begin]);
  });
}

// Both lists, from the one that is given. A state without rows has radius 0.
void complete(const Model& model, Radius& radius) {
  if (!radius.states.empty()) {
    check_radii_of_states(model, radius);
    radius.rows.resize(model.rows());
    for_each_place(model, [&](std::size_t place, Row begin, Row end) {
      for (Row row = begin; row < end; ++row) radius.rows[row] = radius.states[place];
    });
  } else {
    if (static_cast<Row>(radius.rows.size()) != model.rows()) return;  // none, or wrong elsewhere
    check_radii_of_rows(model, radius);
  }
  radius.states.clear();
  for_each_place(model, [&](std::size_t, Row begin, Row end) {
    radius.states.push_back(begin < end ? radius.rows[begin] : 0.0);
  });
}

}  // namespace

void spread_radii_of_states(const Model& model, Uncertainty& uncertainty) {
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.scope; }) {
          if (set.scope == Scope::state) complete(model, set.radius);
        }
      },
      uncertainty);
}

}  // namespace redoubt::internal
