"""Which states become a cell: by coordinates, by how far they are from a reward, and refined where a gap comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._core import Error
from ._tools import worst_kernel

if TYPE_CHECKING:
    from ._aggregate import AggregateSolution, Aggregation
    from ._problem import Problem
    from ._solution import Solution

_GROWTH = 1.3  # of the number of cells, in a round


def labels_of_states(problem: Problem, labels: Any, coordinates: Any, cells: Any) -> NDArray[Any]:
    if labels is not None and coordinates is not None:
        raise Error("labels and coordinates, must be one of them")
    if (coordinates is None) != (cells is None):
        raise Error(f"{'cells' if coordinates is None else 'coordinates'} alone, must be coordinates with cells")
    if labels is not None:
        return np.asarray(labels)
    return _by_distance(problem) if coordinates is None else _by_coordinates(problem, coordinates, cells)


def _by_coordinates(problem: Problem, coordinates: Any, cells: Any) -> NDArray[np.int64]:
    points = np.asarray(coordinates, dtype=np.float64)
    points = points[:, np.newaxis] if points.ndim == 1 else points
    if points.ndim != 2 or len(points) != problem.states or not np.isfinite(points).all():
        raise Error(f"coordinates of shape {np.shape(coordinates)}, must be a finite point for each of {problem.states} states")
    counts = np.broadcast_to(np.asarray(cells, dtype=np.int64), points.shape[1:])
    if (counts < 1).any():
        raise Error(f"{int(counts.min())} cells along a coordinate, must be at least 1")
    low, high = points.min(axis=0), points.max(axis=0)
    share = (points - low) / np.where(high > low, high - low, 1.0)
    place = np.minimum((share * counts).astype(np.int64), counts - 1)
    return np.asarray(np.ravel_multi_index(tuple(place.T), tuple(counts)), dtype=np.int64)


def _by_distance(problem: Problem) -> NDArray[np.int64]:
    """Steps to a row that earns something; where none leads there, -1."""
    rows = np.repeat(np.arange(problem.states), np.diff(problem.state_rows))  # the state of each
    of_outcome = np.repeat(np.arange(problem.rows), np.diff(problem.row_outcomes))
    earns = np.array(problem.reward != 0)
    np.logical_or.at(earns, of_outcome, np.asarray(problem.outcome_reward) != 0)
    distance = np.full(problem.states, -1, dtype=np.int64)
    reached, steps = np.unique(rows[earns]), 0
    while len(reached):
        distance[reached] = steps
        steps += 1
        before = np.unique(rows[of_outcome[np.isin(problem.next, reached)]])
        reached = before[distance[before] < 0]
    return distance


def refined(aggregation: Aggregation, tolerance: float, most_cells: int | None, options: dict[str, Any]) -> AggregateSolution:
    from ._aggregate import aggregated

    if aggregation.problem.constraints:
        raise Error(f"{len(aggregation.problem.constraints)} constraints, must be none to refine cells")
    if not tolerance > 0:
        raise Error(f"tolerance = {tolerance}, must be positive")
    most = aggregation.large.states if most_cells is None else most_cells
    while True:
        answer = aggregation.solve(**options)
        if answer.gap <= tolerance * abs(answer.upper) or aggregation.cells >= most:
            return answer
        labels = _split(answer, most)
        if labels is None:
            return answer
        aggregation = aggregated(aggregation.large, labels)


def _split(answer: AggregateSolution, most: int) -> NDArray[np.int64] | None:
    """New labels; None where all states of every cell that matters do the same."""
    aggregation = answer.aggregation
    large, cell, cells = aggregation.large, aggregation.cell, aggregation.cells
    below, above = (_actions_and_values(solution, cells) for solution in (answer.below, answer.above))
    visits = sum(_visits(large, actions[cell]) for actions, _ in (below, above))
    share = np.bincount(cell, weights=visits * np.maximum(above[1] - below[1], 0.0)[cell], minlength=cells)
    number = np.asarray(aggregation._distinct.number)
    signature: dict[tuple[int, ...], int] = {}
    part = np.zeros(large.states, dtype=np.int64)
    for state, own in enumerate(cell.tolist()):
        taken = sorted({int(actions[own]) for actions, _ in (below, above)} - {-1})
        key = (own, *(int(number[large.state_rows[state] + action]) for action in taken))
        part[state] = signature.setdefault(key, len(signature))
    parts = np.bincount([key[0] for key in signature], minlength=cells)
    left = min(most, int(_GROWTH * cells) + 20) - cells
    chosen = np.zeros(cells, dtype=bool)
    for one in np.argsort(-share, kind="stable"):
        if parts[one] < 2 or (chosen.any() and parts[one] - 1 > left):
            continue
        chosen[one] = True
        left -= parts[one] - 1
        if left <= 0:
            break
    return None if not chosen.any() else np.where(chosen[cell], cells + part, cell)


def _actions_and_values(solution: Solution, cells: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The place of the action that is taken in each cell at the first stage, -1 for none, and what is had from there."""
    policy = solution.policy
    assert policy is not None
    problem = policy.problem
    kernel = worst_kernel(problem, policy)
    given = problem.given_state
    first = np.zeros(given.max() + 1, dtype=np.int64)
    first[given[::-1]] = np.arange(len(given))[::-1]
    actions, values = np.full(cells, -1, dtype=np.int64), np.zeros(cells)
    for own in range(cells):
        state = int(first[own])
        begin, end = problem.state_rows[state : state + 2]
        if begin == end:
            continue
        action = int(np.argmax(policy.action_weights(state)))
        values[own] = kernel.at(state, action).value
        actions[own] = int(np.searchsorted(problem.action[begin:end], action))
    return actions, values


def _visits(problem: Problem, taken: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often each state is come to, discounted, in the nominal model."""
    acts = taken >= 0
    chain = problem.transition_matrix()[(problem.state_rows[:-1] + taken)[acts]].T
    here, total = np.array(problem.start), np.zeros(problem.states)
    for _ in range(problem.horizon or 1000):
        total += here
        here = problem.discount * (chain @ here[acts])
        if here.sum() < 1e-6:
            break
    return total
