#include <fmt/ranges.h>

#include "environments/environment.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace internal::builtin {  // one file each

Environment river_swim();
Environment garnet();
Environment fork();
Environment hedge();
Environment machine_replacement();
Environment streaming();
Environment inventory();
Environment grid();

}  // namespace internal::builtin
namespace {

std::vector<Environment> registry() {
  using namespace builtin;
  return {river_swim(),          garnet(),    fork(),      hedge(),
          machine_replacement(), streaming(), inventory(), grid()};
}

}  // namespace

std::vector<EnvironmentInfo> environments() {
  std::vector<EnvironmentInfo> infos;
  for (const Environment& environment : registry()) infos.push_back(describe(environment));
  return infos;
}

Problem make(std::string_view id) {
  const EnvironmentId parsed = parse_id(id);
  std::vector<std::string> names;
  for (const Environment& environment : registry()) {
    if (environment.name == parsed.name) return make(environment, parsed);
    names.push_back(environment.name);
  }
  const std::vector<std::string> near = near_matches(parsed.name, names);
  throw Error(near.empty() ? fmt::format("environment '{}', must be one of {}",
                                         excerpt(parsed.name), fmt::join(names, ", "))
                           : fmt::format("environment '{}' does not exist, did you mean {}?",
                                         parsed.name, fmt::join(near, " or ")));
}

}  // namespace redoubt
