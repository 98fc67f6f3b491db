"""Solution: what a method found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _show
from ._options import AnyPath, Progress
from ._pickle import from_bytes, to_bytes
from ._policy import Policy
from ._problem import Problem, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from ._explain import Explanation
    from ._solve import Comparison


class Solution:
    """The policy that a method found, what it guarantees, and how it was found. It pickles, with its problem.

    Attributes:
        status: "certified", "feasible", "violated", "infeasible" or "stopped".
        method: the method's name.
        reward: `worst` is guaranteed by the policy, no policy that keeps the constraints can beat `bound`.
        gap: between these two; None when there is no bound, or when the policy breaks a constraint.
        constraints: for each constraint `worst`, `bound`, `satisfied`, in the sign of its signal.
        policy: the policy itself; None when a solve was stopped before any policy was evaluated. Then `reward.worst`
            and what is said of the constraints are None, too.
        problem: what was solved.
        trace: columns "iteration", "row_evaluations", "seconds", "reward", "bound" for methods that have one, and
            one for each constraint's signal.
        curve: the trade-off curve, columns "reward" and one for each constraint's signal; empty columns when the
            method has none.
        seconds, row_evaluations, iterations: what it took.
        hopeless: worst-case probability that a budget policy comes to a node that cannot meet its budget.
        cut: number of stages after which an infinite horizon was cut, if it was.
        unfinished: the work was stopped before its end. With another status than "stopped" the policy keeps the
            constraints and the bounds hold, but a longer search might have found better ones.
        notes: what a user should know about this answer.

    >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "frontier")
    >>> solution.status, solution.reward.worst <= solution.reward.bound
    ('certified', True)
    >>> solution.constraints
    [ConstraintResult(name='cost', sense='at_most', bound=4, ..., worst=4, satisfied=True, ...)]
    """

    def __init__(self, solution: _core.Solution, problem: Problem) -> None:
        self._solution = solution
        self.problem = problem
        self.status: str = solution.status
        self.method: str = solution.method
        self.reward: _core.RewardResult = solution.reward
        self.gap: float | None = solution.gap
        self.constraints: list[_core.ConstraintResult] = solution.constraints
        self.policy = None if solution.reward.worst is None else Policy(solution.policy, problem)
        self.trace: dict[str, NDArray[np.float64]] = _trace(solution.trace, problem)
        self.curve: dict[str, NDArray[np.float64]] = _curve(solution.curve, problem)
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

        >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "frontier")
        >>> stricter = solution.policy_at(3.5)
        >>> round(rd.evaluate(solution.problem, stricter).constraints[0].worst, 6)
        3.5
        """
        return Policy(_core.policy_at(self.problem, self._solution, list(bounds)), self.problem)

    def reward_at(self, *bounds: float) -> _core.RewardResult:
        """What the policy for other bounds guarantees, `worst`, and what no policy that keeps them can beat, `bound`.

        The bound is that of the solution, which is one for stricter bounds on the constraints, and None for others.

        >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "frontier")
        >>> stricter = solution.reward_at(3.5)
        >>> stricter.worst < solution.reward.worst, stricter.worst <= stricter.bound
        (True, True)
        """
        return _core.reward_at(self.problem, self._solution, list(bounds))

    def to_dict(self) -> dict[str, Any]:
        """All of it but the policy, as plain values that `json.dumps` takes; what is not known is None.

        The keys are those of `redoubt solve --json`, and "trace" and "curve" have their columns as lists.

        >>> import json
        >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "robust")
        >>> said = json.loads(json.dumps(solution.to_dict()))
        >>> said["status"], said["reward"]["gap"], said["constraints"][0]["satisfied"]
        ('violated', None, False)
        """
        problem, given = self.problem, self.problem.given
        groups, factors = given.model.groups, given.model.factors
        terms = given.terms if problem.two_stages else problem.terms
        reward = {name: getattr(self.reward, name) for name in ("worst", "bound", "static_bound")}
        constraint = ("name", "sense", "bound", "probability", "worst", "satisfied", "best_achievable")
        own = ("hopeless", "seconds", "row_evaluations", "iterations", "cut", "unfinished", "notes", "trace", "curve")
        said: dict[str, Any] = _plain({
            "status": self.status,
            "method": self.method,
            "reward": {**reward, "gap": self.gap},
            "constraints": [{name: getattr(one, name) for name in constraint} for one in self.constraints],
            **{name: getattr(self, name) for name in own},
            "states": problem.states,
            "actions": problem.actions,
            "horizon": terms.horizon,
            "discount": terms.discount,
            "nature": problem.nature,
            "set": _core.uncertainty_name(terms.uncertainty),
            "radius": getattr(terms.uncertainty, "radius", None),
            "scope": getattr(terms.uncertainty, "scope", "row"),
            **({"groups": groups, "helpful_groups": terms.helpful_groups} if groups else {}),
            **({"factors": factors} if factors else {}),
            "memory_states": None if self.policy is None else self.policy.memory_states,
            "version": _core.version,
        })  # fmt: skip
        return said

    def report(
        self, path: AnyPath, *, time_limit: float = 5.0, progress: Progress = False,
        comparison: Comparison | None = None, coordinates: ArrayLike | None = None,
        files: tuple[str, str] = ("problem.json", "solution.h5"), command: str = "",
    ) -> None:  # fmt: skip
        """Writes one self-contained page that shows the answer, explains it, and says how to put it to work.

        Verdict and guarantees, the trade-off with its certified band, other radii, the policy and what nature does.
        Needs the extra `report` (Jinja2). docs/report.md describes the page.

        Args:
            path: file to write, .html; it appears whole or not at all.
            time_limit: seconds for solving with other radii; those for which there is no time are left out.
            progress: as for `solve`.
            comparison: of methods, to be shown beside it; `Comparison.report` gives its own.
            coordinates: row and column of each state, (S, 2), for a map; None: as their names say, such as "(2, 3)".
            files: what the problem and the solution are called in the commands that the page shows.
            command: how the page was made.

        >>> solution = rd.solve(rd.make("river_swim(horizon=5,start=3)"))
        >>> solution.report(folder / "report.html", time_limit=1)
        >>> "<!DOCTYPE html>" in (folder / "report.html").read_text()
        True
        """
        from .report import write_report

        write_report(self, path, comparison=comparison, time_limit=time_limit, progress=progress,
                     coordinates=coordinates, files=files, command=command)  # fmt: skip

    def explain(self, state: int, memory: int | None = None, stage: int = 0) -> Explanation:
        """What the policy does in a state, what it promises from there on, and what nature makes of it.

        Args:
            state: where.
            memory: in which memory state; None: the likeliest at the start, or 0.
            stage: when.

        >>> rd.solve(rd.make("river_swim(horizon=5,start=3)")).explain(3)
        s3 at stage 0, memory ...
        """
        from ._explain import explain

        return explain(self, state, memory, stage)

    def plot_curve(self, constraint: int = 0, ax: Axes | None = None) -> Axes:
        """See `redoubt.plots.curve`."""
        from . import plots

        return plots.curve(self, constraint, ax)

    def plot_policy(
        self, stage: int | None = None, action: int | None = None, ax: Axes | None = None, *,
        memory: int | None = None, coordinates: ArrayLike | None = None,
    ) -> Axes:  # fmt: skip
        """See `redoubt.plots.policy`."""
        from . import plots

        return plots.policy(self, stage, action, ax, memory=memory, coordinates=coordinates)

    def plot_trace(self, x: str = "iteration", ax: Axes | None = None) -> Axes:
        """See `redoubt.plots.trace`."""
        from . import plots

        return plots.trace(self, x, ax)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Solution) and self._solution == other._solution and self.problem == other.problem

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _show.solution_text(self)

    def _repr_html_(self) -> str:
        return _show.solution_html(self)

    def __copy__(self) -> Solution:
        return Solution(self._solution, self.problem)  # what it shows of the library's solution cannot be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> Solution:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (to_bytes(self._solution), self.problem)


def as_policy(policy: object) -> Policy:
    """The policy itself, or that of a solution; an Error when it is something else."""
    if isinstance(policy, Solution):
        if policy.policy is None:
            raise _core.Error("a solution without a policy: the solve was stopped before any was evaluated")
        return policy.policy
    if isinstance(policy, Policy):
        return policy
    raise _core.Error(f"policy = {short(policy)}, must be a Policy or a Solution")


def save_solution(solution: Solution, path: AnyPath) -> None:
    """Writes a solution, policy included, as HDF5: the whole file or none of it.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> rd.save_solution(rd.solve(problem, "frontier"), folder / "solution.h5")
    >>> rd.load_solution(problem, folder / "solution.h5").status
    'certified'
    """
    if solution.policy is None:
        raise _core.Error("a solution without a policy, must have one to be written: the solve was stopped before that")
    _core.save_solution(solution._solution, path)


def load_solution(problem: Problem, path: AnyPath) -> Solution:
    """The solution in a file, for the problem it was found for; the same bits as were saved.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> solution = rd.solve(problem, "frontier")
    >>> rd.save_solution(solution, folder / "answer.h5")
    >>> rd.load_solution(problem, folder / "answer.h5") == solution
    True
    """
    solution = _core.load_solution(path)
    _core.check_policy(problem, solution.policy)
    return Solution(solution, problem)


def _restored(content: bytes, problem: Problem) -> Solution:
    return Solution(from_bytes(content), problem)


def column_names(problem: Problem) -> list[str]:
    """A name for each constraint's column: its signal, numbered from the second constraint on one signal on."""
    names: list[str] = []
    for constraint in problem.constraints:
        repeats = sum(name.split("#")[0] == constraint.signal for name in names)
        names.append(constraint.signal if not repeats else f"{constraint.signal}#{repeats + 1}")
    return names


def _trace(trace: _core.Trace, problem: Problem) -> dict[str, NDArray[np.float64]]:
    columns = {name: getattr(trace, name) for name in ("iteration", "row_evaluations", "seconds", "reward")}
    if len(trace.bound):
        columns["bound"] = trace.bound
    for name, values in zip(column_names(problem), trace.constraints, strict=False):
        columns[name] = np.asarray(values)
    return columns


def _curve(points: list[_core.CurvePoint], problem: Problem) -> dict[str, NDArray[np.float64]]:
    columns = {"reward": np.array([point.reward for point in points])}
    for i, name in enumerate(column_names(problem)):
        columns[name] = np.array([point.constraints[i] for point in points])
    return columns


def _plain(value: Any) -> Any:
    """Lists, dicts, words and numbers; JSON has no infinity and no NaN."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(entry) for entry in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
