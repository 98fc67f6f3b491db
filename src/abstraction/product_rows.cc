#include "redoubt/advanced/product_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "abstraction/input.h"
#include "abstraction/pieces.h"
#include "support/require.h"
#include "support/thread_pool.h"

namespace redoubt {
using namespace internal;
namespace {

// Values of products of windows that are kept for a sweep, at most.
constexpr double kMostProducts = 1 << 28;

// Ends of images as whole numbers, so that images that differ by rounding are the same.
class Rounded {
 public:
  Rounded(const std::vector<double>& lines, const AxisNoise& noise)
      : exact_(noise.law == AxisNoise::Law::none) {
    double narrowest = lines.back() - lines.front();
    for (std::size_t i = 1; i < lines.size(); ++i)
      narrowest = std::min(narrowest, lines[i] - lines[i - 1]);
    // An image beyond these is outside, whatever the noise.
    lowest_ = lines.front() - 2 * farthest(noise) - narrowest;
    highest_ = lines.back() + 2 * farthest(noise) + narrowest;
    const double largest = std::max(std::abs(lowest_), std::abs(highest_));
    unit_ = std::exp2(
        std::max(std::ceil(std::log2(narrowest)) - 31, std::ceil(std::log2(largest)) - 60));
  }
  std::pair<std::int64_t, std::int64_t> keys(double low, double high) const {
    if (exact_) return {std::bit_cast<std::int64_t>(low), std::bit_cast<std::int64_t>(high)};
    return {static_cast<std::int64_t>(std::floor(std::clamp(low, lowest_, highest_) / unit_)),
            static_cast<std::int64_t>(std::ceil(std::clamp(high, lowest_, highest_) / unit_))};
  }
  double value(std::int64_t key) const {
    return exact_ ? std::bit_cast<double>(key) : static_cast<double>(key) * unit_;
  }

 private:
  bool exact_;
  double unit_, lowest_, highest_;
};

struct HashOfPair {
  std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& pair) const {
    const auto mixed = static_cast<std::uint64_t>(pair.first) * 0x9e3779b97f4a7c15u +
                       static_cast<std::uint64_t>(pair.second) * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29));
  }
};
using Numbers = std::unordered_map<std::pair<std::int64_t, std::int64_t>, std::int32_t, HashOfPair>;

// Stable, by the numbers that the items have.
std::vector<std::int64_t> sorted_by(const std::vector<std::int32_t>& number, std::int64_t numbers,
                                    const std::vector<std::int64_t>& items) {
  std::vector<std::int64_t> place(numbers + 1, 0), sorted(items.size());
  for (const std::int32_t n : number) ++place[n + 1];
  for (std::int64_t n = 0; n < numbers; ++n) place[n + 1] += place[n];
  for (const std::int64_t item : items) sorted[place[number[item]]++] = item;
  return sorted;
}

}  // namespace

ProductRows::ProductRows(const Abstraction::Input& input)
    : state_of_cell_(input.state_of_cell),
      states_(input.states),
      outside_(input.outside),
      parts_(input.parts),
      axis_(input.grid.axes()),
      law_(input.grid.axes()) {
  check_input(input);
  require(std::all_of(input.follows.begin(), input.follows.end(), [](double f) { return f == 0; }),
          "noise of an axis that follows that of another one, must be independent");
  double products = 1;
  for (int axis = 0; axis < input.grid.axes(); ++axis) {
    cells_.push_back(input.grid.cells(axis));
    find_laws(input, axis);
    products *= static_cast<double>(axis_[axis].windows());
  }
  require(products <= kMostProducts, "{:g} boxes of cells, must be at most {:g}", products,
          kMostProducts);
  sort_boxes();
}

void ProductRows::find_laws(const Abstraction::Input& input, int axis) {
  const std::vector<double>& lines = input.grid.lines[axis];
  const AxisNoise& noise = input.noise[axis];
  const Rounded rounded(lines, noise);
  const auto axes = static_cast<std::size_t>(input.grid.axes());
  Axis& made = axis_[axis];
  Numbers laws, windows;
  std::vector<NoisePiece> pieces;
  made.begin.push_back(0);
  law_[axis].resize(input.low.size() / axes);
  for (std::size_t box = 0; box < law_[axis].size(); ++box) {
    const auto keys = rounded.keys(input.low[box * axes + axis], input.high[box * axes + axis]);
    const auto [law, is_new] = laws.try_emplace(keys, static_cast<std::int32_t>(laws.size()));
    law_[axis][box] = law->second;
    if (!is_new) continue;
    cut_noise(lines, noise, rounded.value(keys.first), rounded.value(keys.second),
              input.least_piece, pieces);
    for (const NoisePiece& piece : pieces) {
      const auto [window, first_met] =
          windows.try_emplace({piece.first, piece.last}, static_cast<std::int32_t>(windows.size()));
      if (first_met) {
        made.first.push_back(piece.first);
        made.last.push_back(piece.last);
      }
      made.window.push_back(window->second);
      made.probability.push_back(piece.probability);
    }
    made.begin.push_back(std::ssize(made.window));
  }
}

// Boxes with the same laws along the last axes come one after the other.
void ProductRows::sort_boxes() {
  const int axes = static_cast<int>(std::ssize(axis_));
  sorted_.resize(law_[0].size());
  for (std::size_t box = 0; box < sorted_.size(); ++box)
    sorted_[box] = static_cast<std::int64_t>(box);
  for (int axis = std::min(1, axes - 1); axis < axes; ++axis)
    sorted_ = sorted_by(law_[axis], laws(axis), sorted_);
  for (std::size_t i = 0; i < sorted_.size(); ++i)
    if (i == 0 || law_[axes - 1][sorted_[i]] != law_[axes - 1][sorted_[i - 1]])
      groups_.push_back(static_cast<std::int64_t>(i));
  groups_.push_back(std::ssize(sorted_));
}

// The least value (times the sign) in each product of windows, the last axis fastest. Cells along
// an axis become windows, axis by axis.
std::vector<double> ProductRows::over_windows(std::span<const double> values, double sign) const {
  const int axes = static_cast<int>(std::ssize(axis_));
  std::int64_t size = 1, outer = 1;
  for (const std::int64_t cells : cells_) size *= cells + 2;  // outside on either side
  std::vector<double> from(size, sign * values[outside_]);
  for (std::int64_t cell = 0; cell < std::ssize(state_of_cell_); ++cell) {
    std::int64_t place = 0, stride = 1, left = cell;
    for (int axis = axes - 1; axis >= 0; --axis) {
      place += (left % cells_[axis] + 1) * stride;
      left /= cells_[axis];
      stride *= cells_[axis] + 2;
    }
    from[place] = sign * values[state_of_cell_[cell]];
  }
  for (int axis = 0; axis < axes; ++axis) {
    const Axis& a = axis_[axis];
    const std::int64_t cells = cells_[axis] + 2, inner = size / outer / cells;
    std::vector<double> to(outer * a.windows() * inner);
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t w = 0; w < a.windows(); ++w) {
        double* out = &to[(o * a.windows() + w) * inner];
        const double* in = &from[o * cells * inner];
        std::copy_n(in + a.first[w] * inner, inner, out);
        for (std::int64_t c = a.first[w] + 1; c <= a.last[w]; ++c)
          for (std::int64_t i = 0; i < inner; ++i) out[i] = std::min(out[i], in[c * inner + i]);
      }
    }
    outer *= a.windows();
    size = outer * inner;
    from = std::move(to);
  }
  return from;
}

// Over the pieces of this axis and of later ones; `before` is the product of the windows of earlier
// ones.
double ProductRows::expect(std::int64_t box, int axis, std::int64_t before,
                           const std::vector<double>& of_windows, std::vector<Kept>& kept) const {
  const Axis& a = axis_[axis];
  Kept& keep = kept[axis];
  if (axis > 0 && keep.round[before] == keep.now) return keep.value[before];
  const std::int64_t first = before * a.windows();
  const bool last = axis + 1 == std::ssize(axis_);
  const std::int32_t law = law_[axis][box];
  double sum = 0;
  for (std::int64_t i = a.begin[law]; i < a.begin[law + 1]; ++i) {
    const std::int64_t here = first + a.window[i];
    sum += a.probability[i] *
           (last ? of_windows[here] : expect(box, axis + 1, here, of_windows, kept));
  }
  if (axis > 0) {
    keep.round[before] = keep.now;
    keep.value[before] = sum;
  }
  return sum;
}

std::vector<double> ProductRows::expectations(std::span<const double> values, bool helpful,
                                              int threads) const {
  require(std::ssize(values) == states_, "values of {} states, must be of {}", values.size(),
          states_);
  require(threads >= 1, "threads = {}, must be at least 1", threads);
  const double sign = helpful ? -1 : 1;  // the best is the worst of what is turned around
  const std::vector<double> of_windows = over_windows(values, sign);
  const int axes = static_cast<int>(std::ssize(axis_));
  ThreadPool pool(threads);
  std::vector<Kept> none(axes);
  std::int64_t products = 1;
  for (int axis = 1; axis < axes; ++axis) {
    products *= axis_[axis - 1].windows();
    none[axis] = {std::vector<double>(products), std::vector<std::int64_t>(products, 0), 0};
  }
  std::vector<std::vector<Kept>> kept(pool.count(), none);
  std::vector<double> of_box(sorted_.size());
  pool.for_each(std::ssize(groups_) - 1, 8, [&](std::int64_t begin, std::int64_t end, int worker) {
    std::vector<Kept>& own = kept[worker];
    for (std::int64_t i = groups_[begin]; i < groups_[end]; ++i) {
      const std::int64_t box = sorted_[i];
      bool same = i > groups_[begin];
      for (int axis = axes - 1; axis > 0; --axis) {
        same = same && law_[axis][box] == law_[axis][sorted_[i - 1]];
        if (!same) ++own[axis].now;
      }
      of_box[box] = expect(box, 0, 0, of_windows, own);
    }
  });
  std::vector<double> of_row(sorted_.size() / parts_);
  for (std::size_t row = 0; row < of_row.size(); ++row)
    of_row[row] = sign * *std::min_element(&of_box[row * parts_], &of_box[row * parts_] + parts_);
  return of_row;
}

}  // namespace redoubt
