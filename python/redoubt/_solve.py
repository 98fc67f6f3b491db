"""Solving: one function, one keyword for each option of a method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _core, _show
from ._core import Error
from ._options import (
    AnyPath,
    Progress,
    assign,
    execution,
    fields,
    meant,
    named_options,
    show_options,
)
from ._policy import row_weights
from ._problem import Problem, as_problem
from ._solution import Solution
from ._terms import ABSENT

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Each method is a function of the library of that name, here with the options it takes.
_METHODS: dict[str, type] = {
    "rcvi": _core.RcviOptions,
    "frontier": _core.FrontierOptions,
    "robust": _core.RobustOptions,
    "nominal": _core.RobustOptions,
    "rnpg": _core.GradientOptions,
    "crpo": _core.GradientOptions,
    "epirc": _core.GradientOptions,
    "rppg": _core.GradientOptions,
    "primal-dual": _core.GradientOptions,
    "rrpo": _core.GradientOptions,
}
_COMMON = ("method", "threads", "time_limit", "checkpoint", "checkpoint_interval", "progress")  # of every method


def methods() -> dict[str, tuple[str, ...]]:
    """The methods of `solve`, each with the options it takes beside those of carrying it out.

    >>> rd.methods()["frontier"]
    ('tolerance', 'least_gap', 'most_directions', 'memory_limit', 'whole_curve')
    """
    return {name: fields(options) for name, options in _METHODS.items()}


# What each method takes, for editors and type checkers. tests/python/test_signatures.py compares names, types and
# defaults with the option structs of the library, which alone decide: `solve` passes on what is given, and only that.
@overload
def solve(
    problem: Problem, method: Literal["rcvi"], *, slack: float = 0.0,
    fallback: Literal["reward", "utility"] = "reward", budget_step: float = 0.0, budget_cells: int = 200,
    rounding: Literal["up", "mixed"] = "up", tolerance: float = 1e-6, memory_limit: float = 0.0, threads: int = 1,
    time_limit: float = inf, checkpoint: AnyPath | None = None, checkpoint_interval: float | None = None,
    progress: Progress = False,
) -> Solution: ...  # fmt: skip
@overload
def solve(
    problem: Problem, method: Literal["frontier"] = "frontier", *, tolerance: float = 1e-3, least_gap: float = 0.0,
    most_directions: int = 0, memory_limit: float = 0.0, whole_curve: bool = False, threads: int = 1,
    time_limit: float = inf, checkpoint: AnyPath | None = None, checkpoint_interval: float | None = None,
    progress: Progress = False,
) -> Solution: ...  # fmt: skip
@overload
def solve(
    problem: Problem, method: Literal["robust", "nominal"], *, tolerance: float = 1e-8, threads: int = 1,
    time_limit: float = inf, checkpoint: AnyPath | None = None, checkpoint_interval: float | None = None,
    progress: Progress = False,
) -> Solution: ...  # fmt: skip
@overload
def solve(
    problem: Problem, method: Literal["rnpg", "crpo", "epirc", "rppg", "primal-dual", "rrpo"], *, step: float = 0.1,
    iterations: int = 1000, first_policy: Literal["uniform", "random"] = "uniform", seed: int = 0,
    start_weights: ArrayLike | None = None, tolerance: float = 1e-10, slack: float = 0.0,
    rule: Literal["neg", "repo"] = "neg", weight: float = 50.0, inner: int = 100, dual_step: float = 0.0,
    threads: int = 1, time_limit: float = inf, checkpoint: AnyPath | None = None,
    checkpoint_interval: float | None = None, progress: Progress = False,
) -> Solution: ...  # fmt: skip
@overload
def solve(
    problem: Problem, method: str, *, threads: int = 1, time_limit: float = inf, checkpoint: AnyPath | None = None,
    checkpoint_interval: float | None = None, progress: Progress = False,
) -> Solution: ...  # fmt: skip
def solve(
    problem: Problem, method: str = "frontier", *, threads: int = 1, time_limit: float = inf,
    checkpoint: AnyPath | None = None, checkpoint_interval: float | None = None, progress: Progress = False,
    **options: Any,
) -> Solution:  # fmt: skip
    """Solves a problem and returns what the method found.

    Ctrl-C stops the solve within a second and a sweep. The solution then is `unfinished` and holds the best policy
    that was evaluated: "feasible", or "certified", if it keeps the constraints, "stopped" if none is known that does.

    Args:
        problem: what to solve.
        method: one of `methods()`.
        threads: how many to work on; the answer is the same for any number.
        time_limit: seconds, after which the best so far is returned.
        checkpoint: a file in which the state of the work is kept now and then, and from which it goes on when it is
            there; removed once there is an answer.
        checkpoint_interval: seconds from one state to the next; None: 5.
        progress: True for a tqdm bar, or a function that is called now and then with the share done, in [0, 1].
        tolerance: frontier and, on an infinite horizon, robust and nominal: the gap between the answer and its bound,
            relative to the larger of the two, that ends the search. Others: an infinite horizon is cut, or evaluated, to this share of the largest total.
        least_gap: frontier: a gap that ends the search whatever the size of the answer, in the unit of the reward.
        most_directions: frontier: of one stage, and eight times as many where one stage serves an infinite horizon; a finer answer is not
            attempted beyond this. 0: 400, and with one constraint as many more as a tolerance below 1e-3 and more than 20 stages
            ask for: ten times as many at 1e-5, twice as many over 80 stages.
        whole_curve: frontier: look along the whole trade-off, also where the answer does not need it.
        slack: rcvi: how far a decision may fall short of its budget, for each stage to come. crpo, rrpo: a constraint
            missed by no more than this is met.
        fallback: rcvi: where no action meets the budget, earn "reward", or come as close as possible to
            the budget ("utility").
        budget_step: rcvi: width of a budget cell in the unit of the signal. 0: the exact lattice of the signal's values
            where it is small enough, otherwise `budget_cells` cells over the widest stage.
        budget_cells: see `budget_step`.
        rounding: rcvi: of a budget between two cells, "up" or "mixed".
        memory_limit: rcvi, frontier: bytes that the process may hold; 0: three quarters of the machine's RAM. Work
            that is known to need more is refused; a search that would need more ends with what it has, and a note.
        step: gradient methods: length of a step; iteration counts scale as one over it.
        iterations: gradient methods: updates of the policy.
        first_policy: gradient methods: where to begin; "random" is by `seed`.
        seed: see `first_policy`.
        start_weights: gradient methods: begin with these action weights instead, as `Policy.markov` takes them.
        rule: rnpg, rppg: when to follow the reward; docs/gradient.md.
        weight: rnpg, rppg: of the constraints against the reward.
        inner: epirc: updates for each guess of the optimum.
        dual_step: primal-dual: step of the multipliers; 0: as `step`.

    >>> problem = rd.make("river_swim(horizon=10,start=3)")
    >>> solution = rd.solve(problem, "frontier", tolerance=1e-2)
    >>> solution.status, solution.constraints[0].satisfied
    ('certified', True)
    """
    run_on = execution(threads, time_limit, checkpoint, checkpoint_interval)
    name, chosen = _chosen(as_problem(problem), method, options)
    with reporter(progress, method) as report:
        solution = Solution(getattr(_core, name)(problem, chosen, run_on, report), problem)
        if report and not solution.unfinished:
            report(1.0)
    if run_on.checkpoint and not solution.unfinished:
        run_on.checkpoint.remove()
    return solution


@named_options
def compare(
    problem: Problem, contestants: Mapping[str, Mapping[str, Any]] | Sequence[str], *, threads: int = 1,
    time_limit: float = inf, checkpoint: AnyPath | None = None, checkpoint_interval: float | None = None,
    progress: Progress = False,
) -> Comparison:  # fmt: skip
    """Solves a problem with several methods, each on one thread, as many at a time as `threads` says.

    Args:
        problem: what to solve.
        contestants: names of methods; or a dict from the name that shall stand in the table to a dict of options,
            with the method under "method".
        threads: methods at a time.
        time_limit: as for `solve`, for all of them together.
        checkpoint: as for `solve`.
        checkpoint_interval: as for `solve`.
        progress: as for `solve`.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> comparison = rd.compare(problem, {"paper": {"method": "rcvi"}, "exact": {"method": "frontier"}})
    >>> comparison.solutions["exact"].status
    'certified'
    """
    run_on = execution(threads, time_limit, checkpoint, checkpoint_interval)
    as_problem(problem)
    if isinstance(contestants, str):
        raise Error(f"contestants = {contestants!r}, must be a list of methods, or a dict of options by name")
    if not isinstance(contestants, Mapping):
        contestants = {name: {"method": name} for name in contestants}
    made = []
    for label, given in contestants.items():
        made.append(contestant(label, {"method": label, **given}, problem))
    with reporter(progress, "compare") as report:
        found = Comparison(_core.compare(problem, made, run_on, report), problem)
    if run_on.checkpoint and not any(solution.unfinished for solution in found.solutions.values()):
        run_on.checkpoint.remove()
    return found


class Comparison:
    """Several methods on one problem; made by `compare`.

    Attributes:
        bound: no policy that meets the constraints can guarantee more.
        lines: for each contestant its `name`, `first_feasible` iteration, `last_reward`, `last_constraints`,
            `best_reward` of its feasible policies, and the `gap` between the bound and that.
        solutions: by name.

    >>> comparison = rd.compare(rd.make("river_swim(horizon=10,start=3)"), ["frontier", "robust"])
    >>> [line.name for line in comparison.lines]
    ['frontier', 'robust']
    >>> comparison.solutions["robust"].status
    'violated'
    """

    def __init__(self, comparison: _core.Comparison, problem: Problem) -> None:
        self._comparison = comparison
        self._problem = problem
        self.bound: float = comparison.bound
        self.lines: list[_core.ComparisonLine] = comparison.lines
        self.solutions: dict[str, Solution] = {line.name: Solution(line.solution, problem) for line in comparison.lines}

    def __repr__(self) -> str:
        return _show.comparison_text(self)

    def _repr_html_(self) -> str:
        return _show.comparison_html(self)

    def report(self, path: AnyPath, *, time_limit: float = 5.0, progress: Progress = False) -> None:
        """The report (see `Solution.report`) of the best contestant, with a table of all of them.

        >>> comparison = rd.compare(rd.make("river_swim(horizon=5,start=3)"), ["frontier", "robust"])
        >>> comparison.report(folder / "compared.html", time_limit=1)
        """
        kept = [one for one in self.solutions.values() if one.status in ("certified", "feasible")]
        found = [one for one in kept or self.solutions.values() if one.policy is not None]
        if not found:
            raise Error("a comparison without a policy, must have one to be reported")
        best = max(found, key=lambda one: one.reward.worst if one.reward.worst is not None else -inf)
        best.report(path, time_limit=time_limit, progress=progress, comparison=self)

    def trace_csv(self) -> str:
        """All traces as one table."""
        return _core.trace_csv(self._problem, self._comparison)


@named_options
def certify(
    solution: Solution,
    *,
    tolerance: float = 1e-3,
    least_gap: float = 0.0,
    most_directions: int = 0,
    memory_limit: float = 0.0,
    whole_curve: bool = False,
    threads: int = 1,
) -> Solution:
    """The same answer with the bound that no policy can beat, proved by the frontier method, and so with its gap.

    Args:
        solution: of any method.
        tolerance: as for method "frontier": a feasible answer with a smaller gap becomes certified.
        least_gap: as for method "frontier".
        most_directions: as for method "frontier".
        memory_limit: as for method "frontier".
        whole_curve: as for method "frontier".
        threads: as for `solve`.

    >>> answer = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "rcvi")
    >>> answer.gap is None, rd.certify(answer).gap >= 0
    (True, True)
    """
    own = _frontier_options(tolerance, least_gap, most_directions, memory_limit, whole_curve)
    problem = solution.problem
    return Solution(_core.certify(problem, solution._solution, own, execution(threads)), problem)


@named_options
def achievable_range(
    problem: Problem, constraint: int = 0, *, together: bool = False, threads: int = 1
) -> _core.AchievableRange:
    """The best and the worst total that policies reach on a constraint: where a bound makes sense.

    Args:
        problem: whose constraints are meant.
        constraint: which of them, counted from 0.
        together: the best that policies guarantee while they keep all other constraints, too; an Error when none keeps
            them. The worst is that of all policies.
        threads: how many to work on.

    >>> span = rd.achievable_range(rd.make("river_swim(horizon=5,start=3)"))
    >>> span.best < span.worst  # a cost
    True
    """
    alone = _core.achievable_range(as_problem(problem), constraint, execution(threads))
    others = [other for i, other in enumerate(problem.constraints) if i != constraint]
    if not together or not others:
        return alone
    asked = problem.constraints[constraint]
    if asked.probability is not None:
        raise Error(f"constraint {constraint} is a chance constraint, must be one on an expectation for together=True")
    cost = asked.sense == "at_most"
    given = Problem._adopt(_core.Problem(problem)).replace(
        constraints=others, reward=ABSENT if cost else asked.signal, minimise=asked.signal if cost else None
    )
    solution = solve(given, threads=threads)
    if solution.status not in ("certified", "feasible"):
        raise Error(f"constraint {constraint} together with the others: no policy keeps those ({solution.status})")
    worst = solution.reward.worst or 0.0
    return _core.AchievableRange(-worst if cost else worst, alone.worst)


@named_options
def plan_rcvi(
    problem: Problem, *, slack: float = 0.0, fallback: Literal["reward", "utility"] = "reward",
    budget_step: float = 0.0, budget_cells: int = 200, rounding: Literal["up", "mixed"] = "up",
    tolerance: float = 1e-6, memory_limit: float = 0.0,
) -> _core.RcviPlan:  # fmt: skip
    """Memory and work of `solve(problem, method="rcvi", ...)` with the same options, known before it starts.

    >>> plan = rd.plan_rcvi(rd.make("river_swim(horizon=5,start=3)"), budget_step=0.5)
    >>> plan.stages, plan.bytes > 0
    (5, True)
    """
    own = _core.RcviOptions()
    given = {"slack": slack, "fallback": fallback, "budget_step": budget_step, "budget_cells": budget_cells,
             "rounding": rounding, "tolerance": tolerance, "memory_limit": memory_limit}  # fmt: skip
    assign(own, given, "plan_rcvi")
    return _core.plan_rcvi(as_problem(problem), own)


def plan_robust(problem: Problem) -> _core.MemoryPlan:
    """Memory of `solve(problem, method="robust")` and of method "nominal", known before they start.

    >>> rd.plan_robust(rd.make("river_swim(horizon=5,start=3)")).bytes > 0
    True
    """
    return _core.plan_robust(as_problem(problem))


@named_options
def plan_frontier(
    problem: Problem, *, tolerance: float = 1e-3, least_gap: float = 0.0, most_directions: int = 0,
    memory_limit: float = 0.0, whole_curve: bool = False,
) -> _core.MemoryPlan:  # fmt: skip
    """Memory of the first pass of `solve(problem, method="frontier", ...)` with the same options.

    `growth` is what later passes add at most.

    >>> plan = rd.plan_frontier(rd.make("river_swim(horizon=5,start=3)"))
    >>> 0 < plan.bytes < plan.bytes + plan.growth
    True
    """
    own = _frontier_options(tolerance, least_gap, most_directions, memory_limit, whole_curve)
    return _core.plan_frontier(as_problem(problem), own)


def _frontier_options(
    tolerance: float, least_gap: float, most_directions: int, memory_limit: float, whole_curve: bool
) -> _core.FrontierOptions:
    own = _core.FrontierOptions()
    given = {"tolerance": tolerance, "least_gap": least_gap, "most_directions": most_directions,
             "memory_limit": memory_limit, "whole_curve": whole_curve}  # fmt: skip
    assign(own, given, "method 'frontier'")
    return own


def contestant(label: str, given: dict[str, Any], problem: Problem | None = None) -> _core.Contestant:
    """A method with its options; the problem is needed for weights of its rows."""
    options = dict(given)
    name, chosen = _chosen(problem, options.pop("method", None), options)
    made: _core.Contestant = getattr(_core, f"{name}_contestant")(label, chosen)
    return made


def _chosen(problem: Problem | None, method: Any, options: dict[str, Any]) -> tuple[str, Any]:
    """The library's function for a method, and its options, if it has any."""
    if not isinstance(method, str):
        raise Error(f"method = {method!r}, must be one of {', '.join(_METHODS)}")
    method = method.replace("_", "-")  # primal-dual, as the program spells it
    if method not in _METHODS:
        raise Error(f"method = {method!r}{meant(method, _METHODS)}, must be one of {', '.join(_METHODS)}")
    name, kind = method.replace("-", "_"), _METHODS[method]
    chosen = kind()
    if "start_weights" in fields(kind):
        weights = options.pop("start_weights", None)
        options |= {} if weights is None else {"start_weights": row_weights(as_problem(problem), weights)}
    assign(chosen, options, f"method {method!r}", also=_COMMON)
    return name, chosen


@contextmanager
def reporter(progress: Progress, label: str) -> Iterator[Callable[[float], object] | None]:
    if progress is not True:
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, desc=label, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
        yield lambda done: bar.update(done - bar.n)


show_options(solve, *_METHODS.values())
