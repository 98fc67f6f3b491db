#include "solvers/frontier/games/averaged_response_game.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace redoubt::internal {
namespace {

constexpr double kDamping = 0.9;

// Where the price that the kernels make of a lane meets the price of a curve, when the price falls
// as the utility rises.
struct Meeting {
  const Curve& curve;
  double utility;  // where the price is `price`
  double price;
  double fall0, fall1;  // of the share of the reward's and of the utility's nature

  double on_edge(int n) const {
    return utility + (1 - curve.price[n] / price) / (fall1 + curve.price[n] * fall0);
  }
  // Along the edges from one to the best corner.
  double from_edge(int edge, int best) const {
    double to = utility;
    if (curve.utility[best] > utility) {
      for (int n = edge; n < best; ++n) {
        const double end = curve.utility[n + 1], meet = on_edge(n);
        if (meet < end) return std::max(to, meet);
        to = end;
      }
    } else {
      for (int n = std::min(edge, curve.corners() - 2); n >= best; --n) {
        const double end = curve.utility[n], meet = on_edge(n);
        if (meet > end) return std::min(to, meet);
        to = end;
      }
    }
    return to;
  }
};

}  // namespace

void AveragedResponseGame::solve(const RowGame& game, std::vector<GameEnd>& ends) {
  ends_ = &ends;
  begin(game);
  for (round_ = 0; round_ < game.rounds && lanes_ > 0;) {
    const double step =
        averaging() ? 2.0 / (smooth_ ? round_ - kSmoothRounds + 10.0 : round_ + 2.0) : 1.0;
    answer_kernels(game, step);
    answer_points(game);
    ++round_;
    drop_settled(game);
    if (round_ < game.rounds) move_kernels(step);
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    if (several()) find_bound(game, lane);
    harvest(lane);
  }
}

void AveragedResponseGame::begin(const RowGame& game) {
  const Model& model = problem_->model();
  const int signals = static_cast<int>(channels_.size());
  const int places = static_cast<int>(game.places.size());
  const auto first = model.outcome_begin(game.row);
  lanes_ = all_ = static_cast<int>(game.weights.size()) / signals;
  played_.assign(all_, 0);
  weights_.assign(game.weights.begin(), game.weights.end());
  lane_.resize(lanes_);
  std::iota(lane_.begin(), lane_.end(), 0);
  padded_ = padded_lanes(signals * lanes_);
  if (static_cast<int>(points_.size()) < places) points_.resize(places);
  pointers_.resize(places);
  kernel_.resize(static_cast<std::size_t>(model.most_outcomes() + 1) * padded_);
  answer_.resize(kernel_.size());
  for (int i = 0; i < places; ++i) {
    if (static_cast<int>(points_[i].size()) < padded_) points_[i].resize(padded_);
    std::fill_n(points_[i].begin(), padded_, 0.0);
    pointers_[i] = points_[i].data();
    const bool landing = game.landing && i == places - 1;
    std::fill_n(kernel_.begin() + std::int64_t{i} * padded_, padded_,
                landing ? 0.0 : model.arrays().probability[first + i]);
  }
  result_.resize(padded_);
  bound_.assign(lanes_, std::numeric_limits<double>::infinity());
  value_.assign(lanes_, -std::numeric_limits<double>::infinity());
  near_.assign(static_cast<std::size_t>(places) * lanes_, 0);
  edge_.assign(static_cast<std::size_t>(places) * lanes_, 0);
  utility_.assign(static_cast<std::size_t>(places) * lanes_, 0.0);
  history_.clear();
}

// Every place answers the average kernels by its best point in the direction that they make of the
// lane's; the supports add up to a bound on the row.
void AveragedResponseGame::answer_kernels(const RowGame& game, double step) {
  const Model& model = problem_->model();
  const int signals = static_cast<int>(channels_.size());
  const int places = static_cast<int>(game.places.size());
  const double discount = problem_->discount();
  support_.assign(lanes_, 0.0);
  inner_.assign(lanes_, 0.0);
  if (several()) history_.resize(history_.size() + static_cast<std::size_t>(places) * all_);
  for (int i = 0; i < places; ++i) {
    if (several())
      answer_many_prices(game, i, step);
    else if (!averaging())
      answer_along_curve(game, i);
    else
      answer_one_price(game, i, step);
  }
  for (int j = 0; j < signals; ++j) {
    const auto& outcome_values = model.outcome_values(channels_[j].signal);
    const double own = channels_[j].sign * model.value(channels_[j].signal, game.row) / discount;
    for (int lane = 0; lane < lanes_; ++lane) {
      double earned = own;
      if (!outcome_values.empty()) {
        for (int i = 0; i < places - game.landing; ++i) {
          const double extra =
              channels_[j].sign * outcome_values[model.outcome_begin(game.row) + i] / discount;
          earned += kernel_[std::int64_t{i} * padded_ + j * lanes_ + lane] * extra;
        }
      }
      support_[lane] += weights_[j * lanes_ + lane] * earned;
      inner_[lane] += weights_[j * lanes_ + lane] * earned;
    }
  }
  for (int lane = 0; lane < lanes_ && !several(); ++lane)
    bound_[lane] = std::min(bound_[lane], discount * support_[lane]);
}

void AveragedResponseGame::answer_one_price(const RowGame& game, int place, double step) {
  const Directions& directions = game.next->directions();
  const double* bounds = game.next->bounds(game.places[place]);
  const double* reward = game.next->points(game.places[place], 0);
  const double* utility = game.next->points(game.places[place], 1);
  const double* kernel = kernel_.data() + std::int64_t{place} * padded_;
  double* average = points_[place].data();
  int* near = near_.data() + std::int64_t{place} * lanes_;
  for (int lane = 0; lane < lanes_; ++lane) {
    if (round_ == 0 && lane > 0) near[lane] = near[lane - 1];  // lanes are in order of their prices
    const double q0 = weights_[lane] * kernel[lane],
                 q1 = weights_[lanes_ + lane] * kernel[lanes_ + lane];
    const Directions::Pair pair = directions.split(q0, q1, near[lane]);
    const double low = q0 * reward[pair.low] + q1 * utility[pair.low];
    const double high = q0 * reward[pair.high] + q1 * utility[pair.high];
    support_[lane] += pair.low_weight * bounds[pair.low] + pair.high_weight * bounds[pair.high];
    inner_[lane] += std::max(low, high);
    const int best = low > high ? pair.low : pair.high;
    average[lane] += step * (reward[best] - average[lane]);
    average[lanes_ + lane] += step * (utility[best] - average[lanes_ + lane]);
  }
}

// While nature answers smoothly the answer need not be averaged. It stands on the curve
// where the price that the kernels make meets the price of the curve; a utility that rises lowers
// its price, by the sensitivity of nature's answer, so the meeting point is found along the edges
// as if the other places stood still, and a few rounds settle all of them.
void AveragedResponseGame::answer_along_curve(const RowGame& game, int place) {
  const Directions& directions = game.next->directions();
  const Curve& curve = (*game.curves)[game.places[place]];
  const double* bounds = game.next->bounds(game.places[place]);
  const double* kernel = kernel_.data() + std::int64_t{place} * padded_;
  double* average = points_[place].data();
  const int last = curve.corners() - 1;
  for (int lane = 0; lane < lanes_; ++lane) {
    const auto at = std::int64_t{place} * lanes_ + lane;
    const double p0 = kernel[lane], p1 = kernel[lanes_ + lane];
    const double q0 = weights_[lane] * p0, q1 = weights_[lanes_ + lane] * p1;
    int& edge = edge_[at];
    if (round_ == 0 && lane > 0)
      near_[at] = near_[at - 1], edge = edge_[at - 1];  // lanes are in order of their prices
    const Directions::Pair pair = directions.split(q0, q1, near_[at]);
    support_[lane] += pair.low_weight * bounds[pair.low] + pair.high_weight * bounds[pair.high];

    int best = edge;  // the best corner is where the prices of the edges pass q1 / q0
    while (best < last && curve.price[best] * q0 < q1) ++best;
    while (best > 0 && curve.price[best - 1] * q0 > q1) --best;
    inner_[lane] += q0 * curve.reward[best] + q1 * curve.utility[best];

    double& utility = utility_[at];
    double target = curve.utility[best];
    if (round_ > 0 && q0 > 0 && q1 > 0) {
      const Meeting meeting = {curve, utility, q1 / q0, sensitivity_[lane] * (1 - p0),
                               sensitivity_[lanes_ + lane] * (1 - p1)};
      target = utility + kDamping * (meeting.from_edge(edge, best) - utility);
    }
    utility = target;
    edge = std::clamp(edge, 0, last);
    while (edge < last && curve.utility[edge + 1] <= utility) ++edge;
    while (edge > 0 && curve.utility[edge] > utility) --edge;
    average[lane] = edge == last
                        ? curve.reward[last]
                        : curve.reward[edge] - curve.price[edge] * (utility - curve.utility[edge]);
    average[lanes_ + lane] = utility;
  }
}

// How fast the share of an outcome falls when its value rises, relative to itself: read off the
// outcomes with the least and the largest value. It would be exact if the logarithm of the share
// were linear in the value; for chi2, where the share itself is, it is good enough.
void AveragedResponseGame::find_sensitivity(const RowGame& game) {
  const double* probability =
      problem_->model().arrays().probability.data() + problem_->model().outcome_begin(game.row);
  const int lanes = 2 * lanes_, places = static_cast<int>(game.places.size());
  sensitivity_.assign(lanes, 0.0);
  for (int lane = 0; lane < lanes; ++lane) {
    int low = 0, high = 0;
    for (int i = 1; i < places; ++i) {
      if (points_[i][lane] < points_[low][lane]) low = i;
      if (points_[i][lane] > points_[high][lane]) high = i;
    }
    const double spread = points_[high][lane] - points_[low][lane];
    const double more = answer_[std::int64_t{low} * padded_ + lane] / probability[low];
    const double less = answer_[std::int64_t{high} * padded_ + lane] / probability[high];
    if (spread > 0 && less > 0) sensitivity_[lane] = std::log(more / less) / spread;
  }
}

void AveragedResponseGame::answer_many_prices(const RowGame& game, int place, double step) {
  const int signals = game.next->directions().signals();
  const double* kernel = kernel_.data() + std::int64_t{place} * padded_;
  double q[Directions::kMostSignals];
  std::int32_t* history = history_.data() + history_.size() -
                          (game.places.size() - static_cast<std::size_t>(place)) * all_;
  for (int lane = 0; lane < lanes_; ++lane) {
    for (int j = 0; j < signals; ++j)
      q[j] = weights_[j * lanes_ + lane] * kernel[j * lanes_ + lane];
    std::int32_t best = 0;
    inner_[lane] += game.supports->inside(game.places[place], q, best);
    for (int j = 0; j < signals; ++j) {
      double& average = points_[place][j * lanes_ + lane];
      average += step * (game.next->points(game.places[place], j)[best] - average);
    }
    history[lane_[lane]] = best;
  }
}

// With several constraints the bound of the average kernels takes more than all else of a round,
// and is found when a lane may be settled by it.
void AveragedResponseGame::find_bound(const RowGame& game, int lane) {
  const int signals = static_cast<int>(channels_.size());
  double q[Directions::kMostSignals];
  Directions::Parts parts;
  double sum = support_[lane];
  for (std::size_t i = 0; i < game.places.size(); ++i) {
    for (int j = 0; j < signals; ++j)
      q[j] = weights_[j * lanes_ + lane] * kernel_[i * padded_ + j * lanes_ + lane];
    sum += game.supports->outside(game.places[i], q, parts);
  }
  bound_[lane] = std::min(bound_[lane], problem_->discount() * sum);
}

// Nature answers the average points, for each signal on its own; what she leaves is guaranteed.
void AveragedResponseGame::answer_points(const RowGame& game) {
  const int signals = static_cast<int>(channels_.size());
  const int places = static_cast<int>(game.places.size());
  rows_.worst(game.row, channels_, signals * lanes_, pointers_.data(),
              game.landing ? pointers_[places - 1] : nullptr, result_.data(), answer_.data());
  for (int lane = 0; lane < lanes_; ++lane) {
    double sum = 0;
    for (int j = 0; j < signals; ++j)
      sum += weights_[j * lanes_ + lane] * result_[j * lanes_ + lane];
    value_[lane] = sum;
  }
  if (!averaging()) find_sensitivity(game);
}

void AveragedResponseGame::move_kernels(double step) {
  const auto count = static_cast<std::int64_t>(pointers_.size()) * padded_;
  for (std::int64_t n = 0; n < count; ++n) kernel_[n] += step * (answer_[n] - kernel_[n]);
}

// The gap of the game is measured with the achievable points on both sides: what the next stage
// does not know of its own sets is not for this row to find out.
bool AveragedResponseGame::settled(const RowGame& game, int lane) const {
  return gap_now(lane) <= game.tolerance[lane_[lane]] || bound_[lane] <= game.beat[lane_[lane]];
}

void AveragedResponseGame::harvest(int lane) {
  const auto signals = channels_.size();
  GameEnd& found = (*ends_)[lane_[lane]];
  found.bound = bound_[lane];
  found.value = value_[lane];
  found.gap = gap_now(lane);
  found.kernel.resize(pointers_.size() * signals);
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    for (std::size_t j = 0; j < signals; ++j)
      found.kernel[i * signals + j] = kernel_[i * padded_ + j * lanes_ + lane];
  }
  played_[lane_[lane]] = round_;
  if (signals != 2) return;
  found.promises.resize(pointers_.size());
  for (std::size_t i = 0; i < pointers_.size(); ++i)
    found.promises[i] = {points_[i][lanes_ + lane], -1};
}

// Lanes that are settled stop playing as soon as that leaves whole blocks of lanes empty.
void AveragedResponseGame::drop_settled(const RowGame& game) {
  const int signals = static_cast<int>(channels_.size());
  std::vector<int>& keep = keep_;
  keep.clear();
  const bool look = several() && round_ > 1 && std::has_single_bit(static_cast<unsigned>(round_));
  for (int lane = 0; lane < lanes_; ++lane) {
    // No bound is below what the points make of the same kernels.
    const bool may_lose = problem_->discount() * inner_[lane] <= game.beat[lane_[lane]];
    if (several() && ((look && may_lose) || gap_now(lane) <= game.tolerance[lane_[lane]]))
      find_bound(game, lane);
    if (!settled(game, lane)) keep.push_back(lane);
  }
  const int left = static_cast<int>(keep.size());
  if (left > 0 && padded_lanes(signals * left) == padded_) return;
  for (int lane = 0, next = 0; lane < lanes_; ++lane) {
    if (next < left && keep[next] == lane) {
      ++next;
    } else {
      harvest(lane);
    }
  }
  const int padded = padded_lanes(signals * left);
  const auto compact = [&](const double* values, double* target) {  // [signal][lane], fewer lanes
    for (int j = 0; j < signals; ++j) {
      for (int n = 0; n < left; ++n) target[j * left + n] = values[j * lanes_ + keep[n]];
    }
  };
  for (std::size_t i = 0; i < pointers_.size(); ++i) {
    compact(points_[i].data(), points_[i].data());
    compact(kernel_.data() + i * padded_, kernel_.data() + i * padded);
    compact(answer_.data() + i * padded_, answer_.data() + i * padded);
    for (int n = 0; n < left; ++n) {
      near_[i * left + n] = near_[i * lanes_ + keep[n]];
      edge_[i * left + n] = edge_[i * lanes_ + keep[n]];
      utility_[i * left + n] = utility_[i * lanes_ + keep[n]];
    }
  }
  compact(weights_.data(), weights_.data());
  if (!sensitivity_.empty()) compact(sensitivity_.data(), sensitivity_.data());
  for (int n = 0; n < left; ++n) {
    lane_[n] = lane_[keep[n]];
    bound_[n] = bound_[keep[n]];
    value_[n] = value_[keep[n]];
    inner_[n] = inner_[keep[n]];
    support_[n] = support_[keep[n]];
  }
  lanes_ = left;
  padded_ = padded;
}

void AveragedResponseGame::mixture(int place, int lane, std::vector<MemoryMove>& moves) const {
  const auto places = pointers_.size();
  const std::size_t first = moves.size();
  const int rounds = played_[lane];
  const double all = 0.5 * rounds * (rounds + 1);  // steps 2 / (t + 2) weigh round t by t + 1
  for (int t = 0; t < rounds; ++t) {
    const std::int32_t point = history_[(t * places + place) * all_ + lane];
    const auto found = std::find_if(moves.begin() + first, moves.end(),
                                    [&](const MemoryMove& m) { return m.memory == point; });
    if (found == moves.end()) {
      moves.push_back({point, (t + 1) / all});
    } else {
      found->weight += (t + 1) / all;
    }
  }
}

}  // namespace redoubt::internal
