#include <algorithm>
#include <array>

#include "model/scope.h"
#include "redoubt/uncertainty.h"
#include "support/require.h"

namespace redoubt {
namespace {

using Numbers = SetKind::Numbers;

constexpr std::array<SetKind, std::variant_size_v<Uncertainty>> kKinds = {{
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
}};

}  // namespace

std::string_view name(const Uncertainty& uncertainty) { return kKinds[uncertainty.index()].name; }

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
  require(scope_of(uncertainty) == Scope::row,
          "set {} of scope state is not there yet for {}, must be of scope row", name(uncertainty),
          what);
}

}  // namespace redoubt
