"""The worst case of rows on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import Interval, Uncertainty
from ._core import Error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Array = NDArray[np.float64]
_NONE = np.empty(0)


@overload
def worst_case(
    uncertainty: Uncertainty, p: ArrayLike, v: ArrayLike, *, return_distribution: Literal[False] = False
) -> float | Array: ...
@overload
def worst_case(
    uncertainty: Uncertainty, p: ArrayLike, v: ArrayLike, *, return_distribution: Literal[True]
) -> tuple[float | Array, Array]: ...
def worst_case(uncertainty: Uncertainty, p: ArrayLike, v: ArrayLike, *, return_distribution: bool = False) -> Any:
    """min over P in the set around p of sum P * v.

    Args:
        uncertainty: a set; its radius may be an array with one entry for each row of a batch, and `Interval` has its
            bounds with it, shaped like p.
        p: the nominal distribution of a row, (n,), or of each row of a batch, (m, n).
        v: what each outcome is worth: (n,); (k, n) gives one answer for each of k vectors on one row; with a batch of
            rows, (m, n) gives each row its own.
        return_distribution: also return a P that attains the minimum, shaped like v.

    Outcomes of probability zero are out of nature's reach, except for `TV` with reach anywhere.

    >>> rd.worst_case(rd.TV(0.1), [0.5, 0.5], [0.0, 1.0])
    0.4
    >>> rd.worst_case(rd.TV(0.1), [0.5, 0.5], [0.0, 1.0], return_distribution=True)
    (0.4, array([0.6, 0.4]))
    """
    p, v = np.asarray(p, dtype=np.float64), np.asarray(v, dtype=np.float64)
    if p.ndim not in (1, 2) or v.ndim not in (1, 2) or p.shape[-1] != v.shape[-1]:
        raise Error(f"p has shape {p.shape} and v {v.shape}, must be (n,) or (m, n) with the same n")
    if p.ndim == 1:
        value, chosen = _one_row(uncertainty, p, v, _bounds(uncertainty, p), return_distribution)
    else:
        value, chosen = _batch(uncertainty, p, v, return_distribution)
    found = float(value[0]) if p.ndim == v.ndim == 1 else value
    return (found, chosen) if return_distribution else found


def _one_row(
    uncertainty: Uncertainty, p: Array, v: Array, bounds: tuple[Array, Array], with_distribution: bool
) -> tuple[Array, Array | None]:
    low, high = (np.ascontiguousarray(bound) for bound in bounds)
    answer = _core.worst_case(uncertainty, np.ascontiguousarray(p), low, high, v.ravel(), with_distribution)
    return answer.value, answer.distribution.reshape(v.shape) if with_distribution else None


def _batch(uncertainty: Uncertainty, p: Array, v: Array, with_distribution: bool) -> tuple[Array, Array | None]:
    v = np.broadcast_to(v, p.shape) if v.ndim == 1 else v
    if len(v) != len(p):
        raise Error(f"{len(p)} rows and {len(v)} value vectors, must be equally many")
    low, high = _bounds(uncertainty, p)
    answers = [
        _one_row(_of_row(uncertainty, i, len(p)), p[i], v[i], (low[i], high[i]) if len(low) else (_NONE, _NONE),
                 with_distribution)
        for i in range(len(p))
    ]  # fmt: skip
    values = np.array([value[0] for value, _ in answers])
    return values, np.array([chosen for _, chosen in answers]) if with_distribution else None


def _of_row(uncertainty: Any, row: int, rows: int) -> Any:
    """The set of one row of a batch."""
    radius = getattr(uncertainty, "radius", None)
    if not isinstance(radius, np.ndarray):
        return uncertainty
    if len(radius) != rows:
        raise Error(f"{len(radius)} radii for {rows} rows, must be one for each row")
    reach = (uncertainty.reach,) if isinstance(uncertainty, _core.TV) else ()
    return type(uncertainty)(float(radius[row]), *reach)


def _bounds(uncertainty: Uncertainty, p: Array) -> tuple[Array, Array]:
    if not isinstance(uncertainty, Interval):
        return _NONE, _NONE
    if uncertainty.lo is None:
        raise Error("Interval without bounds, must have lo and hi for a row on its own")
    low, high = (np.broadcast_to(np.asarray(b, dtype=np.float64), p.shape) for b in (uncertainty.lo, uncertainty.hi))
    return low, high
