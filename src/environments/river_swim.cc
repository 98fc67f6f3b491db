#include <algorithm>
#include <array>

#include "environments/environment.h"

namespace redoubt::internal::builtin {
namespace {

constexpr State kLength = 6;

// What a state is worth, whatever the swimmer does there: the table of the paper.
constexpr std::array<double, kLength> kPaperReward = {0.001, 0, 0, 0, 0.1, 1};
constexpr std::array<double, kLength> kPaperCost = {0.2, 0.035, 0, 0.01, 0.08, 0.9};

double reward(bool paper, State state, bool right) {
  if (paper) return kPaperReward[state];
  if (state == 0 && !right) return 0.1;
  return state == kLength - 1 && right ? 1 : 0;
}

double cost(bool paper, State state) { return paper ? kPaperCost[state] : state / 20.0; }

Model river(const Parameters& parameters) {
  const bool paper = parameters.choice("version", {"paper", "repo"}) == "paper";
  ModelBuilder builder(kLength, {"cost"});
  for (State state = 0; state < kLength; ++state) {
    for (const bool right : {false, true}) {
      // The printed table sends some mass past the ends of the river; it stays where it is.
      const State before = std::max(state - 1, 0), after = std::min(state + 1, kLength - 1);
      ModelBuilder::RowData row{reward(paper, state, right), {cost(paper, state)}, {}};
      if (state == 0 && !right) {
        row.outcomes = {{state, 0.9}, {after, 0.1}};
      } else if (state == kLength - 1 && right) {
        row.outcomes = {{before, 0.1}, {state, 0.9}};
      } else {
        row.outcomes = {{before, right ? 0.1 : 0.3}, {state, 0.6}, {after, right ? 0.3 : 0.1}};
      }
      builder.add(0, state, right ? 1 : 0, std::move(row));
    }
  }
  builder.name_states({"s0", "s1", "s2", "s3", "s4", "s5"});
  builder.name_actions({"left", "right"});
  builder.label("goal", {kLength - 1});
  return builder.build();
}

}  // namespace

Environment river_swim() {
  return {.name = "river_swim",
          .description = "Swim up a river of six states; the reward and the danger are upstream",
          .parameters = {{"version", "paper",
                          "rewards and costs: paper (its table) or repo (the RNPG code's)"}},
          .defaults = {.bound = "4"},
          .sense = Sense::at_most,
          .model = river};
}

}  // namespace redoubt::internal::builtin
