"""Grids of continuous systems with lines where they help: where the gap between guarantee and bound comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._bracket import solve_both
from ._core import Error

if TYPE_CHECKING:
    from ._abstract import Abstraction, AbstractSolution

_GROWTH = 1.5  # of the number of cells, in a round
_MOST_STEPS = 1000  # of an episode without a horizon


def refined(system: Abstraction, tolerance: float, most_cells: int, options: dict[str, Any]) -> AbstractSolution:
    from ._abstract import on_grid

    if not tolerance > 0:
        raise Error(f"tolerance = {tolerance}, must be positive")
    if most_cells < system.cells:
        raise Error(f"most_cells = {most_cells}, must be at least the {system.cells} cells that there are")
    while True:
        answer = system.solve(**options)
        if answer.gap <= tolerance * abs(answer.upper):
            return answer
        finer = on_grid(system.question, _core.Grid(_with_more_lines(answer)))
        if finer.cells > most_cells:
            return answer
        system = finer


def _with_more_lines(answer: AbstractSolution) -> list[list[float]]:
    """Slabs between two lines are halved, those first that lose most for each cell that halving adds."""
    lines = [np.asarray(line) for line in answer.system.grid.lines]
    losses = _losses(answer)
    slabs = [(-loss * (len(line) - 1), axis, slab)
             for axis, line in enumerate(lines) for slab, loss in enumerate(losses[axis])]  # fmt: skip
    cut: list[list[float]] = [[] for _ in lines]
    growth = 1.0
    for _, axis, slab in sorted(slabs):
        cut[axis].append(float(lines[axis][slab : slab + 2].mean()))
        growth *= (len(lines[axis]) - 1 + len(cut[axis])) / (len(lines[axis]) - 2 + len(cut[axis]))
        if growth >= _GROWTH:
            break
    return [np.sort(np.append(line, new)).tolist() for line, new in zip(lines, cut, strict=True)]


def _losses(answer: AbstractSolution) -> list[NDArray[np.float64]]:
    """For each slab of each axis: what nature gains by the choice of a place in its cells, to first order.

    That is how often an episode comes to a cell, times the difference between its value and that of a neighbour.
    """
    system = answer.system
    plain = _without_constraints(answer)
    shape = [len(line) - 1 for line in system.grid.lines]
    probability = "reward" not in system.functions and not system.question.small & set(system.functions)
    value = np.where((system.state_of_cell == system.cells) & probability, 1.0, 0.0)  # the goal, or nothing
    value[system.open_cells] = plain.values()[0]
    visits = np.zeros(len(value))
    visits[system.open_cells] = _visits(plain)
    value, visits = np.pad(value.reshape(shape), 1), visits.reshape(shape)
    inner = tuple(slice(1, -1) for _ in shape)
    losses = []
    for axis in range(len(shape)):
        step = np.abs(np.diff(value, axis=axis))
        both = [np.take(step, range(first, first + shape[axis]), axis=axis) for first in (0, 1)]
        differs = np.maximum(*both)[tuple(slice(None) if other == axis else inner[other] for other in range(len(shape)))]
        losses.append((visits * differs).sum(axis=tuple(other for other in range(len(shape)) if other != axis)))
    return losses


def _without_constraints(answer: AbstractSolution) -> AbstractSolution:
    """Values by cell are those of a policy without memory; where the gap comes from they say well enough."""
    from ._abstract import AbstractSolution

    system = answer.system
    if not system.question.terms["constraints"]:
        return answer
    free = [problem.replace(constraints=[]) for problem in (system.problem, system.optimistic)]
    return AbstractSolution(system, solve_both(free[0], free[1], "robust", {}))


def _visits(answer: AbstractSolution) -> NDArray[np.float64]:
    """How often an episode comes to each open cell under the first decisions, where nature is as likely to place it in one
    member of a group as in another."""
    system = answer.system
    rows, cells = system.rows_taking(answer.first_actions()), system.cells
    places = cells + 3 + rows.groups
    first = np.asarray(rows.state_rows)
    acts, placed = first[:cells], first[cells + 3 : places]
    terms = system.question.terms
    here, total = np.zeros(cells), np.zeros(cells)
    here[system.state(system.start)] = 1.0
    for _ in range(terms["horizon"] or _MOST_STEPS):
        total += here
        after = terms["discount"] * _after(rows, acts, here, places)
        here = after[:cells] + _after(rows, placed, after[cells + 3 :], places)[:cells]
        if here.sum() < 1e-6:
            break
    return total


def _after(rows: Any, taken: NDArray[np.int64], mass: NDArray[np.float64], places: int) -> NDArray[np.float64]:
    """Where rows lead, each with its mass."""
    begin, count = rows.row_outcomes[taken], np.diff(rows.row_outcomes)[taken]
    outcome = np.repeat(begin - np.cumsum(count) + count, count) + np.arange(count.sum())
    weights = rows.probability[outcome] * np.repeat(mass, count)
    return np.asarray(np.bincount(rows.next[outcome], weights=weights, minlength=places), dtype=np.float64)
