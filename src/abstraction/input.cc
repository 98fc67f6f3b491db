#include "abstraction/input.h"

#include <cmath>
#include <limits>

#include "support/require.h"

namespace redoubt::internal {
namespace {

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

}  // namespace

void check_input(const Abstraction::Input& input) {
  const Grid& grid = input.grid;
  const auto axes = static_cast<std::size_t>(grid.axes());
  require(axes >= 1 && axes <= 4, "a grid of {} axes, must have 1 to 4", axes);
  require(input.noise.size() == axes, "noise of {} axes, must be of {}", input.noise.size(), axes);
  double cells = 1, boxes = 1;
  for (int axis = 0; axis < grid.axes(); ++axis) {
    check_axis(grid.lines[axis], input.noise[axis], axis);
    cells *= static_cast<double>(grid.cells(axis));
    boxes *= std::pow(static_cast<double>(grid.cells(axis)) + 2, 2);
  }
  require(cells < std::numeric_limits<State>::max() && boxes < 1e18,
          "a grid of {:g} cells with {:g} boxes of cells, must be at most {} and 1e18", cells,
          boxes, std::numeric_limits<State>::max());
  require(input.state_of_cell.size() == static_cast<std::size_t>(cells),
          "states of {} cells, must be of {}", input.state_of_cell.size(), cells);
  require(input.follows.empty() || input.follows.size() == axes * axes,
          "noise that follows other noise by {} numbers, must be by {}", input.follows.size(),
          axes * axes);
  for (std::size_t i = 0; i < input.follows.size(); ++i)
    require(
        std::isfinite(input.follows[i]) && (i % axes < i / axes || input.follows[i] == 0),
        "noise of axis {} follows that of axis {} by {}, must be finite, and 0 unless that is an "
        "earlier one",
        i / axes, i % axes, input.follows[i]);
  require(input.actions >= 1, "{} actions, must be at least 1", input.actions);
  require(input.least_piece >= 0 && input.least_piece < 0.5,
          "least_piece = {}, must be in [0, 0.5)", input.least_piece);
  require(input.parts >= 1, "images in {} parts, must be at least 1", input.parts);
  const std::size_t boxes_given = input.open.size() * input.actions * input.parts * axes;
  require(input.low.size() == boxes_given && input.high.size() == boxes_given,
          "images of {} and {} coordinates, must be of {}", input.low.size(), input.high.size(),
          boxes_given);
  for (std::size_t i = 0; i < boxes_given; ++i) {
    const bool is_interval = std::isfinite(input.low[i]) && std::isfinite(input.high[i]) &&
                             input.low[i] <= input.high[i];
    if (is_interval) continue;
    const std::size_t row = i / axes / input.parts;
    require(false,
            "image [{}, {}] of cell {}, action {}, axis {}, must be an interval of finite numbers",
            input.low[i], input.high[i], input.open[row / input.actions], row % input.actions,
            i % axes);
  }
}

}  // namespace redoubt::internal
