"""What one can ask of a policy: its worst cases, episodes, and what nature does against it."""

from __future__ import annotations

from . import _core
from ._options import assign, execution
from ._policy import Policy
from ._problem import Problem
from ._solution import Solution


def evaluate(problem: Problem, policy: Policy | Solution, *, threads: int | None = None) -> _core.Evaluation:
    """Worst-case totals of a policy: of the reward and of each constraint, each against its own nature.

    The problem need not be the one that the policy was found for: evaluate it under another set or bound.
    """
    return _core.evaluate(problem, _of(policy), execution(threads))


def verify(problem: Problem, policy: Policy | Solution) -> _core.Evaluation:
    """The same numbers by an independent, slow reference in extended precision."""
    return _core.verify(problem, _of(policy))


def simulate(
    problem: Problem, policy: Policy | Solution, *, nature: str = "nominal", threads: int | None = None, **options
) -> _core.Simulation:
    """Runs episodes and returns the discounted totals of the reward and of each constraint's signal.

    Args:
        problem: where the episodes take place.
        policy: what acts.
        nature: who draws the outcomes: "nominal", "worst-reward", or "worst-SIGNAL" for a constraint's signal.
        threads: the same seed gives the same episodes on any number of threads.
        **options: `episodes`, `seed`, and `tolerance`, at which an infinite horizon is cut.
    """
    chosen = _core.SimulateOptions()
    assign(chosen, options, "simulate")
    chosen.nature = _core.nature_of(problem, nature)
    return _core.simulate(problem, _of(policy), chosen, execution(threads))


class WorstKernel:
    """What nature does against a policy, decision by decision; made by `worst_kernel`."""

    def __init__(self, problem: Problem, policy: Policy, nature: _core.Nature, threads: int | None):
        self.problem = problem
        self.policy = policy
        self._nature = nature
        self._threads = threads
        self._kernel = _core.WorstKernel(problem, policy._policy, nature, execution(threads))

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


def worst_kernel(
    problem: Problem, policy: Policy | Solution, against: str = "reward", *, threads: int | None = None
) -> WorstKernel:
    """What nature does against the reward, or against the signal of a constraint."""
    policy = policy.policy if isinstance(policy, Solution) else policy
    return WorstKernel(problem, policy, _core.nature_of(problem, f"worst-{against}"), threads)


def _of(policy: Policy | Solution) -> _core.Policy:
    return (policy.policy if isinstance(policy, Solution) else policy)._policy
