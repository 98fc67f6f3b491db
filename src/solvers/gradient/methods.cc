#include <algorithm>
#include <cmath>
#include <vector>

#include "bellman/steps.h"
#include "solvers/gradient/loop.h"

// One selector for each published method; loop.cc does the rest.
namespace redoubt {
using namespace internal;
namespace {

// Follow the reward, or else the tightest constraint.
void follow(bool reward, const Iterate& at, std::span<double> direction, double reward_weight = 1) {
  if (reward) {
    direction[0] = reward_weight;
  } else {
    direction[1 + at.tightest()] = 1;
  }
}

bool reward_has_the_turn(const Iterate& at, const GradientOptions& options) {
  const double share = at.reward / options.weight;
  return (options.rule == ChoiceRule::repo ? share : -share) >= at.missed();
}

struct Range {
  double low = 0, high = 0;
};

// The totals that any policy could have: the range of the rewards times the discounted number of
// stages.
Range reward_range(const Problem& problem, const Execution& execution) {
  const Model& model = problem.model();
  Range range;
  for (Row row = 0; row < model.rows(); ++row) {
    for (auto o = model.outcome_begin(row); o < model.outcome_end(row); ++o) {
      const double reward = model.value(-1, row) + model.outcome_value(-1, o);
      range.low = std::min(range.low, reward);
      range.high = std::max(range.high, reward);
    }
  }
  const double discount = problem.discount();
  Workers workers(execution);
  const double stages = problem.infinite() ? 1 / (1 - contraction(problem, workers))
                        : discount == 1
                            ? problem.horizon()
                            : (1 - std::pow(discount, problem.horizon())) / (1 - discount);
  return {range.low * stages, range.high * stages};
}

}  // namespace

Solution rnpg(const Problem& problem, const GradientOptions& options, const Execution& execution) {
  const auto select = [&](const Iterate& at, std::span<double> direction, auto&) {
    follow(reward_has_the_turn(at, options), at, direction);
  };
  return climb(problem, {"rnpg", StepKind::natural, select}, options, execution);
}

Solution rppg(const Problem& problem, const GradientOptions& options, const Execution& execution) {
  const auto select = [&](const Iterate& at, std::span<double> direction, auto&) {
    follow(reward_has_the_turn(at, options), at, direction, 1 / options.weight);
  };
  return climb(problem, {"rppg", StepKind::projected, select}, options, execution);
}

Solution crpo(const Problem& problem, const GradientOptions& options, const Execution& execution) {
  const auto select = [&](const Iterate& at, std::span<double> direction, auto&) {
    follow(at.missed() <= options.slack, at, direction);
  };
  return climb(problem, {"crpo", StepKind::natural, select}, options, execution);
}

// The published outline has three cases: rectify a constraint, rectify the objective up to its
// threshold, or raise the threshold. The last two both step along the reward, so the threshold
// itself leaves no trace in the path.
Solution rrpo(const Problem& problem, const GradientOptions& options, const Execution& execution) {
  const auto select = [&](const Iterate& at, std::span<double> direction, auto&) {
    const auto missed = std::find_if(at.margins.begin(), at.margins.end(),
                                     [&](double margin) { return margin < -options.slack; });
    direction[missed == at.margins.end() ? 0 : 1 + (missed - at.margins.begin())] = 1;
  };
  return climb(problem, {"rrpo", StepKind::natural, select}, options, execution);
}

Solution primal_dual(const Problem& problem, const GradientOptions& options,
                     const Execution& execution) {
  const double dual_step = options.dual_step > 0 ? options.dual_step : options.step;
  const auto select = [&](const Iterate& at, std::span<double> direction, auto& multipliers) {
    direction[0] = 1;
    for (std::size_t c = 0; c < multipliers.size(); ++c) {
      direction[1 + c] = multipliers[c];
      multipliers[c] = std::max(0.0, multipliers[c] - dual_step * at.margins[c]);
    }
  };
  std::vector<double> multipliers(problem.constraints().size(), 0.0);
  return climb(problem, {"primal-dual", StepKind::natural, select, std::move(multipliers)}, options,
               execution);
}

Solution epirc(const Problem& problem, const GradientOptions& options, const Execution& execution) {
  const auto select = [&](const Iterate& at, std::span<double> direction, auto& range) {
    double& low = range[0];
    double& high = range[1];
    if (at.update > 0 && at.update % options.inner == 0) {
      const double guess = (low + high) / 2;
      const bool reached = at.reward >= guess && at.missed() <= 0;
      (reached ? low : high) = guess;
    }
    follow((low + high) / 2 - at.reward >= at.missed(), at, direction);
  };
  const Range range = reward_range(problem, execution);
  return climb(problem, {"epirc", StepKind::projected, select, {range.low, range.high}}, options,
               execution);
}

}  // namespace redoubt
