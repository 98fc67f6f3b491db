#include "solvers/frontier/sets/supports.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "numerics/infinity.h"

namespace redoubt::internal {
namespace {

constexpr int kMostPivots = 100;
constexpr double kGain = 1e-12;       // of the size of bounds: less is rounding
constexpr double kLeastPivot = 1e-7;  // of directions whose weights sum to one
constexpr double kNegative = 1e-13;   // of a weight: rounding
constexpr double kOff = 1e-12;        // of a sum of directions: rounding
// Where many bounds lie on one plane, as in a corner of a set, every cell has the same right.
// Bounds bent by this share of their size are in no doubt.
constexpr double kBent = 1e-9;
constexpr int kUnknown = -2;              // what is beyond a cell
constexpr int kMostSignalsWithCells = 4;  // beyond that there are too many
constexpr int kMostCellsOfEach = 30;      // directions

}  // namespace

Supports::Supports(const TradeOffs& table) : signals_(table.directions().signals()) {
  const Directions& directions = table.directions();
  each_ = 1 + signals_;
  unit_.fill(1);
  for (int j = 1; j < signals_; ++j) {
    for (int lead = 0; lead < j; ++lead) {  // the first with a direction that cares for both
      double most = 0;
      for (int k = directions.alone(lead); k < directions.alone(lead + 1); ++k)
        most = std::max(most, directions.weight(k, j));
      if (most <= 0) continue;
      unit_[j] = unit_[lead] / most;
      break;
    }
  }
  for (int k = 0; k < directions.size(); ++k) {
    double sum = 0;
    for (int j = 0; j < signals_; ++j) sum += unit_[j] * directions.weight(k, j);
    share_of_.push_back(1 / sum);
  }
  begin_ = points_begin_ = {0};
  cells_begin_ = corners_begin_ = {0};
  for (std::int64_t place = 0; place < table.places(); ++place) {
    lay_out(table, place);
    lay_out_points(table, place);
    if (signals_ <= kMostSignalsWithCells) find_cells(place);
    cells_begin_.push_back(static_cast<std::int64_t>(cells_.size()));
    lay_out_corners(place);
  }
}

void Supports::lay_out(const TradeOffs& table, std::int64_t place) {
  const Directions& directions = table.directions();
  const double* bounds = table.bounds(place);
  const auto first = static_cast<std::ptrdiff_t>(lane_.size());
  for (int k = 0; k < directions.size(); ++k) {
    if (!std::isfinite(bounds[k])) continue;
    lane_.push_back(k);
    values_.push_back(share_of_[k] * bounds[k]);
  }
  const auto last = static_cast<std::ptrdiff_t>(lane_.size());
  for (int j = 0; j < signals_; ++j)
    for (auto n = first; n < last; ++n)
      values_.push_back(unit_[j] * share_of_[lane_[n]] * directions.weight(lane_[n], j));
  for (int j = 0; j < signals_; ++j) {
    const auto at = std::find(lane_.begin() + first, lane_.end(), directions.alone(j));
    alone_.push_back(static_cast<int>(at - lane_.begin() - first));
  }
  begin_.push_back(last);
  cost_.assign(values_.end() - (last - first) * each_,
               values_.end() - (last - first) * (each_ - 1));
  double size = 0;
  for (const double bound : cost_) size = std::max(size, std::abs(bound));
  const std::int64_t all = last - first;
  for (std::int64_t n = 0; n < all; ++n) {
    double square = 0;
    for (int j = 0; j < signals_; ++j)
      square += weights(place)[j * all + n] * weights(place)[j * all + n];
    cost_[n] += kBent * size * square;
  }
}

void Supports::lay_out_points(const TradeOffs& table, std::int64_t place) {
  const auto first = static_cast<std::ptrdiff_t>(point_.size());
  const auto same = [&](std::int32_t a, std::int32_t b) {
    bool all = true;
    for (int j = 0; j < signals_; ++j)
      all = all && table.points(place, j)[a] == table.points(place, j)[b];
    return all;
  };
  for (auto n = begin_[place]; n < begin_[place + 1]; ++n) {
    const std::int32_t lane = lane_[n];
    if (std::none_of(point_.begin() + first, point_.end(),
                     [&](std::int32_t other) { return same(lane, other); }))
      point_.push_back(lane);
  }
  while ((static_cast<std::ptrdiff_t>(point_.size()) - first) % kBlock > 0)
    point_.push_back(point_[first]);
  for (auto n = first; n < static_cast<std::ptrdiff_t>(point_.size()); n += kBlock)
    for (int j = 0; j < signals_; ++j)
      for (int at = 0; at < kBlock; ++at) points_.push_back(table.points(place, j)[point_[n + at]]);
  points_begin_.push_back(static_cast<std::int64_t>(point_.size()));
}

// By Gauss and Jordan, with the largest pivots. False when there is no inverse.
bool Supports::invert(std::int64_t place, Cell& cell) const {
  std::array<std::array<double, 2 * kMost>, kMost> rows{};  // of signals: directions, and the unit
  const int all = count(place);
  for (int j = 0; j < signals_; ++j) {
    for (int i = 0; i < signals_; ++i) rows[j][i] = weights(place)[j * all + cell.column[i]];
    rows[j][signals_ + j] = 1;
  }
  for (int i = 0; i < signals_; ++i) {
    int best = i;
    for (int j = i + 1; j < signals_; ++j)
      if (std::abs(rows[j][i]) > std::abs(rows[best][i])) best = j;
    if (std::abs(rows[best][i]) < kLeastPivot) return false;
    std::swap(rows[i], rows[best]);
    const double pivot = rows[i][i];
    for (double& entry : rows[i]) entry /= pivot;
    for (int j = 0; j < signals_; ++j) {
      const double by = rows[j][i];
      if (j == i || by == 0) continue;
      for (int n = 0; n < 2 * signals_; ++n) rows[j][n] -= by * rows[i][n];
    }
  }
  for (int i = 0; i < signals_; ++i)
    for (int j = 0; j < signals_; ++j) cell.inverse[i][j] = rows[i][signals_ + j];
  return true;
}

// Of one unit of each signal, by the bent bounds.
Supports::Vector Supports::prices(const Cell& cell) const {
  Vector price{};
  for (int i = 0; i < signals_; ++i)
    for (int j = 0; j < signals_; ++j) price[j] += cost_[cell.column[i]] * cell.inverse[i][j];
  return price;
}

// How far each bound is above what a cell makes of its direction.
void Supports::find_slack(std::int64_t place, const Cell& cell) {
  const int all = count(place);
  const double* weight = weights(place);
  const Vector price = prices(cell);
  slack_ = cost_;
  for (int j = 0; j < signals_; ++j)
    for (int n = 0; n < all; ++n) slack_[n] -= price[j] * weight[j * all + n];
  for (double& slack : slack_) slack = std::max(0.0, slack);
}

// The direction that comes in where that of a row goes out; -1: all others are on this side.
int Supports::beyond(std::int64_t place, const Cell& cell, int row) {
  const int all = count(place);
  const double* weight = weights(place);
  across_.assign(all, 0.0);
  for (int j = 0; j < signals_; ++j)
    for (int n = 0; n < all; ++n) across_[n] -= cell.inverse[row][j] * weight[j * all + n];
  double least = kInfinity;
  int column = -1;
  for (int n = 0; n < all; ++n) {
    if (across_[n] <= kLeastPivot || slack_[n] >= least * across_[n]) continue;
    least = slack_[n] / across_[n];
    column = n;
  }
  return column;
}

// From the cell of one direction to its neighbours, and so on. Where rounding makes them too many,
// there are none.
void Supports::find_cells(std::int64_t place) {
  const auto first = static_cast<std::ptrdiff_t>(cells_.size());
  const auto most = static_cast<std::size_t>(kMostCellsOfEach) * count(place);
  Vector centre{};
  for (int j = 0; j < signals_; ++j) centre[j] = 1;
  std::map<std::array<int, kMost>, int> known;  // by columns, in order
  const auto number = [&](const std::array<int, kMost>& columns) {
    std::array<int, kMost> key = columns;
    std::sort(key.begin(), key.end());
    const auto [at, is_new] = known.try_emplace(key, static_cast<int>(cells_.size() - first));
    if (!is_new) return at->second;
    Cell cell;
    cell.column = columns;
    if (!invert(place, cell)) return at->second = -1;
    cell.next.fill(kUnknown);
    cells_.push_back(cell);
    return at->second;
  };
  std::array<int, kMost> columns = solve(place, centre).column;
  number(columns);
  for (auto n = first; n < static_cast<std::ptrdiff_t>(cells_.size()); ++n) {
    if (known.size() > most) break;
    find_slack(place, cells_[n]);
    for (int row = 0; row < signals_; ++row) {
      if (cells_[n].next[row] != kUnknown) continue;
      const int across = beyond(place, cells_[n], row);
      columns = cells_[n].column;
      columns[row] = across;
      const int next = across < 0 ? -1 : number(columns);
      cells_[n].next[row] = next;
      if (next < 0) continue;
      Cell& other = cells_[first + next];  // and back again
      for (int i = 0; i < signals_; ++i) {
        if (other.column[i] == across && other.next[i] == kUnknown)
          other.next[i] = static_cast<int>(n - first);
      }
    }
  }
  if (known.size() > most) cells_.resize(first);
}

void Supports::lay_out_corners(std::int64_t place) {
  const std::int64_t first = cells_begin_[place], all = cells_begin_[place + 1] - first;
  for (std::int64_t block = 0; block < all; block += kBlock) {
    std::array<Vector, kBlock> corner;
    for (int at = 0; at < kBlock; ++at)
      corner[at] = prices(cells_[first + std::min(block + at, all - 1)]);
    for (int j = 0; j < signals_; ++j)
      for (int at = 0; at < kBlock; ++at) corners_.push_back(corner[at][j]);
  }
  corners_begin_.push_back(static_cast<std::int64_t>(corners_.size()) / (kBlock * signals_));
}

// The cell that q lies in, and what it has of its directions: the one whose corner is worth most
// there or, where rounding has another one win, few steps from there. None when the walk does not
// end.
const Supports::Cell* Supports::locate(std::int64_t place, const Vector& wanted,
                                       Vector& weight) const {
  const auto cells = static_cast<int>(cells_begin_[place + 1] - cells_begin_[place]);
  if (cells == 0) return nullptr;
  const Cell* first = cells_.data() + cells_begin_[place];
  double size = 0;
  for (int j = 0; j < signals_; ++j) size += wanted[j];
  const std::int64_t block = corners_begin_[place];
  const LargestSum most = largest_sum_(corners_.data() + block * kBlock * signals_,
                                       corners_begin_[place + 1] - block, signals_, wanted.data());
  int at = std::min(static_cast<int>(most.which), cells - 1);  // copies fill the last block
  for (int steps = 0; steps < cells; ++steps) {
    const Cell& cell = first[at];
    int row = 0;
    for (int i = 0; i < signals_; ++i) {
      double sum = 0;
      for (int j = 0; j < signals_; ++j) sum += cell.inverse[i][j] * wanted[j];
      weight[i] = sum;
      if (sum < weight[row]) row = i;
    }
    if (weight[row] >= -kNegative * size) return &cell;
    at = cell.next[row];
    if (at < 0) break;
  }
  return nullptr;
}

// The simplex method, from the directions of one signal alone: each time, the direction that lowers
// the bound most for its weight comes in.
Supports::Basis Supports::solve(std::int64_t place, const Vector& wanted) const {
  const int all = count(place);
  const double *bound = bounds(place), *weights_of = weights(place);
  Basis basis{};
  basis.weight = wanted;
  double size = 0;
  for (int n = 0; n < all; ++n) size = std::max(size, std::abs(bound[n]));
  for (int i = 0; i < signals_; ++i) {
    basis.column[i] = alone_[place * signals_ + i];
    basis.inverse[i][i] = 1;
  }
  const Basis alone = basis;
  for (int pivots = 0; pivots < kMostPivots; ++pivots) {
    Vector price{}, written{};
    for (int i = 0; i < signals_; ++i)
      for (int j = 0; j < signals_; ++j) price[j] += bound[basis.column[i]] * basis.inverse[i][j];
    double most = kGain * size;
    int column = -1;
    for (int n = 0; n < all; ++n) {
      double gain = -bound[n];
      for (int j = 0; j < signals_; ++j) gain += price[j] * weights_of[j * all + n];
      if (gain > most) most = gain, column = n;
    }
    if (column < 0) break;
    int row = -1;
    double least = kInfinity;
    for (int i = 0; i < signals_; ++i) {
      for (int j = 0; j < signals_; ++j)
        written[i] += basis.inverse[i][j] * weights_of[j * all + column];
      if (written[i] <= kLeastPivot || basis.weight[i] >= least * written[i]) continue;
      least = basis.weight[i] / written[i];
      row = i;
    }
    if (row < 0) break;  // rounding
    for (double& entry : basis.inverse[row]) entry /= written[row];
    for (int i = 0; i < signals_; ++i) {
      if (i == row) continue;
      for (int j = 0; j < signals_; ++j) basis.inverse[i][j] -= written[i] * basis.inverse[row][j];
      basis.weight[i] = std::max(0.0, basis.weight[i] - least * written[i]);
    }
    basis.weight[row] = least;
    basis.column[row] = column;
  }
  return is_sum(place, basis, wanted) ? basis : alone;
}

bool Supports::is_sum(std::int64_t place, const Basis& basis, const Vector& wanted) const {
  const int all = count(place);
  double size = 0, off = 0;
  for (int j = 0; j < signals_; ++j) {
    double rest = wanted[j];
    for (int i = 0; i < signals_; ++i)
      rest -= basis.weight[i] * weights(place)[j * all + basis.column[i]];
    size += wanted[j];
    off = std::max(off, std::abs(rest));
  }
  return off <= kOff * size;
}

double Supports::outside(std::int64_t place, const double* q, Directions::Parts& parts) const {
  Vector wanted{}, weight{};
  for (int j = 0; j < signals_; ++j) wanted[j] = unit_[j] * q[j];
  std::array<int, kMost> column{};
  if (const Cell* cell = locate(place, wanted, weight)) {
    column = cell->column;
  } else {
    const Basis basis = solve(place, wanted);
    column = basis.column, weight = basis.weight;
  }
  parts.count = 0;
  double sum = 0;
  for (int i = 0; i < signals_; ++i) {
    if (weight[i] <= 0) continue;
    sum += weight[i] * bounds(place)[column[i]];
    const std::int32_t lane = lane_[begin_[place] + column[i]];
    parts.add(lane, weight[i] * share_of_[lane]);
  }
  return sum;
}

double Supports::inside(std::int64_t place, const double* q, std::int32_t& point) const {
  const auto first = points_begin_[place], last = points_begin_[place + 1];
  const LargestSum best =
      largest_sum_(points_.data() + first * signals_, (last - first) / kBlock, signals_, q);
  point = point_[first + best.which];
  return best.value;
}

}  // namespace redoubt::internal
