"""Models that are code and too large to explore: a certified bracket from the part that matters."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import model_of
from ._core import Error
from ._explore import Exploration, function_of, names_of, where
from ._options import named_options
from ._problem import Problem
from ._show import table_html
from ._solution import Solution
from ._solve import solve
from ._terms import ABSENT, Absent, AnySet, Constraints, Discount, Horizon, objective_of, terms_of
from ._transitions import Layout

Range = tuple[float, float]


@dataclass
class PartialSolution:
    """What `solve_partially` found: a policy with its guarantee, and what no policy of the whole model can beat.

    `policy` acts in the states of `problem`: those that were expanded, in the order of `states`, and then the unexplored
    ones, where any action will do: the guarantee counts on the worst there.

    >>> found = rd.solve_partially(initial=0, actions=lambda x: ["on"], step=lambda x, action: [(1.0, x + 1, 0.5)],
    ...                            ranges={"reward": (0, 1)}, discount=0.5)
    >>> found.status, found.worst <= 1.0 <= found.bound, found.states[0]     # .5 in every step, 1 in all
    ('certified', True, 0)
    """

    status: str  # "certified", "infeasible" (of the whole model), or "stopped"
    worst: float | None  # what the policy guarantees; None: none was found that keeps the constraints
    bound: float | None  # what no policy of the whole model can beat; None where it is infeasible
    expanded: int
    met: int  # states that were met, expanded or not
    rounds: int
    states: list[Any] = field(repr=False)
    problem: Problem = field(repr=False)
    solution: Solution | None = field(repr=False)

    @property
    def gap(self) -> float:
        return inf if self.worst is None or self.bound is None else abs(self.bound - self.worst)

    def _repr_html_(self) -> str:
        shown = ("status", "worst", "bound", "gap", "expanded", "met", "rounds")
        return table_html("PartialSolution", [(name, str(getattr(self, name))) for name in shown])


@named_options
def solve_partially(
    model: Any = None, *, initial: Any = ABSENT, actions: Callable[[Any], Iterable[Hashable]] | None = None,
    step: Callable[[Any, Any], Iterable[Any]] | None = None, labels: Callable[[Any], Iterable[str]] | None = None,
    ranges: Mapping[str, Range] | None = None, constraints: Constraints = ABSENT, uncertainty: AnySet = ABSENT,
    horizon: Horizon = ABSENT, discount: Discount = ABSENT, reward: str | Absent | None = ABSENT,
    minimise: str | None = None, tolerance: float = 0.01, most_states: int = 100_000, threads: int = 1,
) -> PartialSolution:  # fmt: skip
    """Solves a model that is code without exploring all of it: states are expanded where the gap flows through them.

    A state that was not expanded is worth anything between the trivial bounds: probabilities lie in [0, 1], and a reward or
    signal earns between `ranges` in every step. With the lower ends the policy that is found keeps what it promises in the whole
    model; with the upper ends the bound holds for every policy of it. Between the two lies the gap.

    Args:
        model: as for `explore`, and so are initial, actions, step, labels, constraints, uncertainty, horizon, discount,
            reward and minimise.
        ranges: of the reward and of each signal that is used, what one step can earn: {"reward": (0, 1)}.
        tolerance: how large the gap may be, as a share of the value.
        most_states: how many may be expanded; then what there is is returned, with status "stopped".
        threads: how many to work on.

    >>> def step(x, action):
    ...     yield 0.9, x + 1 if action == "on" else 0, {"reward": 1.0 / (1 + x)}
    ...     yield 0.1, 0, {"reward": 0.0}
    >>> found = rd.solve_partially(initial=0, actions=lambda x: ["on", "back"], step=step, ranges={"reward": (0, 1)},
    ...                            discount=0.8)
    >>> found.status, found.gap <= 0.01 * found.bound, found.expanded < 1000     # of infinitely many
    ('certified', True, True)
    """
    search = _Search(model, initial, actions, step, labels, dict(ranges or {}), objective_of(reward, minimise),
                     {"constraints": constraints, "uncertainty": uncertainty, "horizon": horizon, "discount": discount},
                     threads)  # fmt: skip
    return search.run(tolerance, most_states)


class _Search:
    def __init__(
        self, model: Any, initial: Any, actions: Any, step: Any, labels: Any, ranges: dict[str, Range],
        objective: _core.Objective, terms: dict[str, Any], threads: int,
    ) -> None:  # fmt: skip
        self.found = Exploration(
            function_of(model, "actions", actions), function_of(model, "step", step),
            labels or getattr(model, "labels", None), most_states=None,
        )  # fmt: skip
        self.found.ranges = ranges
        self.start = self.found.begin(getattr(model, "initial", ABSENT) if initial is ABSENT else initial)
        self.ranges, self.objective, self.terms, self.threads = ranges, objective, terms, threads
        self.order: list[int] = []  # the numbers of expanded states, in the order in which they were expanded
        self.place: dict[int, int] = {}  # of a number among them
        _refuse_tilt(terms["uncertainty"])
        self.lean = _Lean(objective, terms["constraints"], ranges)

    def run(self, tolerance: float, most_states: int) -> PartialSolution:
        chosen = list(range(len(self.found.states)))  # where episodes begin
        rounds, bound = 0, inf
        best: tuple[Solution, Problem] | None = None
        while True:
            for number in chosen[: most_states - len(self.order)]:
                self._expand(number)
            rounds += 1
            hopeful, cautious = self._pose(good=True), self._pose(good=False)
            upper = self._solve(hopeful)
            if upper.status == "infeasible":
                return self._result("infeasible", None, None, rounds, cautious, None)
            bound = min(bound, _worst(upper) if upper.reward.bound is None else upper.reward.bound)
            lower = self._solve(cautious)
            if lower.status in ("certified", "feasible") and (best is None or _worst(lower) >= _worst(best[0])):
                best = lower, cautious
            unexplored = len(self.found.states) > len(self.order)
            if best is not None and (
                bound - _worst(best[0]) <= tolerance * max(abs(bound), abs(_worst(best[0])), 1e-300)
                or not unexplored
            ):
                return self._result("certified", best[0], bound, rounds, best[1], best[0])
            if not unexplored and lower.status == "infeasible":
                return self._result("infeasible", None, None, rounds, cautious, None)
            if not unexplored or len(self.order) >= most_states:
                found, posed = (None, cautious) if best is None else best
                return self._result("stopped", found, bound, rounds, posed, found)
            chosen = self._through_which_the_gap_flows(hopeful, max(256, len(self.order) // 4))

    def _result(
        self, status: str, lower: Solution | None, bound: float | None, rounds: int, problem: Problem,
        solution: Solution | None,
    ) -> PartialSolution:  # fmt: skip
        worst = None if lower is None else lower.reward.worst
        states = [self.found.states[number] for number in self.order]
        return PartialSolution(status, worst, bound, len(self.order), len(self.found.states), rounds, states, problem, solution)

    def _solve(self, problem: Problem) -> Solution:
        if problem.constraints:
            return solve(problem, threads=self.threads, tolerance=1e-3)
        return solve(problem, "robust", threads=self.threads)

    def _expand(self, number: int) -> None:
        self.place[number] = len(self.order)
        self.order.append(number)
        self.found.expand(number)

    def _pose(self, good: bool) -> Problem:
        """What is known, with all other states worth the best or the worst they can be: one for each set of labels."""
        found, expanded = self.found, len(self.order)
        place = np.full(len(found.states), -1, dtype=np.int32)
        place[self.order] = np.arange(expanded, dtype=np.int32)
        unknown: dict[frozenset[str], int] = {}
        for number in np.flatnonzero(place < 0).tolist():
            place[number] = expanded + unknown.setdefault(found.labels_at(number), len(unknown))
        more = 1 + np.arange(len(unknown) + 1 if unknown else 0)  # a row for each of them, and for where they lead
        sink = expanded + len(unknown)
        after = np.concatenate([place[np.array(found.next, dtype=np.int64)], np.full(len(more), sink)])
        states, rows, outcomes = expanded + len(more), len(found.action), len(found.next)
        columns = found.columns()
        layout = Layout(
            states=states, stages=1, actions=len(found.actions) + 1,
            row_outcomes=np.concatenate([np.array(found.row_outcomes, dtype=np.int64), outcomes + more]),
            next=after.astype(np.int32),
            probability=np.concatenate([np.array(found.probability), np.ones(len(more))]),
            some_rows=(
                np.concatenate([np.array(found.state_rows, dtype=np.int64), rows + more]),
                np.concatenate([np.array(found.action, dtype=np.int32), np.full(len(more), len(found.actions), np.int32)]),
            ),
            extra={name: np.concatenate([column, np.full(len(more), self.lean.value(name, good))])
                   for name, column in columns.items()},
        )  # fmt: skip
        labels: dict[str, list[int]] = {name: [] for name in sorted({*found.label_names(), *self.lean.labels})}
        for number in self.order:
            for name in found.labels_at(number):
                labels[name].append(self.place[number])
        for kinds, at in unknown.items():
            for name in kinds:
                labels[name].append(expanded + at)
        for name in (self.lean.wanted if good else self.lean.unwanted) if unknown else ():
            labels[name].append(sink)
        names = names_of([found.states[number] for number in self.order])
        names += [f"unexplored {at}" for at in range(len(unknown))] + ["unexplored"] * bool(unknown)
        actions = [*map(str, found.actions), "unexplored"]
        horizon = self.terms["horizon"]
        model = model_of(layout, {}, {}, None if isinstance(horizon, Absent) else horizon, (names, actions),
                         list(labels.items()))  # fmt: skip
        start = _core.Start([self.place[number] for number in self.start[0]], self.start[1])
        terms = terms_of(_core.Terms(), model, start=start, **self.terms)
        if terms.horizon is None and terms.discount == 1:
            raise Error("neither horizon nor a discount below 1, must have one: what was not explored could earn for ever")
        draft = _core.Draft(model, terms, "reward" in columns)
        return Problem._adopt(_core.pose(draft, self.objective))

    def _through_which_the_gap_flows(self, hopeful: Problem, count: int) -> list[int]:
        """Unexpanded states by how much of the episodes of hopeful policies comes to them, the most first."""
        weight = np.zeros(len(self.found.states))
        rows = np.array(self.found.row_outcomes, dtype=np.int64)
        row_of_outcome = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
        after, probability = np.array(self.found.next, dtype=np.int64), np.array(self.found.probability)
        first_row = np.array(self.found.state_rows, dtype=np.int64)
        for price in (0.0, 1.0, 10.0) if hopeful.constraints else (0.0,):
            taken = _flow(hopeful, price, first_row, len(self.order), len(rows) - 1, self.lean.of_goals)
            weight += np.bincount(after, taken[row_of_outcome] * probability, minlength=len(weight))
        weight[self.order] = -1.0
        chosen = np.argsort(-weight, kind="stable")[:count]
        return [int(number) for number in chosen if weight[number] >= 0]


def _worst(solution: Solution) -> float:
    worst = solution.reward.worst
    return -inf if worst is None else worst


class _Lean:
    """In which direction each signal and label is good."""

    def __init__(self, objective: _core.Objective, constraints: Any, ranges: dict[str, Range]) -> None:
        self.ranges, self.up, self.wanted, self.unwanted = ranges, dict[str, bool](), set[str](), set[str]()
        self.of_goals = False
        if not objective.none:
            self.of_goals = self._use(objective.signal or "reward", not objective.minimise)
        for constraint in [] if isinstance(constraints, Absent) else constraints:
            self._use(constraint.signal, constraint.sense == "at_least")
        if both := sorted(self.wanted & self.unwanted):
            raise Error(f"label {both[0]!r} is wanted by one of the terms and unwanted by another, must be one of them")

    @property
    def labels(self) -> set[str]:
        return self.wanted | self.unwanted

    def value(self, name: str, good: bool) -> float:
        """What a step in a state that was not expanded earns at best, or at worst."""
        if name not in self.up:
            return 0.0  # nothing depends on it
        low, high = self.ranges[name]
        return float(high if self.up[name] == good else low)

    def _use(self, words: str, more: bool) -> bool:
        """True: it is a goal. `more`: the larger the better."""
        quoted = r'("(?:[^"\\]|\\.)*"|\S+)'
        if found := re.fullmatch(rf"(reach|avoid) {quoted}", words):
            (self.wanted if more == (found[1] == "reach") else self.unwanted).add(found[2].strip('"'))
            return True
        if found := re.fullmatch(rf"{quoted} until {quoted}", words):
            for label in (found[1], found[2]):
                (self.wanted if more else self.unwanted).add(label.strip('"'))
            return True
        if words.startswith(("steps to ", "total of ")):
            raise Error(f"{words!r} has no trivial bounds, must be a signal, or reach, avoid or until")
        if words not in self.ranges:
            raise Error(f"ranges has nothing for {words!r}, must say what one step earns, as in {{{words!r}: (0, 1)}}")
        if self.up.setdefault(words, more) != more:
            raise Error(f"signal {words!r} is to be large for one of the terms and small for another, must be one of them")
        return False


def _flow(
    problem: Problem, price: float, first_row: NDArray[np.int64], expanded: int, rows: int, of_goals: bool
) -> NDArray[np.float64]:
    """How much of the episodes of a policy goes through each row that was explored, weighted by what is left to gain.

    The policy is the best one for the reward with a price on the constraints, by the nominal model: states are only chosen by
    it, and nothing else depends on it.
    """
    matrix = problem.transition_matrix()
    value = _expected(problem, problem.reward, problem.outcome_reward)
    for constraint in problem.constraints:
        sign = 1.0 if constraint.sense == "at_least" else -1.0
        value = value + price * sign * _expected(
            problem, problem.signals[constraint.signal], problem.outcome_signals[constraint.signal])  # fmt: skip
    stages = problem.horizon if problem.horizon is not None else ceil(log(1e-4) / log(problem.discount))
    begin = problem.state_rows[:-1]
    nonempty = problem.state_rows[1:] > begin
    best = np.zeros((stages, problem.states), dtype=np.int64)
    to_go = np.zeros(problem.states)
    for stage in reversed(range(stages)):
        of_row = value + problem.discount * (matrix @ to_go)
        best[stage] = _first_best(of_row, problem.state_rows)
        to_go = np.where(nonempty, of_row[np.minimum(best[stage], len(of_row) - 1)], 0.0)
    state_of_row = np.repeat(np.arange(problem.states), np.diff(problem.state_rows))
    given = problem.given_state
    explored = given[state_of_row] < expanded
    target = np.minimum(first_row[np.minimum(given[state_of_row], expanded - 1)] +
                        (np.arange(len(state_of_row)) - begin[state_of_row]), rows - 1)  # fmt: skip
    taken, here = np.zeros(rows), np.asarray(problem.start, dtype=np.float64)
    for stage in range(stages):
        through = np.zeros(len(state_of_row))
        through[best[stage][nonempty]] = here[nonempty]
        left = 1.0 if of_goals else (stages - stage)
        np.add.at(taken, target[explored], left * through[explored])
        here = problem.discount * (through @ matrix)
    return taken


def _expected(problem: Problem, row: NDArray[np.float64], outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(problem.rows)
    of = np.repeat(np.arange(problem.rows), np.diff(problem.row_outcomes))
    np.add.at(sums, of, problem.probability * outcome)
    return np.asarray(row + sums)


def _first_best(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each range between offsets the place of its largest value; the first of equal ones."""
    counts = np.diff(offsets)
    most = np.full(len(counts), -inf)
    np.maximum.at(most, np.repeat(np.arange(len(counts)), counts), values)
    hits = np.flatnonzero(values == np.repeat(most, counts))
    owner = np.repeat(np.arange(len(counts)), counts)[hits]
    first = np.array(offsets[:-1])
    owners, places = np.unique(owner, return_index=True)
    first[owners] = hits[places]
    return first


def _refuse_tilt(uncertainty: Any) -> None:
    if isinstance(uncertainty, (_core.Tilt, _core.Interval, _core.Composed)):
        raise Error(f"uncertainty {uncertainty!r}, must be TV, Chi2, KL or Nominal to bound what was not explored")
    if getattr(uncertainty, "scope", "row") == "state":
        raise Error(f"uncertainty {uncertainty!r}, must be of scope row to bound what was not explored")
