#include "sampling/allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "policy/memory_update.h"
#include "redoubt/advanced/explain.h"

namespace redoubt::internal {
namespace {

constexpr int kMostStages = 200;  // of an infinite horizon that are looked at

using NodeValues = std::vector<std::vector<std::vector<double>>>;

// What a state is worth at a stage: the mean over the memory states in which it is met.
class StateValues {
 public:
  StateValues(const Policy& policy, const Course& course, const NodeValues& values,
              std::size_t total)
      : policy_(policy), course_(course), values_(values), total_(total) {}

  int stages() const { return static_cast<int>(course_.visits.size()); }

  double visits(int stage, State state) const {
    double sum = 0;
    for_each_node(stage, state, [&](std::int64_t node) { sum += course_.visits[stage][node]; });
    return sum;
  }
  double at(int stage, State state) const {
    const auto& of_nodes = values_[std::min<std::size_t>(stage, values_.size() - 1)][total_];
    double sum = 0, plain = 0, met = 0, nodes = 0;
    for_each_node(stage, state, [&](std::int64_t node) {
      const double weight = stage < stages() ? course_.visits[stage][node] : 0;
      const double value = of_nodes[std::min(node, static_cast<std::int64_t>(of_nodes.size()) - 1)];
      sum += weight * value, met += weight;
      plain += value, nodes += 1;
    });
    if (nodes == 0) return 0;
    return met > 0 ? sum / met : plain / nodes;
  }

 private:
  template <class Visit>
  void for_each_node(int stage, State state, Visit visit) const {
    const auto memories = static_cast<std::int32_t>(memory_of(policy_, stage, state));
    for (std::int32_t m = 0; m < memories; ++m) visit(node_of(policy_, stage, state, m));
  }

  const Policy& policy_;
  const Course& course_;
  const NodeValues& values_;
  std::size_t total_;
};

// The standard deviation of what follows a row, with half a sample of every outcome added to those
// that there are.
double deviation(const RowCounts& counts, Row row, int signal, double discount,
                 const std::vector<double>& next) {
  const auto& outcomes = counts.outcomes(row);
  double mass = 0, mean = 0, square = 0;
  for (const RowCounts::Outcome& outcome : outcomes) {
    const double weight = static_cast<double>(outcome.count) + 0.5;
    const double value = outcome.values[signal + 1].value + discount * next[outcome.next];
    mass += weight;
    mean += weight * value;
    square += weight * value * value;
  }
  mean /= mass;
  return std::sqrt(std::max(0.0, square / mass - mean * mean));
}

Nature nature_against(const Problem& problem, std::size_t total) {
  if (total == 0) return {Nature::Against::reward, 0};
  const int constraint = static_cast<int>(total) - 1;
  if (problem.constraints()[constraint].probability) return {};  // it would need the budget
  return {Nature::Against::constraint, constraint};
}

}  // namespace

void add_contributions(const Problem& problem, const Policy& policy, const std::vector<Row>& origin,
                       const RowCounts& counts, std::vector<double>& contribution) {
  const Model& model = problem.model();
  const NodeValues values = node_values(problem, policy);
  for (std::size_t total = 0; total <= problem.constraints().size(); ++total) {
    const Course met = course(problem, policy, nature_against(problem, total), kMostStages);
    const StateValues worth(policy, met, values, total);
    const int signal = total == 0 ? -1 : problem.signal_of(static_cast<int>(total) - 1);
    std::vector<double> next(model.states()), spread(model.rows(), 0.0), seen(model.rows(), 0.0);
    for (int stage = 0; stage < worth.stages(); ++stage) {
      for (State s = 0; s < model.states(); ++s) next[s] = worth.at(stage + 1, s);
      for (State s = 0; s < model.states(); ++s) {
        const double visits = worth.visits(stage, s);
        if (visits == 0) continue;
        for (Row row = model.row_begin(stage, s); row < model.row_end(stage, s); ++row) {
          if (met.row_visits[row] == 0) continue;
          spread[row] += visits * deviation(counts, origin[row], signal, problem.discount(), next);
          seen[row] += visits;
        }
      }
    }
    for (Row row = 0; row < model.rows(); ++row)
      if (seen[row] > 0) contribution[origin[row]] += met.row_visits[row] * spread[row] / seen[row];
  }
}

std::vector<std::int64_t> allocate(const std::vector<std::int64_t>& samples,
                                   const std::vector<double>& contribution, std::int64_t total) {
  std::vector<double> share;
  for (const double of_row : contribution) share.push_back(std::cbrt(of_row * of_row));
  const auto at_scale = [&](double scale) {
    std::vector<std::int64_t> to = samples;
    for (std::size_t row = 0; row < to.size(); ++row)
      to[row] = std::max(to[row], static_cast<std::int64_t>(scale * share[row]));
    return to;
  };
  const auto sum = [](const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  const double most = share.empty() ? 0 : *std::max_element(share.begin(), share.end());
  if (most == 0) return samples;
  double low = 0, high = 1.0 + 2 * static_cast<double>(total) / most;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (sum(at_scale(middle)) <= total ? low : high) = middle;
  }
  return at_scale(low);
}

}  // namespace redoubt::internal
