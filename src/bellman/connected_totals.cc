#include "bellman/connected_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/grouped.h"

namespace redoubt::internal {
namespace {

constexpr int kMostPolicies = 10000;
constexpr double kNotBetter = 1e-13;  // of the largest value: by rounding only
constexpr double kUnit = 4e-16;       // of the largest value: a change that is rounding

}  // namespace

ConnectedTotals::ConnectedTotals(const KernelRows& rows, std::span<const char> use, double sign,
                                 double accuracy, Workers& workers)
    : rows_(rows), use_(use), sign_(sign), accuracy_(accuracy), workers_(workers) {}

void ConnectedTotals::solve(std::span<const State> members, std::vector<double>& values,
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

void ConnectedTotals::gather(std::span<const State> members, const std::vector<double>& values,
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

void ConnectedTotals::add_row(Row row, std::int32_t member, std::int32_t position,
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

double ConnectedTotals::size() const {
  double most = 0;
  for (const double value : x_) most = std::max(most, std::abs(value));
  return most;
}

std::int32_t ConnectedTotals::best_row(std::int32_t member, double& value) const {
  std::int32_t best = first_[member];
  value = worth(local_[best]);
  for (std::int32_t r = best + 1; r < first_[member + 1]; ++r) {
    const double other = worth(local_[r]);
    if (other > value) value = other, best = r;
  }
  return best;
}

void ConnectedTotals::sweep_best() {
  for (const std::int32_t i : order_) pick_[i] = best_row(i, x_[i]);
}

// States next to the outside first, then those that lead to them, and so on: what is known spreads
// over all of them in one sweep.
void ConnectedTotals::find_order() {
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
void ConnectedTotals::keep_ends() {
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
double ConnectedTotals::follow(double accuracy) {
  constexpr std::array<Way, 5> kWays = {{{192, 0}, {0, 200}, {800, 0}, {0, 1000}, {1'000'000, 0}}};
  for (;; ++way_) {
    const Way& way = kWays[way_];
    if (way.work > 0 && eliminate(way.work)) return 0;
    if (way.sweeps > 0 && follow_by_sweeps(accuracy, way.sweeps)) return accuracy;
    if (way_ + 1 == kWays.size()) return accuracy;
  }
}

bool ConnectedTotals::eliminate(double work) {
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
double ConnectedTotals::sweep_policy() {
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
bool ConnectedTotals::follow_by_sweeps(double accuracy, int most) {
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

// A sweep that takes another row where it is better by more than `noise`. `gain`: the most, of the
// largest value.
bool ConnectedTotals::improve(double noise, double& gain) {
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
void ConnectedTotals::polish() {
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

}  // namespace redoubt::internal
