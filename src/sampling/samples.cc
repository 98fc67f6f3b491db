#include "redoubt/samples.h"

#include <algorithm>
#include <cmath>

#include "bellman/row_evaluator.h"
#include "sampling/deviation.h"
#include "sampling/paper_bounds.h"
#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

struct Span {
  double step = 0;     // of what one decision may earn, anywhere in the model
  double outcome = 0;  // of what differs between the outcomes of one row, at most
};

bool has_terminal_state(const Model& model) {
  const auto& rows = model.arrays().state_rows;
  return std::adjacent_find(rows.begin(), rows.end()) != rows.end();
}

Span span_of(const Problem& problem, int signal) {
  const Model& model = problem.model();
  double least = HUGE_VAL, most = -HUGE_VAL;
  Span span;
  std::pair<double, double> arrival = {HUGE_VAL, -HUGE_VAL};  // the least and the most
  for (State s = 0; s < model.states(); ++s) {
    arrival.first = std::min(arrival.first, model.arrival_value(signal, s));
    arrival.second = std::max(arrival.second, model.arrival_value(signal, s));
  }
  for (Row row = 0; row < model.rows(); ++row) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (auto i = model.outcome_begin(row); i < model.outcome_end(row); ++i) {
      const double value = model.value(signal, row) + model.outcome_value(signal, i);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (lands_anywhere(problem)) {
      low = std::min(low, model.value(signal, row) + arrival.first);
      high = std::max(high, model.value(signal, row) + arrival.second);
    }
    span.outcome = std::max(span.outcome, high - low);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  if (has_terminal_state(model)) least = std::min(least, 0.0), most = std::max(most, 0.0);
  span.step = std::max(0.0, most - least);
  return span;
}

// By how much a policy's worst-case total on the estimated model may differ from the true one, for
// each unit of deviation: one stage after the other, each adds what the values of the next stage
// and of its own outcomes may differ by, because the worst case is 1-Lipschitz in the values.
double gain(const Problem& problem, const Span& span) {
  const double discount = problem.discount();
  require(!problem.undiscounted(),
          "sample sizes with no discount and no horizon, must have one of them");
  if (problem.infinite()) {
    const double stages = 1 / (1 - discount);
    return stages * (span.outcome + discount * stages * span.step);
  }
  double later = 0, total = 0;  // span of the next stage's values; error of the stages so far
  for (int stage = 0; stage < problem.horizon(); ++stage) {
    total = span.outcome + discount * later + discount * total;
    later = span.step + discount * later;
  }
  return total;
}

// The values of a chance constraint are probabilities, one for each stage; after the last decision
// the total is known, unless its outcomes differ.
double chance_gain(const Problem& problem, const Span& span) {
  require(!problem.infinite(),
          "chance constraint with an infinite horizon has no sample size, must be finite");
  return std::max(0, problem.horizon() - 1) + (span.outcome > 0 && problem.horizon() > 0 ? 1 : 0);
}

struct Gains {
  double reward = 0;
  std::vector<double> constraints;
  double most() const {
    double out = reward;
    for (const double gain : constraints) out = std::max(out, gain);
    return out;
  }
};

Gains gains_of(const Problem& problem) {
  Gains gains{gain(problem, span_of(problem, -1)), {}};
  for (std::size_t c = 0; c < problem.constraints().size(); ++c) {
    const Span span = span_of(problem, problem.signal_of(static_cast<int>(c)));
    gains.constraints.push_back(problem.constraints()[c].probability ? chance_gain(problem, span)
                                                                     : gain(problem, span));
  }
  return gains;
}

// The policy errs once when the model is estimated and once when the policy is used; a constraint
// likewise, once in the slack and once in the truth.
SampleSize describe(const Problem& problem, const Gains& gains, std::int64_t samples,
                    double delta) {
  const double deviation = worst_case_deviation(problem, static_cast<double>(samples), delta);
  SampleSize size;
  size.per_row = samples;
  size.total = static_cast<double>(samples) * static_cast<double>(problem.model().rows());
  size.epsilon = 2 * gains.most() * deviation;
  size.delta = delta;
  size.reward_error = 2 * gains.reward * deviation;
  for (const double gain : gains.constraints) {
    size.violation.push_back(2 * gain * deviation);
    size.slack.push_back(gain * deviation);
  }
  return size;
}

void check_delta(double delta) {
  require(delta > 0 && delta < 1, "delta = {}, must be in (0, 1)", delta);
}

}  // namespace

SampleSize samples_buy(const Problem& problem, std::int64_t per_row, double delta) {
  require(per_row >= 1, "samples = {}, must be at least 1", per_row);
  check_delta(delta);
  SampleSize size = describe(problem, gains_of(problem), per_row, delta);
  add_paper_bounds(problem, size.epsilon, size);
  return size;
}

SampleSize samples_needed(const Problem& problem, double epsilon, double delta) {
  require(epsilon > 0 && std::isfinite(epsilon), "epsilon = {}, must be positive and finite",
          epsilon);
  check_delta(delta);
  const Gains gains = gains_of(problem);
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const auto enough = [&](std::int64_t samples) {
    return 2 * gains.most() * worst_case_deviation(problem, static_cast<double>(samples), delta) <=
           epsilon;
  };
  std::int64_t high = 1;
  while (high < most && !enough(high)) high *= 2;
  require(enough(high), "epsilon = {} needs more than {} samples of each row, must need fewer",
          epsilon, most);
  std::int64_t low = high / 2;  // not enough, or zero
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  SampleSize size = describe(problem, gains, high, delta);
  add_paper_bounds(problem, epsilon, size);
  return size;
}

}  // namespace redoubt
