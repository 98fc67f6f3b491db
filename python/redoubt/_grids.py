"""Grids over boxes of real vectors: lines, cells, and what functions of ranges make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Error
from ._ranges import Range
from ._systems import System

Box = Sequence[tuple[float, float] | None]


def grid_of(domain: Sequence[tuple[float, float]], cells: int | Sequence[int], boxes: Sequence[Box]) -> _core.Grid:
    counts = [cells] * len(domain) if isinstance(cells, (int, np.integer)) else list(cells)
    if len(counts) != len(domain) or not 1 <= len(domain) <= 4:
        raise Error(f"{len(counts)} numbers of cells for {len(domain)} coordinates, must be one for each of 1 to 4")
    for box in boxes:
        if len(box) != len(domain):
            raise Error(f"box {list(box)} of {len(box)} coordinates, must have {len(domain)}")
    lines = []
    for axis, ((low, high), count) in enumerate(zip(domain, counts, strict=True)):
        if not (np.isfinite([low, high]).all() and low < high):
            raise Error(f"domain [{low}, {high}] of coordinate {axis}, must have a volume")
        if count < 1:
            raise Error(f"{count} cells of coordinate {axis}, must be at least 1")
        line = np.linspace(low, high, count + 1)
        for side in (box[axis] for box in boxes):
            if side is not None and not side[0] < side[1]:
                raise Error(f"box with [{side[0]}, {side[1]}] for coordinate {axis}, must have a volume")
            for face in () if side is None else side:
                line = _with_line(line, float(face))
        lines.append(line.tolist())
    return _core.Grid(lines)


def _with_line(line: NDArray[np.float64], face: float) -> NDArray[np.float64]:
    """One more line; an old one that is nearly there gives way."""
    if not line[0] < face < line[-1]:
        return line
    near = np.abs(line - face) <= 1e-9 * (line[-1] - line[0])
    return np.sort(np.append(line[~near], face))


def states_of_cells(grid: _core.Grid, goal: Sequence[Box], hazards: Sequence[Box]) -> tuple[Any, Any]:
    """The state of each cell, and the cells with rows: numbers 0, 1, ... in their order; then goal, hazard, outside."""
    total = int(np.prod([len(line) - 1 for line in grid.lines]))
    corners = corners_of(grid, np.arange(total))
    middle = corners.mean(axis=1)

    def inside(boxes: Sequence[Box]) -> NDArray[np.bool_]:
        found = np.zeros(total, dtype=bool)
        for box in boxes:
            here = np.ones(total, dtype=bool)
            for axis, side in enumerate(box):
                if side is not None:
                    here &= (side[0] < middle[:, axis]) & (middle[:, axis] < side[1])
            found |= here
        return found

    bad = inside(hazards)
    good = inside(goal) & ~bad
    open_cells = np.flatnonzero(~bad & ~good)
    states = np.where(bad, len(open_cells) + 1, len(open_cells)).astype(np.int32)
    states[open_cells] = np.arange(len(open_cells))
    return states, open_cells.astype(np.int64)


def corners_of(grid: _core.Grid, cells: NDArray[np.int64]) -> NDArray[np.float64]:
    places = np.unravel_index(cells, [len(line) - 1 for line in grid.lines])
    ends = [np.asarray(line)[np.array([place, place + 1])] for line, place in zip(grid.lines, places, strict=True)]
    return np.moveaxis(np.array(ends), (0, 1, 2), (2, 1, 0))  # (axis, end, cell) as (cell, end, axis)


def _ranges_of(function: Callable[..., Any], corners: NDArray[np.float64], action: Any) -> Any:
    return function([Range(corners[:, 0, axis], corners[:, 1, axis]) for axis in range(corners.shape[2])], action)


def _ends(value: Any, count: int, what: str) -> NDArray[np.float64]:
    low, high = (value.low, value.high) if isinstance(value, Range) else (value, value)
    ends = np.array([np.broadcast_to(np.asarray(end, dtype=np.float64), count) for end in (low, high)])
    if not np.isfinite(ends).all():
        raise Error(f"{what} returns {ends[~np.isfinite(ends)][0]}, must be finite")
    return ends


def _parts_of(corners: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    """Each cell cut into equal parts along each axis, the last one fastest: (cells * parts ** axes, 2, axes)."""
    share = np.linspace(0.0, 1.0, parts + 1)
    low, high = corners[:, :1], corners[:, 1:]
    cuts = np.where(share[:, np.newaxis] == 1.0, high, low + share[:, np.newaxis] * (high - low))  # (cells, parts + 1, axes)
    place = np.indices((parts,) * corners.shape[2]).reshape(corners.shape[2], -1)
    axis = np.arange(corners.shape[2])[:, np.newaxis]
    return np.stack([cuts[:, place + end, axis] for end in (0, 1)], axis=1).swapaxes(2, 3).swapaxes(1, 2).reshape(-1, 2, len(place))


def images(
    dynamics: System, corners: NDArray[np.float64], actions: Sequence[Any], parts: int, checks: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes that hold f(part of a cell, action), (cells, actions, parts ** axes, axes)."""
    count, _, axes = corners.shape
    pieces = corners if parts == 1 else _parts_of(corners, parts)
    boxes = np.empty((2, count, len(actions), parts**axes, axes))
    for place, action in enumerate(actions):
        ranges = list(_ranges_of(dynamics, pieces, action))
        if len(ranges) != axes:
            raise Error(f"dynamics return {len(ranges)} coordinates, must return {axes}")
        for axis, image in enumerate(ranges):
            boxes[:, :, place, :, axis] = _ends(image, len(pieces), "the dynamics").reshape(2, count, -1)
    whole = boxes[0].min(axis=2), boxes[1].max(axis=2)
    points, cells = _random_points(corners, checks)
    for place, action in enumerate(actions):
        following = list(dynamics(list(points.T), action))
        for axis in range(axes):
            _check_inside(following[axis], np.stack([end[cells, place, axis] for end in whole]), points, action, "the dynamics")
    return boxes[0], boxes[1]


def values_of(
    name: str, of: Any, corners: NDArray[np.float64], actions: Sequence[Any], checks: int
) -> NDArray[np.float64]:
    """Lower and upper ends of a reward or signal, (2, cells, actions)."""
    count = len(corners)
    what = "the reward" if name == "reward" else f"signal '{name}'"
    if not callable(of):
        return np.full((2, count, len(actions)), float(of))
    ends = np.array([_ends(_ranges_of(of, corners, action), count, what) for action in actions])  # (A, 2, cells)
    points, cells = _random_points(corners, checks)
    for place, action in enumerate(actions):
        _check_inside(of(list(points.T), action), ends[place][:, cells], points, action, what)
    return np.moveaxis(ends, 0, 2)


def _random_points(corners: NDArray[np.float64], checks: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    cells = rng.integers(len(corners), size=checks if len(corners) else 0)
    low, high = corners[cells, 0], corners[cells, 1]
    return low + rng.random(low.shape) * (high - low), cells


def _check_inside(value: Any, ends: NDArray[np.float64], points: NDArray[np.float64], action: Any, what: str) -> None:
    values = np.broadcast_to(np.asarray(value, dtype=np.float64), len(points))
    slack = 1e-12 * (1 + np.abs(values))
    wrong = np.flatnonzero(~((ends[0] - slack <= values) & (values <= ends[1] + slack)))
    if len(wrong):
        i = int(wrong[0])
        raise Error(
            f"{what} at {points[i].tolist()} with action {action!r} is {values[i]}, which must be in the range "
            f"[{ends[0][i]}, {ends[1][i]}] that was returned for its cell"
        )
