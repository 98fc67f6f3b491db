"""Rows that are mixtures of factors: distributions that they share, with the uncertainty set around each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import Composed, Interval, Uncertainty
from ._core import Error
from ._transitions import Layout, as_int32, is_sparse

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


def read_factors(features: Any, factors: Any, uncertainty: Uncertainty | None) -> tuple[Layout, Bounds | None]:
    """Features (S, A, K) and factors (K, S), or one of each for every stage, with the bounds of an interval set around factors.

    Features may be sparse (S*A, K), factors sparse (K, S).
    """
    if features is None or factors is None:
        missing = "features" if features is None else "factors"
        raise Error(f"{'factors' if features is None else 'features'} without {missing}, must have both")
    drawn = _matrices(factors, "factors")
    count, states = drawn[0].shape
    mixed = _mixtures(features, count, states)
    stages = max(len(mixed), len(drawn))
    if not {len(mixed), len(drawn)} <= {1, stages}:
        raise Error(f"features of {len(mixed)} stages and factors of {len(drawn)}, must be equally many or of one")
    bounds = _bounds(uncertainty, drawn)
    layout = _layout([mixed[h % len(mixed)] for h in range(stages)], [drawn[h % len(drawn)] for h in range(stages)], bounds)
    if bounds is None:
        return layout, None
    of_factor = layout.row_state[layout.outcome_row] >= layout.ordinary
    lower, upper = layout.probability.copy(), layout.probability.copy()
    listed = (layout.row_state[layout.outcome_row] - layout.ordinary)[of_factor], layout.next[of_factor]
    lower[of_factor], upper[of_factor] = bounds[0][listed], bounds[1][listed]
    return layout, (lower, upper)


def around_factors(uncertainty: Any, model: _core.Model | _core.Simulator) -> Any:
    """The set with a radius for each row, where it has one for each factor."""
    count = model.factors
    ball = getattr(uncertainty, "ball", uncertainty)
    radius = getattr(ball, "radius", None)
    if count == 0 or not isinstance(model, _core.Model) or radius is None or np.ndim(radius) == 0 or len(radius) != count:
        return uncertainty
    radii = np.zeros(model.rows)
    radii[model.state_rows[:-1].reshape(model.stages, model.states)[:, model.ordinary :]] = radius
    reach = {"reach": ball.reach} if isinstance(ball, _core.TV) else {}
    wider = type(ball)(radii, **reach)
    return _core.Composed(wider) if isinstance(uncertainty, _core.Composed) else wider


def _matrices(factors: Any, what: str) -> list[Any]:
    """As sparse matrices, one for each stage."""
    import scipy.sparse

    if is_sparse(factors):
        return [scipy.sparse.csr_array(factors, dtype=np.float64)]
    if isinstance(factors, (list, tuple)) and factors and is_sparse(factors[0]):
        return [scipy.sparse.csr_array(one, dtype=np.float64) for one in factors]
    try:
        array = np.asarray(factors, dtype=np.float64)
    except ValueError as error:
        raise Error(f"{what} is not an array: {error}") from None
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise Error(f"{what} has shape {array.shape}, must be (K, S), or (H, K, S) for each stage")
    return [scipy.sparse.csr_array(one) for one in (array if array.ndim == 3 else array[np.newaxis])]


def _mixtures(features: Any, count: int, states: int) -> list[Any]:
    """Features as sparse matrices (S*A, K), one for each stage."""
    sparse = is_sparse(features) or (isinstance(features, (list, tuple)) and len(features) > 0 and is_sparse(features[0]))
    if not sparse:
        try:
            array = np.asarray(features, dtype=np.float64)
        except ValueError as error:
            raise Error(f"features is not an array: {error}") from None
        if array.ndim not in (3, 4) or array.shape[-3] != states or array.shape[-1] != count:
            raise Error(f"features has shape {array.shape}, must be (S, A, K) = ({states}, A, {count}), or (H, S, A, K) for "
                        "each stage")  # fmt: skip
        features = array.reshape(-1 if array.ndim == 4 else 1, states * array.shape[-2], count)
    matrices = _matrices(features, "features")
    for matrix in matrices:
        if matrix.shape[1] != count or matrix.shape[0] % states or matrix.shape != matrices[0].shape:
            raise Error(f"features is sparse with shape {matrix.shape}, must be (S*A, K): a multiple of {states} rows and "
                        f"{count} columns")  # fmt: skip
    return matrices


def _bounds(uncertainty: Uncertainty | None, factors: list[Any]) -> Bounds | None:
    if not isinstance(uncertainty, (Interval, Composed)) or uncertainty.lo is None:
        return None
    shape = factors[0].shape
    if len(factors) > 1:
        raise Error(f"bounds of factors for each of {len(factors)} stages, must be the same at every stage")
    found = []
    given: list[tuple[str, Any]] = [("lo", uncertainty.lo), ("hi", uncertainty.hi)]
    for what, bound in given:
        array = np.asarray(bound.toarray() if is_sparse(bound) else bound, dtype=np.float64)
        if array.ndim not in (0, 2) or (array.ndim == 2 and array.shape != shape):
            raise Error(f"{what} has shape {array.shape}, must be a number or (K, S) = {shape}, as the factors")
        found.append(np.where(factors[0].toarray() > 0, array, 0.0) if array.ndim == 0 else array)
    return found[0], found[1]


def _layout(mixed: list[Any], drawn: list[Any], bounds: Bounds | None) -> Layout:
    count, states = drawn[0].shape
    actions = mixed[0].shape[0] // states
    lengths, after, probability = [], [], []
    for features, factors in zip(mixed, drawn, strict=True):
        lengths += [np.diff(features.indptr), np.diff(factors.indptr)]
        after += [features.indices + states, factors.indices]
        probability += [features.data, factors.data]
    rows = np.append(np.arange(states) * actions, states * actions + np.arange(count))
    stages, each = len(mixed), states * actions + count
    layout = Layout(
        states=states + count, stages=stages, actions=actions,
        row_outcomes=np.concatenate([[0], np.cumsum(np.concatenate(lengths), dtype=np.int64)]),
        next=as_int32(np.concatenate(after), "next states of factors"),
        probability=np.ascontiguousarray(np.concatenate(probability), dtype=np.float64),
        some_rows=(
            np.append((np.arange(stages)[:, np.newaxis] * each + rows).ravel(), stages * each),
            np.tile(np.append(np.tile(np.arange(actions), states), np.zeros(count)).astype(np.int32), stages),
        ),
        factors=count,
    )  # fmt: skip
    if bounds is None:
        return layout
    factor, allowed = np.nonzero(bounds[1] > 0)
    return layout.with_outcomes(states * actions + factor, allowed)
