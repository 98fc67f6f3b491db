#include <algorithm>
#include <array>

#include "redoubt/uncertainty.h"

namespace redoubt {
namespace {

using Numbers = SetKind::Numbers;

constexpr std::array<SetKind, std::variant_size_v<Uncertainty>> kKinds = {{
    {.name = "none", .make = [](const Numbers&) -> Uncertainty { return Nominal{}; }},
    {.name = "tv",
     .make = [](const Numbers& n) -> Uncertainty {
       return TV{n.radius, n.reach};
     },
     .radius = true,
     .reach = true},
    {.name = "chi2",
     .make = [](const Numbers& n) -> Uncertainty { return Chi2{n.radius}; },
     .radius = true},
    {.name = "kl",
     .make = [](const Numbers& n) -> Uncertainty { return KL{n.radius}; },
     .radius = true},
    {.name = "tilt",
     .make = [](const Numbers& n) -> Uncertainty { return Tilt{n.temperature}; },
     .temperature = true},
    {.name = "interval", .make = [](const Numbers&) -> Uncertainty { return Interval{}; }},
}};

}  // namespace

std::string_view name(const Uncertainty& uncertainty) { return kKinds[uncertainty.index()].name; }

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

}  // namespace redoubt
