"""Shield: the constraints of a solution, kept whatever a policy of somebody else wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _core, _show
from ._options import execution
from ._policy import Policy
from ._solution import Solution, as_policy

if TYPE_CHECKING:
    from gymnasium import Env


class Shield:
    """Stands between a foreign policy (a network that learns, a person) and the world, and keeps the constraints.

    At each step it says which actions may be taken, and with which probability at most; `take` lets the wanted action
    pass, or does something else where that would break a promise. For any foreign policy the worst case of every
    constraint keeps its bound: docs/shield.md has the proof. It stands on a solution, or a policy, that keeps the
    constraints; chance constraints and the set tilt are refused.

    Args:
        solution: what it stands on.
        seed: of what it draws.
        stream: another one draws other numbers.
        threads: how many to prepare it on.

    >>> shield = rd.Shield(rd.solve(rd.make("river_swim(horizon=10,start=3)")), seed=0)
    >>> shield.allowed(3)
    {0: 1.0, 1: 1.0}
    >>> shield.take(1)
    1
    >>> shield.observe(4)
    >>> shield.promise  # what remains to be spent of the cost, in the worst case
    [...]
    """

    def __init__(self, solution: Solution | Policy, seed: int = 0, stream: int = 0, *, threads: int = 1) -> None:
        self.policy = as_policy(solution)
        self._shield = _core.Shield(self.policy.problem, self.policy._policy, seed, stream, execution(threads))

    def start(self) -> None:
        """A new episode. The random numbers go on from where they were."""
        self._shield.start()

    def allowed(self, state: int) -> dict[int, float]:
        """What may be done in the state at hand: for each action the largest probability; 1: freely.

        Actions that may not be taken at all are not there.
        """
        return self._shield.allowed(state)

    def take(self, action: int) -> int:
        """The action that is done when this one is wanted, once `allowed` was asked for the state at hand."""
        return self._shield.take(action)

    def observe(self, next_state: int, signals: Mapping[str, float] | None = None) -> None:
        """What the action led to. Signals of the step tell outcomes apart that lead to the same state."""
        self._shield.observe(next_state, dict(signals or {}))

    @property
    def stage(self) -> int:
        """Number of steps of this episode."""
        return self._shield.stage

    @property
    def ended(self) -> bool:
        """The horizon is over."""
        return self._shield.ended

    @property
    def promise(self) -> list[float]:
        """For each constraint, the worst-case total that is promised from the state at hand on; empty before it."""
        return self._shield.promise

    @property
    def steps(self) -> int:
        """Actions taken, in all episodes."""
        return self._shield.steps

    @property
    def corrected(self) -> int:
        """How often another action was taken than was wanted, in all episodes."""
        return self._shield.corrected

    def __repr__(self) -> str:
        return f"<redoubt.Shield on {self.policy!r}: {self.corrected:,} of {self.steps:,} steps corrected>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)


def ShieldedEnv(env: Env[Any, Any], solution: Solution | Policy, seed: int = 0) -> Env[Any, Any]:
    """A Gymnasium environment whose agent cannot break the constraints, whatever it does: see `Shield`.

    `info["allowed"]` has the largest probability of each action, `info["action_mask"]` is 1 where an action may be
    taken freely, `info["action"]` is what was done and `info["corrected"]` whether it was something else than was
    wanted. Episodes end with the horizon. `env.get_wrapper_attr("shield")` is the shield.

    Args:
        env: whose observations are the states of the solution's problem (see `from_gymnasium`).
        solution: what the shield stands on.
        seed: of what the shield draws.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> env = rd.ShieldedEnv(rd.as_gymnasium(problem), rd.solve(problem))
    >>> observation, info = env.reset(seed=0)
    >>> sorted(info["allowed"])
    [0, 1]
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> info["corrected"]
    False
    """
    from ._gym_shield import ShieldedWrapper

    return ShieldedWrapper(env, Shield(solution, seed))
