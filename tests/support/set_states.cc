#include "support/set_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "sets/reference.h"
#include "support/set_laws.h"
#include "support/set_reference.h"

namespace redoubt::testing {

bool lands(const Uncertainty& set) {
  const TV* tv = std::get_if<TV>(&set);
  return tv != nullptr && tv->reach == Reach::anywhere;
}

const std::vector<Uncertainty>& shared_sets() {
  static const std::vector<Uncertainty> sets = {TV{0.1, Reach::anywhere, Scope::state},
                                                TV{0.1, Reach::support, Scope::state},
                                                Chi2{0.1, Scope::state}, KL{0.1, Scope::state}};
  return sets;
}

StateShape SetState::shape() const {
  std::size_t most = 0;
  for (const Action& action : actions) most = std::max(most, action.value.size());
  return {static_cast<int>(actions.size()), static_cast<int>(most)};
}

namespace {

// Lays out members of one shape; `weighted`: values times the weight of their action.
void fill(StateLanes& lanes, const std::vector<SetState>& states, std::span<const int> members,
          bool weighted) {
  lanes.resize(states[members[0]].shape(), static_cast<int>(members.size()));
  for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
    const SetState& state = states[members[lane]];
    lanes.set_radius(lane, state.radius);
    for (int a = 0; a < static_cast<int>(state.actions.size()); ++a) {
      const SetState::Action& action = state.actions[a];
      const double scale = weighted ? action.weight : 1;
      const int outcomes = static_cast<int>(action.value.size());
      for (int i = 0; i < outcomes; ++i)
        lanes.set(lane, a, i, action.probability[i], scale * action.value[i]);
      lanes.end_row(lane, a, outcomes);
      lanes.set_floor(lane, a, scale * action.floor);
    }
  }
}

std::vector<StateShape> shapes_of(const std::vector<SetState>& states) {
  std::vector<StateShape> shapes;
  for (const SetState& state : states) shapes.push_back(state.shape());
  return shapes;
}

SetRow row_of(const Uncertainty& set, const SetState::Action& action, double radius) {
  SetRow row;
  row.probability = action.probability;
  row.radius = radius;
  row.lanes = 1;
  for (const double v : action.value) row.values.emplace_back(kLaneBlock, v);
  if (lands(set)) row.floor.assign(kLaneBlock, action.floor);
  return row;
}

}  // namespace

std::vector<StateResult> solve(const Uncertainty& set, const std::vector<SetState>& states,
                               InstructionSet instructions) {
  std::vector<StateResult> results(states.size());
  std::vector<int> order;
  StateLanes lanes(set, lands(set), instructions);
  for_each_shape(shapes_of(states), order, [&](std::span<const int> members) {
    fill(lanes, states, members, true);
    lanes.worst(true);
    for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
      StateResult& result = results[members[lane]];
      const SetState& state = states[members[lane]];
      result.worst = lanes.result(lane);
      for (int a = 0; a < static_cast<int>(state.actions.size()); ++a) {
        auto& row = result.minimiser.emplace_back();
        for (int i = 0; i < static_cast<int>(state.actions[a].value.size()); ++i)
          row.push_back(lanes.chosen(lane, a, i));
        row.push_back(lanes.landing(lane, a));
      }
    }
  });
  return results;
}

std::vector<BestResult> solve_best(const Uncertainty& set, const std::vector<SetState>& states) {
  std::vector<BestResult> results(states.size());
  std::vector<int> order;
  StateLanes lanes(set, lands(set));
  for_each_shape(shapes_of(states), order, [&](std::span<const int> members) {
    fill(lanes, states, members, false);
    for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
      const SetState& state = states[members[lane]];
      for (int a = 0; a < static_cast<int>(state.actions.size()); ++a)
        lanes.set_alone(lane, a, alone(set, state, a, state.radius));
    }
    lanes.best();
    for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
      BestResult& result = results[members[lane]];
      result.best = lanes.result(lane);
      for (int a = 0; a < static_cast<int>(states[members[lane]].actions.size()); ++a)
        result.weight.push_back(lanes.weight(lane, a));
    }
  });
  return results;
}

double alone(const Uncertainty& set, const SetState& state, int action, double radius) {
  Scratch scratch;
  return solve(worst_case_kernel(set), row_of(set, state.actions[action], radius), scratch)
      .worst[0];
}

long double reference_worst_case(const Uncertainty& set, const SetState& state) {
  ReferenceState reference;
  reference.radius = state.radius;
  for (const SetState::Action& action : state.actions) {
    ReferenceRow row;
    for (std::size_t i = 0; i < action.value.size(); ++i) {
      row.probability.push_back(action.probability[i]);
      row.value.push_back(static_cast<double>(action.weight * action.value[i]));
    }
    if (lands(set)) row.floor = static_cast<double>(action.weight * action.floor);
    reference.rows.push_back(std::move(row));
  }
  return internal::reference_worst_case(set, reference);
}

double error_unit(const SetState& state) {
  double unit = 1e-300;
  for (const SetState::Action& action : state.actions) {
    const auto [low, high] = std::minmax_element(action.value.begin(), action.value.end());
    const double size = std::max({std::abs(*low), std::abs(*high), std::abs(action.floor)});
    unit += action.weight * std::max(*high - std::min(*low, action.floor), 1e-4 * size);
  }
  return unit;
}

bool is_benign(const Uncertainty& set, const SetState& state) {
  if (state.radius != 0 && state.radius <= 1e-9) return false;
  long double edge = 0;
  for (const SetState::Action& action : state.actions) {
    const auto& v = action.value;
    const double low = *std::min_element(v.begin(), v.end());
    long double at_low = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (action.probability[i] < 1e-13) return false;
      at_low += v[i] == low ? action.probability[i] : 0;
    }
    if (action.weight == 0) continue;
    edge += std::holds_alternative<KL>(set) ? -std::log(at_low) : 1 / at_low - 1;
  }
  return std::abs(state.radius - edge) > 1e-6L * std::max(edge, 1e-9L);
}

SetState nasty_state(std::mt19937_64& random, const Uncertainty& set) {
  SetState state;
  const int actions = 1 + pick(random, 5);
  double radius = 0, edge = 0;
  for (int a = 0; a < actions; ++a) {
    const SetRow row = nasty_row(random, set);
    const int lane = pick(random, row.lanes);
    SetState::Action action{row.probability, row.lane(lane), uniform(random), 0};
    if (!row.floor.empty()) action.floor = row.floor[lane];
    const int kind = pick(random, 6);
    if (kind == 0) action.weight = 0;
    if (kind == 1) action.weight = 1e-9 * uniform(random);
    radius = std::max(radius, row.radius);
    const auto lowest =
        std::min_element(action.value.begin(), action.value.end()) - action.value.begin();
    const double p = action.probability[lowest];
    edge += std::holds_alternative<KL>(set) ? -std::log(p) : 1 / p - 1;
    state.actions.push_back(std::move(action));
  }
  // Now and then where all rows together just collapse, or just do not.
  state.radius =
      pick(random, 8) == 0 ? std::min(edge * (1 + 1e-9 * uniform(random, -1, 1)), 1e6) : radius;
  return state;
}

SetState plain_state(std::mt19937_64& random, int actions, int outcomes, double radius) {
  SetState state;
  state.radius = radius;
  double total = 0;
  for (int a = 0; a < actions; ++a) {
    const SetRow row = plain_row(random, outcomes, radius);
    SetState::Action action{row.probability, row.lane(0), uniform(random), 0};
    action.floor = *std::min_element(action.value.begin(), action.value.end()) - uniform(random);
    total += action.weight;
    state.actions.push_back(std::move(action));
  }
  for (SetState::Action& action : state.actions) action.weight /= total;
  return state;
}

namespace {

// Of a row from its nominal one, where `P` has the mass on the floor behind it.
double distance(const Uncertainty& set, const std::vector<double>& p,
                const std::vector<double>& P) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (std::holds_alternative<TV>(set)) sum += std::abs(P[i] - p[i]) / 2;
    if (std::holds_alternative<Chi2>(set)) sum += (P[i] - p[i]) * ((P[i] - p[i]) / p[i]);
    if (std::holds_alternative<KL>(set) && P[i] > 0) sum += P[i] * std::log(P[i] / p[i]);
  }
  return std::holds_alternative<TV>(set) ? sum + P.back() / 2 : sum;
}

class StateChecker {
 public:
  StateChecker(const Uncertainty& set, const SetState& state, const SetState& other,
               double tolerance)
      : set_(set),
        state_(state),
        other_(other),
        tolerance_(tolerance * error_unit(state)),
        relative_(tolerance),
        result_(solve(set, {state})[0]) {}

  std::string first_broken() {
    for (const auto law :
         {&StateChecker::nominal_at_radius_zero, &StateChecker::one_action_is_its_row,
          &StateChecker::translates, &StateChecker::concave, &StateChecker::falls_with_the_radius,
          &StateChecker::between_the_rows, &StateChecker::minimiser, &StateChecker::independent}) {
      const std::string verdict = (this->*law)();
      if (!verdict.empty())
        return fmt::format("{}, {} actions, radius {}: {}", describe(set_), state_.actions.size(),
                           state_.radius, verdict);
    }
    return "";
  }

 private:
  double worst(const SetState& state) const { return solve(set_, {state})[0].worst; }

  std::string nominal_at_radius_zero() {
    SetState certain = state_;
    certain.radius = 0;
    double mean = 0;
    for (const SetState::Action& a : state_.actions) {
      for (std::size_t i = 0; i < a.value.size(); ++i)
        mean += a.probability[i] * (a.weight * a.value[i]);
    }
    const double now = worst(certain);
    if (std::abs(now - mean) <= tolerance_) return "";
    return fmt::format("{} at radius 0, the expectation is {}", now, mean);
  }

  std::string one_action_is_its_row() {
    SetState one = state_, sure = state_;
    one.actions.resize(1);
    one.actions[0].weight = 1;
    for (SetState::Action& action : sure.actions) action.weight = 0;
    sure.actions[0].weight = 1;
    const double row = alone(set_, state_, 0, state_.radius);
    const double allowed = relative_ * error_unit(one);
    if (std::abs(worst(one) - row) > allowed)
      return fmt::format("{} of one action, its row has {}", worst(one), row);
    if (std::abs(worst(sure) - row) > allowed)
      return fmt::format("{} with weight 1 on one action, its row has {}", worst(sure), row);
    return "";
  }

  std::string translates() {
    SetState moved = state_;
    SetState::Action& action = moved.actions.back();
    for (double& v : action.value) v += 3;
    action.floor += 3;
    const double now = worst(moved), expected = result_.worst + 3 * action.weight;
    const double rounding = 1e-13 * (3 + std::abs(now));
    return std::abs(now - expected) <= tolerance_ + rounding
               ? ""
               : fmt::format("{} after adding 3 to an action, not {}", now, expected);
  }

  // Halfway between the weighted values and others of the same rows.
  std::string concave() {
    SetState second = state_, middle = state_;
    for (std::size_t a = 0; a < state_.actions.size(); ++a) {
      const auto& from = other_.actions[a % other_.actions.size()];
      auto& to = second.actions[a];
      for (std::size_t i = 0; i < to.value.size(); ++i)
        to.value[i] = from.value[i % from.value.size()];
      to.weight = from.weight;
      to.floor = from.floor;
      auto& half = middle.actions[a];
      const auto mean = [&](double x, double y) {
        return (state_.actions[a].weight * x + to.weight * y) / 2;
      };
      for (std::size_t i = 0; i < to.value.size(); ++i)
        half.value[i] = mean(half.value[i], to.value[i]);
      half.floor = mean(half.floor, to.floor);
      half.weight = 1;
    }
    const double now = worst(middle), ends = (result_.worst + worst(second)) / 2;
    const double allowed = tolerance_ + relative_ * error_unit(second);
    return now >= ends - allowed ? "" : fmt::format("{} halfway, the mean is {}", now, ends);
  }

  std::string falls_with_the_radius() {
    SetState wider = state_;
    wider.radius = state_.radius * 1.3 + 1e-3;
    const double now = worst(wider);
    return now <= result_.worst + tolerance_
               ? ""
               : fmt::format("{} with radius {}, {} before", now, wider.radius, result_.worst);
  }

  // Nature is weaker than with the whole radius for each row, and no weaker than with any part.
  std::string between_the_rows() {
    double whole = 0, divided = 0, spent = 0;
    const auto count = static_cast<double>(state_.actions.size());
    for (std::size_t a = 0; a < state_.actions.size(); ++a) {
      const auto action = static_cast<int>(a);
      const double part =
          a + 1 == state_.actions.size()
              ? state_.radius - spent
              : state_.radius * 2 * static_cast<double>(a + 1) / (count * (count + 1));
      spent += part;
      whole += state_.actions[a].weight * alone(set_, state_, action, state_.radius);
      divided += state_.actions[a].weight * alone(set_, state_, action, std::max(part, 0.0));
    }
    if (result_.worst < whole - tolerance_)
      return fmt::format("{} is below {}, the rows with the whole radius", result_.worst, whole);
    if (result_.worst > divided + tolerance_)
      return fmt::format("{} is above {}, the rows with parts of it", result_.worst, divided);
    return "";
  }

  std::string minimiser() {
    double spent = 0, value = 0;
    for (std::size_t a = 0; a < state_.actions.size(); ++a) {
      const SetState::Action& action = state_.actions[a];
      const std::vector<double>& P = result_.minimiser[a];
      const double sum = std::accumulate(P.begin(), P.end(), 0.0);
      if (std::abs(sum - 1) > 1e-9) return fmt::format("a distribution sums to {}", sum);
      if (*std::min_element(P.begin(), P.end()) < -1e-12) return "a probability is negative";
      spent += distance(set_, action.probability, P);
      for (std::size_t i = 0; i < action.value.size(); ++i)
        value += P[i] * (action.weight * action.value[i]);
      if (P.back() != 0) value += P.back() * action.weight * action.floor;
    }
    // As exact as the differences between the values.
    if (is_benign(set_, state_) && is_plain() && spent > state_.radius * (1 + 1e-6) + 1e-9)
      return fmt::format("the distances add up to {}", spent);
    if (std::abs(value - result_.worst) > 10 * tolerance_)
      return fmt::format("the minimiser has {}, the worst case is {}", value, result_.worst);
    return "";
  }
  // Values in clusters have minimisers that are exact to their range only.
  bool is_plain() const {
    return std::all_of(state_.actions.begin(), state_.actions.end(), [](const auto& action) {
      const auto [low, high] = std::minmax_element(action.value.begin(), action.value.end());
      return action.weight > 1e-3 && *high - *low > 1e-3 && std::abs(*high) < 1e3;
    });
  }

  std::string independent() {
    const double beside = solve(set_, {other_, state_, other_})[1].worst;
    return beside == result_.worst
               ? ""
               : fmt::format("{} beside others, {} without", beside, result_.worst);
  }

  const Uncertainty& set_;
  const SetState& state_;
  const SetState& other_;
  double tolerance_, relative_;
  StateResult result_;
};

}  // namespace

std::string broken_state_law(const Uncertainty& set, const SetState& state, const SetState& other,
                             double tolerance) {
  return StateChecker(set, state, other, tolerance).first_broken();
}

}  // namespace redoubt::testing
