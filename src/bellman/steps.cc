#include "bellman/steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bellman/row_batch.h"
#include "parallel/collectives.h"
#include "parallel/exchange.h"
#include "support/require.h"

namespace redoubt::internal {
namespace {

constexpr Row kStepRowsAtATime = 256;

// One more than the largest expectation after any row, for given steps from the next state on.
class LongestStep {
 public:
  LongestStep(const Problem& problem, Workers& workers)
      : problem_(problem), workers_(workers), exchange_(problem.model(), workers.ranks()) {
    for (int w = 0; w < workers.count(); ++w) batches_.emplace_back(problem);
  }

  void run(const std::vector<double>& steps, std::vector<double>& longer) {
    const Model& model = problem_.model();
    less_.resize(steps.size());
    std::transform(steps.begin(), steps.end(), less_.begin(), [](double n) { return -n; });
    const double floor =
        min_over_ranks(workers_.ranks(), *std::min_element(less_.begin(), less_.end()));
    longer.assign(steps.size(), 0.0);
    const double work = batches_.front().nanoseconds() * static_cast<double>(model.outcomes());
    exchange_.sweep_ranges(
        workers_, work, {longer.data()}, [&](State begin, State end, int worker) {
          std::vector<double> result;
          while (begin < end) {
            State last = begin + 1;
            const Row first = model.row_begin(0, model.own(begin));
            while (last < end && model.row_end(0, model.own(last)) - first <= kStepRowsAtATime)
              ++last;
            result.resize(model.row_end(0, model.own(last - 1)) - first);
            batches_[worker].worst(first, static_cast<std::int64_t>(result.size()), {-1, 0.0},
                                   less_.data(), floor, result.data());
            for (; begin < last; ++begin) {
              const State s = model.own(begin);
              for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
                longer[s] = std::max(longer[s], 1 - result[row - first]);
            }
          }
        });
  }

 private:
  const Problem& problem_;
  Workers& workers_;
  Exchange exchange_;
  std::vector<RowBatch> batches_;
  std::vector<double> less_;
};

}  // namespace

// A sweep from steps w leads to at most w + d with d < 1: then w / (1 - d) is a bound that proves
// itself, because 1 + P w / (1 - d) <= (w + d - 1) / (1 - d) + 1 = w / (1 - d). Where w comes from
// does not matter, so that now and then it goes as far as its last change, continued, would.
std::vector<double> most_steps(std::size_t states, const StepOn& run, Workers& workers) {
  constexpr double kEnough = 0.05;
  constexpr double kMost = 1e8;
  std::vector<double> steps(states, 0.0), longer;
  double before = 0;
  int last = 0, next = 16;  // sweeps after which it leaps, ever fewer: sweeps have the last word
  for (int sweeps = 1;; ++sweeps) {
    workers.check_together();
    run(steps, longer);
    double change = 0, most = 0;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      change = std::max(change, longer[s] - steps[s]);
      most = std::max(most, longer[s]);
    }
    change = max_over_ranks(workers.ranks(), change);
    most = max_over_ranks(workers.ranks(), most);
    require(most < kMost && sweeps < kMost,
            "an episode may take {:g} decisions in expectation before it ends, must be below {:g}",
            most, kMost);
    if (change <= kEnough) {
      for (double& n : steps) n /= 1 - change - 1e-10 * most;  // which rounding stays below
      return steps;
    }
    if (sweeps == (last + next) / 2) before = change;
    if (sweeps == next) {
      const double share = std::pow(change / before, 2.0 / (next - last));  // that a sweep leaves
      const double far = share < 1 ? std::min(100 * most, share / (1 - share)) : 0;
      for (std::size_t s = 0; s < states; ++s) longer[s] += (longer[s] - steps[s]) * far;
      last = std::exchange(next, 3 * next);
    }
    steps.swap(longer);
  }
}

std::vector<double> most_steps(const Problem& problem, Workers& workers) {
  require(problem.undiscounted() && !problem.improper(),
          "some policies never come to an end: the method must be frontier, robust or nominal");
  LongestStep step(problem, workers);
  const auto run = [&](const auto& steps, auto& longer) { step.run(steps, longer); };
  return most_steps(static_cast<std::size_t>(problem.model().states()), run, workers);
}

double contraction(const Problem& problem, Workers& workers) {
  if (!problem.undiscounted()) return problem.discount();
  double steps = problem.found_steps();
  if (steps == 0) {
    const std::vector<double> of_states = most_steps(problem, workers);
    steps = max_over_ranks(workers.ranks(), *std::max_element(of_states.begin(), of_states.end()));
    steps = std::max(2.0, steps);
    problem.found_steps() = steps;
  }
  return 1 - 1 / steps;
}

int stages_until_negligible(const Problem& problem, double tolerance, Workers& workers) {
  const double rate = contraction(problem, workers);
  const double share = problem.undiscounted() ? tolerance * (1 - rate) : tolerance;
  return std::max(1, static_cast<int>(std::ceil(std::log(share) / std::log(rate))));
}

}  // namespace redoubt::internal
