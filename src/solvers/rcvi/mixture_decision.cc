#include "solvers/rcvi/mixture_decision.h"

#include <algorithm>
#include <cmath>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

constexpr double kSolved = 1e-10;  // of the range of what actions earn
constexpr double kUnused = 1e-12;  // weights that are rounding
constexpr int kMostRounds = 500;

// Next values of the node at hand.
struct NodeValues {
  const std::vector<double>& values;  // [array][place]
  std::size_t places;
  std::span<const int> action;  // of each choice
  std::span<const int> begin;

  double operator()(int item, std::int64_t choice, int outcome, State) const {
    return values[item * places + begin[action[choice % action.size()]] + outcome];
  }
  double floor(int item, std::int64_t choice) const {
    return values[item * places + begin[action[choice % action.size()] + 1] - 1];
  }
};

}  // namespace

MixtureDecision::MixtureDecision(const Problem& problem, std::span<const Channel> channels,
                                 Fallback fallback, std::vector<double> units)
    : problem_(&problem),
      channels_(channels.begin(), channels.end()),
      arrays_(channels.size()),
      fallback_(fallback),
      units_(std::move(units)),
      batch_(problem) {}

void MixtureDecision::begin(Row first, int actions, int lanes) {
  const Model& model = problem_->model();
  first_ = first;
  actions_ = actions;
  lanes_ = lanes;
  begin_.assign(1, 0);
  for (Row row = first; row < first + actions; ++row)
    begin_.push_back(begin_.back() + batch_.needs_floor() +
                     static_cast<int>(model.outcome_end(row) - model.outcome_begin(row)));
  next_.resize(std::max(next_.size(), begin_.back() * arrays_));
  less_.assign(actions * arrays_, 0.0);
}

void MixtureDecision::set_next(int action, int array, int place, const double* values) {
  next_[(begin_[action] + place) * arrays_ + array].assign(values, values + lanes_);
}

void MixtureDecision::read(int lane) {
  const Model& model = problem_->model();
  const std::size_t places = begin_.back();
  here_.resize(arrays_ * places);
  for (std::size_t array = 0; array < arrays_; ++array) {
    for (std::size_t place = 0; place < places; ++place)
      here_[array * places + place] = next_[place * arrays_ + array][lane];
  }
  nominal_.assign(arrays_, Plane(actions_));
  std::vector<double> probability(places, 0.0);
  for (int a = 0; a < actions_; ++a) {
    const auto from = model.outcome_begin(first_ + a), to = model.outcome_end(first_ + a);
    std::copy(model.arrays().probability.begin() + from, model.arrays().probability.begin() + to,
              probability.begin() + begin_[a]);
  }
  for (std::size_t array = 0; array < arrays_; ++array)
    price_rows(static_cast<int>(array), probability, nominal_[array]);
  planes_.assign(arrays_, {});
  for (std::size_t array = 0; array < arrays_; ++array) planes_[array].push_back(nominal_[array]);
}

// What each action is worth under nature's kernels, [place].
void MixtureDecision::price_rows(int array, std::span<const double> chosen, Plane& plane) const {
  const Model& model = problem_->model();
  const Channel& channel = channels_[array];
  const double discount = problem_->discount();
  const double* next = here_.data() + static_cast<std::size_t>(array) * begin_.back();
  for (int a = 0; a < actions_; ++a) {
    const Row row = first_ + a;
    const int outcomes = static_cast<int>(model.outcome_end(row) - model.outcome_begin(row));
    double sum = 0;
    for (int place = begin_[a]; place < begin_[a + 1]; ++place) {
      const int i = place - begin_[a];
      const double extra =
          i < outcomes
              ? channel.sign * model.outcome_value(channel.signal, model.outcome_begin(row) + i)
              : 0;
      sum += chosen[place] * (discount * next[place] + extra);
    }
    plane[a] = channel.sign * model.value(channel.signal, row) + sum - less_[a * arrays_ + array];
  }
}

// The worst cases of some weights, whose planes are kept. What keeps the requirements best is, too.
MixtureDecision::Tried MixtureDecision::attempt(std::vector<double> weight) {
  Tried tried{std::move(weight), std::vector<double>(arrays_)};
  row_.clear(), row_weight_.clear(), action_.clear(), items_.clear();
  for (int a = 0; a < actions_; ++a)
    if (tried.weight[a] > 0) action_.push_back(a);
  for (const Channel& channel : channels_) {
    items_.push_back(
        {static_cast<std::int64_t>(row_.size()), static_cast<int>(action_.size()), channel});
    for (const int a : action_) {
      row_.push_back(first_ + a);
      row_weight_.push_back(tried.weight[a]);
    }
  }
  const NodeValues next{here_, static_cast<std::size_t>(begin_.back()), action_, begin_};
  std::vector<double> chosen(begin_.back());
  batch_.worst(items_, {row_.data(), row_weight_.data()}, next, tried.value.data(), true,
               [&](int array, const StateLanes& lanes, int lane) {
                 const Model& model = problem_->model();
                 for (int n = 0; n < static_cast<int>(action_.size()); ++n) {
                   const int a = action_[n];
                   const int outcomes = static_cast<int>(model.outcome_end(first_ + a) -
                                                         model.outcome_begin(first_ + a));
                   for (int i = 0; i < outcomes; ++i)
                     chosen[begin_[a] + i] = lanes.chosen(lane, n, i);
                   if (batch_.needs_floor()) chosen[begin_[a + 1] - 1] = lanes.landing(lane, n);
                 }
                 Plane& plane = planes_[array].emplace_back(nominal_[array]);
                 Plane found(actions_);
                 price_rows(array, chosen, found);
                 for (const int a : action_) plane[a] = found[a];
               });
  for (std::size_t array = 0; array < arrays_; ++array) {
    for (const int a : action_) tried.value[array] -= tried.weight[a] * less_[a * arrays_ + array];
  }
  if (safe_.weight.empty() || margin(tried) > margin(safe_)) safe_ = tried;
  return tried;
}

// By how much all requirements are exceeded, in their units.
double MixtureDecision::margin(const Tried& tried) const {
  double least = kInfinity;
  for (std::size_t i = 0; limited_ && i < required_.size(); ++i)
    least = std::min(least, (tried.value[i + 1] - required_[i]) / units_[i]);
  return least;
}

// The weights that are best under the planes, of the reward within the requirements or of the
// margin. `level`: what the planes say of them. False when no weights meet the requirements.
bool MixtureDecision::best_weights(bool reward, std::vector<double>& weight, double& level) {
  struct Limit {
    double origin, unit;
    const Plane* plane;
  };
  std::vector<Limit> levels, limits;
  if (reward) {
    double low = kInfinity, high = -kInfinity;
    for (const Plane& plane : planes_[0]) {
      for (const double v : plane) low = std::min(low, v), high = std::max(high, v);
    }
    for (const Plane& plane : planes_[0])
      levels.push_back({low, high > low ? high - low : 1, &plane});
  }
  for (std::size_t i = 0; limited_ && i < required_.size(); ++i) {
    for (const Plane& plane : planes_[i + 1])
      (reward ? limits : levels).push_back({required_[i], units_[i], &plane});
  }
  double least = 0;  // levels are counted from one above the least worth of an action
  for (const Limit& l : levels) {
    for (const double v : *l.plane) least = std::min(least, (v - l.origin) / l.unit);
  }
  const int rows = static_cast<int>(levels.size() + limits.size());
  simplex_.begin(1 + actions_, rows + 1);
  simplex_.objective(0) = 1;
  int row = 0;
  for (const Limit& l : levels) {
    simplex_.entry(row, 0) = 1;
    for (int a = 0; a < actions_; ++a)
      simplex_.entry(row, 1 + a) = -(1 + ((*l.plane)[a] - l.origin) / (l.unit * (1 - least)));
    ++row;
  }
  for (const Limit& l : limits) {
    double size = 1;
    for (const double v : *l.plane) size = std::max(size, std::abs(v - l.origin) / l.unit);
    for (int a = 0; a < actions_; ++a)
      simplex_.entry(row, 1 + a) = (l.origin - (*l.plane)[a]) / (l.unit * size);
    ++row;
  }
  for (int a = 0; a < actions_; ++a) simplex_.entry(row, 1 + a) = 1;
  simplex_.limit(row) = 1;
  simplex_.solve();

  double sum = 0;
  weight.assign(actions_, 0.0);
  for (int a = 0; a < actions_; ++a) {
    const double found = simplex_.value(1 + a);
    sum += weight[a] = found > kUnused ? found : 0;
  }
  if (sum < 0.5) return false;
  for (double& w : weight) w /= sum;
  level = kInfinity;
  for (const Limit& l : levels) {
    double value = 0;
    for (int a = 0; a < actions_; ++a) value += weight[a] * ((*l.plane)[a] - l.origin) / l.unit;
    level = std::min(level, value);
  }
  return true;
}

// Weights that meet the requirements, if there are any; otherwise those that miss them least.
bool MixtureDecision::find_safe() {
  safe_ = {};
  for (int a = 0; a < actions_; ++a) {
    std::vector<double> only(actions_, 0.0);
    only[a] = 1;
    attempt(std::move(only));
  }
  std::vector<double> weight;
  double level = 0;
  for (int round = 0; round < kMostRounds && margin(safe_) <= 0; ++round) {
    if (!best_weights(false, weight, level) || level < 0 || level - margin(safe_) <= kSolved) break;
    attempt(weight);
  }
  if (margin(safe_) >= 0 || fallback_ == Fallback::reward) return margin(safe_) >= 0;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!best_weights(false, weight, level) || level - margin(safe_) <= kSolved) break;
    attempt(weight);
  }
  return false;
}

MixtureDecision::Tried MixtureDecision::between(const Tried& from, const Tried& to,
                                                double share) const {
  Tried mixed = from;
  for (int a = 0; a < actions_; ++a) mixed.weight[a] += share * (to.weight[a] - from.weight[a]);
  for (std::size_t array = 0; array < arrays_; ++array)
    mixed.value[array] += share * (to.value[array] - from.value[array]);
  return mixed;
}

// What the planes like best may miss the requirements a little; on the way from there to weights
// that are safe, worst cases are at least those of the ends, mixed.
MixtureDecision::Tried MixtureDecision::maximise_reward() {
  Tried best = safe_;
  std::vector<double> weight;
  double level = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    if (!best_weights(true, weight, level)) break;
    const Tried tried = attempt(weight);
    double share = 0;
    for (std::size_t i = 0; limited_ && i < required_.size(); ++i) {
      const double short_of = required_[i] - tried.value[i + 1];
      const double gained = safe_.value[i + 1] - tried.value[i + 1];
      if (short_of > 0) share = std::max(share, gained > short_of ? short_of / gained : 1.0);
    }
    const Tried mixed = between(tried, safe_, share);
    if (mixed.value[0] > best.value[0] || !keeps(best)) best = mixed;
    double low = kInfinity, high = -kInfinity, most = kInfinity;
    for (const Plane& plane : planes_[0]) {
      double value = 0;
      for (int a = 0; a < actions_; ++a) {
        value += weight[a] * plane[a];
        low = std::min(low, plane[a]), high = std::max(high, plane[a]);
      }
      if (&plane != &planes_[0].back()) most = std::min(most, value);  // without the new one
    }
    if (most - best.value[0] <= kSolved * std::max(high - low, 1e-300)) break;
  }
  return best;
}

void MixtureDecision::decide(int lane, std::span<const double> required, std::span<double> value,
                             DecisionList& decisions) {
  read(lane);
  required_.assign(required.begin(), required.end());
  limited_ = true;
  Tried found;
  if (find_safe()) {
    found = maximise_reward();
  } else if (fallback_ == Fallback::utility) {
    found = safe_;
  } else {
    limited_ = false;
    found = maximise_reward();
  }
  double sum = 0;
  for (double& weight : found.weight) sum += weight = weight > kUnused ? weight : 0;
  for (double& weight : found.weight) weight /= sum;
  found = attempt(std::move(found.weight));
  std::copy(found.value.begin(), found.value.end(), value.begin());
  std::int32_t count = 0;
  for (int a = 0; a < actions_; ++a) {
    if (found.weight[a] == 0) continue;
    decisions.action.push_back(a);
    decisions.weight.push_back(found.weight[a]);
    ++count;
  }
  decisions.count.push_back(count);
}

}  // namespace redoubt::internal
