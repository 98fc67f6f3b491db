#include "solvers/frontier/games/level_game.h"

#include <algorithm>
#include <cmath>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

// Masses fall from all to nothing over this much of the spread of the values. Steeper kernels are
// closer to the worst one, and harder to find; flatter ones need more centres.
constexpr double kWidth = 0.5;
// The share of a target that may be missing of a kernel that becomes the centre, at first.
constexpr double kFirstEnough = 0.01;
// Spreads that are less of the mean are rounding.
constexpr double kLeastSpread = 1e-6;

}  // namespace

bool LevelGame::plays(const Uncertainty& set) {
  const auto* tv = std::get_if<TV>(&set);
  return std::holds_alternative<Interval>(set) || std::holds_alternative<Chi2>(set) ||
         (tv && tv->reach == Reach::support);
}

void LevelGame::solve(const RowGame& game, std::span<const int> directions,
                      const GameHistory& history, std::vector<GameEnd>& ends) {
  begin_row(game, directions, history);
  leave_out_hopeless(game, ends);
  describe_row(game);
  start(game);
  for (int round = 1; !lanes_.empty(); ++round) {
    line_up();
    answer(game, round == 1);
    weigh();
    judge(game, round);
    open_.clear();
    for (int n = 0; n < static_cast<int>(lanes_.size()); ++n) {
      Lane& lane = lanes_[n];
      GameEnd& end = ends[lane.number];
      lane.bound = std::min(lane.bound, own_of(n) + problem_->discount() * bound_[n]);
      if (lane.bound <= game.beat[lane.number]) {  // the row does not matter
        end.lose(lane.bound);
        remember(n);
      } else if (ended(game, n, round)) {
        finish(n, end);
      } else {
        step(n, round);
        open_.push_back(n);
      }
    }
    keep(open_);
  }
}

// What nature may do to the row, as parts of its masses.
void LevelGame::describe_row(const RowGame& game) {
  const auto first = problem_->model().outcome_begin(game.row);
  const bool interval = std::holds_alternative<Interval>(problem_->uncertainty());
  ball_ = std::holds_alternative<Chi2>(problem_->uncertainty());
  parts_ = interval || ball_ ? 1 : 2;
  each_ = interval ? 1 : 2;
  base_.assign(places_, 0.0);
  for (auto& part : part_) part.assign(places_, {});
  if (interval) {
    const auto& arrays = problem_->model().arrays();
    target_[0] = 1;
    for (int i = 0; i < places_; ++i) {
      base_[i] = arrays.lower[first + i];
      const double room = arrays.upper[first + i] - base_[i];
      part_[0][i] = {room, room};
      target_[0] -= base_[i];
    }
  } else if (ball_) {
    radius_ = std::get<Chi2>(problem_->uncertainty()).radius.of(game.row);
    for (int i = 0; i < places_; ++i) part_[0][i] = {probability_[i], kInfinity};
    target_[0] = room_[0] = 1;
    target_[1] = room_[1] = radius_;
    return;
  } else {
    double total = 0;
    for (const double p : probability_) total += p;
    const double radius =
        std::min(std::get<TV>(problem_->uncertainty()).radius.of(game.row), total);
    for (int i = 0; i < places_; ++i) {
      part_[0][i] = {probability_[i], probability_[i]};
      part_[1][i] = {radius, radius};
    }
    target_[0] = total - radius;
    target_[1] = radius;
  }
  for (int k = 0; k < parts_; ++k) {
    room_[k] = 0;
    for (const LevelPart& part : part_[k]) room_[k] += part.cap;
    target_[k] = std::clamp(target_[k], 0.0, room_[k]);
  }
}

void LevelGame::start(const RowGame& game) {
  const int lanes = game.lanes(2);
  if (static_cast<int>(points_.size()) < places_) points_.resize(places_);
  for (int i = 0; i < places_; ++i) make_room(points_[i], std::size_t{2} * stride_);
  for (int j = 0; j < 2; ++j) {
    make_room(steep_[j], stride_);
    for (auto& level : level_[j]) make_room(level, stride_);
    for (auto* parts : {&rest_[j][0], &rest_[j][1], &held_[j][0], &held_[j][1]})
      make_room(*parts, at(places_));
    value_[j].resize(places_);
  }
  make_room(smooth_, stride_);
  make_room(corner_, at(places_));
  for (auto* array : {&price_, &give_}) make_room(*array, at(places_));
  make_room(missing_, std::size_t{kMostLevels} * stride_);
  make_room(curvature_, std::size_t{kMostLevels * (kMostLevels + 1) / 2} * stride_);
  make_room(worst_, std::size_t{2} * stride_);
  make_room(most_, stride_);
  lanes_.resize(open_.size());
  for (std::size_t n = 0; n < open_.size(); ++n) {
    Lane& lane = lanes_[n];
    lane = {};
    lane.number = open_[n];
    lane.direction = directions_[lane.number];
    lane.smooth = 1;
    lane.enough = kFirstEnough;
    lane.bound = kInfinity;
    for (int j = 0; j < 2; ++j) {
      lane.weight[j] = game.weights[j * lanes + lane.number];
      // The distance times the radius is what a signal loses by not being closer.
      lane.closest[j] = lane.weight[j] > 0
                            ? std::log(game.tolerance[lane.number] /
                                       (4 * problem_->discount() * lane.weight[j] * radius_))
                            : -kInfinity;
    }
  }
  measure_values(game);
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    Lane& lane = lanes_[n];
    const WarmStart* known = find_warm_start(game, lane.direction);
    const float* moved = known && !ball_ ? kept_kernel(lane.direction) : nullptr;
    for (int i = 0; i < places_; ++i) {
      for (int j = 0; j < 2; ++j)
        split_mass(i, n, j, probability_[i] + (moved ? moved[i * 2 + j] : 0.0F));
    }
    for (int a = 0; a < levels(); ++a)
      lane.level[a] = level_at(lane, a, known ? known->level[a] : first_level(a));
  }
}

// The parts of a kernel's mass at a place: of what is above the base, the first comes first.
void LevelGame::split_mass(int place, std::size_t lane, int signal, double mass) {
  const double above = mass - base_[place], cap = part_[0][place].cap;
  rest_[signal][0][at(place, lane)] = std::clamp(above, 0.0, cap);
  if (parts_ > 1) rest_[signal][1][at(place, lane)] = std::max(above - cap, 0.0);
}

// Without a game of before: where the levels would be if values were few and far apart.
double LevelGame::first_level(int level) const {
  if (each_ == 1) return 0;
  const bool second = level % each_ == 1;
  if (ball_) return second ? -0.5 * std::log(4 * std::max(radius_, 1e-300)) : 0;
  return second ? -1 : 1;
}

// From what is remembered, and back: in spreads from the mean; the logarithm is that of spreads.
double LevelGame::level_at(const Lane& lane, int level, double known) const {
  const int j = level / each_;
  if (ball_ && level % each_ == 1)
    return std::max(known + std::log(lane.spread[j]), lane.closest[j]);
  return lane.mean[j] + lane.spread[j] * known;
}
double LevelGame::known_of(const Lane& lane, int level) const {
  const int j = level / each_;
  if (ball_ && level % each_ == 1) return lane.level[level] - std::log(lane.spread[j]);
  return (lane.level[level] - lane.mean[j]) / lane.spread[j];
}

// Mean and spread of each signal where the nominal row leads, at the best points for it.
void LevelGame::measure_values(const RowGame& game) {
  chosen_.clear();
  for (const Lane& lane : lanes_) chosen_.push_back(lane.direction);
  find_nominal_moments(game, chosen_, corner_.data());
  for (std::size_t n = 0; n < lanes_.size(); ++n) {
    for (int j = 0; j < 2; ++j) {
      const double mean = nominal_[n].mean[j], square = mean * mean;
      const double least = kLeastSpread * kLeastSpread * (1 + square);
      lanes_[n].mean[j] = mean;
      lanes_[n].spread[j] = std::sqrt(std::max(nominal_[n].square[j] - square, least));
    }
  }
}

// What the search knows of the lanes, as the kernels take it. What is left of the last block is the
// last lane again.
void LevelGame::line_up() {
  const int lanes = static_cast<int>(lanes_.size());
  width_ = padded_lanes(lanes);
  for (int n = 0; n < width_; ++n) {
    const int from = std::min(n, lanes - 1);
    const Lane& lane = lanes_[from];
    for (int j = 0; j < 2; ++j) {
      weight_[j][n] = lane.weight[j];
      steep_[j][n] = ball_ ? 0.5 * std::exp(-lane.level[j * 2 + 1]) : 1 / (kWidth * lane.spread[j]);
      for (int k = 0; k < parts_; ++k) level_[j][k][n] = lane.level[j * each_ + k];
      for (int k = 0; k < parts_; ++k) {
        const std::vector<double>& centre = lane.recentred ? held_[j][k] : rest_[j][k];
        if (!lane.recentred && n == from) continue;
        for (int i = 0; i < places_; ++i) rest_[j][k][at(i, n)] = centre[at(i, from)];
      }
    }
    smooth_[n] = lane.smooth;
    if (n > from)
      for (int i = 0; i < places_; ++i) corner_[at(i, n)] = corner_[at(i, from)];
  }
}

// Every place goes to where its curve trades at the price that the kernels make of it.
void LevelGame::answer(const RowGame& game, bool first) {
  evaluations_ += 2.0 * width_;
  for (int i = 0; i < places_; ++i) {
    for (int j = 0; j < 2; ++j) value_[j][i] = points_[i].data() + j * width_;
    const auto begin = at(i);
    LevelLanes lanes{.lanes = static_cast<int>(lanes_.size()),
                     .parts = parts_,
                     .corners = game.ahead->corners_of(game.places[i]),
                     .last = inner_last_[i],
                     .shift = {extra_[i * 2], extra_[i * 2 + 1]},
                     .base = base_[i],
                     .part = {part_[0][i], part_[1][i]},
                     .weight = {weight_[0].data(), weight_[1].data()},
                     .steep = {steep_[0].data(), steep_[1].data()},
                     .smooth = smooth_.data(),
                     .corner = corner_.data() + begin,
                     .first_guess = first,
                     .value = {points_[i].data(), points_[i].data() + width_},
                     .price = price_.data() + begin,
                     .give = give_.data() + begin};
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < parts_; ++k) {
        lanes.level[j][k] = level_[j][k].data();
        lanes.rest[j][k] = rest_[j][k].data() + begin;
      }
    answer_levels(lanes);
  }
}

// Kernels where the places stand, and how far the levels are off.
void LevelGame::weigh() {
  LevelRows rows{.outcomes = places_,
                 .lanes = width_,
                 .stride = stride_,
                 .parts = parts_,
                 .base = base_.data(),
                 .part = {part_[0].data(), part_[1].data()},
                 .target = {target_[0], target_[1]},
                 .room = {room_[0], room_[1]},
                 .extra = extra_.data(),
                 .weight = {weight_[0].data(), weight_[1].data()},
                 .steep = {steep_[0].data(), steep_[1].data()},
                 .value = {value_[0].data(), value_[1].data()},
                 .price = price_.data(),
                 .give = give_.data(),
                 .radius = radius_};
  LevelMoments moments{missing_.data(), curvature_.data(), {kernel_[0].data(), kernel_[1].data()}};
  for (int j = 0; j < 2; ++j) {
    for (int k = 0; k < parts_; ++k) {
      rows.level[j][k] = level_[j][k].data();
      rows.rest[j][k] = rest_[j][k].data();
      moments.held[j][k] = held_[j][k].data();
    }
  }
  ball_ ? weigh_ball(rows, moments) : weigh_levels(rows, moments);
}

// What the kernels leave of the points of all places, what the points guarantee, and what the
// kernels leave of anything. The last is looked at when a lane ends, and now and then, because a
// lane also ends when its row turns out not to matter.
void LevelGame::judge(const RowGame& game, int round) {
  const int lanes = static_cast<int>(lanes_.size());
  SupportSum sum = sum_over_points(lanes);
  sum.guess = corner_.data();
  sum_supports(sum, most_.data());
  rows_.worst(game.row, channels_, 2 * width_, value_[0].data(), nullptr, worst_.data());
  bool look = look_this_round(round);
  for (int n = 0; n < lanes && !look; ++n) look = ended(game, n, round);
  if (look) {
    add_bounds(lanes);
  } else {
    std::fill_n(bound_.begin(), lanes, kInfinity);
  }
}

double LevelGame::gap_of(int n) const {
  const double value = weight_[0][n] * worst_[n] + weight_[1][n] * worst_[width_ + n];
  return own_of(n) + problem_->discount() * most_[n] - value;
}

bool LevelGame::ended(const RowGame& game, int n, int round) const {
  return gap_of(n) <= game.tolerance[lanes_[n].number] || round >= game.rounds;
}

void LevelGame::remember(int n) {
  const Lane& lane = lanes_[n];
  WarmStart& known = warm_starts_->warm_starts[lane.direction];
  known = {.known = true};
  for (int a = 0; a < levels(); ++a) known.level[a] = known_of(lane, a);
  remember_kernel(lane.direction, n);
}

void LevelGame::finish(int n, GameEnd& end) {
  end.bound = lanes_[n].bound;
  end.value = weight_[0][n] * worst_[n] + weight_[1][n] * worst_[width_ + n];
  end.gap = gap_of(n);
  end.promises.resize(places_);
  end.kernel.resize(static_cast<std::size_t>(places_) * 2);
  for (int i = 0; i < places_; ++i) {
    end.promises[i] = {value_[1][i][n], static_cast<std::int32_t>(corner_[at(i, n)])};
    for (int j = 0; j < 2; ++j) end.kernel[i * 2 + j] = kernel_[j][at(i, n)];
  }
  remember(n);
}

void LevelGame::keep(const std::vector<int>& open) {
  for (std::size_t m = 0; m < open.size(); ++m) lanes_[m] = lanes_[open[m]];
  for (int i = 0; i < places_; ++i) {
    std::int64_t* corner = corner_.data() + at(i);
    for (std::size_t m = 0; m < open.size(); ++m) corner[m] = corner[open[m]];
    for (int j = 0; j < 2; ++j) {
      for (auto* array : {&rest_[j][0], &rest_[j][1], &held_[j][0], &held_[j][1]}) {
        double* kept = array->data() + at(i);
        for (std::size_t m = 0; m < open.size(); ++m) kept[m] = kept[open[m]];
      }
    }
  }
  lanes_.resize(open.size());
}

}  // namespace redoubt::internal
