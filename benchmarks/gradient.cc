#include "redoubt/gradient.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "redoubt/environments.h"
#include "topics.h"

namespace redoubt::bench {

namespace {

// min over KL(P || p) <= radius of the mean of v, by bisection on the logarithm of the temperature.
double plain_worst_case(const std::vector<double>& p, const std::vector<double>& v, double radius) {
  const double low = *std::min_element(v.begin(), v.end());
  const double high = *std::max_element(v.begin(), v.end());
  double at_low = 0, mean = 0, square = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    at_low += v[i] == low ? p[i] : 0;
    mean += p[i] * v[i];
    square += p[i] * v[i] * v[i];
  }
  if (high - low < 1e-14) return mean;
  if (-std::log(at_low) <= radius) return low;
  double below = 1e-6 * (high - low);
  double above = 50 * std::sqrt((square - mean * mean) / (2 * radius)) + high - low;
  double worst = mean;
  for (int step = 0; step < 60; ++step) {
    const double temperature = std::sqrt(below * above);
    double mass = 0, weighted = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double weight = p[i] * std::exp((low - v[i]) / temperature);
      mass += weight;
      weighted += weight * (v[i] - low);
    }
    worst = low + weighted / mass;
    const double divergence = -weighted / mass / temperature - std::log(mass);
    (divergence > radius ? below : above) = temperature;
  }
  return worst;
}

// CRPO as one would write it: one value at a time, robust sweeps from the last values until they
// stand still. One reward, one cost, every state with the same number of actions.
class PlainCrpo {
 public:
  explicit PlainCrpo(const Problem& problem)
      : problem_(problem), actions_(problem.model().most_actions()) {}

  // The worst-case reward of the last policy.
  double run(int updates, double step) {
    const Model& model = problem_.model();
    policy_.assign(model.rows(), 1.0 / actions_);
    std::vector<double> values[2] = {std::vector<double>(model.states(), 0.0),
                                     std::vector<double>(model.states(), 0.0)};
    std::vector<double> worth[2] = {policy_, policy_};
    for (int update = 0;; ++update) {
      const double reward = evaluate(-1, 1, values[0], worth[0]);
      const double cost = -evaluate(0, -1, values[1], worth[1]);
      if (update == updates) return reward;
      const auto& follow = worth[cost <= problem_.constraints()[0].bound ? 0 : 1];
      for (State s = 0; s < model.states(); ++s) {
        double sum = 0;
        for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row)
          sum += policy_[row] *= std::exp(step * follow[row]);
        for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) policy_[row] /= sum;
      }
    }
  }

 private:
  double evaluate(int signal, double sign, std::vector<double>& values,
                  std::vector<double>& worth) const {
    const Model& model = problem_.model();
    const double radius = std::get<KL>(problem_.uncertainty()).radius.all;
    std::vector<double> p, v, better(values.size());
    for (double change = 1; change > 1e-8;) {
      change = 0;
      for (State s = 0; s < model.states(); ++s) {
        better[s] = 0;
        for (Row row = model.row_begin(0, s); row < model.row_end(0, s); ++row) {
          p.clear(), v.clear();
          for (auto o = model.outcome_begin(row); o < model.outcome_end(row); ++o) {
            p.push_back(model.arrays().probability[o]);
            v.push_back(values[model.arrays().next[o]]);
          }
          worth[row] = sign * model.value(signal, row) +
                       problem_.discount() * plain_worst_case(p, v, radius);
          better[s] += policy_[row] * worth[row];
        }
        change = std::max(change, std::abs(better[s] - values[s]));
      }
      values = better;
    }
    double sum = 0;
    for (std::size_t i = 0; i < problem_.start().states.size(); ++i)
      sum += problem_.start().probability[i] * values[problem_.start().states[i]];
    return sum;
  }

  const Problem& problem_;
  int actions_;
  std::vector<double> policy_;
};

double against_plain_crpo() {
  const Problem problem = make("river_swim");
  const auto begin = std::chrono::steady_clock::now();  // seconds long, so once is enough
  const double reward = PlainCrpo(problem).run(1000, 0.1);
  const double slow =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Solution solution;
  const double fast = seconds({[&] { solution = crpo(problem, {.step = 0.1}); }})[0];
  if (std::abs(solution.trace.reward.back() - reward) > 0.01 * reward)
    throw std::runtime_error("the two CRPOs end at different rewards");
  return slow / fast;
}

}  // namespace

void gradient(Table& table) {
  table.add({"1,000 crpo updates, sweeps by bisection / ours", 50, 200, Better::higher},
            against_plain_crpo);
}

}  // namespace redoubt::bench
