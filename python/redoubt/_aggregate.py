"""Aggregation: states of a large problem as one cell, with answers that hold for the large one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _show
from ._bracket import Bracket, solve_both
from ._build import built, parts_of
from ._core import Error
from ._policy import Policy
from ._problem import Problem, as_problem
from ._refine import labels_of_states, refined
from ._solution import Solution
from ._transitions import Layout


class Aggregation:
    """A problem in which states are cells of another one; made by `aggregate`.

    `problem` answers from below: nature picks the state of a cell. `optimistic` answers from above: the policy does.

    >>> aggregation = rd.aggregate(rd.make("river_swim(horizon=10,start=3)"), [0, 0, 1, 1, 2, 2])
    >>> aggregation
    <redoubt.Aggregation: 3 cells of 6 states, 12 distinct rows>
    """

    def __init__(
        self, large: Problem, cell: NDArray[np.int64], rows: _DistinctRows, problems: tuple[Problem, Problem]
    ) -> None:
        self.large, self.cell = large, cell
        self.problem, self.optimistic = problems
        self._distinct = rows
        self._rows = len(rows.row)

    @property
    def cells(self) -> int:
        return int(self.cell.max()) + 1

    def solve(self, method: str | None = None, **options: Any) -> AggregateSolution:
        """The answers from below and from above, by `rd.solve`; without constraints by "robust"."""
        return AggregateSolution(self, *solve_both(self.problem, self.optimistic, method, options))

    def refine(self, tolerance: float = 0.02, most_cells: int | None = None, **options: Any) -> AggregateSolution:
        """Splits cells where the gap comes from, and solves again, until the gap is at most `tolerance` of the bound (which is then
        positive), there are `most_cells`, or nothing is left to split: then the answer is exact. Without constraints.

        The cells that are split first are those that policies come to most, times the difference between their bound and
        their guarantee. A cell is split by where the actions that the two policies take there lead, cell by cell.

        >>> problem = rd.make("grid(size=8)", constraints=[])
        >>> answer = rd.aggregate(problem).refine(tolerance=0.05)
        >>> answer.gap <= 0.05 * answer.upper, answer.aggregation.cells < 64
        (True, True)
        """
        return refined(self, tolerance, most_cells, options)

    def __repr__(self) -> str:
        return f"<redoubt.Aggregation: {self.cells:,} cells of {self.large.states:,} states, {self._rows:,} distinct rows>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)


class AggregateSolution(Bracket):
    """What a policy on cells guarantees for the large problem, and what no policy of it can exceed.

    >>> answer = rd.aggregate(rd.make("river_swim(horizon=10,start=3)", constraints=[]), [0, 0, 1, 1, 2, 2]).solve()
    >>> again = rd.evaluate(answer.aggregation.large, answer.policy).reward.worst
    >>> answer.lower - 1e-9 <= again <= answer.upper + 1e-9
    True
    """

    def __init__(self, aggregation: Aggregation, below: Solution, above: Solution) -> None:
        super().__init__(below, above)
        self.aggregation = aggregation

    @property
    def policy(self) -> Policy:
        """The policy for the large problem: in a state it does what it does in its cell. For policies without memory."""
        small, large = self.below.policy, self.aggregation.large
        if small is None or small.memory_states > 1:
            raise Error(f"a policy with {0 if small is None else small.memory_states} memory states, must have one to be lifted")
        given = small.problem.given_state
        first = np.zeros(given.max() + 1, dtype=np.int64)
        first[given[::-1]] = np.arange(len(given))[::-1]  # of several states that stand for a cell the first
        cells = range(self.aggregation.cells)
        # A decision picks a state of its cell, and follows the row of that state; with groups both take two stages.
        decisions = range(0, small.stages, 4 if small.problem.given.model.groups else 2)
        table = [[small.action_weights(int(first[c]), h)[: large.actions] for c in cells] for h in decisions]
        return Policy.markov(large, np.array(table)[:, self.aggregation.cell])

    def __repr__(self) -> str:
        return f"<redoubt.AggregateSolution: {self.lower:.6g} to {self.upper:.6g}, {self.aggregation.cells:,} cells>"


def aggregate(
    problem: Problem, labels: ArrayLike | None = None, *, coordinates: ArrayLike | None = None, cells: Any = None
) -> Aggregation:
    """A smaller problem, whose answers are a guarantee for the large one and a bound on all of its policies.

    States with the same label are a cell. What an action does in a cell may be what it does in any of its states: nature
    picks which, for each signal separately, after seeing the history (`problem`); or the policy does (`optimistic`).
    Rows of a cell that do the same are kept once. States with different actions are never in one cell.

    Args:
        problem: rows that are the same at every stage; any set but `Tilt`, `Interval` and `TV` with reach anywhere.
        labels: one for each state. Not given, and no coordinates: a cell holds the states from which equally many steps lead to a row
            that earns something, as a beginning for `refine`.
        coordinates: in place of labels: a point for each state, (S,) or (S, d), with
        cells: how many cells along each coordinate, one number or a list.

    >>> problem = rd.make("grid(size=6)", constraints=[])
    >>> row, column = np.divmod(np.arange(36), 6)
    >>> exact = rd.solve(problem, "robust").reward.worst
    >>> answer = rd.aggregate(problem, row // 2 * 3 + column // 2).solve()
    >>> answer.lower - 1e-6 <= exact <= answer.upper + 1e-6
    True
    """
    large = as_problem(problem)
    _refuse(large)
    return aggregated(large, labels_of_states(large, labels, coordinates, cells))


def aggregated(large: Problem, labels: NDArray[Any]) -> Aggregation:
    cell = _cells(large, labels)
    rows = _DistinctRows(large, cell)
    pessimistic, optimistic = (_problem_of(large, cell, rows, helpful) for helpful in (False, True))
    return Aggregation(large, cell, rows, (pessimistic, optimistic))


def _refuse(problem: Problem) -> None:
    uncertainty = problem.uncertainty
    if problem.stages > 1:
        raise Error(f"rows that differ between {problem.stages} stages, must be the same at every stage")
    if getattr(uncertainty, "scope", "row") == "state":
        raise Error(f"uncertainty {uncertainty!r}, must be of scope row to be aggregated")
    taken = isinstance(uncertainty, (_core.Nominal, _core.KL, _core.Chi2, _core.TV))
    if not taken or getattr(uncertainty, "reach", "") == "anywhere":
        raise Error(f"uncertainty {uncertainty!r}, must be Nominal, KL, Chi2 or TV with reach='support' to be aggregated")
    if problem.two_stages:
        model = problem.given.model
        what = f"{model.groups} groups" if model.groups else f"{model.factors} factors"
        raise Error(f"a problem with {what}, must have none to be aggregated")


def _cells(problem: Problem, labels: NDArray[Any]) -> NDArray[np.int64]:
    """The cell of each state, numbered in the order in which they are met."""
    if labels.shape != (problem.states,):
        raise Error(f"labels of shape {labels.shape}, must be one for each of {problem.states} states")
    number: dict[Any, int] = {}
    ends, actions = problem.state_rows, problem.action
    keys = ((label, actions[ends[s] : ends[s + 1]].tobytes()) for s, label in enumerate(labels.tolist()))
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)


class _DistinctRows:
    """What the rows of each cell and action lead to, each once: `of[(cell, action)]` are their numbers."""

    def __init__(self, problem: Problem, cell: NDArray[np.int64]) -> None:
        self.layout, values = parts_of(problem.model)
        # Signals that no constraint is on would tell states apart that nobody tells apart.
        asked = {constraint.signal for constraint in problem.constraints} | {"reward"}
        self.values = {name: of for name, of in values.items() if name in asked or not asked <= values.keys()}
        self.after = cell[self.layout.next]
        radius = getattr(problem.uncertainty, "radius", None)
        self.radius = radius if isinstance(radius, np.ndarray) else None
        self.row: list[int] = []  # of the large problem, for each number
        self.number: list[int] = []  # of each row of the large problem
        self.of: dict[tuple[int, int], list[int]] = {}
        known: dict[Any, int] = {}
        for row, (state, action) in enumerate(zip(self.layout.row_state, self.layout.action, strict=True)):
            place = (int(cell[state]), int(action))
            key = (*place, self._signature(row))
            if key not in known:
                known[key] = len(self.row)
                self.row.append(row)
                self.of.setdefault(place, []).append(known[key])
            self.number.append(known[key])

    def _signature(self, row: int) -> Any:
        begin, end = self.layout.row_outcomes[row : row + 2]
        earned = tuple(float(of_row[row]) for of_row, _, _ in self.values.values() if len(of_row))
        columns = [self.after[begin:end], self.layout.probability[begin:end]]
        columns += [outcome[begin:end] for _, outcome, _ in self.values.values() if len(outcome)]
        radius = None if self.radius is None else float(self.radius[row])
        return earned, radius, tuple(sorted(zip(*(column.tolist() for column in columns), strict=True)))


def _problem_of(large: Problem, cell: NDArray[np.int64], rows: _DistinctRows, helpful: bool) -> Problem:
    """States: the cells, then a state for each distinct row, which follows it, then the groups of these."""
    cells, distinct = int(cell.max()) + 1, len(rows.row)
    half = float(np.sqrt(large.discount))
    first = cells + distinct
    places = sorted(rows.of)
    groups = [rows.of[place] for place in places if len(rows.of[place]) > 1]
    begin, end = (rows.layout.row_outcomes[np.array(rows.row, dtype=np.int64) + i] for i in (0, 1))
    listed = np.concatenate([np.arange(b, e) for b, e in zip(begin, end, strict=True)] or [np.empty(0, np.int64)])
    number = iter(range(len(groups)))
    chosen = [first + next(number) if len(rows.of[place]) > 1 else cells + rows.of[place][0] for place in places]
    members = np.concatenate([np.array(group) + cells for group in groups] or [np.empty(0, np.int64)])
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    counts = np.concatenate([np.ones(len(places), np.int64), end - begin, sizes])
    per_state = np.bincount([c for c, _ in places], minlength=cells)
    layout = Layout(
        states=first + len(groups), stages=1, actions=0, groups=len(groups),
        row_outcomes=np.append(0, np.cumsum(counts)).astype(np.int64),
        next=np.concatenate([chosen, rows.after[listed], members]).astype(np.int32),
        probability=np.concatenate([np.ones(len(places)), rows.layout.probability[listed], np.repeat(1 / sizes, sizes)]),
        some_rows=(np.append(0, np.cumsum(np.append(per_state, np.ones(distinct + len(groups))))).astype(np.int64),
                   np.concatenate([[a for _, a in places], np.zeros(distinct + len(groups))]).astype(np.int32)),
    )  # fmt: skip
    none = np.empty(0)
    spread = {}
    for name, (row, outcome, _) in rows.values.items():  # earned half a decision later, and discounted as much more
        of_rows = np.concatenate([np.zeros(len(places)), row[rows.row] / half, np.zeros(len(groups))]) if len(row) else none
        ends = [np.zeros(len(places)), outcome[listed] / half, np.zeros(len(members))] if len(outcome) else [none]
        spread[name] = (of_rows, np.concatenate(ends), none)
    model = built(layout, spread, {}, None, ([], large.action_names), [])
    return Problem._adopt(_core.Problem(model, _terms_of(large, cell, rows, len(places), len(groups), half, helpful)))


def _terms_of(
    large: Problem, cell: NDArray[np.int64], rows: _DistinctRows, places: int, groups: int, half: float, helpful: bool
) -> _core.Terms:
    terms = _core.Terms(large.terms)
    terms.horizon = None if large.horizon is None else 2 * large.horizon
    terms.discount = half
    begins = np.bincount(cell, weights=large.start)
    starts = np.flatnonzero(begins)
    terms.start = _core.Start(starts.tolist(), begins[starts].tolist())
    terms.helpful_groups = helpful
    if rows.radius is not None:
        radii = np.concatenate([np.zeros(places), rows.radius[rows.row], np.zeros(groups)])
        kind = type(large.uncertainty)
        terms.uncertainty = _core.TV(radii, "support") if kind is _core.TV else kind(radii)  # type: ignore[call-arg, arg-type]
    return terms
