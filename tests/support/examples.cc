#include "support/examples.h"

#include "redoubt/environments.h"
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
  return {{"none", Nominal{}},      {"tv", TV{0.1, Reach::support}},
          {"tv-anywhere", TV{0.1}}, {"chi2", Chi2{0.1}},
          {"kl", KL{0.05}},         {"tilt", Tilt{2}}};
}

Problem example_problem(const Example& example, const ExampleSet& set) {
  const Problem problem = make(example.id);
  Terms terms = problem.terms();
  terms.uncertainty = set.uncertainty;
  return problem.with(std::move(terms));
}

std::vector<ExampleMethod> example_methods() {
  return {
      {"rcvi", [](const Problem& p) { return rcvi(p, {.budget_cells = 40, .tolerance = 1e-3}); }},
      {"robust", [](const Problem& p) { return robust(p); }},
      {"nominal", [](const Problem& p) { return nominal(p); }}};
}

}  // namespace redoubt::testing
