"""Policy: a finite-memory policy, and the problem it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _show
from ._options import AnyPath
from ._pickle import from_bytes, to_bytes
from ._problem import Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Policy:
    """What to do at each stage, in each state and memory state. `Policy.markov` makes one from weights.

    It pickles, with its problem.

    >>> solution = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "robust")
    >>> solution.policy
    <redoubt.Policy: 5 stages, 1 memory state, Markov>
    >>> solution.policy.action_weights(state=3)
    array([0., 1.])
    """

    def __init__(self, policy: _core.Policy, problem: Problem) -> None:
        self._policy = policy
        self.problem = problem

    @classmethod
    def markov(cls, problem: Problem, weights: ArrayLike) -> Policy:
        """A policy without memory: action weights (S, A), or (H, S, A) when they depend on the stage.

        Weights of actions that a state does not have are ignored.

        >>> problem = rd.make("river_swim(horizon=10,start=3)")
        >>> swim = rd.Policy.markov(problem, [[0, 1]] * 6)
        >>> rd.evaluate(problem, swim).satisfied
        False
        """
        return cls(_core.markov_policy(problem, row_weights(problem, weights)), problem)

    def start(self, seed: int = 0, stream: int = 0, unmodelled: str = "error") -> _core.Controller:
        """A controller at the beginning of an episode: `act(state)`, `observe(next_state)`, and so on.

        What it draws depends on the seed and the stream alone. `controller.start()` begins the next episode. Where
        several outcomes lead to one state, `observe(next_state, signals={"cost": 2.0})` tells them apart.

        Args:
            seed: of what it draws.
            stream: another one draws other numbers.
            unmodelled: what to do about a state that the model did not foresee: "error", or "continue": a policy
                without memory just goes on, one that remembers budgets takes the signals that were observed, or what
                the row earns, off them, and any other takes the memory of that state that promises the constraints
                most. `controller.unmodelled` counts how often.

        >>> controller = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "robust").policy.start(seed=1)
        >>> controller.act(3)
        1
        >>> controller.observe(4)
        >>> controller.stage
        1
        """
        controller = _core.Controller(self.problem, self._policy, seed, stream, unmodelled)
        controller.start()
        return controller

    def export(self, path: AnyPath) -> None:
        """Writes the policy for other programs.

        A .json file is all that running it takes, without this library (docs/deploy.md); .csv has one line for each
        decision; .storm.json is as Storm reads it.

        >>> policy = rd.solve(rd.make("river_swim(horizon=5,start=3)"), "robust").policy
        >>> policy.export(folder / "policy.csv")
        >>> (folder / "policy.csv").read_text().splitlines()[0]
        'step,idstate,memory,idaction,probability'
        """
        _core.export_policy(self.problem, self._policy, path)

    @property
    def memory_states(self) -> int:
        """The largest number of memory states that any state has at any stage."""
        return self._policy.memory_states

    @property
    def stages(self) -> int:
        """Number of stages with decisions of their own."""
        return self._policy.stages

    @property
    def budget(self) -> list[_core.BudgetAxis]:
        """What the memory means for a policy that tracks remaining budgets: one axis for each constraint."""
        return self._policy.budget

    def memories(self, state: int, stage: int = 0) -> int:
        """Number of memory states that a state has at a stage."""
        self._check(state, stage)
        return self._policy.memories(stage, state)

    def action_weights(self, state: int, stage: int = 0, memory: int = 0) -> NDArray[np.float64]:
        """The probability of each action; all zero in a terminal state."""
        if not 0 <= memory < (count := self.memories(state, stage)):
            raise _core.Error(f"memory {memory} in state {state} at stage {stage}, must be in 0..{count - 1}")
        weights = np.zeros(self.problem.actions)
        place = min(stage, self.problem.stages - 1) * self.problem.states + state
        first, end = self.problem.state_rows[place : place + 2]
        if first == end:  # terminal: whatever is stored there, nothing is taken
            return weights
        actions, values = self._policy.choices(stage, state, memory)
        weights[self.problem.action[first + np.asarray(actions, dtype=np.int64)]] = values
        return weights

    def table(self) -> NDArray[np.float64]:
        """Action weights (H, S, A) of a policy without memory.

        >>> rd.solve(rd.make("river_swim(horizon=5,start=3)"), "robust").policy.table().shape
        (5, 6, 2)
        """
        if self.memory_states > 1:
            raise _core.Error(f"a table of a policy with {self.memory_states} memory states, must have one")
        states = range(self.problem.states)
        return np.array([[self.action_weights(state, stage) for state in states] for stage in range(self.stages)])

    def _check(self, state: int, stage: int) -> None:
        if not 0 <= state < self.problem.states:
            raise _core.Error(f"state {state}, must be in 0..{self.problem.states - 1}")
        ends = not self._policy.repeats_last
        if stage < 0 or (ends and stage >= self.stages):
            raise _core.Error(f"stage {stage}, must be in 0..{self.stages - 1 if ends else ''}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._policy == other._policy

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Policy:
        return Policy(self._policy, self.problem)

    def __deepcopy__(self, memo: dict[int, Any]) -> Policy:
        return self.__copy__()  # neither the library's policy nor the problem can be changed

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (to_bytes(_core.Solution(self._policy)), self.problem)

    def __repr__(self) -> str:
        return _show.policy_text(self)

    def _repr_html_(self) -> str:
        return _show.policy_html(self)


def _restored(content: bytes, problem: Problem) -> Policy:
    return Policy(from_bytes(content).policy, problem)


def row_weights(problem: Problem, weights: ArrayLike) -> list[list[float]]:
    """Action weights (S, A) or (H, S, A) in the order of the model's rows, one list for each stage."""
    array = np.asarray(weights, dtype=np.float64)
    array = array[np.newaxis] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[1:] != (problem.states, problem.actions):
        raise _core.Error(
            f"weights have shape {np.shape(weights)}, must be (S, A) = ({problem.states}, {problem.actions}) "
            "or (H, S, A)"
        )
    if problem.stages > 1 and len(array) == 1:
        array = np.broadcast_to(array, (problem.stages, *array.shape[1:]))
    lists = []
    for stage, layer in enumerate(array):
        offsets = problem.state_rows[min(stage, problem.stages - 1) * problem.states :][: problem.states + 1]
        state = np.repeat(np.arange(problem.states), np.diff(offsets))
        lists.append(layer[state, problem.action[offsets[0] : offsets[-1]]].tolist())
    return lists
