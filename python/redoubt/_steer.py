"""Controllers that act on real vectors, and episodes of continuous systems under them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _show
from ._core import Error

if TYPE_CHECKING:
    from ._abstract import AbstractSolution

_MOST_STEPS = 10_000  # of an episode without a horizon
_KEPT_PATHS = 100


class ContinuousController:
    """Acts on real vectors: `act(x)` at every step, and `start()` for another episode.

    The noise of a step is the difference between where the system is and where its dynamics lead: it says which outcome
    of the model has happened, and so what the policy remembers.

    >>> system = rd.abstract(rd.affine([[1.0]], [[1.0]]), noise=rd.Uniform([0.5]), domain=[(0, 10)], cells=10,
    ...                      actions=[[-1.0], [1.0]], start=[2.5], goal=[[(8, 10)]], horizon=12)
    >>> controller = system.solve().controller()
    >>> controller.act([2.5]), controller.act([3.6])
    ([1.0], [1.0])
    """

    def __init__(self, solution: AbstractSolution, seed: int = 0) -> None:
        self.system = solution.system
        self._table = None if solution.products is None else solution.products.table
        if self._table is not None:
            return self.start()
        if solution.below.policy is None:
            raise Error("a controller of a solution without a policy, must have one")
        self._problem = solution.below.policy.problem
        self._given = self._problem.given_state
        self._inner = solution.below.policy.start(seed)
        self.start()

    def __repr__(self) -> str:
        return f"<redoubt.ContinuousController at stage {self.stage}>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    def start(self) -> None:
        """Another episode."""
        self._stage = 0  # by the table
        if self._table is None:
            self._inner.start()
        self._last: tuple[int, int, NDArray[np.float64]] | None = None  # state, action, where the dynamics lead

    @property
    def stage(self) -> int:
        """How many decisions there were; with groups, two stages for each."""
        return self._inner.stage if self._table is None else self._stage

    @property
    def ended(self) -> bool:
        """Whether the horizon is over."""
        return self._inner.ended if self._table is None else self._stage >= len(self._table)

    def act(self, x: Any) -> Any:
        """The action at this point; None where the episode is over: in a goal or a hazard, or at the horizon."""
        point = np.asarray(x, dtype=np.float64)
        here = self.system.state(point)
        if self._table is not None:
            return self._look_up(here)
        state = self._first(here) if self._last is None else self._arrive(point, here)
        if self.ended or here >= self.system.cells:
            return None
        number = self._inner.act(state)
        action = self.system.actions[number]
        self._last = state, number, np.array(self.system.dynamics(list(point), action), dtype=np.float64)
        return action

    def _look_up(self, here: int) -> Any:
        if self.ended or here >= self.system.cells:
            return None
        assert self._table is not None
        number = int(self._table[self._stage, here])
        self._stage += 1
        return self.system.actions[number]

    def _first(self, here: int) -> int:
        for state in self._problem.terms.start.states:
            if self._given[state] == here:
                return state
        raise Error(f"an episode begins in cell {here}, must begin in the cell of the start")

    def _arrive(self, point: NDArray[np.float64], here: int) -> int:
        """Two stages: to the group that the noise belongs to, and to the cell in it."""
        assert self._last is not None
        state, action, led = self._last
        group = self.system.rows.follow(int(self._given[state]), action, (point - led).tolist())
        between = self._next(state, action, group)
        self._inner.observe(between)
        self._inner.act(between)
        arrived = self._next(between, 0, here)
        self._inner.observe(arrived)
        return arrived

    def _next(self, state: int, action: int, given: int) -> int:
        """The outcome of a row that stands for a state of the model as it was given."""
        problem = self._problem
        row = problem.row_of(state, action)
        for following in problem.next[problem.row_outcomes[row] : problem.row_outcomes[row + 1]]:
            if self._given[following] == given:
                return int(following)
        raise Error(f"state {given} follows action {action} in state {state}, which the model excludes: another system?")


@dataclass(frozen=True)
class Episodes:
    """What happened in episodes of a continuous system under a controller; made by `AbstractSolution.simulate`.

    `reached` and `hit` say of each episode whether it came to a goal, and to a hazard or out of the domain; `totals` has
    those of the reward and the signals by name, where they are functions; `paths` the points of the first hundred.

    >>> system = rd.abstract(rd.affine([[1.0]], [[1.0]]), noise=rd.Uniform([0.5]), domain=[(0, 10)], cells=10,
    ...                      actions=[[-1.0], [1.0]], start=[2.5], goal=[[(8, 10)]], horizon=12)
    >>> answer = system.solve()
    >>> mean, error = answer.simulate(episodes=200).mean("reached")
    >>> mean >= answer.lower - 4 * error
    True
    """

    reached: NDArray[np.bool_]
    hit: NDArray[np.bool_]
    totals: dict[str, NDArray[np.float64]]
    paths: list[NDArray[np.float64]]

    def __repr__(self) -> str:
        return f"<redoubt.Episodes: {len(self.hit):,}, {self.reached.mean():.2%} reached a goal, {self.hit.mean():.2%} hit a hazard>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    def mean(self, name: str) -> tuple[float, float]:
        """The mean of "reached", "hit", or of the total of the reward or a signal, and its standard error."""
        every: dict[str, NDArray[Any]] = {"reached": self.reached, "hit": self.hit, **self.totals}
        if name not in every:
            raise Error(f"{name!r}, must be one of {', '.join(every)}")
        values = every[name].astype(np.float64)
        return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def run_episodes(solution: AbstractSolution, episodes: int, seed: int) -> Episodes:
    system, rng = solution.system, np.random.default_rng(seed)
    if episodes < 1:
        raise Error(f"{episodes} episodes, must be at least 1")
    controller = solution.controller(seed)
    terms = system.question.terms
    steps = _MOST_STEPS if terms["horizon"] is None else int(terms["horizon"])
    ends = np.zeros(episodes, dtype=np.int64)
    totals = {name: np.zeros(episodes) for name in system.functions}
    paths = []
    for episode in range(episodes):
        controller.start()
        x, path, weight = np.asarray(system.start, dtype=np.float64), [], 1.0
        for noise in system.noise.draw(rng, steps):
            path.append(x)
            action = controller.act(x)
            if action is None:
                break
            for name, of in system.functions.items():
                totals[name][episode] += weight * float(of(list(x), action) if callable(of) else of)
            weight *= terms["discount"]
            x = np.array(system.dynamics(list(x), action), dtype=np.float64) + noise
        else:
            path.append(x)
        ends[episode] = system.state(x) - system.cells
        if episode < _KEPT_PATHS:
            paths.append(np.array(path))
    return Episodes(ends == 0, ends > 0, totals, paths)
