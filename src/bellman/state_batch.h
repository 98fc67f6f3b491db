#pragma once

#include <span>
#include <vector>

#include "bellman/row_evaluator.h"
#include "sets/state_lanes.h"

namespace redoubt::internal {

// One state, at one node and in one channel: what it does is choices first..first+count-1 of lists
// that the caller has, at least one.
struct StateItem {
  std::int64_t first = 0;
  int count = 0;
  Channel channel;
};

// Of each choice, the row and the probability of its action.
struct StateChoices {
  const Row* row = nullptr;
  const double* weight = nullptr;  // null for `best`
};

// The worst cases of states whose rows share one radius (scope state), for many states at once. One
// for each thread.
//
// Next: next(item, choice, outcome, next state) is the next value of an outcome, floor(item,
// choice) that of the worst landing.
class StateBatch {
 public:
  explicit StateBatch(const Problem& problem)
      : problem_(&problem),
        radius_(nature_of_rows(problem).radius),
        floor_(lands_anywhere(problem)),
        lanes_(problem.uncertainty(), floor_) {}

  bool needs_floor() const { return floor_; }
  double evaluations() const { return evaluations_; }

  // result[i] = sum over the choices of weight * row value + discount * min over P of the sum of
  // weight * P.(next + outcome value / discount). done(i, lanes, lane) sees nature's answer, where
  // minimisers are wanted: StateLanes::chosen and landing, by the number of the choice in the item.
  template <class Next, class Done>
  void worst(std::span<const StateItem> items, const StateChoices& choices, const Next& next,
             double* result, bool minimisers, Done done) {
    for_each_group(items, choices, [&](std::span<const int> members) {
      fill(items, choices, next, members, true);
      lanes_.worst(minimisers);
      for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
        const StateItem& item = items[members[lane]];
        double own = 0;
        for (auto c = item.first; c < item.first + item.count; ++c)
          own += choices.weight[c] * row_value(item.channel, choices.row[c]);
        result[members[lane]] = own + problem_->discount() * lanes_.result(lane);
        if (minimisers) done(members[lane], lanes_, lane);
      }
    });
  }

  // result[i] = the largest such minimum over the weights of the choices, which go to weight[c].
  // `alone`: the worst case of each choice taken with certainty.
  template <class Next>
  void best(std::span<const StateItem> items, const StateChoices& choices, const double* alone,
            const Next& next, double* result, double* weight) {
    for_each_group(items, choices, [&](std::span<const int> members) {
      fill(items, choices, next, members, false);
      for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
        const StateItem& item = items[members[lane]];
        for (int a = 0; a < item.count; ++a) lanes_.set_alone(lane, a, alone[item.first + a]);
      }
      lanes_.best();
      for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
        const StateItem& item = items[members[lane]];
        result[members[lane]] = lanes_.result(lane);
        for (int a = 0; a < item.count; ++a) weight[item.first + a] = lanes_.weight(lane, a);
      }
    });
  }

 private:
  double row_value(const Channel& channel, Row row) const {
    return channel.sign * problem_->model().value(channel.signal, row);
  }

  template <class Solve>
  void for_each_group(std::span<const StateItem> items, const StateChoices& choices, Solve solve) {
    const Model& model = problem_->model();
    shapes_.clear();
    for (const StateItem& item : items) {
      StateShape shape{item.count, 1};
      for (auto c = item.first; c < item.first + item.count; ++c)
        shape.outcomes =
            std::max(shape.outcomes, static_cast<int>(model.outcome_end(choices.row[c]) -
                                                      model.outcome_begin(choices.row[c])));
      shapes_.push_back(shape);
      evaluations_ += item.count;
    }
    for_each_shape(shapes_, order_, [&](std::span<const int> members) {
      lanes_.resize(shapes_[members[0]], static_cast<int>(members.size()));
      solve(members);
    });
  }

  // Values are weighted, or with what their row earns, discounted, as they are.
  template <class Next>
  void fill(std::span<const StateItem> items, const StateChoices& choices, const Next& next,
            std::span<const int> members, bool weighted) {
    const Model& model = problem_->model();
    const ModelArrays& arrays = model.arrays();
    const double discount = problem_->discount();
    for (int lane = 0; lane < static_cast<int>(members.size()); ++lane) {
      const int number = members[lane];
      const StateItem& item = items[number];
      const std::vector<double>& extra = model.outcome_values(item.channel.signal);
      for (int a = 0; a < item.count; ++a) {
        const auto choice = item.first + a;
        const Row row = choices.row[choice];
        const auto begin = model.outcome_begin(row);
        const int outcomes = static_cast<int>(model.outcome_end(row) - begin);
        const double scale = weighted ? choices.weight[choice] : discount;
        const double shift = weighted ? 0 : row_value(item.channel, row);
        lanes_.set_radius(lane, radius_->of(row));
        for (int i = 0; i < outcomes; ++i) {
          double value = next(number, choice, i, arrays.next[begin + i]);
          if (!extra.empty()) value += item.channel.sign * extra[begin + i] / discount;
          lanes_.set(lane, a, i, arrays.probability[begin + i], shift + scale * value);
        }
        lanes_.end_row(lane, a, outcomes);
        if (floor_) lanes_.set_floor(lane, a, shift + scale * next.floor(number, choice));
      }
    }
  }

  const Problem* problem_;
  const Radius* radius_;
  bool floor_;
  double evaluations_ = 0;
  StateLanes lanes_;
  std::vector<StateShape> shapes_;
  std::vector<int> order_;
};

// Next values where every state has one, as value iteration has them.
struct NextOfStates {
  const double* values;
  double worst_landing;

  double operator()(int, std::int64_t, int, State next) const { return values[next]; }
  double floor(int, std::int64_t) const { return worst_landing; }
};

}  // namespace redoubt::internal
