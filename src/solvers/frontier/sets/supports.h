#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "numerics/kernels.h"
#include "solvers/frontier/sets/trade_offs.h"

namespace redoubt::internal {

// What is known of the sets of a stage with several constraints, laid out for questions about any
// direction. Of a place those directions count whose bound is finite; the others were not looked
// at. The least bound at a direction q is the best of all ways to write it as a sum of known ones,
//     min sum_k l_k bound_k  subject to  sum_k l_k direction_k = q, l >= 0.
// The directions that an optimal basis is made of span a **cell**, in which that basis stays
// optimal; cells fill the space of all directions. The dual solution of a cell is a corner of all
// that the bounds allow. The cell that q lies in is the one whose corner is worth most there.
class Supports {
 public:
  Supports() = default;
  explicit Supports(const TradeOffs& table);

  // The least bound at q, and the directions that it is the sum of.
  double outside(std::int64_t place, const double* q, Directions::Parts& parts) const;

  // The most that a point is worth at q, and the point.
  double inside(std::int64_t place, const double* q, std::int32_t& point) const;

 private:
  static constexpr int kMost = Directions::kMostSignals;
  using Vector = std::array<double, kMost>;
  struct Basis {
    std::array<int, kMost> column;      // in the list of the place
    std::array<Vector, kMost> inverse;  // [row][signal]
    Vector weight;                      // of each row
  };
  struct Cell {
    std::array<int, kMost> column;  // in the list of the place
    std::array<int, kMost> next;    // cell beyond each of them; -1: none
    std::array<Vector, kMost> inverse;
  };

  const double* bounds(std::int64_t place) const { return values_.data() + begin_[place] * each_; }
  const double* weights(std::int64_t place) const { return bounds(place) + count(place); }
  int count(std::int64_t place) const {
    return static_cast<int>(begin_[place + 1] - begin_[place]);
  }
  void lay_out(const TradeOffs& table, std::int64_t place);
  void lay_out_points(const TradeOffs& table, std::int64_t place);
  void find_cells(std::int64_t place);
  bool invert(std::int64_t place, Cell& cell) const;
  Vector prices(const Cell& cell) const;
  void find_slack(std::int64_t place, const Cell& cell);
  int beyond(std::int64_t place, const Cell& cell, int row);
  void lay_out_corners(std::int64_t place);
  const Cell* locate(std::int64_t place, const Vector& wanted, Vector& weight) const;
  Basis solve(std::int64_t place, const Vector& wanted) const;
  bool is_sum(std::int64_t place, const Basis& basis, const Vector& wanted) const;

  int signals_ = 0;
  std::int64_t each_ = 0;            // numbers of each direction that counts
  Vector unit_{};                    // of the weight of each signal
  std::vector<double> share_of_;     // of each direction of the stage: makes its weights sum to one
  std::vector<std::int64_t> begin_;  // of each place, in the lists of directions that count
  std::vector<std::int32_t> lane_;   // number of each
  std::vector<int> alone_;           // of each place and signal: the direction of it alone
  std::vector<double> values_;       // of each place: bounds and weights
  // Different points of each place, in blocks of kBlock: [block][signal][point], the first of them
  // again where a block has room; and their numbers.
  static constexpr int kBlock = 8;
  std::vector<std::int64_t> points_begin_;
  std::vector<double> points_;
  std::vector<std::int32_t> point_;
  LargestSumFunction largest_sum_ = largest_sum_function(best_instruction_set());
  std::vector<double> cost_;            // bounds that are never on one plane; of the place at hand
  std::vector<double> slack_, across_;  // of the cell at hand
  std::vector<std::int64_t> cells_begin_;  // of each place
  std::vector<Cell> cells_;
  // The corner of each cell, in blocks as points are.
  std::vector<std::int64_t> corners_begin_;  // of each place, in blocks
  std::vector<double> corners_;
};

}  // namespace redoubt::internal
