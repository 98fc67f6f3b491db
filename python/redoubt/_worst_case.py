"""The worst case of rows on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import Composed, Interval, Uncertainty
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
) -> tuple[float | Array, Any]: ...
def worst_case(uncertainty: Uncertainty, p: Any, v: ArrayLike, *, return_distribution: bool = False) -> Any:
    """min over P in the set around p of sum P * v.

    Args:
        uncertainty: a set; its radius may be an array with one entry for each row of a batch, and `Interval` and `Composed` have
            their bounds with them, shaped like p.
        p: the nominal distribution of a row, (n,), or of each row of a batch, (m, n), which may be a sparse matrix of
            scipy's. Many rows at once take a hundredth of the time of one call for each.
        v: what each outcome is worth: (n,); (k, n) gives one answer for each of k vectors on one row; with a batch of
            rows, (m, n) gives each row its own, unless they are sparse.
        return_distribution: also return a P that attains the minimum, shaped like v, or sparse like p.

    Outcomes of probability zero are out of nature's reach, except for `TV` with reach anywhere.

    >>> rd.worst_case(rd.TV(0.1), [0.5, 0.5], [0.0, 1.0])
    0.4
    >>> rd.worst_case(rd.TV(0.1), [0.5, 0.5], [0.0, 1.0], return_distribution=True)
    (0.4, array([0.6, 0.4]))
    """
    v = np.asarray(v, dtype=np.float64)
    if not isinstance(p, np.ndarray) and hasattr(p, "tocsr"):
        return _sparse(uncertainty, p.tocsr(), v, return_distribution)
    p = np.asarray(p, dtype=np.float64)
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
    answer = _core.worst_case(uncertainty, p, *bounds, v.ravel(), with_distribution)
    return answer.value, answer.distribution.reshape(v.shape) if with_distribution else None


def _batch(uncertainty: Uncertainty, p: Array, v: Array, with_distribution: bool) -> tuple[Array, Array | None]:
    """The rows of p as those of a matrix that has every entry. Each reads its own values, or all read the same."""
    rows, outcomes = p.shape
    shared = v.ndim == 1
    if not shared and len(v) != rows:
        raise Error(f"{rows} rows and {len(v)} value vectors, must be equally many")
    if max(p.size, v.size) > np.iinfo(np.int32).max:
        raise Error(f"a batch of {rows} x {outcomes} outcomes, must have at most {np.iinfo(np.int32).max}")
    begin = np.arange(0, p.size + 1, max(outcomes, 1), dtype=np.int64)[: rows + 1]
    column = np.tile(np.arange(outcomes, dtype=np.int32), rows) if shared else np.arange(p.size, dtype=np.int32)
    low, high = (bound.ravel() for bound in _bounds(uncertainty, p))
    floor = _NONE if shared or not v.size else np.ascontiguousarray(v.min(axis=1))
    found = _core.worst_cases(uncertainty, begin, column, p.ravel(), low, high, floor, v.ravel(), with_distribution)
    if not with_distribution:
        return found.value, None
    chosen = found.distribution.reshape(p.shape)
    if len(found.outside):
        chosen = chosen.copy()
        chosen[np.arange(rows), v.argmin(axis=-1)] += found.outside
    return found.value, chosen


def _sparse(uncertainty: Uncertainty, p: Any, v: Array, with_distribution: bool) -> Any:
    if v.shape != (p.shape[1],):
        raise Error(f"p is sparse with shape {p.shape} and v has shape {v.shape}, must be ({p.shape[1]},)")
    low, high = _NONE, _NONE
    if isinstance(uncertainty, (Interval, Composed)):
        p, low, high = _sparse_bounds(uncertainty, p)
    else:
        p = p if p.has_canonical_format else p.copy()
        p.sum_duplicates()
    found = _core.worst_cases(uncertainty, p.indptr.astype(np.int64, copy=False), p.indices.astype(np.int32, copy=False),
                              p.data.astype(np.float64, copy=False), low, high, _NONE, v, with_distribution)  # fmt: skip
    if not with_distribution:
        return found.value
    chosen = type(p)((np.array(found.distribution), p.indices, p.indptr), shape=p.shape)
    if len(found.outside):
        landed = np.array(found.outside), np.full(p.shape[0], v.argmin()), np.arange(p.shape[0] + 1)
        chosen = chosen + type(p)(landed, shape=p.shape)
    return found.value, chosen


def _sparse_bounds(uncertainty: Interval | Composed, p: Any) -> tuple[Any, Array, Array]:
    """The outcomes that the bounds allow, with their bounds: sparse like p, or one number for all outcomes of p."""
    if uncertainty.lo is None:
        raise Error(f"{type(uncertainty).__name__} without bounds, must have lo and hi for a row on its own")
    given: dict[str, Any] = {"lo": uncertainty.lo, "hi": uncertainty.hi}
    for name, bound in given.items():
        if np.ndim(bound) != 0 and (not hasattr(bound, "tocsr") or bound.shape != p.shape):
            raise Error(f"{name} of {type(bound).__name__}, must be a number or a sparse matrix shaped like p, {p.shape}")
    outcomes = (given["hi"] if hasattr(given["hi"], "tocsr") else p).tocsr().copy()
    outcomes.sum_duplicates()
    rows = np.repeat(np.arange(p.shape[0]), np.diff(outcomes.indptr))

    def of(bound: Any) -> Array:
        if not hasattr(bound, "tocsr"):
            return np.full(outcomes.nnz, float(bound))
        return np.asarray(bound.tocsr()[rows, outcomes.indices], dtype=np.float64).ravel()

    return outcomes, of(given["lo"]), of(given["hi"])


def _bounds(uncertainty: Uncertainty, p: Array) -> tuple[Array, Array]:
    if not isinstance(uncertainty, (Interval, Composed)):
        return _NONE, _NONE
    if uncertainty.lo is None:
        raise Error(f"{type(uncertainty).__name__} without bounds, must have lo and hi for a row on its own")
    low, high = (np.broadcast_to(np.asarray(b, dtype=np.float64), p.shape) for b in (uncertainty.lo, uncertainty.hi))
    return np.ascontiguousarray(low), np.ascontiguousarray(high)
