#include "redoubt/advanced/abstraction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "support/require.h"

namespace redoubt {
using namespace internal;
namespace {

// How far from zero noise is looked at, in standard deviations: what is beyond has less than
// rounding in the probabilities of the others.
constexpr double kFarthest = 9;

// A piece of noise that another axis follows is at most this wide, in its scale: the other axis
// then knows little less than it could.
constexpr double kWidest = 0.5;

// The probability that the noise is at most x.
double at_most(const AxisNoise& noise, double x) {
  if (noise.law == AxisNoise::Law::gaussian)
    return 0.5 * std::erfc(-x / (noise.scale * std::numbers::sqrt2));
  return std::clamp((x + noise.scale) / (2 * noise.scale), 0.0, 1.0);
}

// The probability between two points, from the side on which it is small: no digits are lost.
double between(const AxisNoise& noise, double from, double to) {
  if (from > 0) return at_most(noise, -from) - at_most(noise, -to);  // both laws are symmetric
  return at_most(noise, to) - at_most(noise, from);
}

double farthest(const AxisNoise& noise) {
  return noise.law == AxisNoise::Law::gaussian ? kFarthest * noise.scale : noise.scale;
}

void check_axis(const std::vector<double>& lines, const AxisNoise& noise, int axis) {
  require(lines.size() >= 2, "axis {} of the grid has {} lines, must have at least two", axis,
          lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    require(std::isfinite(lines[i]) && (i == 0 || lines[i] > lines[i - 1]),
            "line {} of axis {} is at {}, lines must be finite and increase", i, axis, lines[i]);
  require(std::isfinite(noise.scale) && noise.scale >= 0,
          "scale {} of the noise of axis {}, must be finite and at least 0", noise.scale, axis);
  require(noise.law == AxisNoise::Law::none || noise.scale > 0,
          "scale 0 of the noise of axis {}, must be positive where there is noise", axis);
}

std::uint64_t hash_of(const std::vector<State>& members) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const State s : members) {
    hash ^= static_cast<std::uint64_t>(s) + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdu;
  }
  return hash;
}

}  // namespace

std::int64_t Grid::cell(std::span<const double> point) const {
  std::int64_t number = 0;
  for (int axis = 0; axis < axes(); ++axis) {
    const auto& line = lines[axis];
    const auto above = std::upper_bound(line.begin(), line.end(), point[axis]) - line.begin();
    if (above == 0 || above > cells(axis)) return -1;
    number = number * cells(axis) + above - 1;
  }
  return number;
}

Abstraction::Abstraction(Input input) : input_(std::move(input)) {
  check();
  pieces_.resize(input_.grid.axes());
  chosen_.resize(input_.grid.axes());
  state_rows_.push_back(0);
  row_outcomes_.push_back(0);
  std::size_t place = 0;
  for (State s = 0; s < input_.states; ++s) {
    if (place < input_.open.size() && input_.state_of_cell[input_.open[place]] == s) {
      for (int a = 0; a < input_.actions; ++a) {
        add_row((place * input_.actions + a) * input_.grid.axes());
        action_.push_back(a);
      }
      ++place;
    }
    state_rows_.push_back(static_cast<Row>(action_.size()));
  }
  require(place == input_.open.size(),
          "{} cells have rows, {} of them in the order of their states", input_.open.size(), place);
  add_groups();
}

void Abstraction::check() const {
  const Grid& grid = input_.grid;
  const auto axes = static_cast<std::size_t>(grid.axes());
  require(axes >= 1 && axes <= 4, "a grid of {} axes, must have 1 to 4", axes);
  require(input_.noise.size() == axes, "noise of {} axes, must be of {}", input_.noise.size(),
          axes);
  double cells = 1, boxes = 1;
  for (int axis = 0; axis < grid.axes(); ++axis) {
    check_axis(grid.lines[axis], input_.noise[axis], axis);
    cells *= static_cast<double>(grid.cells(axis));
    boxes *= std::pow(static_cast<double>(grid.cells(axis)) + 2, 2);
  }
  require(cells < std::numeric_limits<State>::max() && boxes < 1e18,
          "a grid of {:g} cells with {:g} boxes of cells, must be at most {} and 1e18", cells,
          boxes, std::numeric_limits<State>::max());
  require(input_.state_of_cell.size() == static_cast<std::size_t>(cells),
          "states of {} cells, must be of {}", input_.state_of_cell.size(), cells);
  require(input_.follows.empty() || input_.follows.size() == axes * axes,
          "noise that follows other noise by {} numbers, must be by {}", input_.follows.size(),
          axes * axes);
  for (std::size_t i = 0; i < input_.follows.size(); ++i)
    require(
        std::isfinite(input_.follows[i]) && (i % axes < i / axes || input_.follows[i] == 0),
        "noise of axis {} follows that of axis {} by {}, must be finite, and 0 unless that is an "
        "earlier one",
        i / axes, i % axes, input_.follows[i]);
  require(input_.actions >= 1, "{} actions, must be at least 1", input_.actions);
  require(input_.least_piece >= 0 && input_.least_piece < 0.5,
          "least_piece = {}, must be in [0, 0.5)", input_.least_piece);
  const std::size_t boxes_given = input_.open.size() * input_.actions * axes;
  require(input_.low.size() == boxes_given && input_.high.size() == boxes_given,
          "images of {} and {} coordinates, must be of {}", input_.low.size(), input_.high.size(),
          boxes_given);
  for (std::size_t i = 0; i < boxes_given; ++i)
    require(std::isfinite(input_.low[i]) && std::isfinite(input_.high[i]) &&
                input_.low[i] <= input_.high[i],
            "image [{}, {}] of cell {}, action {}, axis {}, must be an interval of finite numbers",
            input_.low[i], input_.high[i], input_.open[i / axes / input_.actions],
            i / axes % input_.actions, i % axes);
}

double Abstraction::follows(int later, int earlier) const {
  return input_.follows.empty() ? 0.0 : input_.follows[later * input_.grid.axes() + earlier];
}

bool Abstraction::is_alone(int axis) const {
  for (int earlier = 0; earlier < axis; ++earlier)
    if (follows(axis, earlier) != 0) return false;
  return true;
}

bool Abstraction::is_followed(int axis) const {
  for (int later = axis + 1; later < input_.grid.axes(); ++later)
    if (follows(later, axis) != 0) return true;
  return false;
}

void Abstraction::cut_alone(std::size_t box, Pieces& pieces) const {
  for (int axis = 0; axis < input_.grid.axes(); ++axis)
    if (is_alone(axis)) cut(axis, input_.low[box + axis], input_.high[box + axis], pieces[axis]);
}

// An axis that follows others, given their pieces.
void Abstraction::cut_next(std::size_t box, int axis, const std::vector<Piece>& chosen,
                           Pieces& pieces) const {
  if (is_alone(axis)) return;
  double low = input_.low[box + axis], high = input_.high[box + axis];
  for (int earlier = 0; earlier < axis; ++earlier) {
    const double share = follows(axis, earlier);
    const double begin = share * chosen[earlier].begin, end = share * chosen[earlier].end;
    low += std::min(begin, end);
    high += std::max(begin, end);
  }
  cut(axis, low, high, pieces[axis]);
}

void Abstraction::cut(int axis, double low, double high, std::vector<Piece>& pieces) const {
  cut_at_lines(axis, low, high, pieces);
  join_ends(pieces);
  const AxisNoise& noise = input_.noise[axis];
  if (is_followed(axis) && noise.law != AxisNoise::Law::none) cut_wide(noise, pieces);
  const auto numbers = [&](int of) {  // that a place along the axis may have
    return static_cast<std::uint64_t>(input_.grid.lines[of].size()) + 1;
  };
  std::uint64_t radix = 1;
  for (int before = 0; before < axis; ++before) radix *= numbers(before) * numbers(before);
  for (Piece& piece : pieces)
    piece.key = radix * (static_cast<std::uint64_t>(piece.first) * numbers(axis) + piece.last);
}

// Between two points at which an end of the box crosses a line, it touches the same cells.
void Abstraction::cut_at_lines(int axis, double low, double high,
                               std::vector<Piece>& pieces) const {
  const std::vector<double>& lines = input_.grid.lines[axis];
  const AxisNoise& noise = input_.noise[axis];
  const double most = farthest(noise), never = std::numeric_limits<double>::infinity();
  const auto crossed = [&](double end) {  // how many lines it is on or above
    return static_cast<std::int32_t>(std::upper_bound(lines.begin(), lines.end(), end) -
                                     lines.begin());
  };
  pieces.clear();
  if (noise.law == AxisNoise::Law::none)
    return pieces.push_back({0, 0, 1.0, crossed(low), crossed(high)});
  double from = -most;
  auto first = crossed(low + from), last = crossed(high + from);
  const auto count = static_cast<std::int32_t>(lines.size());
  while (from < most) {
    const double low_crosses = first < count ? lines[first] - low : never;
    const double high_crosses = last < count ? lines[last] - high : never;
    const double to = std::clamp(std::min(low_crosses, high_crosses), from, most);
    const double probability = between(noise, from, to);
    if (probability > 0) pieces.push_back({from, to, probability, first, last});
    if (low_crosses <= to) ++first;
    if (high_crosses <= to) ++last;
    from = to;
  }
}

// Cuts wide pieces into equal parts, but for those that are as rare as may be.
void Abstraction::cut_wide(const AxisNoise& noise, std::vector<Piece>& pieces) const {
  std::vector<Piece> narrow;
  for (const Piece& piece : pieces) {
    const double width = piece.end - piece.begin;
    const bool rare = piece.probability < 2 * input_.least_piece;
    const int parts = rare ? 1 : std::max(static_cast<int>(width / (kWidest * noise.scale)) + 1, 1);
    for (int i = 0; i < parts; ++i) {
      Piece part = piece;
      if (i > 0) part.begin = piece.begin + width * i / parts;
      if (i + 1 < parts) part.end = piece.begin + width * (i + 1) / parts;
      if (parts > 1) part.probability = between(noise, part.begin, part.end);
      if (part.probability > 0) narrow.push_back(part);
    }
  }
  pieces = std::move(narrow);
}

// An end is joined to its neighbour until it has its share: then it may touch the cells of both.
void Abstraction::join_ends(std::vector<Piece>& pieces) const {
  const auto join = [](Piece& into, const Piece& other) {
    into.probability += other.probability;
    into.first = std::min(into.first, other.first);
    into.last = std::max(into.last, other.last);
    into.begin = std::min(into.begin, other.begin);
    into.end = std::max(into.end, other.end);
  };
  std::size_t begin = 0, end = pieces.size();
  for (; end - begin > 1 && pieces[begin].probability < input_.least_piece; ++begin)
    join(pieces[begin + 1], pieces[begin]);
  for (; end - begin > 1 && pieces[end - 1].probability < input_.least_piece; --end)
    join(pieces[end - 2], pieces[end - 1]);
  pieces.resize(end);
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(begin));
}

void Abstraction::add_row(std::size_t box) {
  met_.clear();
  cut_alone(box, pieces_);
  add_outcomes(box, 0, 1.0, 0);
  std::sort(met_.begin(), met_.end());
  for (const State s : met_) {
    if (mass_[s] == 0) continue;  // so small that it is none
    next_.push_back(s);
    probability_.push_back(std::exchange(mass_[s], 0.0));
  }
  row_outcomes_.push_back(static_cast<std::int64_t>(next_.size()));
}

// Every combination of pieces of the axes from this one on; probability and key are those of the
// pieces that are chosen before it.
void Abstraction::add_outcomes(std::size_t box, int axis, double probability, std::uint64_t key) {
  if (axis == input_.grid.axes()) {
    const State next = find_state(key);
    if (static_cast<std::size_t>(next) >= mass_.size()) mass_.resize(next + 1, 0.0);
    if (mass_[next] == 0) met_.push_back(next);
    mass_[next] += probability;
    return;
  }
  cut_next(box, axis, chosen_, pieces_);
  for (const Piece& piece : pieces_[axis]) {
    chosen_[axis] = piece;
    add_outcomes(box, axis + 1, probability * piece.probability, key + piece.key);
  }
}

State Abstraction::find_state(std::uint64_t key) {
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  std::vector<State> members = members_of_chosen();
  const State found = members.size() == 1 ? members.front() : find_group(std::move(members));
  known_.emplace(key, found);
  return found;
}

std::vector<State> Abstraction::members_of_chosen() const {
  const Grid& grid = input_.grid;
  std::vector<State> members;
  std::vector<std::int64_t> cells = {0};  // of the axes so far
  for (int axis = 0; axis < grid.axes(); ++axis) {
    const Piece& piece = chosen_[axis];
    const auto count = grid.cells(axis);
    if ((piece.first == 0 || piece.last > count) && members.empty())
      members.push_back(input_.outside);
    std::vector<std::int64_t> more;
    for (const auto cell : cells) {
      for (auto i = std::max(piece.first, 1); i <= std::min<std::int64_t>(piece.last, count); ++i)
        more.push_back(cell * count + i - 1);
    }
    cells = std::move(more);
  }
  for (const auto cell : cells) members.push_back(input_.state_of_cell[cell]);
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

State Abstraction::find_group(std::vector<State> members) {
  const std::uint64_t hash = hash_of(members);
  const auto [begin, end] = by_members_.equal_range(hash);
  for (auto same = begin; same != end; ++same)
    if (members_[same->second] == members) return input_.states + same->second;
  const auto group = groups();
  require(group < std::numeric_limits<State>::max() - input_.states,
          "{} groups of states, must be fewer", group);
  by_members_.emplace(hash, group);
  members_.push_back(std::move(members));
  return input_.states + group;
}

// Groups have a row each, which lists their members.
void Abstraction::add_groups() {
  for (const std::vector<State>& members : members_) {
    action_.push_back(0);
    for (const State s : members) {
      next_.push_back(s);
      probability_.push_back(1.0 / static_cast<double>(members.size()));
    }
    row_outcomes_.push_back(static_cast<std::int64_t>(next_.size()));
    state_rows_.push_back(static_cast<Row>(action_.size()));
  }
}

State Abstraction::next(std::int64_t place, int action, std::span<const double> noise) const {
  const auto axes = static_cast<std::size_t>(input_.grid.axes());
  require(place >= 0 && place < std::ssize(input_.open) && action >= 0 && action < input_.actions,
          "action {} in open cell {}, must be in 0..{} and 0..{}", action, place,
          input_.actions - 1, std::ssize(input_.open) - 1);
  const std::size_t box = (place * input_.actions + action) * axes;
  Pieces pieces(axes);
  std::vector<Piece> chosen(axes);
  std::vector<double> own(axes);  // what no earlier axis explains
  std::uint64_t key = 0;
  cut_alone(box, pieces);
  for (int axis = 0; axis < input_.grid.axes(); ++axis) {
    cut_next(box, axis, chosen, pieces);
    own[axis] = noise[axis];
    for (int earlier = 0; earlier < axis; ++earlier)
      own[axis] -= follows(axis, earlier) * own[earlier];
    const auto holds = [&](const Piece& piece) { return own[axis] <= piece.end; };
    auto piece = std::find_if(pieces[axis].begin(), pieces[axis].end(), holds);
    if (piece == pieces[axis].end()) --piece;  // beyond what is looked at
    chosen[axis] = *piece;
    key += piece->key;
  }
  return known_.at(key);
}

}  // namespace redoubt
