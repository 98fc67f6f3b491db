"""Solving: one function, one keyword for each option of a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from . import _core, _show
from ._core import Error
from ._options import EXECUTION, assign, execution, fields, meant, take_execution, unknown
from ._policy import row_weights
from ._problem import Problem
from ._solution import Solution

# Each method is a function of the library of that name, here with the options it takes.
_METHODS: dict[str, type | None] = {
    "rcvi": _core.RcviOptions,
    "frontier": _core.FrontierOptions,
    "robust": None,
    "nominal": None,
    "rnpg": _core.GradientOptions,
    "crpo": _core.GradientOptions,
    "epirc": _core.GradientOptions,
    "rppg": _core.GradientOptions,
    "primal-dual": _core.GradientOptions,
    "rrpo": _core.GradientOptions,
}
_COMMON = (*EXECUTION, "progress")


def methods() -> dict[str, tuple[str, ...]]:
    """The methods of `solve`, each with the options it takes beside those of carrying it out."""
    return {name: fields(options) for name, options in _METHODS.items()}


def solve(problem: Problem, method: str = "frontier", *, progress: bool | Callable[[float], object] = False,
          **options) -> Solution:  # fmt: skip
    """Solves a problem and returns what the method found.

    Ctrl-C stops the solve within a second; the solution then has the status "stopped" and holds the best so far.

    Args:
        problem: what to solve.
        method: one of `methods()`.
        progress: True for a tqdm bar, or a function that is called now and then with the share done, in [0, 1].
        **options: `threads`, `time_limit` in seconds, and the options of the method. `checkpoint`, a file: keep the
            state there every `checkpoint_interval` seconds (5), and go on from it when it is there; it is removed
            once there is an answer.
    """
    run_on = take_execution(options, "solve")
    name, chosen = _chosen(problem, method, options)
    with reporter(progress, method) as report:
        solution = Solution(getattr(_core, name)(problem, *chosen, run_on, report), problem)
        if report and solution.status != "stopped":
            report(1.0)
    if run_on.checkpoint and not solution.unfinished:
        run_on.checkpoint.remove()
    return solution


def compare(problem: Problem, contestants: Mapping[str, Any] | Sequence[str], *, progress: bool | Callable = False,
            **options) -> Comparison:  # fmt: skip
    """Solves a problem with several methods, each on one thread, as many at a time as `threads` says.

    Args:
        problem: what to solve.
        contestants: names of methods; or a dict from the name that shall stand in the table to a dict of options,
            with the method under "method".
        progress: as for `solve`.
        **options: `threads`, `time_limit`, `checkpoint` and `checkpoint_interval`, as for `solve`.
    """
    run_on = take_execution(options, "compare")
    if options:
        raise unknown(next(iter(options)), "compare", _COMMON)
    if not isinstance(contestants, Mapping):
        contestants = {name: {"method": name} for name in contestants}
    made = []
    for label, given in contestants.items():
        own = dict(given)
        name, chosen = _chosen(problem, own.pop("method", label), own)
        made.append(getattr(_core, f"{name}_contestant")(label, *chosen))
    with reporter(progress, "compare") as report:
        found = Comparison(_core.compare(problem, made, run_on, report), problem)
    if run_on.checkpoint and not any(solution.unfinished for solution in found.solutions.values()):
        run_on.checkpoint.remove()
    return found


class Comparison:
    """Several methods on one problem.

    Attributes:
        bound: no policy that meets the constraints can guarantee more.
        lines: for each contestant its `name`, `first_feasible` iteration, `last_reward`, `last_constraints`,
            `best_reward` of its feasible policies, and the `gap` between the bound and that.
        solutions: by name.
    """

    def __init__(self, comparison: _core.Comparison, problem: Problem):
        self._comparison = comparison
        self._problem = problem
        self.bound: float = comparison.bound
        self.lines: list[_core.ComparisonLine] = comparison.lines
        self.solutions = {line.name: Solution(line.solution, problem) for line in comparison.lines}

    def __repr__(self) -> str:
        return _show.comparison_text(self)

    def _repr_html_(self) -> str:
        return _show.comparison_html(self)

    def trace_csv(self) -> str:
        """All traces as one table."""
        return _core.trace_csv(self._problem, self._comparison)


def certify(solution: Solution, *, threads: int | None = None, **options) -> Solution:
    """The same answer with the bound that no policy can beat, proved by the frontier method, and so with its gap.

    Args:
        solution: of any method.
        threads: as for `solve`.
        **options: of method "frontier".
    """
    own = _core.FrontierOptions()
    assign(own, options, "method 'frontier'")
    problem = solution.problem
    return Solution(_core.certify(problem, solution._solution, own, execution(threads)), problem)


def achievable_range(problem: Problem, constraint: int = 0, *, threads: int | None = None) -> _core.AchievableRange:
    """The best and the worst total that policies reach on a constraint: where a bound makes sense."""
    return _core.achievable_range(problem, constraint, execution(threads))


def plan_rcvi(problem: Problem, **options) -> _core.RcviPlan:
    """Memory and work of `solve(problem, method="rcvi", **options)`, known before it starts."""
    own = _core.RcviOptions()
    assign(own, options, "method 'rcvi'")
    return _core.plan_rcvi(problem, own)


def plan_robust(problem: Problem) -> _core.MemoryPlan:
    """Memory of `solve(problem, method="robust")` and of method "nominal", known before they start."""
    return _core.plan_robust(problem)


def plan_frontier(problem: Problem, **options) -> _core.MemoryPlan:
    """Memory of the first pass of `solve(problem, method="frontier", **options)`; `growth` is what later passes add at most."""
    own = _core.FrontierOptions()
    assign(own, options, "method 'frontier'")
    return _core.plan_frontier(problem, own)


def _chosen(problem: Problem, method: str, options: dict) -> tuple[str, list]:
    """The library's function for a method, and its options, if it has any."""
    method = method.replace("_", "-")  # primal-dual, as the program spells it
    if method not in _METHODS:
        raise Error(f"method = {method!r}{meant(method, _METHODS)}, must be one of {', '.join(_METHODS)}")
    name, kind = method.replace("-", "_"), _METHODS[method]
    if kind is None:
        if options:
            raise unknown(next(iter(options)), f"method {method!r}", _COMMON)
        return name, []
    chosen = kind()
    if "start_weights" in options:
        options = {**options, "start_weights": row_weights(problem, options["start_weights"])}
    assign(chosen, options, f"method {method!r}", also=_COMMON)
    return name, [chosen]


@contextmanager
def reporter(progress: bool | Callable[[float], object], label: str):
    if progress is not True:
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, desc=label, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
        yield lambda done: bar.update(done - bar.n)
