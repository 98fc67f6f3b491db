"""Noise that is known by recorded draws: bins whose probabilities are bracketed with a confidence, and the rows that they make."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _show
from ._core import Error


@dataclass(frozen=True)
class SampledNoise:
    """Noise of an unknown law, of which independent draws are at hand: one point a row.

    A fifth of the draws sets the borders of bins, `bins` along each coordinate and one more at either end, which is as wide
    as the noise may be: up to `most`, if that is known. The others count. With probability `confidence` (over the draws) the
    true probability of every bin is within its bounds, and then all answers hold.

    >>> draws = np.random.default_rng(0).normal(0, 0.1, (5000, 1))
    >>> rd.SampledNoise(draws, bins=6)
    SampledNoise(5,000 draws of 1 coordinates, confidence=0.95, bins=6)
    """

    points: ArrayLike
    confidence: float = 0.95
    bins: int | Sequence[int] = 8
    most: Sequence[float] | None = None
    law = "samples"

    def __post_init__(self) -> None:
        points = self.array
        if points.ndim != 2 or len(points) < 10 or not np.isfinite(points).all():
            raise Error(f"samples of shape {points.shape}, must be at least 10 finite points")
        if not 0 < self.confidence < 1:
            raise Error(f"confidence = {self.confidence}, must be in (0, 1)")
        if min(self.counts) < 1:
            raise Error(f"bins = {self.bins}, must be at least 1")
        if self.most is not None:
            beyond = np.abs(points) > np.asarray(self.most, dtype=np.float64)
            if beyond.any():
                row, axis = np.argwhere(beyond)[0]
                raise Error(f"sample {row} has {points[row, axis]} in coordinate {axis}, must be at most {self.most[axis]}")

    def __repr__(self) -> str:
        count, axes = self.array.shape
        return f"SampledNoise({count:,} draws of {axes} coordinates, confidence={self.confidence}, bins={self.bins})"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    @property
    def array(self) -> NDArray[np.float64]:
        points = np.asarray(self.points, dtype=np.float64)
        return points[:, np.newaxis] if points.ndim == 1 else points

    @property
    def counts(self) -> list[int]:
        axes = self.array.shape[-1]
        return [int(n) for n in np.broadcast_to(np.asarray(self.bins, dtype=np.int64), (axes,))]

    @property
    def scales(self) -> Sequence[float]:
        """How far draws are from their mean, of each coordinate."""
        return [float(scale) for scale in self.array.std(axis=0)]

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Draws of those that were recorded, each as likely as any other."""
        return np.asarray(self.array[rng.integers(len(self.array), size=count)])

    def borders(self) -> list[NDArray[np.float64]]:
        """Of the bins of each coordinate: quantiles of every fifth draw, a tenth beyond its ends, and what there is at most."""
        chosen = self.array[::5]
        every = []
        for axis, count in enumerate(self.counts):
            inner = np.unique(np.quantile(chosen[:, axis], np.linspace(0, 1, count + 1)))
            if len(inner) == 1:  # a coordinate without noise
                inner = np.append(inner, np.nextafter(inner, np.inf))
            wider = 0.1 * (inner[-1] - inner[0])
            farthest = np.inf if self.most is None else max(float(self.most[axis]), inner[-1])
            inner[0], inner[-1] = max(inner[0] - wider, -farthest), min(inner[-1] + wider, farthest)
            every.append(np.unique([-farthest, *inner, farthest]))
        return every

    def bounds(self, borders: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Share, lower and upper bound of the probability of every bin, (3, bins), the last coordinate fastest."""
        counted = np.delete(self.array, np.s_[::5], axis=0)
        places = bins_of(counted, borders)
        shape = [len(border) - 1 for border in borders]
        share = np.bincount(np.ravel_multi_index(places, shape), minlength=int(np.prod(shape))) / len(counted)
        # Two ends of each bin, all of them at once: each may be wrong with an equal part of what is left to chance.
        divergence = np.log(2 * len(share) / (1 - self.confidence)) / len(counted)
        return np.stack([share, 1 - _most_likely(1 - share, divergence), _most_likely(share, divergence)])


def bins_of(points: NDArray[np.float64], borders: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.int64], ...]:
    """The bin of each point, coordinate by coordinate: above its lower border, or on it, and below its upper one."""
    return tuple(np.clip(np.searchsorted(border, points[:, axis], side="right") - 1, 0, len(border) - 2)
                 for axis, border in enumerate(borders))  # fmt: skip


def _most_likely(share: NDArray[np.float64], divergence: float) -> NDArray[np.float64]:
    """The largest q with share log(share / q) + (1 - share) log((1 - share) / (1 - q)) <= divergence: Chernoff's bound."""

    def apart(q: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(share > 0, share * np.log(share / q), 0.0)
            down = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - q)), 0.0)
        return up + down

    low, high = share.copy(), np.ones_like(share)
    for _ in range(60):
        middle = (low + high) / 2
        inside = apart(middle) <= divergence
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


class SampledRows:
    """The rows of a continuous system on a grid whose noise is known by samples, as `_core.Rows` has them: a bin of the noise
    moves the image of a cell over a box of cells, its group. Bins with the same group are one outcome."""

    def __init__(
        self, grid: _core.Grid, noise: SampledNoise, state_of_cell: NDArray[np.int32], cells: int, low: NDArray[np.float64],
        high: NDArray[np.float64],
    ) -> None:  # fmt: skip
        self._borders = noise.borders()
        self._actions = low.shape[1]
        first, last = _touched(grid, self._borders, low.reshape(-1, low.shape[2]), high.reshape(-1, high.shape[2]))
        self._targets, members = _targets(grid, first, last, state_of_cell, cells + 2, cells + 3)
        self.groups = len(members)
        of_bins = noise.bounds(self._borders)
        rows, bins = self._targets.shape
        key, outcome = np.unique(np.repeat(np.arange(rows), bins) * (cells + 3 + self.groups) + self._targets.ravel(),
                                 return_inverse=True)  # fmt: skip
        share, lower, upper = (np.bincount(outcome.ravel(), weights=np.tile(each, rows)) for each in of_bins)
        sizes = [len(group) for group in members]
        counts = np.append(np.bincount(key // (cells + 3 + self.groups), minlength=rows), sizes)
        equal = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
        self.next = np.append(key % (cells + 3 + self.groups), list(itertools.chain(*members))).astype(np.int32)
        self.probability = np.append(share, equal)
        self.intervals = np.append(lower, equal), np.append(np.minimum(upper, 1.0), equal)
        self.row_outcomes = np.append(0, np.cumsum(counts)).astype(np.int64)
        places = np.concatenate([np.full(cells, self._actions), np.zeros(3, np.int64), np.ones(self.groups, np.int64)])
        self.state_rows = np.append(0, np.cumsum(places)).astype(np.int64)
        self.action = np.append(np.tile(np.arange(self._actions), cells), np.zeros(self.groups)).astype(np.int32)

    def follow(self, place: int, action: int, noise: Sequence[float]) -> int:
        """The state or group that an open cell's action leads to with this noise."""
        shape = [len(border) - 1 for border in self._borders]
        bin_ = np.ravel_multi_index(bins_of(np.asarray([noise], dtype=np.float64), self._borders), shape)[0]
        return int(self._targets[place * self._actions + action, bin_])


def _touched(
    grid: _core.Grid, borders: Sequence[NDArray[np.float64]], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Of each axis, row and bin: the first and the last cell that is touched, from 1; 0 and cells + 1 are outside."""
    first, last = [], []
    for axis, border in enumerate(borders):
        line = np.asarray(grid.lines[axis])
        first.append(np.searchsorted(line, low[:, axis, np.newaxis] + border[:-1], side="right"))
        last.append(np.searchsorted(line, high[:, axis, np.newaxis] + border[1:], side="right"))
    return first, last


def _targets(
    grid: _core.Grid, first: list[NDArray[np.int64]], last: list[NDArray[np.int64]], state_of_cell: NDArray[np.int32],
    outside: int, states: int,
) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:  # fmt: skip
    """For each row and each bin of all axes the state or group, (rows, bins); and the members of each group."""
    shape = [len(line) - 1 for line in grid.lines]
    code = np.zeros((len(first[0]), 1), dtype=np.int64)
    for begin, end, count in zip(first, last, shape, strict=True):
        here = begin * (count + 2) + end
        code = (code[:, :, np.newaxis] * (count + 2) ** 2 + here[:, np.newaxis, :]).reshape(len(code), -1)
    distinct, place = np.unique(code, return_inverse=True)
    states_of = state_of_cell.reshape(shape)
    number: dict[tuple[int, ...], int] = {}
    target = np.empty(len(distinct), dtype=np.int64)
    for i, one in enumerate(distinct.tolist()):
        box, leaves = [], False
        for count in reversed(shape):
            one, here_ = divmod(one, (count + 2) ** 2)
            begin_, end_ = divmod(here_, count + 2)
            leaves |= begin_ == 0 or end_ > count
            box.append(slice(max(begin_, 1) - 1, min(end_, count)))
        inside = np.unique(states_of[tuple(reversed(box))]).tolist()
        members = tuple(inside + [outside] if leaves and outside not in inside else inside)
        target[i] = members[0] if len(members) == 1 else states + number.setdefault(members, len(number))
    return target[place].reshape(code.shape), list(number)
