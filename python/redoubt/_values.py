"""Rewards, signals and interval bounds: one value for each row or for each outcome, from any shape."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Error
from ._transitions import Layout, action_major, in_order, is_sparse, stack, stage_order


class OnArrival:
    """What every arrival in a state earns; made by `on_arrival`."""

    def __init__(self, values: Any, row: Any = None):
        self.values, self.row = values, row

    def array(self, states: int, what: str) -> NDArray[np.float64]:
        """One value for each state."""
        if isinstance(self.values, Mapping):
            array = np.zeros(states)
            for state, value in self.values.items():
                if not 0 <= int(state) < states:
                    raise Error(f"{what} on arrival in state {state}, must be in 0..{states - 1}")
                array[int(state)] = value
            return array
        array = np.asarray(self.values, dtype=np.float64)
        if array.shape != (states,):
            raise Error(f"{what} on arrival has shape {array.shape}, must be (S,) = ({states},)")
        return array


def on_arrival(values: Any, row: Any = None) -> OnArrival:
    """A reward or signal that every arrival in a state earns, also one that nature alone makes possible.

    Total variation with reach anywhere lets nature land in states that a row does not list: there, a signal of the row
    earns the row's value, and one on arrival what the state gives.

    Args:
        values: an array with one value for each state, or a dict {state: value}; others earn nothing. A set of states,
            or a function of the next state alone, is on arrival without being told.
        row: what the row earns besides: a number, or an array (S,), (S, A) or (H, S, A).

    >>> P = [[[1.0, 0.0]], [[0.0, 1.0]]]                                 # two states, and neither leads to the other
    >>> problem = rd.Problem(P, 1.0, signals={"fall": rd.on_arrival({1: 1.0})}, constraints=[rd.at_most("fall", 0.2)],
    ...                      uncertainty=rd.TV(0.1), horizon=1, order="sas")
    >>> rd.solve(problem).constraints[0].worst
    0.1
    """
    return OnArrival(values, row)


class _Unknown:
    """Stands for a state or action that a function must not look at; whatever it does with one raises."""

    def _refuse(self, *_: Any) -> Any:
        raise _LookedAt

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __bool__ = __int__ = __index__ = __float__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __mod__ = _refuse
    __rtruediv__ = __rfloordiv__ = __rmod__ = __neg__ = __abs__ = __getitem__ = __iter__ = __len__ = __str__ = _refuse
    __array__ = __repr__ = __contains__ = __and__ = __rand__ = __or__ = __ror__ = __pow__ = __divmod__ = _refuse


class _LookedAt(Exception):
    """A function looked at the state or the action."""


def by_arrival(function: Callable[..., Any], states: int) -> NDArray[np.float64] | None:
    """The values of a function of (state, action, next) for each next state, if it looks at nothing else."""
    try:
        return np.array([float(function(_Unknown(), _Unknown(), state)) for state in range(states)])
    except Exception:  # whatever it does about an argument of a strange type, it looks at it
        return None


def looks_at_reward(function: Callable[..., Any]) -> bool:
    """Whether it is a function of (state, action, next, reward) rather than of the first three."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of another language
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return len(places) == 4


class Values:
    """What a user gave for a reward, a signal or a bound, before it is spread over rows and outcomes.

    A number; an array (S,), (S, A), (H, S, A), (S, A, S) or (H, S, A, S), the ones over outcomes in the order
    of P; sparse like P; a function of (state, action, next) or of (state, action, next, reward); a set of states, which counts arrivals in it; or what
    `on_arrival` made.
    """

    def __init__(self, what: str, values: Any, order: str | None) -> None:
        self.what = what
        self.order = order
        self.values = values
        self.matrices: list[Any] | None = None
        own = values.row if isinstance(values, OnArrival) else None
        self.row = None if own is None else Values(what, own, order)
        if is_sparse(values):
            self.matrices = [values]
        elif isinstance(values, (list, tuple)) and values and is_sparse(values[0]):
            self.matrices = list(values)
        elif not callable(values) and not isinstance(values, (AbstractSet, OnArrival)):
            try:
                self.values = np.asarray(values, dtype=np.float64)
            except ValueError as error:
                raise Error(f"{what} is not an array: {error}") from None

    @property
    def looks_at_reward(self) -> bool:
        return callable(self.values) and looks_at_reward(self.values)

    @property
    def is_array(self) -> bool:
        return isinstance(self.values, np.ndarray)

    def stages(self, layout: Layout, horizon: int | None) -> int:
        """How many stages the values tell apart."""
        if self.row is not None:
            return self.row.stages(layout, horizon)
        if self.matrices is not None:
            per_stage = len(self.matrices) > 1 and stage_order(self.matrices, self.order) == "sas"
            return len(self.matrices) if per_stage else 1
        if not self.is_array or self.values.ndim < 3:
            return 1
        if self.values.ndim == 4:
            return int(self.values.shape[0])
        return int(self.values.shape[0]) if self._is_staged(layout, horizon) else 1

    def spread(
        self, layout: Layout, horizon: int | None, reward: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The value of each row and the value of each outcome; empty where there is none. `reward` is that of each outcome,
        for functions that look at it."""
        none = np.empty(0)
        if self.matrices is not None:
            return none, self._from_sparse(layout)
        if isinstance(self.values, AbstractSet):
            return none, self.arrival(layout)[layout.next]
        if isinstance(self.values, OnArrival):
            row = none if self.row is None else self.row.spread(layout, horizon)[0]
            if self.row is not None and len(row) == 0:
                raise Error(f"the row's part of {self.what} depends on the outcome, must be of rows")
            return row, self.arrival(layout)[layout.next]
        if callable(self.values):
            return none, self._from_function(self.values, layout, reward)
        array = self._with_zeros(layout)
        if array.ndim == 0:
            row = np.full(layout.rows, float(array))
            if layout.between:
                row[layout.row_state >= layout.ordinary] = 0.0
            return row, none
        if array.ndim == 4 and array.shape[3] == 1:
            array = array[..., 0]
        if layout.by_row and array.shape == (layout.rows,):
            return np.ascontiguousarray(array), none
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

    def arrival(self, layout: Layout) -> np.ndarray:
        """What an arrival in each state earns, whatever row it comes from; empty where that is not known."""
        if isinstance(self.values, AbstractSet):
            return np.isin(np.arange(layout.states), list(self.values)).astype(np.float64)
        nothing = np.zeros(layout.between)  # is earned on the way
        if isinstance(self.values, OnArrival):
            return np.append(self.values.array(layout.ordinary, self.what), nothing)
        if callable(self.values):
            known = by_arrival(self.values, layout.ordinary)
            return np.empty(0) if known is None else np.append(known, nothing)
        if self.is_array and self._is_over_outcomes(layout):
            full = self._over_outcomes(layout)
            same = layout.rows > 0 and (full == full[:1, :1, :1]).all()
            return full[0, 0, 0] if same else np.empty(0)
        return np.empty(0)

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

    def _is_over_outcomes(self, layout: Layout) -> bool:
        shape, staged = self.values.shape, (layout.stages, layout.states, layout.actions)
        of_rows = shape == staged or (len(shape) == 4 and shape[3] == 1)
        return len(shape) in (3, 4) and shape[-1] == layout.states and not of_rows

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

    def _with_zeros(self, layout: Layout) -> np.ndarray:
        """The array, with the zeros that groups or factors earn behind what is given for the other states."""
        array: np.ndarray = self.values
        if layout.between == 0 or array.ndim == 0:
            return array
        axis = 1 if array.ndim == 3 and array.shape[0] == layout.stages else 0
        if array.ndim > 3 or array.shape[axis] != layout.ordinary:
            raise Error(f"{self.what} has shape {array.shape}, must be a number, (S,), (S, A) or (H, S, A) with "
                        f"S = {layout.ordinary} where transitions lead to groups or factors; use on_arrival for what arrivals earn")  # fmt: skip
        return np.pad(array, [(0, layout.between if i == axis else 0) for i in range(array.ndim)])

    def _from_function(self, function: Callable[..., float], layout: Layout, reward: np.ndarray | None) -> np.ndarray:
        if layout.between:
            known = self.arrival(layout)
            if len(known) == 0:
                raise Error(f"{self.what} is a function of the transition, must look at the next state alone where "
                            "transitions lead to groups or factors")  # fmt: skip
            return np.asarray(known[layout.next])
        row = layout.outcome_row
        seen = [layout.row_state[row].tolist(), layout.action[row].tolist(), layout.next.tolist()]
        if looks_at_reward(function):
            if reward is None:
                raise Error(f"{self.what} is a function of four arguments, must be of (state, action, next)")
            seen.append(reward.tolist())
        keys = zip(*seen, strict=True)
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
