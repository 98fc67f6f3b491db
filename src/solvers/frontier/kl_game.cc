#include "solvers/frontier/kl_game.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/tilted_rows.h"
#include "sets/row.h"

namespace redoubt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What the bounds of two directions say of one that lies between them.
double mixed(const double (&low)[2], double low_bound, const double (&high)[2], double high_bound,
             const double (&at)[2]) {
  const double area = low[0] * high[1] - low[1] * high[0];
  return ((at[0] * high[1] - at[1] * high[0]) * low_bound +
          (low[0] * at[1] - low[1] * at[0]) * high_bound) /
         area;
}

}  // namespace

void KlGame::solve(const RowGame& game, std::span<const int> directions, KlStands& stands,
                   std::vector<GameEnd>& ends) {
  stands_ = &stands;
  begin(game);
  for (Lane& lane : lanes_) lane.direction = directions[lane.number];
  leave_out_hopeless(game, ends);
  start(game);
  for (int round = 1; !lanes_.empty(); ++round) {
    take_places(game, round == 1);
    tilt();
    // A lane also ends when its row turns out not to matter. Looking at that costs half a round, so
    // it is done now and then.
    const bool last = round >= game.rounds, look = (round & (round - 1)) == 0;
    open_.clear();
    for (int n = 0; n < static_cast<int>(lanes_.size()); ++n) {
      const Lane& lane = lanes_[n];
      GameEnd& end = ends[lane.number];
      if (look && game.beat[lane.number] > -kInfinity) {
        take_kernel(n);
        end.lose(bound_of(game, lane));
        if (end.bound <= game.beat[lane.number]) {
          remember(lane);
          continue;
        }
      }
      const double value = value_of(n), gap = most_of(game, n) - value;
      if (gap <= lane.tolerance || last) {
        finish(game, n, gap, end);
      } else {
        step(n, value);
        open_.push_back(n);
      }
    }
    keep(open_);
  }
}

void KlGame::begin(const RowGame& game) {
  const Model& model = problem_->model();
  const auto first = model.outcome_begin(game.row);
  const int lanes = game.lanes(2);
  places_ = static_cast<int>(game.places.size());
  stride_ = padded_lanes(lanes);
  radius_ = std::get<KL>(problem_->uncertainty()).radius.of(game.row);
  probability_ = model.arrays().probability.data() + first;
  const auto size = static_cast<std::size_t>(places_) * stride_;
  extra_.resize(static_cast<std::size_t>(places_) * 2);
  for (int j = 0; j < 2; ++j) {
    own_[j] = channels_[j].sign * model.value(channels_[j].signal, game.row);
    for (int i = 0; i < places_; ++i)
      extra_[i * 2 + j] = channels_[j].sign * model.outcome_value(channels_[j].signal, first + i) /
                          problem_->discount();
    for (auto* array : {&exponent_[j], &share_[j], &tilted_[j]})
      if (array->size() < size) array->resize(size);
    const auto moments = static_cast<std::size_t>(kMoments) * stride_;
    if (moments_[j].size() < moments) moments_[j].resize(moments);
  }
  for (auto* array : {&reward_, &utility_})
    if (array->size() < size) array->resize(size);
  if (corner_.size() < size) corner_.resize(size);
  near_.assign(places_, 0);
  kernel_.resize(static_cast<std::size_t>(places_) * 2);
  stands_->kernels.resize(stands_->stands.size() * kernel_.size());

  lanes_.resize(lanes);
  for (int n = 0; n < lanes; ++n) {
    Lane& lane = lanes_[n];
    lane.number = n;
    for (int j = 0; j < 2; ++j) lane.weight[j] = game.weights[j * lanes + n];
    lane.tolerance = game.tolerance[n] / problem_->discount();
    lane.log_price = std::log(lane.weight[1] / lane.weight[0]);
    lane.steps = 0;
    lane.careful = lane.based = false;
    lane.smooth = 1;
  }
}

// The kernels that told a lane hopeless are likely to tell it again. Bounds are convex between the
// directions, so the lanes between two that have been looked at are often settled without a look.
void KlGame::leave_out_hopeless(const RowGame& game, std::vector<GameEnd>& ends) {
  constexpr int kBlock = 8;
  const int lanes = static_cast<int>(lanes_.size());
  const auto look = [&](int n) {
    const Lane& lane = lanes_[n];
    ends[n].lose(kInfinity);
    if (game.beat[n] == -kInfinity || !stands_->stands[lane.direction].known) return;
    recall_kernel(lane.direction);
    ends[n].lose(bound_of(game, lane));
  };
  const auto hopeless = [&](int n) { return ends[n].bound <= game.beat[n]; };
  look(0);
  for (int low = 0, high; low + 1 < lanes; low = high) {
    high = std::min(low + kBlock, lanes - 1);
    look(high);
    for (int n = low + 1; n < high; ++n) {
      ends[n].lose(mixed(lanes_[low].weight, ends[low].bound, lanes_[high].weight, ends[high].bound,
                         lanes_[n].weight));
      if (!hopeless(n)) look(n);
    }
  }
  open_.clear();
  for (int n = 0; n < lanes; ++n) {
    if (!hopeless(n)) open_.push_back(n);
  }
  for (std::size_t m = 0; m < open_.size(); ++m) lanes_[m] = lanes_[open_[m]];
  lanes_.resize(open_.size());
}

void KlGame::start(const RowGame& game) {
  const int lanes = static_cast<int>(lanes_.size());
  // The mean and variance that every signal has where the nominal row leads.
  std::vector<double>& square = moments_[0];  // not in use yet
  std::fill_n(square.begin(), 2 * lanes, 0.0);
  for (Lane& lane : lanes_) lane.mean[0] = lane.mean[1] = 0;
  for (int i = 0; i < places_; ++i) {
    const Curve& curve = (*game.curves)[game.places[i]];
    const int end = curve.corners() - 1;
    int corner = 0;
    for (int n = 0; n < lanes; ++n) {
      Lane& lane = lanes_[n];
      while (corner < end && curve.price[corner] * lane.weight[0] < lane.weight[1]) ++corner;
      corner_[i * stride_ + n] = corner;
      const double value[2] = {curve.reward[corner] + extra_[i * 2],
                               curve.utility[corner] + extra_[i * 2 + 1]};
      for (int j = 0; j < 2; ++j) {
        lane.mean[j] += probability_[i] * value[j];
        square[j * lanes + n] += probability_[i] * value[j] * value[j];
      }
    }
  }
  for (int n = 0; n < lanes; ++n) {
    Lane& lane = lanes_[n];
    const KlStand& stand = stands_->stands[lane.direction];
    for (int j = 0; j < 2; ++j) {
      // A temperature times the radius is what its signal loses by not being colder.
      lane.coldest[j] = std::log(4 * radius_ * lane.weight[j] / lane.tolerance);
      const double variance = std::max(1e-300, square[j * lanes + n] - lane.mean[j] * lane.mean[j]);
      const double guess = stand.known ? stand.log_cold[j] : 0.5 * std::log(2 * radius_ / variance);
      lane.at[j] = lane.weight[j] > 0 ? std::min(guess, lane.coldest[j]) : 0.0;
    }
    lane.at[2] = stand.known ? stand.exchange : -lane.log_price;
    if (!std::isfinite(lane.log_price)) lane.at[2] = lane.log_price < 0 ? 1e30 : -1e30;
  }
}

// Every place goes to where its curve trades at the price that the kernels make of it: along an
// edge the logarithm of the price that they make falls in a straight line.
void KlGame::take_places(const RowGame& game, bool first) {
  const int lanes = static_cast<int>(lanes_.size());
  evaluations_ += 2.0 * lanes;
  std::vector<double>&cold0 = moments_[0], &cold1 = moments_[1];  // not in use yet
  for (int n = 0; n < lanes; ++n)
    cold0[n] = std::exp(lanes_[n].at[0]), cold1[n] = std::exp(lanes_[n].at[1]);
  for (int i = 0; i < places_; ++i) {
    const Curve& curve = (*game.curves)[game.places[i]];
    const double *reward = curve.reward.data(), *utility = curve.utility.data();
    const double *price = curve.price.data(), *log_price = curve.log_price.data();
    const double *below = curve.smooth_before.data(), *above = curve.smooth_after.data();
    const double* bend = curve.bend.data();
    const int end = curve.corners() - 1;
    for (int n = 0; n < lanes; ++n) {
      const Lane& lane = lanes_[n];
      const auto at = static_cast<std::size_t>(i) * stride_ + n;
      const double b0 = cold0[n], b1 = cold1[n];
      const double mean0 = lane.mean[0] - extra_[i * 2], mean1 = lane.mean[1] - extra_[i * 2 + 1];
      const auto height = [&](int c) {
        return lane.at[2] - b0 * (reward[c] - mean0) + b1 * (utility[c] - mean1);
      };
      const double smooth = lane.smooth;
      // Prices that the curve has where an edge begins and where it ends.
      const auto begins = [&](int edge) { return log_price[edge] - smooth * below[edge]; };
      const auto ends = [&](int edge) { return log_price[edge] + smooth * above[edge]; };
      int c = first && n > 0 ? corner_[at - 1] : corner_[at];  // neighbours stand close
      double here = height(c), before = 0;
      while (c < end) {
        const double next = height(c + 1);
        if (ends(c) + next > 0) break;
        ++c, here = next;
      }
      while (c > 0) {
        before = height(c - 1);
        if (begins(c - 1) + before < 0) break;
        --c, here = before;
      }
      corner_[at] = c;
      int edge = -1;
      double short_of = 0;  // of the price, at the beginning of the edge
      if (c > 0 && ends(c - 1) + here > 0) {
        edge = c - 1, short_of = -(begins(edge) + before);
      } else if (c < end && begins(c) + here < 0) {
        edge = c, short_of = -(begins(c) + here);
      }
      double share1 = 0, share0 = 0, r = reward[c], u = utility[c];
      if (edge >= 0) {
        const double soft = 1 / (b1 + b0 * price[edge] + smooth * bend[edge]);
        u = utility[edge] + short_of * soft;
        r = reward[edge] - price[edge] * short_of * soft;
        share1 = b1 * soft, share0 = b0 * price[edge] * soft;
      }
      const bool possible = probability_[i] > 0;
      reward_[at] = r, utility_[at] = u;
      share_[0][at] = share0, share_[1][at] = share1;
      exponent_[0][at] = possible ? -b0 * (r - mean0) : -1e30;
      exponent_[1][at] = possible ? -b1 * (u - mean1) : -1e30;
    }
  }
}

// The worst kernels where the places stand, and how they change with the three numbers.
void KlGame::tilt() {
  const int lanes = static_cast<int>(lanes_.size()), padded = padded_lanes(lanes);
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < places_; ++i) {
      for (int n = lanes; n < padded; ++n)
        exponent_[j][i * stride_ + n] = share_[j][i * stride_ + n] = 0;
    }
  }
  const TiltedRows rows{places_,
                        lanes,
                        stride_,
                        probability_,
                        {exponent_[0].data(), exponent_[1].data()},
                        {share_[0].data(), share_[1].data()}};
  TiltMoments moments[2];
  for (int j = 0; j < 2; ++j) {
    const auto part = [&](int which) { return moments_[j].data() + which * stride_; };
    moments[j] = {part(kLogSum),
                  part(kDivergence),
                  {part(kLogSumBy), part(kLogSumBy + 1), part(kLogSumBy + 2)},
                  {part(kDivergenceBy), part(kDivergenceBy + 1), part(kDivergenceBy + 2)},
                  tilted_[j].data()};
  }
  tilt_rows(rows, moments);
}

// What the points guarantee at these temperatures; at the best ones it is their worst case.
double KlGame::value_of(int n) const {
  const Lane& lane = lanes_[n];
  double value = 0;
  for (int j = 0; j < 2; ++j) {
    if (lane.weight[j] <= 0) continue;
    const double log_sum = moments_[j][kLogSum * stride_ + n];
    value += lane.weight[j] * (lane.mean[j] - (log_sum + radius_) * std::exp(-lane.at[j]));
  }
  return value;
}

// The divergence is convex, so this share of the way from p to the tilt is inside the ball.
double KlGame::inside(int n, int signal) const {
  const double divergence = moments_[signal][kDivergence * stride_ + n];
  return divergence <= radius_ ? 1 : radius_ / divergence;
}

// The most that the points of all places are worth to these kernels.
double KlGame::most_of(const RowGame& game, int n) const {
  const Lane& lane = lanes_[n];
  const double inside0 = inside(n, 0), inside1 = inside(n, 1);
  double most = 0;
  for (int i = 0; i < places_; ++i) {
    const Curve& curve = (*game.curves)[game.places[i]];
    const auto at = static_cast<std::size_t>(i) * stride_ + n;
    const double p = probability_[i];
    const double q0 = lane.weight[0] * (p + inside0 * (tilted_[0][at] - p));
    const double q1 = lane.weight[1] * (p + inside1 * (tilted_[1][at] - p));
    const int end = curve.corners() - 1;
    int c = corner_[at];
    while (c < end && curve.price[c] * q0 < q1) ++c;
    while (c > 0 && curve.price[c - 1] * q0 > q1) --c;
    most += q0 * (curve.reward[c] + extra_[i * 2]) + q1 * (curve.utility[c] + extra_[i * 2 + 1]);
  }
  return most;
}

void KlGame::take_kernel(int n) {
  for (int j = 0; j < 2; ++j) {
    const double share = inside(n, j);
    for (int i = 0; i < places_; ++i) {
      const double p = probability_[i];
      kernel_[i * 2 + j] = p + share * (tilted_[j][static_cast<std::size_t>(i) * stride_ + n] - p);
    }
  }
}

// Kernels are kept in single precision. Made to sum to one and moved towards p by more than they
// were rounded, they are inside the ball again.
void KlGame::recall_kernel(int direction) {
  constexpr double kKept = 1 - 1e-5;
  const float* kept = stands_->kernels.data() + direction * kernel_.size();
  for (int j = 0; j < 2; ++j) {
    double sum = 0;
    for (int i = 0; i < places_; ++i) sum += kept[i * 2 + j];
    for (int i = 0; i < places_; ++i) {
      const double p = probability_[i];
      kernel_[i * 2 + j] = p + kKept * (kept[i * 2 + j] / sum - p);
    }
  }
}

void KlGame::remember(const Lane& lane) {
  stands_->stands[lane.direction] = {{lane.at[0], lane.at[1]}, lane.at[2], true};
  float* kept = stands_->kernels.data() + lane.direction * kernel_.size();
  for (std::size_t n = 0; n < kernel_.size(); ++n) kept[n] = static_cast<float>(kernel_[n]);
}

// No policy has more: the bounds of all places in the directions that the kernel makes.
double KlGame::bound_of(const RowGame& game, const Lane& lane) {
  double sum = 0;
  for (int i = 0; i < places_; ++i) {
    const double* bounds = game.next->bounds(game.places[i]);
    const double q0 = lane.weight[0] * kernel_[i * 2], q1 = lane.weight[1] * kernel_[i * 2 + 1];
    const Directions::Pair pair = game.next->directions().split(q0, q1, near_[i]);
    sum += pair.low_weight * bounds[pair.low] + pair.high_weight * bounds[pair.high];
    sum += q0 * extra_[i * 2] + q1 * extra_[i * 2 + 1];
  }
  return own_of(lane) + problem_->discount() * sum;
}

void KlGame::finish(const RowGame& game, int n, double gap, GameEnd& end) {
  const Lane& lane = lanes_[n];
  take_kernel(n);
  end.bound = bound_of(game, lane);
  end.value = own_of(lane) + problem_->discount() * value_of(n);
  end.gap = problem_->discount() * gap;
  end.points.resize(static_cast<std::size_t>(places_) * 2);
  end.kernel.resize(static_cast<std::size_t>(places_) * 2);
  for (int i = 0; i < places_; ++i) {
    const auto at = static_cast<std::size_t>(i) * stride_ + n;
    end.points[i * 2] = reward_[at];
    end.points[i * 2 + 1] = utility_[at];
    for (int j = 0; j < 2; ++j) end.kernel[i * 2 + j] = static_cast<float>(kernel_[i * 2 + j]);
  }
  remember(lane);
}

void KlGame::keep(const std::vector<int>& open) {
  for (std::size_t m = 0; m < open.size(); ++m) lanes_[m] = lanes_[open[m]];
  for (int i = 0; i < places_; ++i) {
    int* corner = corner_.data() + static_cast<std::size_t>(i) * stride_;
    for (std::size_t m = 0; m < open.size(); ++m) corner[m] = corner[open[m]];
  }
  lanes_.resize(open.size());
}

}  // namespace redoubt
