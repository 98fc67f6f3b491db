#include "bellman/kernel_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "numerics/chain_elimination.h"
#include "sets/row.h"
#include "support/grouped.h"

namespace redoubt::internal {
namespace {

constexpr int kMostPolicies = 10000;
constexpr double kNotBetter = 1e-13;  // of the largest value: by rounding only
constexpr double kUnit = 4e-16;       // of the largest value: a change that is rounding

// Totals in one strongly connected component of several states, by policy iteration. Rows that lead
// to their own state are divided by the probability that they leave it: whoever takes one takes it
// until then.
class ConnectedTotals {
 public:
  ConnectedTotals(const KernelRows& rows, std::span<const char> use, double sign, double accuracy,
                  Workers& workers)
      : rows_(rows), use_(use), sign_(sign), accuracy_(accuracy), workers_(workers) {}

  // For the states of a component, given the values of all that they lead to outside.
  void solve(std::span<const State> members, std::vector<double>& values,
             std::vector<std::int32_t>& actions) {
    gather(members, values, actions);
    find_order();
    std::vector<State> sorted(members.begin(), members.end());
    if (order_.size() == members.size()) {  // so that a sweep goes through memory from end to end
      std::transform(order_.begin(), order_.end(), sorted.begin(),
                     [&](std::int32_t i) { return members[i]; });
      members = sorted;
      gather(members, values, actions);
      std::iota(order_.begin(), order_.end(), 0);
    }
    constexpr std::int32_t kFew = 32;  // states that are always eliminated
    way_ = count() <= kFew ? 1 : 0;
    const bool choice = static_cast<std::int32_t>(local_.size()) > count();
    constexpr int kFirstSweeps = 8;  // of states that are many, before policies are followed
    for (int sweep = 0; choice && count() > kFew && sweep < kFirstSweeps; ++sweep) sweep_best();
    // Early policies are followed roughly: as exactly as what is better shows.
    double accuracy = choice ? std::max(accuracy_, 1e-3) : accuracy_;
    for (int policies = 0; policies < kMostPolicies; ++policies) {
      keep_ends();
      const double left = follow(accuracy);
      double gain = 0;
      const bool better = improve((kNotBetter + left) * size(), gain);
      if (!better && left <= accuracy_) break;
      accuracy = std::max(accuracy_, better ? std::min(accuracy, 0.1 * gain) : 1e-3 * accuracy);
    }
    polish();
    for (std::int32_t i = 0; i < count(); ++i) {
      values[members[i]] = sign_ * x_[i];
      actions[members[i]] = local_[pick_[i]].position;
      place_[members[i]] = -1;
    }
  }

 private:
  struct LocalRow {
    double earned = 0;  // with the values outside
    double leaves = 0;  // the probability that it leads outside
    std::int64_t begin = 0, end = 0;
    std::int32_t position = 0;  // among all rows of the state
  };
  struct Entry {
    std::int32_t to;  // a member
    double probability;
  };
  struct Way {
    int sweeps;   // at most, or
    double work;  // additions of elimination for each state
  };

  void gather(std::span<const State> members, const std::vector<double>& values,
              const std::vector<std::int32_t>& actions) {
    if (place_.empty()) place_.assign(rows_.states(), -1);
    for (std::size_t i = 0; i < members.size(); ++i)
      place_[members[i]] = static_cast<std::int32_t>(i);
    local_.clear(), entries_.clear(), first_.assign(1, 0), pick_.clear(), x_.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const State s = members[i];
      const auto begin = static_cast<std::int32_t>(local_.size());
      pick_.push_back(begin);
      for (Row row = rows_.state_rows[s]; row < rows_.state_rows[s + 1]; ++row) {
        const auto position = static_cast<std::int32_t>(row - rows_.state_rows[s]);
        if (!use_.empty() && !use_[row]) continue;
        if (actions[s] == position) pick_.back() = static_cast<std::int32_t>(local_.size());
        add_row(row, static_cast<std::int32_t>(i), position, values);
      }
      pick_.back() = std::min(pick_.back(), static_cast<std::int32_t>(local_.size()) - 1);
      first_.push_back(static_cast<std::int32_t>(local_.size()));
      x_.push_back(sign_ * values[s]);
    }
    ending_ = pick_;
  }

  void add_row(Row row, std::int32_t member, std::int32_t position,
               const std::vector<double>& values) {
    LocalRow here;
    here.earned = rows_.earned[row];
    here.position = position;
    here.begin = static_cast<std::int64_t>(entries_.size());
    double moves = 0;  // the probability that it leads to another state
    for (auto k = rows_.begin[row]; k < rows_.begin[row + 1]; ++k) {
      const double p = rows_.probability[k];
      const std::int32_t to = place_[rows_.next[k]];
      if (p <= 0 || to == member) continue;
      moves += p;
      if (to >= 0)
        entries_.push_back({to, p});
      else
        here.leaves += p, here.earned += p * values[rows_.next[k]];
    }
    if (moves <= 0) return;  // it never ends
    here.end = static_cast<std::int64_t>(entries_.size());
    here.earned *= sign_ / moves;
    here.leaves /= moves;
    for (auto k = here.begin; k < here.end; ++k) entries_[k].probability /= moves;
    local_.push_back(here);
  }

  double size() const {
    double most = 0;
    for (const double value : x_) most = std::max(most, std::abs(value));
    return most;
  }

  std::int32_t best_row(std::int32_t member, double& value) const {
    std::int32_t best = first_[member];
    value = worth(local_[best]);
    for (std::int32_t r = best + 1; r < first_[member + 1]; ++r) {
      const double other = worth(local_[r]);
      if (other > value) value = other, best = r;
    }
    return best;
  }

  void sweep_best() {
    for (const std::int32_t i : order_) pick_[i] = best_row(i, x_[i]);
  }

  // States next to the outside first, then those that lead to them, and so on: what is known
  // spreads over all of them in one sweep.
  void find_order() {
    const auto leading = grouped<std::int32_t>(count(), [&](auto visit) {  // to each
      for (std::int32_t i = 0; i < count(); ++i)
        for (std::int32_t r = first_[i]; r < first_[i + 1]; ++r)
          for (auto k = local_[r].begin; k < local_[r].end; ++k) visit(entries_[k].to, i);
    });
    std::vector<char> found(count(), 0);
    order_.clear();
    const auto reach = [&](std::int32_t i) {
      if (!found[i]) order_.push_back(i);
      found[i] = 1;
    };
    for (std::int32_t i = 0; i < count(); ++i) {
      for (std::int32_t r = first_[i]; r < first_[i + 1]; ++r)
        if (local_[r].leaves > 0) reach(i);
    }
    for (std::size_t done = 0; done < order_.size(); ++done)
      for (const std::int32_t i : leading[order_[done]]) reach(i);
  }

  // States from which the policy never leaves the component take the rows that it began with.
  void keep_ends() {
    if (pick_ == ending_) return;
    const auto leading = grouped<std::int32_t>(count(), [&](auto visit) {  // to each
      for (std::int32_t i = 0; i < count(); ++i)
        for (auto k = local_[pick_[i]].begin; k < local_[pick_[i]].end; ++k)
          visit(entries_[k].to, i);
    });
    std::vector<char> ends(count(), 0);
    std::vector<std::int32_t> open;
    for (std::int32_t i = 0; i < count(); ++i)
      if (local_[pick_[i]].leaves > 0) ends[i] = 1, open.push_back(i);
    while (!open.empty()) {
      const std::int32_t reached = open.back();
      open.pop_back();
      for (const std::int32_t i : leading[reached])
        if (!ends[i]) ends[i] = 1, open.push_back(i);
    }
    for (std::int32_t i = 0; i < count(); ++i)
      if (!ends[i]) pick_[i] = ending_[i];
  }

  // By sweeps where not many will do; else by elimination where that does not take long; else with
  // more patience, and more. What has failed once is not tried again. Returns how exact it is.
  double follow(double accuracy) {
    constexpr std::array<Way, 5> kWays = {
        {{192, 0}, {0, 200}, {800, 0}, {0, 1000}, {1'000'000, 0}}};
    for (;; ++way_) {
      const Way& way = kWays[way_];
      if (way.work > 0 && eliminate(way.work)) return 0;
      if (way.sweeps > 0 && follow_by_sweeps(accuracy, way.sweeps)) return accuracy;
      if (way_ + 1 == kWays.size()) return accuracy;
    }
  }

  bool eliminate(double work) {
    elimination_.begin(count());
    for (std::int32_t i = 0; i < count(); ++i) {
      const LocalRow& row = local_[pick_[i]];
      elimination_.set(i, row.leaves, row.earned);
      for (auto k = row.begin; k < row.end; ++k)
        elimination_.lead(i, entries_[k].to, entries_[k].probability);
    }
    if (!elimination_.solve(work * count())) return false;
    for (std::int32_t i = 0; i < count(); ++i) x_[i] = elimination_[i];
    return true;
  }

  // In place, from the states next to the outside on. Returns the largest change.
  double sweep_policy() {
    before_.resize(x_.size());
    double change = 0;
    largest_ = 0;
    for (const std::int32_t i : order_) {
      const double value = worth(local_[pick_[i]]);
      change = std::max(change, std::abs(value - x_[i]));
      largest_ = std::max(largest_, std::abs(value));
      before_[i] = x_[i];
      x_[i] = value;
    }
    return change;
  }

  // When changes shrink by the same share again and again, it goes as far as they would lead. False
  // when it takes more than this many sweeps, or would by the looks of it. What rounding leaves is
  // exact.
  bool follow_by_sweeps(double accuracy, int most) {
    constexpr int kBetweenChecks = 64, kBeforeLeap = 6, kPatience = 100;
    constexpr double kMayBeRounding = 1e-12;
    double last = 0, last_share = 1, least = std::numeric_limits<double>::infinity();
    int close = 0, steady = 0, waited = 0;
    for (int sweep = 1; sweep <= most; ++sweep) {
      if (sweep % kBetweenChecks == 0) workers_.check();
      const double change = sweep_policy(), scale = largest_;
      waited = change < 0.9 * least ? 0 : waited + 1;
      least = std::min(least, change);
      if (change <= kUnit * scale || (waited > kPatience && least <= kMayBeRounding * scale))
        return true;
      const double share = last > 0 ? change / last : 1;
      const double rest = share < 1 ? share / (1 - share) : std::numeric_limits<double>::infinity();
      close = change * rest <= accuracy * scale ? close + 1 : 0;
      if (close >= 2) return true;
      if (sweep % kBetweenChecks == 0 && share < 1 &&
          sweep + std::log(accuracy * scale / (change * rest)) / std::log(share) > most)
        return false;
      steady = share < 1 && std::abs(share - last_share) < 0.05 * (1 - share) ? steady + 1 : 0;
      last = change, last_share = share;
      if (steady < kBeforeLeap) continue;
      for (const std::int32_t i : order_) x_[i] += (x_[i] - before_[i]) * rest;
      last = 0, last_share = 1, steady = close = 0;
    }
    return false;
  }

  // A sweep that takes another row where it is better by more than `noise`. `gain`: the most, of
  // the largest value.
  bool improve(double noise, double& gain) {
    bool better = false;
    for (const std::int32_t i : order_) {
      double value = 0;
      const std::int32_t best = best_row(i, value);
      if (best != pick_[i] && value > x_[i] + noise) {
        gain = std::max(gain, value - x_[i]);
        pick_[i] = best;
        better = true;
      }
      x_[i] = std::max(x_[i], value);  // as those that lead here see it
    }
    if (better) gain /= std::max(size(), std::numeric_limits<double>::min());
    return better;
  }

  // What rows are better by that did not count takes a few sweeps over all of them.
  void polish() {
    constexpr int kMost = 64;
    for (int sweep = 0; sweep < kMost; ++sweep) {
      double change = 0;
      for (const std::int32_t i : order_) {
        double value = 0;
        best_row(i, value);
        change = std::max(change, std::abs(value - x_[i]));
        x_[i] = value;
      }
      if (change <= kUnit * size()) return;
    }
  }

  std::int32_t count() const { return static_cast<std::int32_t>(x_.size()); }
  double worth(const LocalRow& row) const {
    double sum = row.earned;
    for (auto k = row.begin; k < row.end; ++k) sum += entries_[k].probability * x_[entries_[k].to];
    return sum;
  }

  const KernelRows& rows_;
  std::span<const char> use_;
  double sign_, accuracy_;
  Workers& workers_;
  std::vector<std::int32_t> place_;  // of each state among the members; -1: it is none
  std::vector<LocalRow> local_;
  std::vector<std::int32_t> first_;  // local row of each member, and the end
  std::vector<Entry> entries_;
  std::vector<std::int32_t> order_;   // in which members are swept over
  std::vector<double> x_, before_;    // values of members, in the sign in which they are large
  double largest_ = 0;                // size of a value of the last sweep over a policy's rows
  std::vector<std::int32_t> pick_;    // the local row of each member that the policy takes
  std::vector<std::int32_t> ending_;  // and of the policy that it began with
  std::size_t way_ = 0;               // in which policies of this component are followed
  ChainElimination elimination_;
};

}  // namespace

void KernelTotals::find_components() {
  std::vector<std::int64_t> begin = {0};
  std::vector<std::int32_t> to;
  begin.reserve(rows_.state_rows.size());
  to.reserve(rows_.next.size());
  for (State s = 0; s < rows_.states(); ++s) {
    for (Row row = rows_.state_rows[s]; row < rows_.state_rows[s + 1]; ++row) {
      if (!may_use(row)) continue;
      for (auto k = rows_.begin[row]; k < rows_.begin[row + 1]; ++k)
        if (rows_.probability[k] > 0 && rows_.next[k] != s) to.push_back(rows_.next[k]);
    }
    begin.push_back(static_cast<std::int64_t>(to.size()));
  }
  components_ = strong_components(begin, to);
}

void KernelTotals::solve(std::vector<double>& values, std::vector<std::int32_t>& actions) {
  constexpr int kBetweenChecks = 4096;
  for (const double value : rows_.earned) unit_ = std::max(unit_, std::abs(value));
  find_components();
  ConnectedTotals connected(rows_, use_, sign_, accuracy_, workers_);
  for (int c = 0; c < components_.count(); ++c) {
    if (c % kBetweenChecks == 0) workers_.check();
    const std::span<const State> members = components_.members(c);
    if (members.size() == 1)
      solve_alone(members.front(), values, actions);
    else
      connected.solve(members, values, actions);
  }
}

// Whoever takes a row that leads back takes it until it leaves.
void KernelTotals::solve_alone(State s, std::vector<double>& values,
                               std::vector<std::int32_t>& actions) {
  double best = -std::numeric_limits<double>::infinity();
  std::int32_t action = -1;
  const Row first = rows_.state_rows[s], last = rows_.state_rows[s + 1];
  for (Row row = first; row < last; ++row) {
    if (!may_use(row)) continue;
    double leaves = 0, sum = rows_.earned[row];
    for (auto k = rows_.begin[row]; k < rows_.begin[row + 1]; ++k) {
      if (rows_.next[k] == s) continue;
      leaves += rows_.probability[k];
      sum += rows_.probability[k] * values[rows_.next[k]];
    }
    if (leaves <= 0) continue;  // it never ends
    const double worth = sign_ * sum / leaves;
    // Of rows that differ by rounding only the first is taken.
    if (action < 0 || worth > best + kSameWorth * std::max(unit_, std::abs(best)))
      action = static_cast<std::int32_t>(row - first);
    best = std::max(best, worth);
  }
  values[s] = action < 0 ? 0 : sign_ * best;
  actions[s] = action;
}

}  // namespace redoubt::internal
