#include "runtime/promise_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/set_traits.h"
#include "numerics/small_lp.h"
#include "solvers/value_iteration/value_iteration.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr double kRounding = 1e-12;  // of a promise, relative to what policies differ by
constexpr int kMostGuiding = 8;      // memory states near a promise that are looked at

// The largest slack up to `most` that is still good, when `least` is and more of it is never
// better.
template <class Good>
double largest_good(double least, double most, Good good) {
  if (!(most > least)) return least;
  if (good(most)) return most;
  for (int i = 0; i < 60 && most - least > 1e-15 * most; ++i) {
    const double middle = 0.5 * (least + most);
    (good(middle) ? least : most) = middle;
  }
  return least;
}

}  // namespace

double PromiseSets::Guide::value(int stage, int channel, State state, std::int32_t memory) const {
  const auto& values = pass.values[std::min<std::size_t>(stage, pass.values.size() - 1)];
  const auto nodes = values.size() / pass.channels.size();
  return values[channel * nodes + node_of(policy, stage, state, memory)];
}

PromiseSets::PromiseSets(const Problem& problem, const Policy& policy, const Execution& execution)
    : problem_(problem), channels_(channels_of(problem)), rows_(problem) {
  check(policy);
  Stopwatch watch(execution);
  Workers workers(execution, &watch);
  guides_.push_back({policy, evaluate(problem, policy, workers, true)});
  for (const ConstraintResult& found : guides_[0].pass.evaluation.constraints)
    require(found.satisfied,
            "the policy has {} of '{}' in the worst case, must keep its bound {}: a shield stands "
            "on a policy that keeps the constraints",
            found.worst, found.name, found.bound);
  for (int c = 0; c < constraints(); ++c) {
    Policy best = value_iteration(problem, channels_[c + 1], workers).policy;
    Policy least = value_iteration(problem, channels_[c + 1], workers, true).policy;
    guides_.push_back({best, evaluate(problem, best, workers, true)});
    least_.push_back({least, evaluate(problem, least, workers, true)});
    double spread = 0;
    for (State s = 0; s < problem.model().states(); ++s) {
      spread = std::max(spread,
                        guides_.back().value(0, c + 1, s, 0) - least_.back().value(0, c + 1, s, 0));
    }
    scale_.push_back(spread > 0 ? spread : 1);
  }
  find_start(policy);
}

void PromiseSets::check(const Policy& policy) const {
  require(!std::holds_alternative<Tilt>(problem_.uncertainty()),
          "a shield under the set tilt, must be a set whose worst case never falls when values "
          "rise");
  require_row_scope(problem_.uncertainty(), "a shield");
  for (const Constraint& constraint : problem_.constraints())
    require(!constraint.probability,
            "a shield with a chance constraint on '{}', must be on an expected total",
            constraint.signal);
  check_policy(problem_, policy);
}

// The promises of the policy, less what their mean has to spare.
void PromiseSets::find_start(const Policy& policy) {
  const Start& start = problem_.start();
  std::vector<Promise> least;
  for (const State s : start.states) {
    Promise& promise = start_.emplace_back(constraints(), 0.0);
    least.emplace_back();
    for (int c = 0; c < constraints(); ++c) {
      for (const MemoryMove& move : start_memory(policy, s))
        promise[c] += move.weight * guides_[0].value(0, c + 1, s, move.memory);
      least.back().push_back(least_[c].value(0, c + 1, s, 0));
    }
  }
  for (int c = 0; c < constraints(); ++c) {
    const double required = sign(c) * problem_.constraints()[c].bound;
    const auto lowered = [&](std::size_t i, double slack) {
      return std::min(start_[i][c], std::max(start_[i][c] - slack, least[i][c]));
    };
    const auto keeps = [&](double slack) {
      double mean = 0;
      for (std::size_t i = 0; i < start_.size(); ++i)
        mean += start.probability[i] * lowered(i, slack);
      return mean >= required;
    };
    double most = 0;
    for (std::size_t i = 0; i < start_.size(); ++i)
      most = std::max(most, start_[i][c] - least[i][c]);
    const double slack = keeps(0) ? largest_good(0.0, most, keeps) : 0.0;
    for (std::size_t i = 0; i < start_.size(); ++i) start_[i][c] = lowered(i, slack);
  }
}

Promise PromiseSets::at_start(State state) const {
  const auto& states = problem_.start().states;
  const auto found = std::find(states.begin(), states.end(), state);
  require(found != states.end(), "state {}, no episode begins there",
          problem_.model().state_name(state));
  return start_[found - states.begin()];
}

// Whether the policy knows what to remember after the action: by table, only what it may do itself.
bool PromiseSets::follows(const Guide& guide, const Decision& d) const {
  return d.choice >= 0 || guide.policy.at(d.stage).outcome_slot.empty();
}

// All that is known to be possible at a state.
std::vector<PromiseSets::Candidate> PromiseSets::points(int stage, State state) const {
  std::vector<Candidate> found;
  for (int g = 0; g < static_cast<int>(guides_.size()); ++g) {
    const auto memories = memory_of(guides_[g].policy, stage, state);
    for (std::int32_t m = 0; m < memories; ++m) {
      Candidate& one = found.emplace_back(Candidate{{g, m}, {}});
      for (int j = 0; j <= constraints(); ++j)
        one.value.push_back(guides_[g].value(stage, j, state, m));
    }
  }
  return found;
}

// With one constraint the best policy for it alone reaches all that can be promised, and memory
// states of the other one only guide the choice between splits of the promise: a few are enough.
std::vector<std::int32_t> PromiseSets::nearest(int stage, State state,
                                               const Promise& promise) const {
  std::vector<std::int32_t> memories(memory_of(guides_[0].policy, stage, state));
  for (std::size_t m = 0; m < memories.size(); ++m) memories[m] = static_cast<std::int32_t>(m);
  if (constraints() != 1 || memories.size() <= kMostGuiding) return memories;
  const auto distance = [&](std::int32_t m) {
    return std::abs(guides_[0].value(stage, 1, state, m) - promise[0]);
  };
  std::stable_sort(memories.begin(), memories.end(),
                   [&](std::int32_t a, std::int32_t b) { return distance(a) < distance(b); });
  memories.resize(kMostGuiding);
  return memories;
}

// What can be had of every channel when the action is taken now.
std::vector<PromiseSets::Candidate> PromiseSets::candidates(int stage, State state,
                                                            std::int32_t action,
                                                            const Promise& promise) {
  std::vector<Candidate> found;
  for (int g = static_cast<int>(guides_.size()) - 1; g >= 0; --g) {
    std::vector<std::int32_t> memories = {0};
    if (g == 0) memories = nearest(stage, state, promise);
    for (const std::int32_t m : memories) {
      const Decision d = decision(guides_[g].policy, stage, state, m, action);
      if (!follows(guides_[g], d)) continue;
      Candidate& one = found.emplace_back(Candidate{{g, m}, {}});
      const Continuation c = continuation(stage, state, action, {one.point});
      for (int j = 0; j <= constraints(); ++j) one.value.push_back(worst(c, j, 0));
    }
  }
  return found;
}

double PromiseSets::next_value(const PromisePoint& point, const Decision& d, std::int64_t outcome,
                               State next, int channel) {
  const Guide& guide = guides_[point.guide];
  memory_moves(problem_, guide.policy, d, outcome, next, moves_);
  double sum = 0;
  for (const MemoryMove& move : moves_)
    sum += move.weight * guide.value(d.stage + 1, channel, next, move.memory);
  return point.weight * sum;
}

PromiseSets::Continuation PromiseSets::continuation(int stage, State state, std::int32_t action,
                                                    const std::vector<PromisePoint>& mixture) {
  const Model& model = problem_.model();
  Continuation c{model.row_begin(stage, state) + action, {}, {}, {}, {}};
  const auto begin = model.outcome_begin(c.row), outcomes = model.outcome_end(c.row) - begin;
  std::vector<State> outside;
  for (State s = 0; s < model.states() && rows_.needs_floor(); ++s) {
    if (!model.lists(c.row, s)) outside.push_back(s);
  }
  for (int j = 0; j <= constraints(); ++j) {
    const auto fill = [&](std::int64_t outcome, State next, auto& values, auto& least) {
      double value = 0;
      for (const PromisePoint& point : mixture) {
        const Decision d =
            decision(guides_[point.guide].policy, stage, state, point.memory, action);
        value += next_value(point, d, outcome, next, j);
      }
      values.push_back(value);
      least.push_back(j == 0 ? value : least_[j - 1].value(stage + 1, j, next, 0));
    };
    c.next.emplace_back(), c.least.emplace_back();
    c.landing.emplace_back(), c.least_landing.emplace_back();
    for (std::int64_t i = 0; i < outcomes; ++i)
      fill(i, model.arrays().next[begin + i], c.next[j], c.least[j]);
    for (const State s : outside) {
      fill(outcomes, s, c.landing[j], c.least_landing[j]);
      const double arrival = arrival_worth(problem_, channels_[j], s);
      c.landing[j].back() += arrival, c.least_landing[j].back() += arrival;
    }
  }
  return c;
}

// The worst case of a channel when every next value is less by the slack, but no less than every
// policy has there.
double PromiseSets::worst(const Continuation& c, int channel, double slack) {
  const auto lowered = [slack](double value, double least) {
    return std::min(value, std::max(value - slack, least));
  };
  const auto outcomes = static_cast<int>(c.next[channel].size());
  std::vector<const double*> next(outcomes);
  for (int i = 0; i < outcomes; ++i) {
    double* lane = rows_.buffer(i, 1);
    std::fill_n(lane, kLaneBlock, lowered(c.next[channel][i], c.least[channel][i]));
    next[i] = lane;
  }
  double floor[kLaneBlock], value[kLaneBlock];
  const std::vector<double>& landing = c.landing[channel];
  double low = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < landing.size(); ++s)
    low = std::min(low, lowered(landing[s], c.least_landing[channel][s]));
  std::fill_n(floor, kLaneBlock, low);
  rows_.worst(c.row, {&channels_[channel], 1}, 1, next.data(), landing.empty() ? nullptr : floor,
              value);
  return value[0];
}

// How much less than the continuation promises is enough for each constraint.
std::vector<double> PromiseSets::slack_of(const Continuation& c,
                                          const std::vector<double>& target) {
  std::vector<double> slack(target.size(), 0.0);
  for (std::size_t j = 0; j < target.size(); ++j) {
    const auto channel = static_cast<int>(j) + 1;
    double most = 0;
    for (std::size_t i = 0; i < c.next[channel].size(); ++i)
      most = std::max(most, c.next[channel][i] - c.least[channel][i]);
    for (std::size_t s = 0; s < c.landing[channel].size(); ++s)
      most = std::max(most, c.landing[channel][s] - c.least_landing[channel][s]);
    const auto keeps = [&](double less) { return worst(c, channel, less) >= target[j]; };
    if (keeps(0)) slack[j] = largest_good(0.0, most, keeps);
  }
  return slack;
}

ShieldBranch PromiseSets::branch(int stage, State state, std::int32_t action,
                                 std::vector<PromisePoint> mixture,
                                 const std::vector<double>& target, double probability) {
  const Continuation c = continuation(stage, state, action, mixture);
  return {probability, action, std::move(mixture), slack_of(c, target)};
}

Promise PromiseSets::after(int stage, State state, const ShieldBranch& branch, std::int64_t outcome,
                           State next) {
  Promise promise(constraints(), 0.0);
  for (int c = 0; c < constraints(); ++c) {
    double value = 0;
    for (const PromisePoint& point : branch.mixture) {
      const Decision d =
          decision(guides_[point.guide].policy, stage, state, point.memory, branch.action);
      value += next_value(point, d, outcome, next, c + 1);
    }
    const double least = least_[c].value(stage + 1, c + 1, next, 0);
    promise[c] = std::min(value, std::max(value - branch.slack[c], least));
  }
  return promise;
}

namespace {

// The mixture of candidates with the most `reward` that keeps a promise, in units of the scales.
template <class Candidates>
ConstrainedMix mix_for_promise(const Candidates& found, const std::vector<double>& reward,
                               const Promise& promise, const std::vector<double>& scale) {
  std::vector<std::vector<double>> utility(promise.size());
  for (std::size_t c = 0; c < promise.size(); ++c) {
    for (const auto& one : found) utility[c].push_back((one.value[c + 1] - promise[c]) / scale[c]);
  }
  const std::vector<double> threshold(promise.size(), -kRounding);
  return best_constrained_mix_of_many({reward, {utility.begin(), utility.end()}, threshold});
}

bool misses(const ConstrainedMix& mix) { return mix.shortfall > kRounding; }

}  // namespace

double PromiseSets::largest(int stage, State state, const Promise& promise, std::int32_t action) {
  if (constraints() == 1) return largest_of_one(stage, state, promise[0], action);
  std::vector<Candidate> found = candidates(stage, state, action, promise);
  const std::size_t own = found.size();
  std::vector<double> alone(own, 1.0);
  if (!misses(mix_for_promise(found, alone, promise, scale_))) return 1;
  const std::vector<Candidate> all = points(stage, state);
  found.insert(found.end(), all.begin(), all.end());
  alone.resize(found.size(), 0.0);
  return std::clamp(mix_for_promise(found, alone, promise, scale_).reward, 0.0, 1.0);
}

// The best policy for the one constraint promises all that can be promised.
double PromiseSets::largest_of_one(int stage, State state, double promise, std::int32_t action) {
  const double taken = worst(continuation(stage, state, action, {{1, 0}}), 1, 0);
  if (taken >= promise - 2 * kRounding * scale_[0]) return 1;
  const double most = guides_[1].value(stage, 1, state, 0);
  return std::clamp((most - promise) / (most - taken), 0.0, 1.0);
}

std::vector<ShieldBranch> PromiseSets::propose(int stage, State state, const Promise& promise,
                                               std::int32_t action) {
  const std::vector<Candidate> found = candidates(stage, state, action, promise);
  std::vector<double> reward;
  for (const Candidate& one : found) reward.push_back(one.value[0]);
  const ConstrainedMix mix = mix_for_promise(found, reward, promise, scale_);
  if (misses(mix)) return corrected(stage, state, promise, action);
  // Of all splits of the promise that are known, the one that promises most reward beside it.
  std::vector<PromisePoint> mixture;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (mix.weight[k] > 0)
      mixture.push_back({found[k].point.guide, found[k].point.memory, mix.weight[k]});
  }
  return {branch(stage, state, action, std::move(mixture), promise, 1.0)};
}

// The action passes with the largest probability that keeps the promise; otherwise one of the
// points is drawn, and does what it does.
std::vector<ShieldBranch> PromiseSets::corrected(int stage, State state, const Promise& promise,
                                                 std::int32_t action) {
  std::vector<Candidate> found = candidates(stage, state, action, promise);
  const std::size_t own = found.size();
  const std::vector<Candidate> all = points(stage, state);
  found.insert(found.end(), all.begin(), all.end());
  std::vector<double> passes(found.size(), 0.0);
  std::fill_n(passes.begin(), own, 1.0);
  const ConstrainedMix mix = mix_for_promise(found, passes, promise, scale_);
  Promise spare(constraints(), 0.0), target(constraints(), 0.0);
  for (int c = 0; c < constraints(); ++c) {
    for (std::size_t k = 0; k < found.size(); ++k)
      spare[c] += mix.weight[k] * found[k].value[c + 1];
    spare[c] = std::max(0.0, spare[c] - promise[c]);
  }
  std::vector<ShieldBranch> branches;
  double passing = 0;
  for (std::size_t k = 0; k < own; ++k) passing += mix.weight[k];
  if (passing > 0) {
    std::vector<PromisePoint> mixture;
    for (int c = 0; c < constraints(); ++c) target[c] = -spare[c];
    for (std::size_t k = 0; k < own; ++k) {
      if (mix.weight[k] <= 0) continue;
      const double share = mix.weight[k] / passing;
      mixture.push_back({found[k].point.guide, found[k].point.memory, share});
      for (int c = 0; c < constraints(); ++c) target[c] += share * found[k].value[c + 1];
    }
    branches.push_back(branch(stage, state, action, std::move(mixture), target, passing));
  }
  for (std::size_t k = own; k < found.size(); ++k) {
    if (mix.weight[k] <= 0) continue;
    const PromisePoint& point = found[k].point;
    const Policy& policy = guides_[point.guide].policy;
    for_each_choice(policy.at(stage), node_of(policy, stage, state, point.memory),
                    [&](std::int32_t taken, double weight) {
                      if (weight <= 0) return;
                      const Continuation c =
                          continuation(stage, state, taken, {{point.guide, point.memory, 1.0}});
                      for (int i = 0; i < constraints(); ++i)
                        target[i] = worst(c, i + 1, 0) - spare[i];
                      branches.push_back({mix.weight[k] * weight,
                                          taken,
                                          {{point.guide, point.memory, 1.0}},
                                          slack_of(c, target)});
                    });
  }
  return branches;
}

}  // namespace redoubt::internal
