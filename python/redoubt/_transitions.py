"""Transition probabilities in any of the forms people have them, read into one layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Error
from ._groups import add_groups, group_or_state

_INT32 = np.iinfo(np.int32)


@dataclass
class Layout:
    """Rows ordered by stage, state and action; the outcomes of each row one after the other.

    `extra` holds values of single outcomes that came with the transitions: "reward", and signals by name.
    """

    states: int
    stages: int
    actions: int  # one more than the largest action number
    row_outcomes: np.ndarray  # outcomes of a row: from here to the next entry
    next: np.ndarray  # of each outcome
    probability: np.ndarray  # of each outcome
    some_rows: tuple[np.ndarray, np.ndarray] | None = None  # state_rows and action; None: every state has every action
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    by_row: bool = False  # values may be given row by row
    groups: int = 0  # the last of the states are groups of others
    factors: int = 0  # or distributions that rows share

    @property
    def between(self) -> int:
        """How many states, the last, an episode passes between two decisions."""
        return self.groups + self.factors

    @property
    def ordinary(self) -> int:
        """How many states are others."""
        return self.states - self.between

    @property
    def regular(self) -> bool:
        """Whether every state has every action."""
        return self.some_rows is None

    @property
    def rows(self) -> int:
        return len(self.row_outcomes) - 1

    @cached_property
    def state_rows(self) -> np.ndarray:
        """Rows of (stage, state): from entry stage * states + state to the next one."""
        if self.some_rows is not None:
            return self.some_rows[0]
        return np.arange(self.stages * self.states + 1) * self.actions

    @cached_property
    def action(self) -> np.ndarray:
        """Of each row."""
        if self.some_rows is not None:
            return self.some_rows[1]
        return np.tile(np.arange(self.actions, dtype=np.int32), self.stages * self.states)

    @cached_property
    def row_slot(self) -> np.ndarray:
        """stage * states + state of each row."""
        return np.repeat(np.arange(len(self.state_rows) - 1), np.diff(self.state_rows))

    @property
    def row_stage(self) -> np.ndarray:
        return self.row_slot // self.states

    @property
    def row_state(self) -> np.ndarray:
        return self.row_slot % self.states

    @cached_property
    def outcome_row(self) -> np.ndarray:
        return np.repeat(np.arange(self.rows), np.diff(self.row_outcomes))

    def at_stages(self, stages: int) -> Layout:
        """The same rows written out for each stage."""
        return replace(
            self,
            stages=stages,
            some_rows=None
            if self.regular
            else (_repeat_offsets(self.state_rows, stages), np.tile(self.action, stages)),
            row_outcomes=_repeat_offsets(self.row_outcomes, stages),
            next=np.tile(self.next, stages),
            probability=np.tile(self.probability, stages),
            extra={name: np.tile(values, stages) for name, values in self.extra.items()},
        )

    def with_outcomes(self, row: np.ndarray, after: np.ndarray) -> Layout:
        """The same with an outcome of probability zero wherever (row, next) is not listed yet."""
        listed = self.outcome_row * self.states + self.next
        added = np.setdiff1d(row * self.states + after, listed)
        if len(added) == 0:
            return self
        keys = np.concatenate([listed, added])
        order = np.argsort(keys, kind="stable")

        def joined(values: np.ndarray) -> np.ndarray:
            return np.asarray(np.concatenate([values, np.zeros(len(added))])[order])

        return replace(
            self,
            row_outcomes=_offsets(np.diff(self.row_outcomes) + np.bincount(added // self.states, minlength=self.rows)),
            next=(keys[order] % self.states).astype(np.int32),
            probability=joined(self.probability),
            extra={name: joined(values) for name, values in self.extra.items()},
        )


States = int | Sequence[str] | None  # how many there are, or their names


def read_transitions(
    P: Any, order: str | None, states: States, actions: Sequence[str] | None, rows_per_state: Any = None
) -> Layout:
    if rows_per_state is not None:
        return _from_rows(P, rows_per_state)
    if order not in (None, "sas", "ass"):
        raise Error(f"order = {order!r}, must be 'sas' for (S, A, S) or 'ass' for (A, S, S)")
    if is_sparse(P):
        return _from_sparse([P], order)
    if isinstance(P, Mapping):
        return _from_columns(*_nested_columns(P, _numbers(states), _numbers(actions)), states)
    if isinstance(P, Sequence) and len(P) > 0 and is_sparse(P[0]):
        return _from_sparse(list(P), order)
    if isinstance(P, Sequence) and len(P) > 0 and _is_transition(P[0]):
        return _from_columns(*_listed_columns(P, _numbers(states), _numbers(actions)), states)
    try:
        array = np.asarray(P, dtype=np.float64)
    except ValueError as error:
        raise Error(f"P is not an array: {error}; rows of different lengths are given as transitions") from None
    return _from_dense(array, order)


def _is_transition(entry: Any) -> bool:
    """A dict, or a tuple that is not the beginning of an array."""
    return isinstance(entry, Mapping) or (isinstance(entry, tuple) and not (entry and np.ndim(entry[0])))


def is_sparse(matrix: Any) -> bool:
    return hasattr(matrix, "tocsr")


def as_int32(values: Any, what: str) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.dtype == np.int32:
        return np.ascontiguousarray(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise Error(f"{what} has entries of type {array.dtype}, must be whole numbers")
    if array.size and (array.min() < _INT32.min or array.max() > _INT32.max):
        raise Error(f"{what} has {array.min()}..{array.max()}, must fit in 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)


def in_order(array: np.ndarray, order: str | None, what: str) -> np.ndarray:
    """An array whose last three axes are (S, A, S) or (A, S, S) as (..., S, A, S)."""
    first, second, last = array.shape[-3:]
    if order is None:
        if first == second == last and first > 1:
            raise Error(
                f"{what} has shape {array.shape}, which may be (S, A, S) or (A, S, S): say order='sas' or order='ass'"
            )
        order = "ass" if second == last and first != last else "sas"
    if order == "ass":
        array = np.moveaxis(array, -3, -2)
    if array.shape[-3] != array.shape[-1]:
        raise Error(f"{what} has shape {(*array.shape[:-3], first, second, last)}, must be (S, A, S) or (A, S, S)")
    return array


def stage_order(matrices: list[Any], order: str | None) -> str:
    """Whether a list of sparse matrices has one for each stage ('sas') or one for each action ('ass')."""
    rows, states = matrices[0].shape
    if order is None and len(matrices) > 1 and rows == states:
        raise Error(
            f"P is a list of sparse {rows} x {states} matrices: say order='ass' when each is an action, "
            "order='sas' when each is a stage"
        )
    return order or "sas"


def _from_dense(array: np.ndarray, order: str | None) -> Layout:
    if array.ndim not in (3, 4):
        raise Error(
            f"P has shape {array.shape}, must be (S, A, S), (A, S, S), or one of them for each stage, (H, S, A, S)"
        )
    array = in_order(array, order, "P")
    if array.ndim == 3:
        array = array[np.newaxis]
    stages, states, actions, _ = array.shape
    listed = array != 0
    row_outcomes = _offsets(np.count_nonzero(listed, axis=-1).ravel())
    return _regular(stages, states, actions, row_outcomes, np.nonzero(listed)[-1], array[listed])


def _from_sparse(matrices: list[Any], order: str | None) -> Layout:
    rows, states = matrices[0].shape
    for matrix in matrices:
        if matrix.shape != (rows, states):
            raise Error(f"P has sparse matrices of shapes {(rows, states)} and {matrix.shape}, must be equal")
    stages = len(matrices)
    if len(matrices) > 1 and stage_order(matrices, order) == "ass":
        stages, rows = 1, rows * len(matrices)
    if states == 0 or rows % states:
        raise Error(f"P is sparse with shape {(rows, states)}, must be (S*A, S): a multiple of {states} rows")
    csr = action_major(stack(matrices), order, states, rows // states)
    return _regular(stages, states, rows // states, csr.indptr, csr.indices, csr.data)


def _from_rows(P: Any, rows_per_state: Any) -> Layout:
    """Rows of a sparse matrix, as many for each state as the offsets say; actions are their places in the state."""
    if not is_sparse(P):
        raise Error(f"rows_per_state with P of type {type(P).__name__}, must be with a sparse matrix of rows")
    csr, offsets = P.tocsr(), np.asarray(rows_per_state)
    rows, states = csr.shape
    if offsets.ndim != 1 or not np.issubdtype(offsets.dtype, np.integer):
        raise Error(f"rows_per_state has shape {offsets.shape} and type {offsets.dtype}, must be a list of whole numbers")
    if len(offsets) != states + 1 or offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) < 0).any():
        raise Error(
            f"rows_per_state has {len(offsets)} entries, must have {states + 1}, from 0 to {rows}, and never decrease: "
            "the rows of state s are rows_per_state[s] up to rows_per_state[s + 1]"
        )
    counts = np.diff(offsets)
    action = np.arange(rows) - np.repeat(offsets[:-1], counts)
    return Layout(
        states=states, stages=1, actions=int(counts.max(initial=0)), row_outcomes=csr.indptr,
        next=as_int32(csr.indices, "next states of P"), probability=np.ascontiguousarray(csr.data, dtype=np.float64),
        some_rows=(offsets.astype(np.int64), action.astype(np.int32)), by_row=True,
    )  # fmt: skip


def stack(matrices: list[Any]) -> Any:
    if len(matrices) == 1:
        return matrices[0].tocsr()
    import scipy.sparse

    return scipy.sparse.vstack(matrices, format="csr")


def action_major(csr: Any, order: str | None, states: int, actions: int) -> Any:
    """Rows a*S+s (order 'ass') brought into the order s*A+a."""
    if order != "ass":
        return csr
    return csr[np.arange(states * actions).reshape(actions, states).T.ravel()]


def _regular(
    stages: int, states: int, actions: int, row_outcomes: np.ndarray, next_state: np.ndarray, probability: np.ndarray
) -> Layout:
    return Layout(
        states=states,
        stages=stages,
        actions=actions,
        row_outcomes=row_outcomes,
        next=as_int32(next_state, "next states of P"),
        probability=np.ascontiguousarray(probability, dtype=np.float64),
    )


# Transitions one by one: columns of stage, state, action, next and p, and of the values that entries carry.

_KEYS = ("stage", "state", "action", "next", "p")


Numbers = dict[Any, int]  # the number of each name
Columns = dict[str, list[Any]]


def _numbers(names: States) -> Numbers:
    return {name: number for number, name in enumerate(names)} if isinstance(names, Sequence) else {}


def _listed_columns(entries: Sequence[Any], states: Numbers, actions: Numbers) -> tuple[Columns, Columns]:
    columns: Columns = {key: [] for key in (*_KEYS, "groups")}
    extra: Columns = {}
    for i, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            if len(entry) != 4:
                raise Error(f"transition {i} is {entry!r}, must be (state, action, next, p) or a dict")
            entry = dict(zip(_KEYS[1:], entry, strict=True))
        unknown = set(entry) - {*_KEYS, "reward", "signals"}
        missing = {*_KEYS[1:]} - set(entry)
        if unknown or missing:
            raise Error(f"transition {i} has the keys {sorted(entry)}, must be {', '.join(_KEYS)}, reward, signals")
        columns["stage"].append(entry.get("stage", 0))
        columns["state"].append(states.get(entry["state"], entry["state"]))
        columns["action"].append(actions.get(entry["action"], entry["action"]))
        columns["next"].append(group_or_state(entry["next"], states, columns["groups"]))
        columns["p"].append(entry["p"])
        for name, value in {**entry.get("signals", {}), "reward": entry.get("reward", 0.0)}.items():
            column = extra.setdefault(name, [])
            column.extend([0.0] * (i - len(column)) + [value])
    return columns, extra


def _nested_columns(P: Mapping[Any, Any], states: Numbers, actions: Numbers) -> tuple[Columns, Columns]:
    """P[state][action] is {next: p} or a list of (p, next), as Gymnasium has it."""
    columns: Columns = {key: [] for key in (*_KEYS, "groups")}
    for state, choices in P.items():
        named = choices.items() if isinstance(choices, Mapping) else enumerate(choices)
        for action, outcomes in named:
            pairs = ((p, s) for s, p in outcomes.items()) if isinstance(outcomes, Mapping) else outcomes
            for p, after in pairs:
                columns["stage"].append(0)
                columns["state"].append(states.get(state, state))
                columns["action"].append(actions.get(action, action))
                columns["next"].append(group_or_state(after, states, columns["groups"]))
                columns["p"].append(p)
    return columns, {}


def _from_columns(columns: Columns, extra: Columns, states: States) -> Layout:
    known = len(states) if isinstance(states, Sequence) else states
    groups = 0
    if columns["groups"]:
        listed = (columns["state"], columns["next"], *columns["groups"])
        ordinary = int(known) if known is not None else 1 + max(max(column) for column in listed)
        groups = add_groups(columns, ordinary)
        known = ordinary + groups
    count = len(columns["state"])
    stage, state, action, after = (as_int32(columns[key], key) for key in ("stage", "state", "action", "next"))
    for key, column in (("stage", stage), ("action", action)):
        if count and column.min() < 0:
            raise Error(f"{key} {column.min()} in a transition, must be at least 0")
    total = int(known) if known is not None else 1 + int(max(state.max(initial=-1), after.max(initial=-1)))
    for column in (state, after) if count else ():
        if column.max() >= total or column.min() < 0:
            raise Error(f"states {column.min()}..{column.max()} in transitions, must be in 0..{total - 1}")
    stages = 1 + int(stage.max(initial=0))
    order = np.lexsort((action, state, stage))
    slot = stage[order].astype(np.int64) * total + state[order]
    action = action[order]
    first = np.flatnonzero(np.diff(slot, prepend=-1).astype(bool) | np.diff(action, prepend=-1).astype(bool))
    return Layout(
        states=total,
        stages=stages,
        actions=1 + int(action.max(initial=-1)),
        row_outcomes=np.append(first, count).astype(np.int64),
        next=after[order],
        probability=np.asarray(columns["p"], dtype=np.float64)[order],
        some_rows=(
            np.searchsorted(slot[first], np.arange(stages * total + 1)).astype(np.int64),
            np.ascontiguousarray(action[first]),
        ),
        extra={
            name: np.asarray(column + [0.0] * (count - len(column)), dtype=np.float64)[order]
            for name, column in extra.items()
        },
        groups=groups,
    )


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _repeat_offsets(offsets: np.ndarray, times: int) -> np.ndarray:
    return _offsets(np.tile(np.diff(offsets), times))
