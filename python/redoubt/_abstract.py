"""Continuous systems as problems with groups: x' = f(x, u) + noise on a grid, with answers from below and from above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _show
from ._bracket import Bracket, solve_both
from ._build import Interval, Uncertainty
from ._core import Error
from ._grid_problem import OneCell, problem_of
from ._grids import Box, corners_of, grid_of, images, states_of_cells, values_of
from ._noise_samples import SampledRows, SampledNoise
from ._options import named_options
from ._problem import Problem
from ._products import ProductSolution, is_product, solve_products
from ._refine_grid import refined
from ._solution import Solution
from ._steer import ContinuousController, Episodes, run_episodes
from ._systems import Gaussian, System, Uniform
from ._terms import ABSENT, objective_of
from ._tools import worst_kernel

Noise = Gaussian | Uniform | SampledNoise


@dataclass(frozen=True)
class Question:
    """A continuous system and what is asked of it, on whatever grid."""

    dynamics: System
    noise: Noise
    actions: Sequence[Any]
    start: Sequence[float]
    goal: Sequence[Box]
    hazards: Sequence[Box]
    objective: _core.Objective
    functions: Mapping[str, Any]  # the reward, where it is one, and signals
    small: set[str]  # those of which less is better: in the answer from below the upper ends of their ranges count
    terms: Mapping[str, Any]  # of the problem
    least_piece: float
    parts: int
    checks: int


class Abstraction:
    """A continuous system on a grid; made by `abstract`.

    `problem` answers from below: where in its cell a state is, nature picks. `optimistic` answers from above: there the
    policy picks. States are the open cells, then "goal", "hazard" and "outside", which end an episode. Their rows are
    written out when they are first asked for.

    >>> system = rd.abstract(lambda x, u: [0.9 * x[0] + u], noise=rd.Gaussian([0.1]), domain=[(-2, 2)], cells=[20],
    ...                      actions=[-0.2, 0.0, 0.2], goal=[[(-0.4, 0.4)]], start=[1.5], horizon=8)
    >>> answer = system.solve()
    >>> 0.9 < answer.lower <= answer.upper <= 1
    True
    """

    def __init__(
        self, question: Question, grid: _core.Grid, state_of_cell: NDArray[np.int32], open_cells: NDArray[np.int64],
        images: tuple[NDArray[np.float64], NDArray[np.float64]], values: Mapping[str, NDArray[np.float64]],
    ) -> None:  # fmt: skip
        self.question, self.grid = question, grid
        self.dynamics, self.noise, self.actions = question.dynamics, question.noise, list(question.actions)
        self.state_of_cell, self.open_cells = state_of_cell, open_cells
        self.start, self.functions = list(question.start), dict(question.functions)
        self._images, self.ranges = images, values  # of the dynamics; of the reward and signals
        self.products = _core.ProductRows(self._input(question.parts, *images)) if is_product(question) else None

    def __repr__(self) -> str:
        return f"<redoubt.Abstraction: {self.cells:,} cells, {len(self.actions)} actions>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    @property
    def cells(self) -> int:
        """How many cells have rows."""
        return len(self.open_cells)

    @cached_property
    def rows(self) -> Any:
        """The rows of the problems, with their groups."""
        return self._written_out(self._images[0].min(axis=2), self._images[1].max(axis=2))

    def rows_taking(self, actions: NDArray[np.int64]) -> Any:
        """The same of one action in each cell."""
        low, high = (ends[np.arange(self.cells), actions][:, np.newaxis] for ends in self._images)
        return self._written_out(low.min(axis=2), high.max(axis=2))

    def _written_out(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Any:
        if isinstance(self.noise, SampledNoise):
            return SampledRows(self.grid, self.noise, self.state_of_cell, self.cells, low, high)
        return _core.Rows(self._input(1, low, high))

    @cached_property
    def problem(self) -> Problem:
        """The problem that answers from below."""
        return problem_of(self.question, self.rows, self.cells, self.state(self.start), self.ranges, helpful=False)

    @cached_property
    def optimistic(self) -> Problem:
        """The problem that answers from above."""
        return problem_of(self.question, self.rows, self.cells, self.state(self.start), self.ranges, helpful=True)

    def _input(self, parts: int, low: NDArray[np.float64], high: NDArray[np.float64]) -> _core.GridInput:
        noise: Any = self.noise
        scales = [float(scale) for scale in noise.scales]
        laws = [noise.law if scale > 0 else "none" for scale in scales]
        return _core.GridInput(
            self.grid, laws, scales, noise.follows.ravel().tolist(), self.cells + 3, self.state_of_cell, self.cells + 2,
            low.shape[1], self.open_cells, parts ** len(scales), low.ravel(), high.ravel(), self.question.least_piece,
        )  # fmt: skip

    def state(self, x: Any) -> int:
        """The state of the model that a point is in."""
        cell = self.grid.cell([float(value) for value in x])
        return len(self.open_cells) + 2 if cell < 0 else int(self.state_of_cell[cell])

    def boxes(self) -> NDArray[np.float64]:
        """Lower and upper corner of each open cell, (cells, 2, axes)."""
        return corners_of(self.grid, self.open_cells)

    def solve(self, method: str | None = None, **options: Any) -> AbstractSolution:
        """The answers from below and from above, by `rd.solve` with the method and its options.

        Without constraints the method is "robust", which is exact for the grid. Where nothing but a horizon is asked of noise
        that is known and independent in each coordinate, no rows are written out for it (docs/continuous.md); the only
        option is then `threads`.
        """
        if self.products is not None and method is None and set(options) <= {"threads"}:
            return AbstractSolution(self, products=solve_products(self, **options))
        return AbstractSolution(self, solve_both(self.problem, self.optimistic, method, options))

    def refine(self, tolerance: float = 0.02, most_cells: int = 20_000, **options: Any) -> AbstractSolution:
        """The answers on finer grids, until the gap is at most `tolerance` of the bound or there are `most_cells`.

        Cells are cut where that helps most: where episodes come often, and values differ from a cell to its neighbours.
        The answer is that of the last grid, which is its `system`. Options are those of `solve`.

        >>> system = rd.abstract(lambda x, u: [0.9 * x[0] + u], noise=rd.Gaussian([0.1]), domain=[(-2, 2)], cells=[10],
        ...                      actions=[-0.2, 0.0, 0.2], goal=[[(-0.4, 0.4)]], start=[1.5], horizon=8)
        >>> system.refine(tolerance=0.05).gap < system.solve().gap
        True
        """
        return refined(self, tolerance, most_cells, options)


class AbstractSolution(Bracket):
    """What a controller guarantees for a continuous system, and what none can exceed; made by `Abstraction.solve`.

    `below` and `above` are the solutions of the two problems; the controller is that of `below`. Where the answers were found
    without writing out the problems, these are written out and solved when they are asked for.

    >>> system = rd.abstract(rd.affine([[1.0]], [[1.0]]), noise=rd.Uniform([0.5]), domain=[(0, 10)], cells=40,
    ...                      actions=[[-1.0], [1.0]], start=[2.5], goal=[[(8, 10)]], horizon=12)
    >>> answer = system.solve()
    >>> answer.lower <= answer.upper, answer.controller().act([2.5])
    (True, [1.0])
    """

    def __init__(
        self, system: Abstraction, solved: Sequence[Solution] | None = None, products: ProductSolution | None = None
    ) -> None:
        self.system, self.products, self._solved = system, products, solved

    @cached_property
    def _both(self) -> Sequence[Solution]:
        return self._solved or solve_both(self.system.problem, self.system.optimistic, "robust", {})

    @property
    def below(self) -> Solution:  # type: ignore[override]
        return self._both[0]

    @property
    def above(self) -> Solution:  # type: ignore[override]
        return self._both[1]

    @property
    def lower(self) -> float:
        return super().lower if self.products is None else float(self.products.lower[self.system.state(self.system.start)])

    @property
    def upper(self) -> float:
        return super().upper if self.products is None else float(self.products.upper[self.system.state(self.system.start)])

    def controller(self, seed: int = 0) -> ContinuousController:
        """A controller that acts on real vectors: `act(x)` at every step."""
        return ContinuousController(self, seed)

    def simulate(self, episodes: int = 10_000, seed: int = 0) -> Episodes:
        """Runs the controller against the continuous system itself, with its noise as it was given."""
        return run_episodes(self, episodes, seed)

    def values(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The guarantee and the bound of each open cell at the first stage; for the method "robust"."""
        if self.products is not None:
            return self.products.lower, self.products.upper
        return self._values(self.below), self._values(self.above)

    def first_actions(self) -> NDArray[np.int64]:
        """The action that is most likely in each open cell at the first stage."""
        if self.products is not None:
            return np.asarray(self.products.table[0], dtype=np.int64)
        policy = self.below.policy
        if policy is None:
            raise Error("actions of a solution without a policy, must have one")
        return self._by_cell(lambda state: float(np.argmax(policy.action_weights(state))), self.below).astype(np.int64)

    def _by_cell(self, of: Callable[[int], float], solution: Solution) -> NDArray[np.float64]:
        """A function of the states of a solution for each open cell."""
        given = solution.problem.given_state
        state = np.zeros(given.max() + 1, dtype=np.int64)
        state[given[::-1]] = np.arange(len(given))[::-1]  # of several the first
        return np.array([of(int(s)) for s in state[: self.system.cells]], dtype=np.float64)

    def _values(self, solution: Solution) -> NDArray[np.float64]:
        policy = solution.policy
        if policy is None:
            raise Error("values of a solution without a policy, must have one")
        kernel = worst_kernel(solution.problem, policy)
        # What is avoided counts as minus one when it is come to.
        whole = float(self.system.question.objective.signal == _core.avoid("hazard"))

        def value(state: int) -> float:
            weights = policy.action_weights(state)
            return whole + float(sum(weights[a] * kernel.at(state, int(a)).value for a in np.flatnonzero(weights)))

        return self._by_cell(value, solution)

    def __repr__(self) -> str:
        return f"<redoubt.AbstractSolution: {self.lower:.6g} to {self.upper:.6g}, {self.system.cells:,} cells>"


@named_options
def abstract(
    dynamics: System,
    *,
    noise: Noise,
    domain: Sequence[tuple[float, float]],
    cells: int | Sequence[int],
    actions: Sequence[Any],
    start: Sequence[float],
    goal: Sequence[Box] = (),
    hazards: Sequence[Box] = (),
    reward: Any = ABSENT,
    minimise: str | None = None,
    signals: Mapping[str, Any] | None = None,
    constraints: Sequence[_core.Constraint] = (),
    uncertainty: Uncertainty | None = None,
    horizon: int | None = None,
    discount: float = 1.0,
    least_piece: float = 1e-5,
    parts: int = 1,
    checks: int = 1000,
) -> Abstraction:
    """A continuous system x' = f(x, u) + noise as a problem on a grid, whose answers hold for the system itself.

    For each cell and action the dynamics lead into a box. Pieces of the noise that move the box over the same cells are
    an outcome with their exact probability, and these cells its group. So a guarantee of `problem` is one for the
    system, and a bound of `optimistic` one on every controller (docs/continuous.md).

    Args:
        dynamics: f(x, u), a function of the coordinates and of an action, that returns the next coordinates; of ranges
            (`Range`) it returns ranges. `affine` makes one.
        noise: `Gaussian`, `Uniform`, or `SampledNoise` of an unknown law.
        domain: (low, high) for each of 1 to 4 coordinates. Leaving it is a hazard, and ends the episode.
        cells: how many along each coordinate. Lines are added where a box of `goal` or `hazards` begins or ends.
        actions: a list of inputs u.
        start: the point where an episode begins.
        goal: boxes that end an episode, and that `reach("goal")` speaks of. A box has (low, high) for each coordinate,
            or None for all of it.
        hazards: boxes that end an episode, and that `reach("hazard")` speaks of, together with leaving the domain.
        reward: as for `Problem`: a number or a function of (x, u), which of ranges returns ranges, or a goal. Not given:
            `reach("goal")`, or `avoid("hazard")` where there is no goal.
        minimise: in place of a reward, the name of the signal or goal that is to be minimised.
        signals: by name, numbers or functions of (x, u).
        constraints: as for `Problem`.
        uncertainty: how far the law of the noise may be off, as a set around the probabilities of its pieces; not beside
            `SampledNoise`, which have their own.
        horizon: number of decisions; None is infinite.
        discount: in (0, 1].
        least_piece: pieces at both ends of the noise are joined as long as they have less than this probability together.
        parts: along each coordinate, a cell is looked at in so many parts when it is asked where it leads: nature picks the part
            before the noise falls. That narrows the answers without more cells, where no rows are written out (`solve`).
        checks: at so many random points it is tried whether the dynamics stay within the ranges that they return.

    >>> system = rd.abstract(rd.affine([[1.0]], [[1.0]]), noise=rd.Uniform([0.5]), domain=[(0, 10)], cells=40,
    ...                      actions=[[-1.0], [1.0]], start=[2.5], goal=[[(8, 10)]], horizon=12)
    >>> system.cells, system.solve().lower > 0.99
    (32, True)
    """
    if len(actions) == 0:
        raise Error("no actions, must be at least one")
    if isinstance(noise, SampledNoise):
        if uncertainty is not None:
            raise Error(f"uncertainty {uncertainty!r} beside samples of the noise, must be one of them")
        uncertainty = Interval()
    if getattr(uncertainty, "scope", "row") == "state":
        raise Error(f"uncertainty {uncertainty!r}, must be of scope row for a continuous system")
    small = {c.signal for c in constraints if c.sense == "at_most"}
    both_ways = small & {c.signal for c in constraints if c.sense == "at_least"}
    if both_ways:
        raise Error(f"signal {both_ways.pop()!r} with bounds from both sides, must be two signals: its ranges have two ends")
    if reward is ABSENT and minimise is None:
        reward = _core.reach("goal") if len(goal) else _core.avoid("hazard")
    objective = objective_of(reward, minimise)
    given = {} if reward is ABSENT or objective.chosen else {"reward": reward}
    terms = {"constraints": constraints, "uncertainty": uncertainty, "horizon": horizon, "discount": discount}
    if parts < 1:
        raise Error(f"{parts} parts of a cell, must be at least 1")
    question = Question(dynamics, noise, actions, start, goal, hazards, objective, {**given, **(signals or {})},
                        small | ({minimise} if minimise else set()), terms, least_piece, int(parts), checks)  # fmt: skip
    return on_grid(question, grid_of(domain, cells, [*goal, *hazards]))


def on_grid(question: Question, grid: _core.Grid) -> Abstraction:
    axes, noise, start = len(grid.lines), question.noise, question.start
    scales = [float(scale) for scale in noise.scales]
    if len(scales) != axes or len(start) != axes:
        raise Error(f"noise of {len(scales)} and start of {len(start)} coordinates, must be of {axes}")
    if min(scales) < 0:
        raise Error(f"{noise}, must not be negative")
    state_of_cell, open_cells = states_of_cells(grid, question.goal, question.hazards)
    count, corners = len(open_cells), corners_of(grid, open_cells)
    cell = grid.cell([float(x) for x in start])
    if cell < 0 or state_of_cell[cell] >= count:
        raise Error(f"start {list(start)}, must be inside of the domain, and not in a goal or a hazard")
    boxes = images(question.dynamics, corners, question.actions, question.parts, question.checks)
    ranges = {name: values_of(name, of, corners, question.actions, question.checks)
              for name, of in question.functions.items()}  # fmt: skip
    system = Abstraction(question, grid, state_of_cell, open_cells, boxes, ranges)
    if system.products is None:
        _ = system.problem, system.optimistic
    else:  # whether its terms are right is asked of a problem of one cell
        problem_of(question, OneCell(len(question.actions)), 1, 0, {name: ends[:, :1] for name, ends in ranges.items()}, False)
    return system
