#pragma once

#include <array>
#include <span>
#include <vector>

namespace redoubt {

// The directions in which the trade-off sets of a stage are known. A direction weighs the reward
// and each constraint's utility; it is given by **prices**: (1, price of constraint 1, price of
// constraint 2, ...). The directions are all combinations of the prices listed for each constraint,
// and one **ray** for each constraint, which cares for that utility alone.
class Directions {
 public:
  static constexpr int kMostConstraints = 6;

  Directions() = default;
  explicit Directions(std::vector<std::vector<double>>
                          prices);  // ascending for each constraint, the first one zero

  int constraints() const { return static_cast<int>(prices_.size()); }
  int signals() const { return constraints() + 1; }
  int rays_begin() const { return rays_begin_; }
  int size() const { return rays_begin_ + constraints(); }
  const std::vector<double>& prices(int constraint) const { return prices_[constraint]; }
  // weight(direction, 0) is that of the reward.
  double weight(int direction, int signal) const {
    return weights_[static_cast<std::size_t>(direction) * signals() + signal];
  }

  // A direction q written as a sum of listed ones: q = sum of weight[c] * direction[c]. The support
  // function of a set is sublinear, so the same sum of its values at the listed directions is an
  // upper bound at q.
  struct Parts {
    int count = 0;
    std::array<int, (1 << kMostConstraints) + kMostConstraints> direction;
    std::array<double, (1 << kMostConstraints) + kMostConstraints> weight;
    void add(int d, double w) {
      direction[count] = d;
      weight[count++] = w;
    }
  };
  void split(const double* q, Parts& parts) const;

  // The same for one constraint, where it is at most two directions. `near` is a guess of the lower
  // one and receives it.
  struct Pair {
    int low, high;
    double low_weight, high_weight;
  };
  Pair split(double reward_weight, double utility_weight, int& near) const {
    const std::vector<double>& price = prices_[0];
    const int last = rays_begin_ - 1;
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
  std::vector<std::vector<double>> prices_;
  std::vector<double> weights_;
  int rays_begin_ = 1;
};

}  // namespace redoubt
