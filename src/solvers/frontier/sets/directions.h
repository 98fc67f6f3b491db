#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace redoubt::internal {

// The directions in which the trade-off sets of a stage are known. A direction weighs the reward
// and each constraint's utility. Its **lead** is the first signal that it cares for, with weight
// one; those after it have **prices**: (1, price, price, ...) leads with the reward, (0, 1, price,
// ...) with the first utility, and so on up to (0, 0, ..., 1). The directions of a lead are all
// combinations of the prices that are listed for the signals after it. Those that do not lead with
// the reward tell what utilities are worth together where nature takes all reward away; the first
// of each lead is the **ray** that cares for its utility alone.
class Directions {
 public:
  static constexpr int kMostConstraints = 6;
  using Prices = std::vector<std::vector<double>>;  // lists, each ascending, the first price zero

  Directions() = default;
  explicit Directions(Prices prices);  // one for each pair of a lead and a signal after it

  // Lists are numbered by lead, then by signal: the first ones are those of the constraints where
  // the reward leads.
  static int lists(int constraints) { return constraints * (constraints + 1) / 2; }
  int lists() const { return static_cast<int>(prices_.size()); }
  int list(int lead, int signal) const {
    return lead * signals() - lead * (lead + 1) / 2 + signal - lead - 1;
  }

  bool operator==(const Directions& other) const { return prices_ == other.prices_; }
  int constraints() const { return constraints_; }
  int signals() const { return constraints_ + 1; }
  int rays_begin() const { return begin_[1]; }  // the first direction without weight on the reward
  int ray(int constraint) const { return begin_[constraint + 1]; }
  int size() const { return static_cast<int>(lead_.size()); }
  int lead(int direction) const { return lead_[direction]; }
  const std::vector<double>& prices(int list) const { return prices_[list]; }
  // weight(direction, 0) is that of the reward.
  double weight(int direction, int signal) const {
    return weights_[static_cast<std::size_t>(direction) * signals() + signal];
  }

  // The part of a direction that is written by directions of one lead. The price of each signal
  // after it lies between its listed price `low` and the next, of which it has a share; what lies
  // beyond the last one is left to later leads.
  struct Level {
    int lead;
    double weight;
    std::array<int, kMostConstraints + 1> low;  // of each signal after the lead, like the others
    std::array<double, kMostConstraints + 1> share, price;
  };
  template <class Visit>
  void for_each_level(const double* q, Visit visit) const;

  // A direction q written as a sum of listed ones: q = sum of weight[c] * direction[c]. The support
  // function of a set is sublinear, so the same sum of its values at the listed directions is an
  // upper bound at q.
  struct Parts {
    int count = 0;
    std::array<int, 2 << kMostConstraints> direction;
    std::array<double, 2 << kMostConstraints> weight;
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
  double place(double wanted, int signal, Level& level) const;

  Prices prices_;
  int constraints_ = 0;
  std::vector<int> begin_ = {0, 0};  // the first direction of each lead, and the end
  std::vector<int> lead_;            // of each direction
  std::vector<double> weights_;
};

template <class Visit>
void Directions::for_each_level(const double* q, Visit visit) const {
  std::array<double, kMostConstraints + 1> rest;
  for (int j = 0; j < signals(); ++j) rest[j] = q[j];
  for (int lead = 0; lead < signals(); ++lead) {
    if (!(rest[lead] > 0)) continue;
    Level level;
    level.lead = lead;
    level.weight = rest[lead];
    for (int j = lead + 1; j < signals(); ++j) rest[j] = place(rest[j], j, level);
    visit(level);
  }
}

// Finds the listed prices around that of a signal; returns what is left of its weight.
inline double Directions::place(double wanted, int signal, Level& level) const {
  const std::vector<double>& listed = prices_[list(level.lead, signal)];
  const double price = wanted / level.weight;
  level.price[signal] = price;
  if (!(price < listed.back())) {
    level.low[signal] = static_cast<int>(listed.size()) - 1;
    level.share[signal] = 0;
    return std::max(0.0, wanted - listed.back() * level.weight);
  }
  const auto above = std::upper_bound(listed.begin(), listed.end(), price);
  level.low[signal] = static_cast<int>(above - listed.begin()) - 1;
  level.share[signal] = (price - above[-1]) / (above[0] - above[-1]);
  return 0;
}

}  // namespace redoubt::internal
