#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "redoubt/model.h"

namespace redoubt {

// A box of real vectors, cut into cells along each axis. A point that is on a line belongs to the
// cell above it. Cells are numbered with the last axis fastest.
struct Grid {
  std::vector<std::vector<double>> lines;  // of each axis: increasing, at least two

  int axes() const { return static_cast<int>(lines.size()); }
  std::int64_t cells(int axis) const { return static_cast<std::int64_t>(lines[axis].size()) - 1; }
  std::int64_t cell(std::span<const double> point) const;  // -1: outside
};

// What is added to one coordinate of the next state, by itself.
struct AxisNoise {
  enum class Law { none, gaussian, uniform };
  Law law = Law::none;
  double scale = 0;  // standard deviation; half the width of a uniform law
};

// A piece of the noise of one axis: as long as the noise is in there, an image touches the same
// cells, numbered from 1; 0 and cells + 1 are outside.
struct NoisePiece {
  double begin = 0, end = 0;
  double probability = 0;
  std::int32_t first = 0, last = 0;
};

// A system x' = f(x, u) + w on a grid, as rows whose outcomes are groups of states.
//
// For a cell and an action, f leads into a box. The noise is cut, axis by axis, where an end of the
// moved box crosses a line of the grid: in between, the cells that the box touches are the same. An
// axis that follows another is cut for each piece of that one, with a box that is wider by what the
// piece leaves open.
// So every piece of the noise has an exact probability, and leads to one group of cells: whatever
// is not known, which is where in its cell the state was, is in the groups.
class Abstraction {
 public:
  struct Input {
    Grid grid;
    std::vector<AxisNoise> noise;  // of each axis, independent of each other
    // How much of the noise of an earlier axis is added to a later one: [later][earlier], below the
    // diagonal of a square matrix. Empty: nothing. Every covariance has such a form.
    std::vector<double> follows;
    State states = 0;                  // of the model, without groups
    std::vector<State> state_of_cell;  // several cells may be one state, such as a goal
    State outside = 0;                 // the state in which an episode leaves the grid
    int actions = 0;
    // Which cells have rows, in the order of their states.
    std::vector<std::int64_t> open;
    // Boxes that hold f(cell, action): [place in open][action][part][axis]. Of several parts, each
    // is for a part of the cell: they are looked at one by one (ProductRows).
    int parts = 1;
    std::vector<double> low, high;
    // Pieces at either end of an axis are joined as long as they have less than this together.
    double least_piece = 1e-5;
  };
  explicit Abstraction(Input input);

  // The rows of the model, groups behind the other states: see ModelArrays.
  State states() const { return input_.states; }
  State groups() const { return static_cast<State>(members_.size()); }
  const std::vector<Row>& state_rows() const { return state_rows_; }
  const std::vector<std::int32_t>& action() const { return action_; }
  const std::vector<std::int64_t>& row_outcomes() const { return row_outcomes_; }
  const std::vector<State>& next() const { return next_; }
  const std::vector<double>& probability() const { return probability_; }

  // The outcome of a row, a state or a group, that this noise of all coordinates belongs to.
  State next(std::int64_t place, int action, std::span<const double> noise) const;

 private:
  using Pieces = std::vector<std::vector<NoisePiece>>;  // of each axis

  double follows(int later, int earlier) const;
  bool is_alone(int axis) const;
  bool is_followed(int axis) const;
  void cut(int axis, double low, double high, std::vector<NoisePiece>& pieces) const;
  std::uint64_t key_of(int axis, const NoisePiece& piece) const;
  void cut_alone(std::size_t box, Pieces& pieces) const;
  void cut_next(std::size_t box, int axis, const std::vector<NoisePiece>& chosen,
                Pieces& pieces) const;
  void add_row(std::size_t box);
  void add_groups();
  void add_outcomes(std::size_t box, int axis, double probability, std::uint64_t key);
  State find_state(std::uint64_t key);
  std::vector<State> members_of_chosen() const;
  State find_group(std::vector<State> members);

  Input input_;
  std::vector<Row> state_rows_;
  std::vector<std::int32_t> action_;
  std::vector<std::int64_t> row_outcomes_;
  std::vector<State> next_;
  std::vector<double> probability_;
  std::vector<std::vector<State>> members_;  // of each group
  // The state or group of each box of cells, and groups by a hash of their members.
  std::unordered_map<std::uint64_t, State> known_;
  std::unordered_multimap<std::uint64_t, State> by_members_;
  // Of the row at hand.
  Pieces pieces_;
  std::vector<NoisePiece> chosen_;  // of the axes so far
  std::vector<double> mass_;        // of each state and group
  std::vector<State> met_;
};

}  // namespace redoubt
