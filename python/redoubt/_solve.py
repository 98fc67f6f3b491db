"""Solving: one function, one keyword for each option of a method."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from enum import Enum

from . import _core
from ._core import Error
from ._policy import Policy, row_weights
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
_EXECUTION = ("threads", "time_limit")


def methods() -> dict[str, tuple[str, ...]]:
    """The methods of `solve`, each with the options it takes beside threads, time_limit and progress."""
    return {name: _fields(options) for name, (_, options) in _METHODS.items()}


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
    execution = _core.Execution()
    _assign(execution, {key: options.pop(key) for key in _EXECUTION if key in options}, method)
    if kind is None:
        if options:
            raise _unknown(next(iter(options)), method, _EXECUTION)
        arguments = [problem, execution]
    else:
        own = kind()
        if "start_weights" in options:
            options["start_weights"] = row_weights(problem, options["start_weights"])
        _assign(own, options, method)
        arguments = [problem, own, execution]
    with _reporter(progress, method) as report:
        solution = Solution(run(*arguments, report), problem)
        if report and solution.status != "stopped":
            report(1.0)
    return solution


def evaluate(problem: Problem, policy: Policy | Solution, *, threads: int | None = None) -> _core.Evaluation:
    """Worst-case totals of a policy: of the reward and of each constraint, each against its own nature.

    The problem need not be the one that the policy was found for: evaluate it under another set or bound.
    """
    policy = policy.policy if isinstance(policy, Solution) else policy
    return _core.evaluate(problem, policy._policy, _execution(threads))


def achievable_range(problem: Problem, constraint: int = 0, *, threads: int | None = None) -> _core.AchievableRange:
    """The best and the worst total that policies reach on a constraint: where a bound makes sense."""
    return _core.achievable_range(problem, constraint, _execution(threads))


def plan_rcvi(problem: Problem, **options) -> _core.RcviPlan:
    """Memory and work of `solve(problem, method="rcvi", **options)`, known before it starts."""
    own = _core.RcviOptions()
    _assign(own, options, "rcvi")
    return _core.plan_rcvi(problem, own)


def _execution(threads: int | None) -> _core.Execution:
    execution = _core.Execution()
    if threads is not None:
        execution.threads = threads
    return execution


def _fields(options: type | None) -> tuple[str, ...]:
    return tuple(name for name in vars(options) if not name.startswith("_")) if options else ()


def _assign(target, values: dict, method: str) -> None:
    """Sets the fields of an options struct; words are the names of enumerators."""
    fields = _fields(type(target))
    for name, value in values.items():
        if name not in fields:
            raise _unknown(name, method, (*fields, *_EXECUTION))
        words = type(getattr(target, name))
        if issubclass(words, Enum) and isinstance(value, str):
            if value not in words.__members__:
                raise Error(f"{name} = {value!r}, must be one of {', '.join(words.__members__)}")
            value = words[value]
        try:
            setattr(target, name, value)
        except TypeError:
            raise Error(f"{name} = {value!r}, must be {words.__name__}") from None


def _unknown(name: str, method: str, known: tuple[str, ...]) -> Error:
    return Error(f"unknown option {name!r} of method {method!r}, must be one of {', '.join((*known, 'progress'))}")


@contextmanager
def _reporter(progress: bool | Callable[[float], object], label: str):
    if progress is not True:
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, desc=label, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as bar:
        yield lambda done: bar.update(done - bar.n)
