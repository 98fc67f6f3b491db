"""Rewards, signals and interval bounds: one value for each row or for each outcome, from any shape."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from ._core import Error
from ._transitions import Layout, action_major, in_order, is_sparse, stack, stage_order


class Values:
    """What a user gave for a reward, a signal or a bound, before it is spread over rows and outcomes.

    A number; an array (S,), (S, A), (H, S, A), (S, A, S) or (H, S, A, S), the ones over outcomes in the order
    of P; sparse like P; a function of (state, action, next); or a set of states, which counts arrivals in it.
    """

    def __init__(self, what: str, values: Any, order: str | None) -> None:
        self.what = what
        self.order = order
        self.values = values
        self.matrices: list[Any] | None = None
        if is_sparse(values):
            self.matrices = [values]
        elif isinstance(values, (list, tuple)) and values and is_sparse(values[0]):
            self.matrices = list(values)
        elif not callable(values) and not isinstance(values, AbstractSet):
            try:
                self.values = np.asarray(values, dtype=np.float64)
            except ValueError as error:
                raise Error(f"{what} is not an array: {error}") from None

    @property
    def is_array(self) -> bool:
        return isinstance(self.values, np.ndarray)

    def stages(self, layout: Layout, horizon: int | None) -> int:
        """How many stages the values tell apart."""
        if self.matrices is not None:
            per_stage = len(self.matrices) > 1 and stage_order(self.matrices, self.order) == "sas"
            return len(self.matrices) if per_stage else 1
        if not self.is_array or self.values.ndim < 3:
            return 1
        if self.values.ndim == 4:
            return int(self.values.shape[0])
        return int(self.values.shape[0]) if self._is_staged(layout, horizon) else 1

    def spread(self, layout: Layout, horizon: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The value of each row and the value of each outcome; empty where there is none."""
        none = np.empty(0)
        if self.matrices is not None:
            return none, self._from_sparse(layout)
        if isinstance(self.values, AbstractSet):
            return none, np.isin(layout.next, list(self.values)).astype(np.float64)
        if callable(self.values):
            return none, self._from_function(self.values, layout)
        array = self.values
        if array.ndim == 0:
            return np.full(layout.rows, float(array)), none
        if array.ndim == 4 and array.shape[3] == 1:
            array = array[..., 0]
        by_stage = (layout.stages, layout.states, layout.actions)
        if array.shape == by_stage[1:] or (array.shape == by_stage and self._is_staged(layout, horizon)):
            return _of_rows(array, layout), none
        if array.shape == (layout.states,):
            return _of_rows(np.broadcast_to(array[:, np.newaxis], by_stage[1:]), layout), none
        if array.ndim in (3, 4):
            full = self._over_outcomes(layout)
            row = layout.outcome_row
            stage = layout.row_stage[row] if len(full) > 1 else 0
            return none, full[stage, layout.row_state[row], layout.action[row], layout.next]
        raise self._shape_error(layout)

    def positive(self, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """Row and next state of each positive value that has a next state of its own."""
        if self.matrices is not None:
            matrix = self._rows_of_sparse(layout).tocoo()
            row, after = matrix.row[matrix.data > 0].astype(np.int64), matrix.col[matrix.data > 0]
            repeats = np.arange(layout.rows // matrix.shape[0])[:, np.newaxis] * matrix.shape[0]
            return (row + repeats).ravel(), np.tile(after, len(repeats))
        if not self.is_array or self.values.ndim < 3:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        full = self._over_outcomes(layout)
        stage = layout.row_stage if len(full) > 1 else 0
        row, after = np.nonzero(full[stage, layout.row_state, layout.action] > 0)
        return row, after

    def _is_staged(self, layout: Layout, horizon: int | None) -> bool:
        """Whether the axes are (H, S, A) or (H, S, A, 1), rather than over outcomes."""
        shape = self.values.shape
        if len(shape) == 4:
            return bool(shape[3] == 1)
        staged = horizon is not None and shape == (horizon, layout.states, layout.actions)
        over_outcomes = shape in (
            (layout.states, layout.actions, layout.states),
            (layout.actions, layout.states, layout.states),
        )
        if staged and over_outcomes:
            raise Error(
                f"{self.what} has shape {shape}, which may be (H, S, A) or (S, A, S): give (H, S, A, 1) or (1, S, A, S)"
            )
        return bool(staged)

    def _over_outcomes(self, layout: Layout) -> np.ndarray:
        full = in_order(self.values, self.order, self.what)
        full = full if full.ndim == 4 else full[np.newaxis]
        stages, states, actions, _ = full.shape
        if (states, actions) != (layout.states, layout.actions) or stages not in (1, layout.stages):
            raise self._shape_error(layout)
        return full

    def _rows_of_sparse(self, layout: Layout) -> Any:
        """One row for each row of the layout, or for each row of one stage."""
        csr = stack(self.matrices or [])
        if csr.shape[1] != layout.states or csr.shape[0] not in (layout.rows, layout.rows // layout.stages):
            raise Error(
                f"{self.what} is sparse with shape {csr.shape}, must be {(layout.rows, layout.states)}, one row for "
                "each row of P"
            )
        return action_major(csr, self.order, layout.states, layout.actions)

    def _from_sparse(self, layout: Layout) -> np.ndarray:
        csr = self._rows_of_sparse(layout)
        if np.array_equal(csr.indptr, layout.row_outcomes) and np.array_equal(csr.indices, layout.next):
            return np.ascontiguousarray(csr.data, dtype=np.float64)
        picked = csr[layout.outcome_row % csr.shape[0], layout.next]
        return np.asarray(picked, dtype=np.float64).ravel()

    def _from_function(self, function: Callable[[int, int, int], float], layout: Layout) -> np.ndarray:
        row = layout.outcome_row
        keys = zip(layout.row_state[row].tolist(), layout.action[row].tolist(), layout.next.tolist(), strict=True)
        return np.fromiter((function(*key) for key in keys), dtype=np.float64, count=len(row))

    def _shape_error(self, layout: Layout) -> Error:
        s, a = layout.states, layout.actions
        return Error(
            f"{self.what} has shape {self.values.shape}, must be (S,) = ({s},), (S, A) = ({s}, {a}), "
            f"(S, A, S) = ({s}, {a}, {s}), or one of the last two for each stage"
        )


def _of_rows(array: np.ndarray, layout: Layout) -> np.ndarray:
    """The entries of an array (S, A) or (stages, S, A) in the order of the rows."""
    array = np.broadcast_to(array, (layout.stages, layout.states, layout.actions))
    if layout.regular:
        return array.reshape(-1)  # no copy where the array is in order already
    return np.asarray(array[layout.row_stage, layout.row_state, layout.action])
