#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "redoubt/advanced/abstraction.h"

namespace redoubt {

// The rows of an Abstraction, not written out. Where the noise of each axis is independent of the
// others, the pieces of a row are the products of pieces of each axis. So the law along an axis is
// kept once for all images that are the same along it, and what a box of cells is worth is found
// once for all rows.
//
// Images are first widened, by less than 1e-9 of a cell on either side: cells whose images differ
// by rounding then share their laws.
class ProductRows {
 public:
  explicit ProductRows(const Abstraction::Input& input);

  // What each row, [place in open][action], expects of the values of states, where nature picks the
  // worst member of every group; helpful: the best one. Of several parts of an image, the one that
  // is worst (best) counts: it is picked before the noise falls.
  std::vector<double> expectations(std::span<const double> values, bool helpful,
                                   int threads = 1) const;

  std::int64_t laws(int axis) const { return std::ssize(axis_[axis].begin) - 1; }

 private:
  struct Axis {
    std::vector<std::int64_t> begin;   // of each law: its pieces
    std::vector<std::int32_t> window;  // of each piece: the cells that are touched, as a number
    std::vector<double> probability;   // of each piece
    std::vector<std::int32_t> first, last;  // of each window: from 0, which is outside
    std::int64_t windows() const { return std::ssize(first); }
  };
  // What is expected over the last axes, kept until the law of one of them changes: of each product
  // of windows of the axes before.
  struct Kept {
    std::vector<double> value;
    std::vector<std::int64_t> round;
    std::int64_t now = 0;
  };

  void find_laws(const Abstraction::Input& input, int axis);
  void sort_boxes();
  std::vector<double> over_windows(std::span<const double> values, double sign) const;
  double expect(std::int64_t box, int axis, std::int64_t before,
                const std::vector<double>& of_windows, std::vector<Kept>& kept) const;

  std::vector<std::int64_t> cells_;  // of each axis
  std::vector<State> state_of_cell_;
  State states_, outside_;
  int parts_;
  std::vector<Axis> axis_;
  std::vector<std::vector<std::int32_t>> law_;  // of each axis and box
  std::vector<std::int64_t> sorted_;  // boxes, those with the same laws of later axes side by side
  std::vector<std::int64_t> groups_;  // where the law of the last axis changes
};

}  // namespace redoubt
