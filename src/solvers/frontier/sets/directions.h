#pragma once

#include <array>
#include <vector>

namespace redoubt::internal {

// The directions in which the trade-off sets of a stage are known. A direction weighs the reward
// and each constraint's utility. Its **lead** is the first signal that it cares for, with weight
// one; those after it have **prices**: (1, price, price, ...) leads with the reward, (0, 1, price,
// ...) with the first utility, and so on up to (0, 0, ..., 1). Those that do not lead with the
// reward tell what utilities are worth together where nature takes all reward away. Directions are
// ordered by their leads; the first of each lead cares for nothing else, and that of a utility is
// its **ray**. With one constraint the others are in the order of their prices.
class Directions {
 public:
  static constexpr int kMostConstraints = 6;
  static constexpr int kMostSignals = kMostConstraints + 1;

  Directions() = default;
  // [direction][signal], each in any unit. Those that care for one signal alone are added, and
  // repetitions left out.
  Directions(int constraints, const std::vector<double>& weights);
  // With one constraint: ascending, the first zero.
  static Directions of_prices(const std::vector<double>& prices);

  bool operator==(const Directions& other) const { return weights_ == other.weights_; }
  int constraints() const { return signals_ - 1; }
  int signals() const { return signals_; }
  int alone(int signal) const { return begin_[signal]; }  // the direction that cares for it only
  int rays_begin() const { return begin_[1]; }  // the first direction without weight on the reward
  int size() const { return static_cast<int>(lead_.size()); }
  int lead(int direction) const { return lead_[direction]; }
  const std::vector<double>& prices() const { return prices_; }  // with one constraint
  // weight(direction, 0) is that of the reward.
  double weight(int direction, int signal) const {
    return weights_[static_cast<std::size_t>(direction) * signals_ + signal];
  }
  const double* weights_of(int direction) const {
    return weights_.data() + static_cast<std::size_t>(direction) * signals_;
  }
  const std::vector<double>& weights() const { return weights_; }  // [direction][signal]
  // The direction with these weights, in its own unit; -1: it is not listed.
  int find(const double* weights) const;

  // A direction q written as a sum of listed ones: q = sum of weight[c] * direction[c]. The support
  // function of a set is sublinear, so the same sum of its values at the listed directions is an
  // upper bound at q.
  struct Parts {
    int count = 0;
    std::array<int, kMostSignals> direction;
    std::array<double, kMostSignals> weight;
    void add(int d, double w) {
      direction[count] = d;
      weight[count++] = w;
    }
  };

  // With one constraint it is at most two directions. `near` is a guess of the lower one and
  // receives it.
  struct Pair {
    int low, high;
    double low_weight, high_weight;
  };
  Pair split(double reward_weight, double utility_weight, int& near) const {
    const std::vector<double>& price = prices_;
    const int last = rays_begin() - 1;
    if (!(utility_weight < price[last] * reward_weight)) {
      near = last;
      return {last, last + 1, reward_weight, utility_weight - price[last] * reward_weight};
    }
    int at = near < last ? near : last - 1;
    while (price[at] * reward_weight > utility_weight) --at;
    while (price[at + 1] * reward_weight <= utility_weight) ++at;
    near = at;
    const double high = (utility_weight - price[at] * reward_weight) / (price[at + 1] - price[at]);
    return {at, at + 1, reward_weight - high, high};
  }

 private:
  int signals_ = 1;
  std::vector<int> begin_ = {0, 0};  // the first direction of each lead, and the end
  std::vector<int> lead_;            // of each direction
  std::vector<double> weights_;
  std::vector<double> prices_;
};

}  // namespace redoubt::internal
