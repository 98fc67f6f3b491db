"""Continuous systems: the laws of their noise, and affine dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _show
from ._core import Error
from ._ranges import Range

System = Callable[[Sequence[Any], Any], Sequence[Any]]


@dataclass(frozen=True)
class Gaussian:
    """Normal noise: one standard deviation for each coordinate, 0 is none; or a covariance matrix.

    >>> rd.Gaussian([0.1, 0.0])
    Gaussian(std=[0.1, 0.0])
    >>> rd.Gaussian(covariance=[[0.04, 0.01], [0.01, 0.09]])
    Gaussian(covariance=[[0.04, 0.01], [0.01, 0.09]])
    """

    std: Sequence[float] | None = None
    covariance: ArrayLike | None = None
    law = "gaussian"

    def __post_init__(self) -> None:
        if (self.std is None) == (self.covariance is None):
            raise Error("a Gaussian of std and covariance, must have one of them")
        _ = self.scales  # says what is wrong with a covariance

    def __repr__(self) -> str:
        name = "std" if self.covariance is None else "covariance"
        return f"Gaussian({name}={getattr(self, name)!r})"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    @property
    def scales(self) -> Sequence[float]:
        """The standard deviation of what the noise of each coordinate has of its own."""
        return _innovations(self.covariance)[0] if self.std is None else self.std

    @property
    def follows(self) -> NDArray[np.float64]:
        """How much of the own noise of each earlier coordinate is added to a later one."""
        return np.zeros((len(self.scales),) * 2) if self.covariance is None else _innovations(self.covariance)[1]

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        own = rng.standard_normal((count, len(self.scales))) * np.asarray(self.scales, dtype=np.float64)
        return own if self.covariance is None else own + own @ self.follows.T


def _innovations(covariance: ArrayLike | None) -> tuple[list[float], NDArray[np.float64]]:
    """Normal noise is what each coordinate has of its own and shares of what earlier ones have: L D L' is the covariance, where D
    has squares of standard deviations and L has ones on its diagonal and the shares below."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise Error(f"covariance of shape {matrix.shape}, must be square")
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0):
        raise Error(f"covariance {matrix.tolist()}, must be finite and symmetric")
    left, shares, rounding = matrix.copy(), np.zeros_like(matrix), 1e-12 * np.abs(matrix).max(initial=0.0)
    variances = []
    for i in range(len(matrix)):
        variance, column = left[i, i], left[i + 1 :, i]
        if variance < -rounding or (variance <= rounding and (np.abs(column) > rounding).any()):
            raise Error(f"covariance {matrix.tolist()}, must be positive semidefinite")
        variances.append(variance if variance > rounding else 0.0)
        if variances[-1] > 0:
            shares[i + 1 :, i] = column / variance
            left[i + 1 :, i + 1 :] -= np.outer(column, column) / variance
    return np.sqrt(variances).tolist(), shares


@dataclass(frozen=True)
class Uniform:
    """Independent uniform noise: between minus and plus this number for each coordinate; 0 is none.

    >>> rd.Uniform([0.1, 0.0])
    Uniform(half_width=[0.1, 0.0])
    """

    half_width: Sequence[float]
    law = "uniform"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    @property
    def scales(self) -> Sequence[float]:
        return self.half_width

    @property
    def follows(self) -> NDArray[np.float64]:
        return np.zeros((len(self.half_width),) * 2)

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        return rng.uniform(-1.0, 1.0, (count, len(self.half_width))) * np.asarray(self.half_width, dtype=np.float64)


def affine(A: ArrayLike, B: ArrayLike | None = None, c: ArrayLike | None = None) -> System:
    """The dynamics x' = A x + B u + c, for `abstract`. Images of cells are exact boxes around them.

    >>> step = rd.affine([[1.0, 0.5], [0.0, 1.0]], [[0.125], [0.5]])
    >>> step([2.0, 1.0], [1.0])
    [2.625, 1.5]
    """
    matrix = np.atleast_2d(np.asarray(A, dtype=np.float64))
    if matrix.shape[0] != matrix.shape[1]:
        raise Error(f"A has shape {matrix.shape}, must be square")
    inputs = None if B is None else np.asarray(B, dtype=np.float64).reshape(len(matrix), -1)
    constant = np.zeros(len(matrix)) if c is None else np.asarray(c, dtype=np.float64)

    def step(x: Sequence[Any], u: Any) -> list[Any]:
        pushed = constant if inputs is None else constant + inputs @ np.atleast_1d(np.asarray(u, dtype=np.float64))
        following: list[Any] = []
        for row, push in zip(matrix, pushed, strict=True):
            total: Any = float(push)
            for factor, coordinate in zip(row, x, strict=True):
                if factor != 0:
                    total = coordinate * float(factor) + total
            following.append(total)
        return following

    return step


def lipschitz_constants(constants: ArrayLike, axes: int) -> NDArray[np.float64]:
    """As a matrix; an Error where they bound nothing."""
    array = np.asarray(constants, dtype=np.float64)
    if array.ndim not in (0, 2) or (array.ndim == 2 and array.shape != (axes, axes)):
        raise Error(f"Lipschitz constants of shape {array.shape}, must be a number or ({axes}, {axes})")
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise Error(f"Lipschitz constants {array.tolist()}, must be finite and at least 0")
    return np.broadcast_to(array, (axes, axes))


def boxes_of(x: Sequence[Range]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middle of boxes, and half of their widths, (boxes, axes)."""
    low, high = (np.stack([np.atleast_1d(getattr(part, end)) for part in x], axis=1) for end in ("low", "high"))
    return (low + high) / 2, (high - low) / 2


def around(centre: NDArray[np.float64], half: NDArray[np.float64], constants: NDArray[np.float64]) -> list[Range]:
    """What values that are known in the middle of boxes may be in them, with a little for rounding."""
    off = (half @ constants.T) * (1 + 1e-12) + 1e-12 * (1 + np.abs(centre))
    return [Range(a, b) for a, b in zip((centre - off).T, (centre + off).T, strict=True)]


def lipschitz(dynamics: System, constants: ArrayLike) -> System:
    """Dynamics for `abstract` that cannot be written with ranges, such as a simulator or a network: ranges around their value in the
    middle of a cell, as wide as the Lipschitz constants allow. Answers hold if these do; random points are tried.

    Args:
        dynamics: f(x, u) of points: each coordinate of x may be an array.
        constants: L[i][j] bounds how fast coordinate i of f changes with coordinate j; a number is for all of them.

    >>> step = rd.lipschitz(lambda x, u: [np.interp(x[0], [0, 1, 2], [0, 1, 1.5]) + u], 1.0)  # a table, which knows no ranges
    >>> step([rd.Range(0.0, 1.0)], 0.5)[0]
    <1 ranges>
    """

    def step(x: Sequence[Any], u: Any) -> list[Any]:
        if not isinstance(x[0], Range):
            return list(dynamics(x, u))
        middle, half = boxes_of(x)
        centre = [np.broadcast_to(np.asarray(part, dtype=np.float64), len(middle)) for part in dynamics(list(middle.T), u)]
        return around(np.stack(centre, axis=1), half, lipschitz_constants(constants, middle.shape[1]))

    return step
