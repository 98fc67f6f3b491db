"""What one can ask of a policy: its worst cases, episodes, and what nature does against it."""

from __future__ import annotations

from . import _core, _show
from ._options import assign, execution, named_options
from ._policy import Policy
from ._problem import Problem, as_problem
from ._solution import Solution, as_policy


@named_options
def evaluate(problem: Problem, policy: Policy | Solution, *, threads: int = 1) -> _core.Evaluation:
    """Worst-case totals of a policy: of the reward and of each constraint, each against its own nature.

    The problem need not be the one that the policy was found for: evaluate it under another set or bound.

    >>> problem = rd.make("river_swim(horizon=10,start=3)")
    >>> solution = rd.solve(problem, "frontier")
    >>> rd.evaluate(problem, solution).reward.worst == solution.reward.worst
    True
    >>> wider = problem.replace(uncertainty=rd.KL(0.2))
    >>> rd.evaluate(wider, solution).satisfied
    False
    """
    return _core.evaluate(as_problem(problem), _of(policy), execution(threads))


def verify(problem: Problem, policy: Policy | Solution) -> _core.Evaluation:
    """The same numbers as `evaluate` by an independent, slow reference in extended precision.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> solution = rd.solve(problem, "frontier")
    >>> abs(rd.verify(problem, solution).reward.worst - solution.reward.worst) < 1e-9
    True
    """
    return _core.verify(as_problem(problem), _of(policy))


@named_options
def simulate(
    problem: Problem, policy: Policy | Solution, *, nature: str = "nominal", episodes: int = 1000, seed: int = 0,
    tolerance: float = 1e-9, threads: int = 1,
) -> _core.Simulation:  # fmt: skip
    """Runs episodes and returns the discounted totals of the reward and of each constraint's signal.

    Args:
        problem: where the episodes take place.
        policy: what acts.
        nature: who draws the outcomes: "nominal", "worst-reward", or "worst-SIGNAL" for a constraint's signal.
        episodes: how many.
        seed: the same seed gives the same episodes on any number of threads.
        tolerance: an infinite horizon is cut where what may follow is below this share of the largest total.
        threads: how many to work on.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> days = rd.simulate(problem, rd.solve(problem, "frontier"), nature="worst-cost", episodes=100)
    >>> days.constraints[0].name, len(days.constraints[0].totals)
    ('cost', 100)
    """
    chosen = _core.SimulateOptions()
    assign(chosen, {"episodes": episodes, "seed": seed, "tolerance": tolerance}, "simulate")
    chosen.nature = _core.nature_of(as_problem(problem), nature)
    return _core.simulate(problem, _of(policy), chosen, execution(threads))


class WorstKernel:
    """What nature does against a policy, decision by decision; made by `worst_kernel`.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> kernel = rd.worst_kernel(problem, rd.solve(problem, "robust"))
    >>> row = kernel.at(state=3, action=1)
    >>> round(float(row.probability.sum() + row.landing), 12)
    1.0
    """

    def __init__(self, problem: Problem, policy: Policy, against: str, threads: int) -> None:
        nature = _core.nature_of(as_problem(problem), f"worst-{against}")
        self.problem = problem
        self.policy = policy
        self._nature = nature
        self._against = against
        self._threads = threads
        self._kernel = _core.WorstKernel(problem, policy._policy, nature, execution(threads))

    def __repr__(self) -> str:
        return f"<redoubt.WorstKernel against {self._against!r} of {self.policy!r}>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    def at(self, state: int, action: int, stage: int = 0, memory: int = 0) -> _core.RowDistribution:
        """Nature's distribution over the outcomes of a row, for a decision made in a memory state.

        Policies whose memory is a table answer only for actions that they take.
        """
        row = self.problem.row_of(state, action, stage)
        first = self.problem.state_rows[min(stage, self.problem.stages - 1) * self.problem.states + state]
        return self._kernel.at(stage, state, memory, row - int(first))

    def rows(self) -> _core.MarkovKernel:
        """Every row at every stage at once, for a policy without memory."""
        return _core.worst_kernel(self.problem, self.policy._policy, self._nature, execution(self._threads))


@named_options
def worst_kernel(
    problem: Problem, policy: Policy | Solution, against: str = "reward", *, threads: int = 1
) -> WorstKernel:
    """What nature does against the reward, or against the signal of a constraint.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> kernel = rd.worst_kernel(problem, rd.solve(problem, "robust"), "cost")
    >>> len(kernel.at(state=3, action=1).probability)  # swimming on: back, here or ahead
    3
    """
    return WorstKernel(problem, as_policy(policy), against, threads)


def _of(policy: Policy | Solution) -> _core.Policy:
    return as_policy(policy)._policy
