#include "support/examples.h"

#include "redoubt/environments.h"
#include "redoubt/frontier.h"
#include "redoubt/solve.h"

namespace redoubt::testing {

std::vector<Example> example_problems() {
  return {{"river_swim", "river_swim(horizon=6,start=3,bound=2.2)"},
          {"garnet", "garnet(states=5,actions=3,spread=2,horizon=4,bound=8,seed=1)"},
          {"fork", "fork"},
          {"hedge", "hedge"},
          {"machine_replacement", "machine_replacement(discount=.7,bound=1.3)"},
          {"streaming", "streaming(buffer=3,horizon=6,bound=1)"},
          {"inventory", "inventory(capacity=3,demand=2,horizon=3,bound=2.7)"},
          // The board is symmetric, and so must be its hazards: which of two equally short ways is
          // taken is a matter of rounding.
          {"grid", "grid(size=3,hazards=1,horizon=6,bound=2.5)"}};
}

std::vector<ExampleSet> example_sets() {
  return {{"none", "set=none"},
          {"tv", "set=tv,radius=.1,reach=support"},
          {"tv-anywhere", "set=tv,radius=.1,reach=anywhere"},
          {"chi2", "set=chi2,radius=.1"},
          {"kl", "set=kl,radius=.05"},
          {"tilt", "set=tilt,temperature=2"},
          {"interval", "set=interval,radius=.1"}};
}

Problem example_problem(const Example& example, const ExampleSet& set) {
  std::string id = example.id;
  if (id.back() == ')')
    id.back() = ',';
  else
    id += '(';
  return make(id + set.parameters + ')');
}

std::vector<ExampleMethod> example_methods() {
  constexpr double kGap = 1e-3;
  return {
      {"rcvi", [](const Problem& p) { return rcvi(p, {.budget_cells = 40, .tolerance = 1e-3}); }},
      {"robust", [](const Problem& p) { return robust(p); }},
      {"nominal", [](const Problem& p) { return nominal(p); }},
      {"frontier", [](const Problem& p) { return frontier(p, {.tolerance = kGap}); }, 2 * kGap}};
}

}  // namespace redoubt::testing
