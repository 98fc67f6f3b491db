"""Models that are code: functions that say what follows a state, explored into a problem."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import model_of
from ._core import Error
from ._options import named_options
from ._problem import Problem
from ._program import ProgramModel
from ._terms import ABSENT, Absent, AnySet, Constraints, Discount, Horizon, objective_of, terms_of
from ._transitions import Layout


@named_options
def explore(
    model: Any = None, *, initial: Any = ABSENT, actions: Callable[[Any], Iterable[Hashable]] | None = None,
    step: Callable[[Any, Any], Iterable[Any]] | None = None, labels: Callable[[Any], Iterable[str]] | None = None,
    constraints: Constraints = ABSENT, uncertainty: AnySet = ABSENT, horizon: Horizon = ABSENT,
    discount: Discount = ABSENT, reward: str | Absent | None = ABSENT, minimise: str | None = None,
    most_states: int = 10_000_000, program: str | None = None, batch: int = 256, timeout: float = 60.0,
) -> Problem:  # fmt: skip
    """The problem of a model that is code: all states that can be reached, numbered in the order in which they are met.

    Args:
        model: an object with the functions below as methods; those that are given here come first.
        initial: the state in which episodes begin, or {state: probability}, or a function that returns one of them. States
            are any hashable values: tuples, strings, frozen dataclasses.
        actions: of a state: what can be done in it, by any names; none: the state is terminal.
        step: of a state and an action: its outcomes, each (probability, next state) or (probability, next state, values),
            where values are the reward, or a dict of the "reward" and of signals by name.
        labels: of a state: the names of the labels that it has.
        most_states: an Error when there are more.
        program: a command that answers questions about states in lines of JSON, in place of the functions
            ([docs](sampling.md)).
        batch: of a program: how many questions are on their way at a time. The model is the same for any.
        timeout: of a program: how many seconds an answer may take.

    Raises:
        Error: names the state and the action whose function raised something, or whose probabilities do not sum to one.

    >>> def step(stock, action):
    ...     for demand, p in ((0, 0.5), (1, 0.3), (2, 0.2)):
    ...         sold = min(demand, stock + action)
    ...         yield p, stock + action - sold, {"reward": 3 * sold - action, "lost": demand - sold}
    >>> problem = rd.explore(initial=2, actions=lambda stock: range(3 - stock), step=step, horizon=10,
    ...                      constraints=[rd.at_most("lost", 2)], uncertainty=rd.KL(0.05))
    >>> problem.states, problem.state_names, rd.solve(problem).status
    (3, ['2', '1', '0'], 'certified')
    """
    asked = None if program is None else ProgramModel(program, timeout)
    try:
        source = model if asked is None else asked
        found = Exploration(
            function_of(source, "actions", actions), function_of(source, "step", step),
            labels or getattr(source, "labels", None), most_states,
        )  # fmt: skip
        start = found.run(getattr(source, "initial", ABSENT) if initial is ABSENT else initial, asked, batch)
    finally:
        if asked is not None:
            asked.close()
    layout = found.layout()
    names = (names_of(found.states), [str(action) for action in found.actions])
    given_horizon = None if isinstance(horizon, Absent) else horizon
    built = model_of(layout, {}, {}, given_horizon, names, sorted(found.labelled.items()))
    terms = terms_of(_core.Terms(), built, start=start, constraints=constraints, uncertainty=uncertainty,
                     horizon=horizon, discount=discount)  # fmt: skip
    draft = _core.Draft(built, terms, "reward" in layout.extra)
    return Problem._adopt(_core.pose(draft, objective_of(reward, minimise)))


def function_of(model: Any, name: str, given: Callable[..., Any] | None) -> Callable[..., Any]:
    chosen = given if given is not None else getattr(model, name, None)
    if not callable(chosen):
        raise Error(f"{name} = {chosen!r}, must be a function, or a method of the model")
    return chosen


def names_of(things: Sequence[Any]) -> list[str]:
    names = [str(thing) for thing in things]
    return names if len(set(names)) == len(names) else [repr(thing) for thing in things]


class Exploration:
    """Goes through the states in the order of their numbers, so that rows and outcomes are in order as they come."""

    def __init__(
        self, actions: Callable[..., Any], step: Callable[..., Any], labels: Callable[..., Any] | None,
        most_states: int | None,
    ) -> None:  # fmt: skip
        self.actions_of, self.step, self.labels_of, self.most_states = actions, step, labels, most_states
        self.ranges: dict[str, tuple[float, float]] = {}  # what one step may earn, where that is known
        self.states: list[Any] = []
        self.number: dict[Any, int] = {}
        self.actions: dict[Any, int] = {}
        self.labelled: dict[str, list[int]] = {}
        self.state_rows, self.row_outcomes = array("q", [0]), array("q", [0])
        self.action, self.next, self.probability = array("i"), array("i"), array("d")
        self.values: dict[str, array[float]] = {}
        self._labels: dict[int, frozenset[str]] = {}

    def run(self, initial: Any, program: ProgramModel | None = None, batch: int = 1) -> _core.Start:
        """Expands everything that can be reached."""
        start = self.begin(initial)
        place = 0
        while place < len(self.states):
            if program is not None and place % batch == 0:
                program.prefetch(self.states[place : place + batch])
            self.expand(place)
            if program is not None:
                program.forget(self.states[place])
            place += 1
        return _core.Start(*start)

    def begin(self, initial: Any) -> tuple[list[int], list[float]]:
        """The states in which episodes begin, and their probabilities."""
        begin = initial() if callable(initial) else initial
        if begin is ABSENT:
            raise Error("initial is missing, must be a state, {state: probability}, or a function that returns one")
        chances = begin if isinstance(begin, Mapping) else {begin: 1.0}
        return [self._meet(state) for state in chances], [float(p) for p in chances.values()]

    def labels_at(self, number: int) -> frozenset[str]:
        """Of a state that was met, whether it was expanded or not."""
        if self.labels_of is None:
            return frozenset()
        if (known := self._labels.get(number)) is None:
            known = self._labels[number] = frozenset(str(label) for label in self._call(self.labels_of, self.states[number]))
        return known

    def label_names(self) -> set[str]:
        return {name for names in self._labels.values() for name in names}

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The values of each outcome, by name."""
        outcomes = len(self.next)
        for column in self.values.values():
            column.extend([0.0] * (outcomes - len(column)))
        return {name: np.array(column) for name, column in self.values.items()}

    def layout(self) -> Layout:
        return Layout(
            states=len(self.states), stages=1, actions=len(self.actions),
            row_outcomes=np.array(self.row_outcomes, dtype=np.int64), next=np.array(self.next, dtype=np.int32),
            probability=np.array(self.probability),
            some_rows=(np.array(self.state_rows, dtype=np.int64), np.array(self.action, dtype=np.int32)),
            extra=self.columns(),
        )  # fmt: skip

    def _meet(self, state: Any) -> int:
        try:
            known = self.number.get(state)
        except TypeError:
            raise Error(f"state {state!r} of type {type(state).__name__}, must be hashable, such as a tuple") from None
        if known is not None:
            return known
        if self.most_states is not None and len(self.states) >= self.most_states:
            raise Error(f"more than {self.most_states:,} states can be reached, most_states must be larger")
        self.number[state] = place = len(self.states)
        self.states.append(state)
        return place

    def expand(self, place: int) -> None:
        """Adds the rows of a state after those of all that were expanded before."""
        state = self.states[place]
        for label in sorted(self.labels_at(place)):
            self.labelled.setdefault(label, []).append(place)
        chosen = {action: self.actions.setdefault(action, len(self.actions)) for action in self._call(self.actions_of, state)}
        for action, number in sorted(chosen.items(), key=lambda pair: pair[1]):
            self.action.append(number)
            self._add_outcomes(state, action)
            self.row_outcomes.append(len(self.next))
        self.state_rows.append(len(self.action))

    def _add_outcomes(self, state: Any, action: Any) -> None:
        first, total = len(self.next), 0.0
        for outcome in self._call(self.step, state, action):
            try:
                probability, after, *rest = outcome
                total += probability
                self.probability.append(probability)
            except (TypeError, ValueError):
                raise Error(f"{where(state, action)} gave {outcome!r}, must be (probability, next state) or with values") from None
            if rest:
                self._add_values(state, action, rest[0])
            self.next.append(self._meet(after))
        count = len(self.next) - first
        if not abs(total - 1) <= 1e-9 * max(count, 1):
            raise Error(f"probabilities of {where(state, action)} sum to {total}, must sum to 1")

    def _add_values(self, state: Any, action: Any, values: Any) -> None:
        place = len(self.next)
        for name, value in (values if isinstance(values, Mapping) else {"reward": values}).items():
            column = self.values.get(name)
            if column is None:
                column = self.values[str(name)] = array("d", bytes(8 * place))
            elif len(column) < place:
                column.extend([0.0] * (place - len(column)))
            try:
                column.append(value)
            except TypeError:
                raise Error(f"{name} = {value!r} of {where(state, action)}, must be a number") from None
            if name in self.ranges and not self.ranges[name][0] <= value <= self.ranges[name][1]:
                raise Error(f"{name} = {value!r} of {where(state, action)}, must be in {self.ranges[name]}, as ranges says")

    @staticmethod
    def _call(function: Callable[..., Any], *arguments: Any) -> list[Any]:
        try:
            return list(function(*arguments))
        except Exception as error:
            raise Error(f"{where(*arguments)} raised {type(error).__name__}: {error}") from error


def where(state: Any, action: Any = ABSENT) -> str:
    return f"state {state!r}" if action is ABSENT else f"(state {state!r}, action {action!r})"
