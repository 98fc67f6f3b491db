"""Policies as coloured cells: which decision has which place and which colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import Error
from ._policy import Policy
from ._problem import Problem

_TWO_NUMBERS = re.compile(r"\D*?(-?\d+)\D+?(-?\d+)\D*")


@dataclass
class Cells:
    """A picture of decisions: the action weights (rows, columns, A) of each cell, all nan where there is no state."""

    weights: NDArray[np.float64]
    xlabel: str
    ylabel: str
    title: str

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Cells in which a decision is made: not those of terminal states, and not those without a state."""
        return np.asarray(np.nansum(self.weights, axis=-1) > 0)

    @property
    def is_state(self) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self.weights).any(axis=-1))


def coordinates_of(problem: Problem) -> NDArray[np.float64] | None:
    """(row, column) of each state where names have two numbers, such as "(2, 3)"; nan for states without.

    None when that is no map: fewer than two rows or columns, states on top of each other, or most without a place.
    """
    found = np.full((problem.states, 2), np.nan)
    for state, name in enumerate(problem.state_names):
        if match := _TWO_NUMBERS.fullmatch(name):
            found[state] = [int(match[1]), int(match[2])]
    places = found[~np.isnan(found[:, 0])]
    if 2 * len(places) <= problem.states or len(np.unique(places, axis=0)) < len(places):
        return None
    return found if all(len(np.unique(axis)) > 1 for axis in places.T) else None


def check_coordinates(problem: Problem, coordinates: ArrayLike) -> NDArray[np.float64]:
    places = np.asarray(coordinates, dtype=np.float64)
    if places.shape != (problem.states, 2):
        raise Error(f"coordinates have shape {places.shape}, must be (S, 2) = ({problem.states}, 2): row and column")
    return places


def on_a_board(policy: Policy, stage: int, memory: int | None, places: NDArray[np.float64]) -> Cells:
    """One cell for each state at its coordinates; with memory, the decisions of one memory state."""
    known = np.flatnonzero(~np.isnan(places).any(axis=1))
    rows, columns = (np.rint(places[known, axis] - places[known, axis].min()).astype(int) for axis in (0, 1))
    shown = start_memory(policy) if memory is None else memory
    weights = np.full((rows.max() + 1, columns.max() + 1, policy.problem.actions), np.nan)
    for state, row, column in zip(known.tolist(), rows, columns, strict=True):
        count = policy.memories(state, stage)
        weights[row, column] = policy.action_weights(state, stage, min(shown, count - 1)) if count else 0.0
    remembered = f", memory {shown} of {policy.memory_states}" if policy.memory_states > 1 else ""
    return Cells(weights, "column", "row", f"stage {stage}{remembered}")


def by_memory(policy: Policy, stage: int) -> Cells:
    """One line for each state, one column for each of its memory states."""
    states = range(policy.problem.states)
    columns = [policy.memories(state, stage) for state in states]
    weights = _filled(policy, max(columns), lambda state: (
        policy.action_weights(state, stage, memory) for memory in range(columns[state])))  # fmt: skip
    return Cells(weights, "memory", "state", f"stage {stage}")


def by_stage(policy: Policy) -> Cells:
    """One line for each state, one column for each stage, for a policy without memory."""
    weights = _filled(policy, policy.stages, lambda state: (
        policy.action_weights(state, stage) for stage in range(policy.stages)))  # fmt: skip
    return Cells(weights, "stage", "state", "")


def start_memory(policy: Policy) -> int:
    """The memory state in which an episode begins, or one of them."""
    start = int(np.flatnonzero(policy.problem.start)[0])
    controller = policy.start()
    controller.act(start)
    return int(controller.memory)


def _filled(
    policy: Policy, columns: int, of_state: Callable[[int], Iterable[NDArray[np.float64]]]
) -> NDArray[np.float64]:
    weights = np.full((policy.problem.states, columns, policy.problem.actions), np.nan)
    for state in range(policy.problem.states):
        for column, of_cell in enumerate(of_state(state)):
            weights[state, column] = of_cell
    return weights
