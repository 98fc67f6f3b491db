"""Samples of rows that are mixtures of factors: known weights, and factors that samples are to tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import built, parts_of
from ._core import Error
from ._factors import read_factors
from ._problem import Problem
from ._transitions import is_sparse


def features_of(features: Any, earned: _core.Model | None) -> tuple[_core.Model, _core.Terms | None]:
    """The model whose factors are to be estimated, and its terms where it has some.

    Features are a Problem with factors, of which only the weights and what is earned count, or the weights alone, (S, A, K)
    or sparse; then `earned` says what its rows and arrivals earn.
    """
    if isinstance(features, Problem):
        given = features.given
        if given.model.factors == 0:
            raise Error("features is a Problem without factors, must have some")
        return given.model, given.terms
    if earned is None:
        raise Error("features as an array with a simulator that is no Problem, must be a Problem with factors: it says what rows earn")
    return _with_values(features, earned), None


def earned_by(found: _core.Estimate) -> _core.Model:
    """What rows earn by their samples: all have some, and the next state does not matter."""
    missing = np.flatnonzero(np.asarray(found.visits) == 0)
    if len(missing):
        raise Error(f"no samples of {len(missing)} of {found.model.rows} rows with features as an array, must be a Problem with "
                    "factors: it says what they earn")  # fmt: skip
    _, values = parts_of(found.model)
    for name, (_, outcome, arrival) in values.items():
        if len(outcome) and not len(arrival):
            raise Error(f"{name!r} varies within a row with features as an array, must be a Problem with factors: it says what "
                        "arrivals earn")  # fmt: skip
    return found.model


def _with_values(features: Any, earned: _core.Model) -> _core.Model:
    count = _factors_in(features)
    states = earned.ordinary
    layout, _ = read_factors(features, np.full((count, states), 1.0 / states), None)
    mixtures = layout.stages * states * layout.actions
    _, values = parts_of(earned)
    if earned.rows * layout.stages != mixtures * earned.stages or earned.stages not in (1, layout.stages):
        raise Error(f"features of {mixtures} rows, must be of the {earned.rows} that are sampled")

    def of_rows(row: NDArray[np.float64]) -> NDArray[np.float64]:
        if not len(row):
            return row
        each = np.broadcast_to(np.reshape(row, (earned.stages, -1)), (layout.stages, states * layout.actions))
        return np.ascontiguousarray(np.pad(each, ((0, 0), (0, count))).ravel())

    kept = {name: (of_rows(row), np.empty(0), np.pad(arrival, (0, count)) if len(arrival) else arrival)
            for name, (row, _, arrival) in values.items()}  # fmt: skip
    names = [*earned.state_names, *(f"factor {k}" for k in range(count))] if earned.state_names else []
    return built(layout, kept, {}, None, (names, earned.action_names), [])


def _factors_in(features: Any) -> int:
    first = features[0] if isinstance(features, (list, tuple)) and len(features) and is_sparse(features[0]) else features
    shape = first.shape if is_sparse(first) else np.shape(first)
    if len(shape) < 2:
        raise Error(f"features has shape {shape}, must be (S, A, K), or (H, S, A, K) for each stage")
    return int(shape[-1])
