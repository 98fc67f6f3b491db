#include "solvers/frontier/games/state_game.h"

#include <algorithm>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

constexpr int kMostIdleRounds = 30;  // that close less than a tenth of the gap: rounding is left

// Drops what is rounding, and makes the rest sum to one. False when there is none.
bool normalise(std::vector<double>& weights) {
  constexpr double kUnused = 1e-13;
  double sum = 0, kept = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) kept += weight = weight > kUnused * sum ? weight : 0;
  for (double& weight : weights) weight /= kept > 0 ? kept : 1;
  return kept > 0;
}

// Next values of what the policy plays: a choice is one of the actions with weight.
struct AveragePoints {
  const double* average;  // [signal][place]
  const double* extra;
  std::size_t places;
  std::span<const int> signals;  // of each item
  std::span<const int> actions;  // of each choice
  std::span<const int> begin;
  std::span<const char> landing;
  double discount;

  double operator()(int item, std::int64_t choice, int outcome, State) const {
    return average[signals[item] * places + begin[actions[choice % actions.size()]] + outcome];
  }
  double floor(int item, std::int64_t choice) const {
    const int action = actions[choice % actions.size()];
    const auto first = signals[item] * places;
    if (landing[action]) return average[first + begin[action + 1] - 1];
    return average[first + begin[action]] + extra[first + begin[action]] / discount;  // no landing
  }
};

}  // namespace

void StateGame::begin(const StateRows& rows) {
  const Model& model = problem_->model();
  rows_ = &rows;
  place_begin_.assign(1, 0);
  place_.clear();
  nominal_.clear();
  for (int a = 0; a < rows.actions(); ++a) {
    const auto first = model.outcome_begin(rows.first + a);
    place_.insert(place_.end(), rows.places[a].begin(), rows.places[a].end());
    place_begin_.push_back(static_cast<int>(place_.size()));
    for (int i = 0; i < places_of(a); ++i)
      nominal_.push_back(
          rows.landing[a] && i + 1 == places_of(a) ? 0.0 : model.arrays().probability[first + i]);
  }
  const std::size_t signals = channels_.size(), places = place_.size();
  own_.assign(signals * rows.actions(), 0.0);
  extra_.assign(signals * places, 0.0);
  for (std::size_t j = 0; j < signals; ++j) {
    const Channel& channel = channels_[j];
    for (int a = 0; a < rows.actions(); ++a) {
      const Row row = rows.first + a;
      own_[j * rows.actions() + a] = channel.sign * model.value(channel.signal, row);
      for (int i = 0; i < places_of(a) - rows.landing[a]; ++i)
        extra_[j * places + place_begin_[a] + i] =
            channel.sign * model.outcome_value(channel.signal, model.outcome_begin(row) + i);
    }
  }
  columns_.clear();
  answers_.assign(signals, {});
  mixed_.assign(signals, nominal_);
  latest_.assign(signals, nominal_);
  corner_.assign(places, 0);
  near_.assign(places, 0);
  average_.resize(signals * places);
}

// Each round, the linear program has both sides' mixtures of what they know; the best answers to
// them are bounds, and what they know next.
void StateGame::solve(std::span<const double> weights, double tolerance, int rounds,
                      StateGameEnd& end) {
  weights_.assign(weights.begin(), weights.end());
  end.bound = upper_ = kInfinity;
  end.value = -kInfinity;
  end.gap = kInfinity;
  keep_used();
  for (std::size_t j = 0; j < weights_.size(); ++j) {
    if (!counts(static_cast<int>(j)))
      mixed_[j] = nominal_;
    else if (answers_[j].kernels.empty())
      add_kernel(static_cast<int>(j), nominal_);
  }
  if (columns_.empty()) {
    respond(end);
    for (const GameColumn& column : responses_) add_column(column);
  }
  double open = kInfinity;  // of the gap, when it last fell by much
  for (int round = 0, idle = 0; round < rounds && idle < kMostIdleRounds; ++round, ++idle) {
    mix();
    respond(end);
    const double value = answer_columns();
    if (value > end.value) {
      end.value = value;
      end.columns.clear();
      for (const GameColumn& column : columns_)
        if (column.weight > 0) end.columns.push_back(column);
    }
    end.gap = upper_ - end.value;
    if (end.gap <= tolerance || !add_answers()) return;
    if (end.gap < 0.9 * open) open = end.gap, idle = 0;
  }
}

double StateGame::worth_of(int signal, const Kernel& kernel, const GameColumn& column) const {
  const auto first = signal * place_.size();
  const double discount = problem_->discount();
  double sum = own_[signal * rows_->actions() + column.action];
  for (int i = 0, at = place_begin_[column.action]; i < places_of(column.action); ++i, ++at)
    sum += kernel[at] * (extra_[first + at] +
                         discount * rows_->next->points(place_[at], signal)[column.points[i]]);
  return sum;
}

void StateGame::add_column(const GameColumn& column) {
  for (std::size_t j = 0; j < answers_.size(); ++j) {
    for (std::size_t n = 0; n < answers_[j].kernels.size(); ++n)
      answers_[j].worth[n].push_back(worth_of(static_cast<int>(j), answers_[j].kernels[n], column));
  }
  columns_.push_back(column);
}

bool StateGame::has_column(const GameColumn& column) const {
  return std::any_of(columns_.begin(), columns_.end(), [&](const GameColumn& known) {
    return known.action == column.action && known.points == column.points;
  });
}

void StateGame::add_kernel(int signal, const Kernel& kernel) {
  Answers& answers = answers_[signal];
  answers.kernels.push_back(kernel);
  answers.weight.push_back(0);
  std::vector<double>& worth = answers.worth.emplace_back();
  for (const GameColumn& column : columns_) worth.push_back(worth_of(signal, kernel, column));
}

// What the last linear program gave no weight is forgotten.
void StateGame::keep_used() {
  for (Answers& answers : answers_) {
    std::size_t kept = 0;
    for (std::size_t n = 0; n < answers.kernels.size(); ++n) {
      if (answers.weight[n] <= 0) continue;
      if (kept < n) answers.kernels[kept] = std::move(answers.kernels[n]);
      answers.weight[kept++] = answers.weight[n];
    }
    answers.kernels.resize(kept);
    answers.weight.resize(kept);
    answers.worth.assign(kept, {});
  }
  std::vector<GameColumn> columns;
  columns.swap(columns_);
  for (const GameColumn& column : columns)
    if (column.weight > 0) add_column(column);
}

// The best mixture of columns against the kernels at hand, and nature's best mixture of these.
// Every signal is counted in units of its range, from one on, so that its least worth is positive.
void StateGame::mix() {
  const int columns = static_cast<int>(columns_.size());
  std::vector<int> signals;
  int cuts = 0;
  for (int j = 0; j < static_cast<int>(answers_.size()); ++j) {
    if (!counts(j)) continue;
    signals.push_back(j);
    cuts += static_cast<int>(answers_[j].kernels.size());
  }
  const int counted = static_cast<int>(signals.size());
  simplex_.begin(counted + columns, cuts + 1);
  std::vector<double> unit(counted);
  double all = 0;
  for (int n = 0; n < counted; ++n) {
    double low = kInfinity, high = -kInfinity;
    for (const auto& worth : answers_[signals[n]].worth) {
      for (const double value : worth) low = std::min(low, value), high = std::max(high, value);
    }
    const double range = high > low ? high - low : 1;
    int row = 0;
    for (int before = 0; before < n; ++before)
      row += static_cast<int>(answers_[signals[before]].kernels.size());
    for (const auto& worth : answers_[signals[n]].worth) {
      simplex_.entry(row, n) = 1;
      for (int c = 0; c < columns; ++c)
        simplex_.entry(row, counted + c) = -(1 + (worth[c] - low) / range);
      ++row;
    }
    unit[n] = weights_[signals[n]] * range;
    all += unit[n];
  }
  for (int n = 0; n < counted; ++n) simplex_.objective(n) = unit[n] / all;
  for (int c = 0; c < columns; ++c) simplex_.entry(cuts, counted + c) = 1;
  simplex_.limit(cuts) = 1;
  simplex_.solve();

  std::vector<double> weight(columns);
  for (int c = 0; c < columns; ++c) weight[c] = simplex_.value(counted + c);
  if (!normalise(weight)) weight.back() = 1;
  for (int c = 0; c < columns; ++c) columns_[c].weight = weight[c];
  for (int n = 0, row = 0; n < counted; ++n) {
    Answers& answers = answers_[signals[n]];
    for (double& price : answers.weight) price = simplex_.price(row++);
    // A signal that hardly counts may have no price at all: any kernel will do.
    if (!normalise(answers.weight)) answers.weight.back() = 1;
    Kernel& mixed = mixed_[signals[n]];
    std::fill(mixed.begin(), mixed.end(), 0.0);
    for (std::size_t k = 0; k < answers.kernels.size(); ++k) {
      for (std::size_t i = 0; i < mixed.size(); ++i)
        mixed[i] += answers.weight[k] * answers.kernels[k][i];
    }
  }
}

// The best point of a place in a direction; what it is worth, and a bound on what any point is.
double StateGame::respond_at(int place, const double* q, double& support, std::int32_t& point) {
  const TradeOffs& next = *rows_->next;
  const Directions& directions = next.directions();
  const double* bounds = next.bounds(place_[place]);
  if (directions.constraints() == 1) {
    const Directions::Pair pair = directions.split(q[0], q[1], near_[place]);
    support = pair.low_weight * bounds[pair.low] + pair.high_weight * bounds[pair.high];
    const Curve& curve = (*rows_->curves)[place_[place]];
    const int last = curve.corners() - 1;
    int& best = corner_[place];
    while (best < last && curve.price[best] * q[0] < q[1]) ++best;
    while (best > 0 && curve.price[best - 1] * q[0] > q[1]) --best;
    point = curve.point[best];
    return q[0] * curve.reward[best] + q[1] * curve.utility[best];
  }
  Directions::Parts parts;
  support = rows_->supports->outside(place_[place], q, parts);
  return rows_->supports->inside(place_[place], q, point);
}

// Every action answers nature's mixture; the best of them bounds the game.
void StateGame::respond(StateGameEnd& end) {
  const int signals = static_cast<int>(channels_.size());
  const double discount = problem_->discount();
  double q[Directions::kMostSignals] = {};
  double support = -kInfinity, inside = -kInfinity;
  responses_.resize(rows_->actions());
  inside_.resize(rows_->actions());
  outside_.resize(rows_->actions());
  for (int a = 0; a < rows_->actions(); ++a) {
    double outer = 0, inner = 0;
    responses_[a].action = a;
    responses_[a].points.resize(places_of(a));
    for (int at = place_begin_[a]; at < place_begin_[a + 1]; ++at) {
      double bound = 0;
      for (int j = 0; j < signals; ++j) {
        q[j] = weights_[j] * mixed_[j][at];
        outer += q[j] * extra_[j * place_.size() + at];
        inner += q[j] * extra_[j * place_.size() + at];
      }
      inner += discount * respond_at(at, q, bound, responses_[a].points[at - place_begin_[a]]);
      outer += discount * bound;
    }
    for (int j = 0; j < signals; ++j) {
      outer += weights_[j] * own_[j * rows_->actions() + a];
      inner += weights_[j] * own_[j * rows_->actions() + a];
    }
    support = std::max(support, outer);
    inside = std::max(inside, inner);
    inside_[a] = inner;
    outside_[a] = outer;
  }
  end.bound = std::min(end.bound, support);
  if (inside >= upper_) return;
  upper_ = inside;
  end.bounds = outside_;
  end.kernel.resize(place_.size() * signals);
  for (std::size_t i = 0; i < place_.size(); ++i) {
    for (int j = 0; j < signals; ++j) end.kernel[i * signals + j] = mixed_[j][i];
  }
}

// The points that the columns of each action make together. With one constraint the curve has more
// reward for the same utility.
void StateGame::average_columns() {
  const std::size_t signals = channels_.size(), places = place_.size();
  share_.assign(rows_->actions(), 0.0);
  std::fill(average_.begin(), average_.end(), 0.0);
  for (const GameColumn& column : columns_) share_[column.action] += column.weight;
  for (const GameColumn& column : columns_) {
    if (column.weight <= 0) continue;
    const double weight = column.weight / share_[column.action];
    for (std::size_t j = 0; j < signals; ++j) {
      for (std::size_t i = 0; i < column.points.size(); ++i) {
        const auto at = place_begin_[column.action] + i;
        average_[j * places + at] +=
            weight * rows_->next->points(place_[at], static_cast<int>(j))[column.points[i]];
      }
    }
  }
  if (signals != 2) return;
  for (std::size_t at = 0; at < places; ++at) {
    const Curve& curve = (*rows_->curves)[place_[at]];
    int near = corner_[at];
    average_[at] = std::max(average_[at],
                            average(mix_along(curve, average_[places + at], near), curve.reward));
  }
}

// Nature answers what the columns make, for each signal on its own. What she leaves is guaranteed.
double StateGame::answer_columns() {
  average_columns();
  row_.clear(), row_weight_.clear(), row_action_.clear(), items_.clear();
  for (int a = 0; a < rows_->actions(); ++a)
    if (share_[a] > 0) row_action_.push_back(a);
  std::vector<int> signals;
  for (int j = 0; j < static_cast<int>(channels_.size()); ++j) {
    if (!counts(j)) continue;
    signals.push_back(j);
    items_.push_back({static_cast<std::int64_t>(row_.size()), static_cast<int>(row_action_.size()),
                      channels_[j]});
    for (const int a : row_action_) {
      row_.push_back(rows_->first + a);
      row_weight_.push_back(share_[a]);
    }
  }
  const AveragePoints next{average_.data(), extra_.data(), place_.size(),  signals,
                           row_action_,     place_begin_,  rows_->landing, problem_->discount()};
  result_.resize(items_.size());
  batch_.worst(items_, {row_.data(), row_weight_.data()}, next, result_.data(), true,
               [&](int item, const StateLanes& lanes, int lane) {
                 Kernel& kernel = latest_[signals[item]];
                 kernel = nominal_;
                 for (int n = 0; n < static_cast<int>(row_action_.size()); ++n) {
                   const int a = row_action_[n], outcomes = places_of(a) - rows_->landing[a];
                   for (int i = 0; i < outcomes; ++i)
                     kernel[place_begin_[a] + i] = lanes.chosen(lane, n, i);
                   if (rows_->landing[a]) kernel[place_begin_[a + 1] - 1] = lanes.landing(lane, n);
                 }
               });
  double value = 0;
  for (std::size_t n = 0; n < items_.size(); ++n) value += weights_[signals[n]] * result_[n];
  return value;
}

// Takes the last answers of both sides into the lists. False when neither is new.
bool StateGame::add_answers() {
  bool added = false;
  double known = -kInfinity;  // what the columns at hand are worth against nature's mixture
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    double value = 0;
    for (std::size_t j = 0; j < answers_.size(); ++j) {
      for (std::size_t n = 0; counts(static_cast<int>(j)) && n < answers_[j].kernels.size(); ++n)
        value += weights_[j] * answers_[j].weight[n] * answers_[j].worth[n][c];
    }
    known = std::max(known, value);
  }
  for (int a = 0; a < rows_->actions(); ++a) {
    if (inside_[a] <= known || has_column(responses_[a])) continue;
    add_column(responses_[a]);
    added = true;
  }
  for (int j = 0; j < static_cast<int>(answers_.size()); ++j) {
    if (!counts(j)) continue;
    const auto& known_kernels = answers_[j].kernels;
    if (std::find(known_kernels.begin(), known_kernels.end(), latest_[j]) != known_kernels.end())
      continue;
    add_kernel(j, latest_[j]);
    added = true;
  }
  return added;
}

}  // namespace redoubt::internal
