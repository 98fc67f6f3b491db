#include "support/random_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/set_traits.h"
#include "support/random.h"

namespace redoubt::testing {
namespace {

// `count` of the numbers 0..n-1, in increasing order.
std::vector<int> choose(Random& random, int n, int count) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(n - i)]);
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<double> values(Random& random, int count) {
  std::vector<double> v(count);
  for (double& x : v) x = random.uniform();
  return v;
}

std::vector<double> distribution(Random& random, int count) {
  std::vector<double> p = values(random, count);
  for (double& x : p) x += 0.05;
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= sum;
  return p;
}

ModelBuilder::RowData random_row(Random& random, const RandomOptions& o) {
  ModelBuilder::RowData row;
  row.reward = random.uniform();
  row.signals = values(random, o.signals);
  std::vector<int> next = choose(random, o.states, std::min<int>(o.successors, o.states));
  if (o.outcome_values) next.push_back(next.front());
  const auto p = distribution(random, static_cast<int>(next.size()));
  for (std::size_t i = 0; i < next.size(); ++i) {
    ModelBuilder::Outcome outcome;
    outcome.next = next[i];
    outcome.probability = p[i];
    if (o.outcome_values) {
      outcome.reward = random.uniform();
      outcome.signals = values(random, o.signals);
    }
    if (internal::needs_bounds(o.uncertainty)) {
      outcome.lower = p[i] * random.uniform();
      outcome.upper = p[i] + (1 - p[i]) * random.uniform();
    }
    row.outcomes.push_back(std::move(outcome));
  }
  return row;
}

std::vector<std::string> awkward_names(const char* what, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.push_back(fmt::format("{} \"{}\", é\\\n\t世界 {}", what, i, count - i));
  return names;
}

Model random_model(Random& random, const RandomOptions& o) {
  std::vector<std::string> signals;
  for (int s = 0; s < o.signals; ++s) signals.push_back(fmt::format("cost{}", s));
  const int stages = o.stage_dependent ? o.horizon.value() : 1;
  ModelBuilder builder(o.states, signals, stages);
  for (int stage = 0; stage < stages; ++stage) {
    for (State s = 0; s < o.states - (o.terminal ? 1 : 0); ++s) {
      const int count = o.ragged ? 1 + random.below(o.actions) : o.actions;
      for (const int a : choose(random, o.actions, count))
        builder.add(stage, s, a, random_row(random, o));
    }
  }
  if (o.names) {
    builder.name_states(awkward_names("state", o.states));
    builder.name_actions(awkward_names("action", o.actions));
    std::vector<State> odd;
    for (State s = 1; s < o.states; s += 2) odd.push_back(s);
    for (const std::string& name : awkward_names("label", 2)) builder.label(name, odd);
    builder.label("nowhere", {});
  }
  for (State s = 0; o.arrivals && s < o.states; ++s) {
    if (random.below(2) == 0) builder.on_arrival(s, random.uniform(), values(random, o.signals));
  }
  return builder.build();
}

void draw_radii(Random& random, Uncertainty& uncertainty, const Model& model) {
  const bool shared = scope_of(uncertainty) == Scope::state;
  std::visit(
      [&](auto& set) {
        if constexpr (requires { set.radius; }) {
          std::vector<double> radii = values(
              random, shared ? model.states() * model.stages() : static_cast<int>(model.rows()));
          for (double& r : radii) r *= 2 * set.radius.all;
          set.radius = shared ? Radius::of_states(std::move(radii)) : Radius(std::move(radii));
        }
      },
      uncertainty);
}

double discounted_stages(const RandomOptions& o) {
  if (!o.horizon) return 1 / (1 - o.discount);
  double total = 0;
  for (int h = 0; h < *o.horizon; ++h) total += std::pow(o.discount, h);
  return total;
}

}  // namespace

RandomOptions shaped(RandomOptions options, std::uint64_t bits) {
  options.outcome_values = bits & 1;
  options.stage_dependent = bits & 2;
  options.random_start = options.arrivals = bits & 4;
  options.ragged = options.terminal = options.row_radii = bits & 8;
  return options;
}

RandomOptions random_options(std::uint64_t seed) {
  Random random(~seed);
  const auto coin = [&] { return random.below(2) == 0; };
  RandomOptions o;
  o.states = 1 + random.below(6);
  o.actions = 1 + random.below(4);
  o.successors = 1 + random.below(4);
  o.signals = random.below(4);
  o.constraints = o.signals == 0 ? 0 : random.below(4);
  o.horizon = random.below(5);
  if (*o.horizon == 4) o.horizon.reset();
  o.discount = o.horizon && coin() ? 1.0 : 0.5 + 0.49 * random.uniform();
  o.stage_dependent = o.horizon.value_or(0) > 0 && coin();
  o.ragged = coin();
  o.terminal = o.states > 1 && coin();
  o.outcome_values = coin();
  o.random_start = coin();
  o.names = coin();
  o.row_radii = coin();
  const double radius = random.uniform();
  const Uncertainty sets[] = {Nominal{},    TV{radius}, TV{radius, Reach::support},
                              Chi2{radius}, KL{radius}, Tilt{0.1 + radius},
                              Interval{}};
  o.uncertainty = sets[random.below(7)];
  o.arrivals = coin();
  return o;
}

Model random_model(std::uint64_t seed, const RandomOptions& options) {
  Random random(seed);
  return random_model(random, options);
}

Problem random_problem(std::uint64_t seed, const RandomOptions& options) {
  Random random(seed);
  Model model = random_model(random, options);
  Terms terms;
  terms.horizon = options.horizon;
  terms.discount = options.discount;
  if (options.random_start) {
    terms.start = Start::uniform(options.states);
    terms.start.probability = distribution(random, options.states);
  }
  const double bound = discounted_stages(options) / 2;
  for (int c = 0; c < options.constraints; ++c) {
    const std::string signal = fmt::format("cost{}", c % options.signals);
    terms.constraints.push_back(c % 2 == 0 ? at_most(signal, bound) : at_least(signal, bound));
  }
  terms.uncertainty = options.uncertainty;
  if (options.row_radii) draw_radii(random, terms.uncertainty, model);
  return Problem(std::move(model), std::move(terms));
}

Problem with_plain_labels(const Problem& problem) {
  ModelArrays arrays = problem.model().arrays();
  for (std::size_t i = 0; i < arrays.labels.size(); ++i)
    arrays.labels[i].name = fmt::format("label {}", i);
  return Problem(Model(std::move(arrays)), problem.terms());
}

Problem with_row_scope(const Problem& problem) {
  Terms terms = problem.terms();
  std::visit(
      [](auto& set) {
        if constexpr (requires { set.scope; }) {
          set.scope = Scope::row;
          set.radius.states.clear();
        }
      },
      terms.uncertainty);
  return problem.with(std::move(terms));
}

}  // namespace redoubt::testing
