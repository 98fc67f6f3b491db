"""Solving: one function, one keyword for each option of a method."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager

from . import _core
from ._core import Error
from ._options import EXECUTION, assign, execution, fields, unknown
from ._policy import row_weights
from ._problem import Problem
from ._solution import Solution

_METHODS: dict[str, tuple[Callable, type | None]] = {
    "rcvi": (_core.rcvi, _core.RcviOptions),
    "robust": (_core.robust, None),
    "nominal": (_core.nominal, None),
    "rnpg": (_core.rnpg, _core.GradientOptions),
    "crpo": (_core.crpo, _core.GradientOptions),
    "epirc": (_core.epirc, _core.GradientOptions),
    "rppg": (_core.rppg, _core.GradientOptions),
    "primal-dual": (_core.primal_dual, _core.GradientOptions),
    "rrpo": (_core.rrpo, _core.GradientOptions),
}
_COMMON = (*EXECUTION, "progress")


def methods() -> dict[str, tuple[str, ...]]:
    """The methods of `solve`, each with the options it takes beside threads, time_limit and progress."""
    return {name: fields(options) for name, (_, options) in _METHODS.items()}


def solve(problem: Problem, method: str = "rcvi", *, progress: bool | Callable[[float], object] = False,
          **options) -> Solution:  # fmt: skip
    """Solves a problem and returns what the method found.

    Ctrl-C stops the solve within a second; the solution then has the status "stopped" and holds the best so far.

    Args:
        problem: what to solve.
        method: one of `methods()`.
        progress: True for a tqdm bar, or a function that is called now and then with the share done, in [0, 1].
        **options: `threads`, `time_limit` in seconds, and the options of the method.
    """
    method = method.replace("_", "-")  # primal-dual, as the program spells it
    if method not in _METHODS:
        raise Error(f"method = {method!r}, must be one of {', '.join(_METHODS)}")
    run, kind = _METHODS[method]
    run_on = _core.Execution()
    assign(run_on, {key: options.pop(key) for key in EXECUTION if key in options}, "solve")
    if kind is None:
        if options:
            raise unknown(next(iter(options)), f"method {method!r}", _COMMON)
        arguments = [problem, run_on]
    else:
        own = kind()
        if "start_weights" in options:
            options["start_weights"] = row_weights(problem, options["start_weights"])
        assign(own, options, f"method {method!r}", also=_COMMON)
        arguments = [problem, own, run_on]
    with _reporter(progress, method) as report:
        solution = Solution(run(*arguments, report), problem)
        if report and solution.status != "stopped":
            report(1.0)
    return solution


def achievable_range(problem: Problem, constraint: int = 0, *, threads: int | None = None) -> _core.AchievableRange:
    """The best and the worst total that policies reach on a constraint: where a bound makes sense."""
    return _core.achievable_range(problem, constraint, execution(threads))


def plan_rcvi(problem: Problem, **options) -> _core.RcviPlan:
    """Memory and work of `solve(problem, method="rcvi", **options)`, known before it starts."""
    own = _core.RcviOptions()
    assign(own, options, "method 'rcvi'")
    return _core.plan_rcvi(problem, own)


@contextmanager
def _reporter(progress: bool | Callable[[float], object], label: str):
    if progress is not True:
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, desc=label, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
        yield lambda done: bar.update(done - bar.n)
