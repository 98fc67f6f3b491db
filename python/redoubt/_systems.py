"""Continuous systems: the laws of their noise, and affine dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _show
from ._core import Error

System = Callable[[Sequence[Any], Any], Sequence[Any]]


@dataclass(frozen=True)
class Gaussian:
    """Independent normal noise: one standard deviation for each coordinate; 0 is none.

    >>> rd.Gaussian([0.1, 0.0])
    Gaussian(std=[0.1, 0.0])
    """

    std: Sequence[float]
    law = "gaussian"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    @property
    def scales(self) -> Sequence[float]:
        return self.std

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        return rng.standard_normal((count, len(self.std))) * np.asarray(self.std, dtype=np.float64)


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
