"""Solution: what a method found."""

from __future__ import annotations

import os

import numpy as np

from . import _core, _show
from ._policy import Policy
from ._problem import Problem


class Solution:
    """The policy that a method found, what it guarantees, and how it was found.

    Attributes:
        status: "certified", "feasible", "violated", "infeasible" or "stopped".
        method: the method's name.
        reward: `worst` is guaranteed by the policy, no policy that keeps the constraints can beat `bound`.
        gap: between these two; None when there is no bound, or when the policy breaks a constraint.
        constraints: for each constraint `worst`, `bound`, `satisfied`, in the sign of its signal.
        policy: the policy itself; None when the problem is proved infeasible and there is none to return.
        problem: what was solved.
        trace: columns "iteration", "row_evaluations", "seconds", "reward", "bound" for methods that have one, and
            one for each constraint's signal.
        curve: the trade-off curve, columns "reward" and one for each constraint's signal; empty columns when the
            method has none.
        seconds, row_evaluations, iterations: what it took.
        hopeless: worst-case probability that a budget policy comes to where its requirement is beyond reach.
        cut: number of stages after which an infinite horizon was cut, if it was.
        unfinished: the work was stopped before its end. With another status than "stopped" the bounds hold, but a
            longer search might have found better ones.
        notes: what a user should know about this answer.
    """

    def __init__(self, solution: _core.Solution, problem: Problem):
        self._solution = solution
        self.problem = problem
        self.status: str = solution.status
        self.method: str = solution.method
        self.reward = solution.reward
        self.gap: float | None = solution.gap
        self.constraints = solution.constraints
        self.policy = Policy(solution.policy, problem)
        self.trace = _trace(solution.trace, problem)
        self.curve = _curve(solution.curve, problem)
        self.seconds: float = solution.seconds
        self.row_evaluations: float = solution.row_evaluations
        self.iterations: int = solution.iterations
        self.hopeless: float | None = solution.hopeless
        self.cut: int | None = solution.cut
        self.unfinished: bool = solution.unfinished
        self.notes: list[str] = solution.notes

    def policy_at(self, *bounds: float) -> Policy:
        """The policy for other bounds on the same constraints, one for each, without solving again.

        Only for method "frontier", whose curve holds them all.
        """
        return Policy(_core.policy_at(self.problem, self._solution, list(bounds)), self.problem)

    def plot_curve(self, constraint: int = 0, ax=None):
        """See `redoubt.plots.curve`."""
        from . import plots

        return plots.curve(self, constraint, ax)

    def plot_policy(self, stage: int = 0, action: int | None = None, ax=None):
        """See `redoubt.plots.policy`."""
        from . import plots

        return plots.policy(self, stage, action, ax)

    def plot_trace(self, x: str = "iteration", ax=None):
        """See `redoubt.plots.trace`."""
        from . import plots

        return plots.trace(self, x, ax)

    def __repr__(self) -> str:
        return _show.solution_text(self)

    def _repr_html_(self) -> str:
        return _show.solution_html(self)


def save_solution(solution: Solution, path: str | os.PathLike) -> None:
    """Writes a solution, policy included, as HDF5: the whole file or none of it."""
    _core.save_solution(solution._solution, path)


def load_solution(problem: Problem, path: str | os.PathLike) -> Solution:
    """The solution in a file, for the problem it was found for; the same bits as were saved."""
    solution = _core.load_solution(path)
    _core.check_policy(problem, solution.policy)
    return Solution(solution, problem)


def column_names(problem: Problem) -> list[str]:
    """A name for each constraint's column: its signal, numbered from the second constraint on one signal on."""
    names: list[str] = []
    for constraint in problem.constraints:
        repeats = sum(name.split("#")[0] == constraint.signal for name in names)
        names.append(constraint.signal if not repeats else f"{constraint.signal}#{repeats + 1}")
    return names


def _trace(trace: _core.Trace, problem: Problem) -> dict[str, np.ndarray]:
    columns = {name: getattr(trace, name) for name in ("iteration", "row_evaluations", "seconds", "reward")}
    if len(trace.bound):
        columns["bound"] = trace.bound
    for name, values in zip(column_names(problem), trace.constraints, strict=False):
        columns[name] = np.asarray(values)
    return columns


def _curve(points: list[_core.CurvePoint], problem: Problem) -> dict[str, np.ndarray]:
    columns = {"reward": np.array([point.reward for point in points])}
    for i, name in enumerate(column_names(problem)):
        columns[name] = np.array([point.constraints[i] for point in points])
    return columns
