#include <array>

#include "environments/environment.h"

namespace redoubt::internal::builtin {
namespace {

constexpr State kConditions = 4;

// From as good as new (0) to worn out (3): what it costs to run a machine in that condition.
constexpr std::array<double, kConditions> kWear = {0.2, 0.2 + 0.79 / 3, 0.2 + 2 * 0.79 / 3, 0.99};

// A machine that runs never gets better: it moves to condition j >= i with weight j + 1.
ModelBuilder::RowData operate(State condition) {
  double sum = 0;
  for (State next = condition; next < kConditions; ++next) sum += next + 1;
  ModelBuilder::RowData row{1 - kWear[condition], {kWear[condition]}, {}};
  for (State next = condition; next < kConditions; ++next)
    row.outcomes.push_back({next, (next + 1) / sum});
  return row;
}

Model machine(const Parameters&) {
  ModelBuilder builder(kConditions, {"cost"});
  for (State condition = 0; condition < kConditions; ++condition) {
    builder.add(0, condition, 0, operate(condition));
    // A new machine costs .7 in money and .4 in safety, each on top of the wear of its first run.
    builder.add(0, condition, 1, {1 - (0.7 + kWear[0]), {0.4 + kWear[0]}, {{0, 1}}});
  }
  builder.name_states({"new", "good", "fair", "worn"});
  builder.name_actions({"operate", "replace"});
  builder.label("worn", {kConditions - 1});
  return builder.build();
}

}  // namespace

Environment machine_replacement() {
  return {.name = "machine_replacement",
          .description = "Run a machine that wears out or replace it, within a budget of risk",
          .defaults = {.discount = "0.995", .start = "0.8:0.04:0.05:0.11", .bound = "80.5"},
          .sense = Sense::at_most,
          .model = machine};
}

}  // namespace redoubt::internal::builtin
