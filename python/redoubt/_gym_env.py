"""A problem as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ._core import Error
from ._problem import Problem


class ProblemEnv(gymnasium.Env[Any, Any]):
    """The nominal model of a problem: states are observations, signals are in `info`."""

    def __init__(self, problem: Problem) -> None:
        if problem.merged:
            raise Error("an environment of a problem in which states have become one, every policy must come to an end")
        self.problem = problem
        grouped = problem.two_stages  # which decisions take then
        self._given = np.arange(problem.states) if grouped else problem.given_state
        self._seen_states = problem.states if grouped else problem.given.model.states
        self.observation_space = gymnasium.spaces.Discrete(self._seen_states)
        self.action_space = gymnasium.spaces.Discrete(max(1, problem.actions))
        self.initial_state_distrib = problem.start
        self.state_names = problem.state_names
        # Held here because each look at an array of the problem makes a new view.
        self._state_rows, self._row_outcomes = problem.state_rows, problem.row_outcomes
        self._action, self._next, self._probability = problem.action, problem.next, problem.probability
        self._values = {"reward": (problem.reward, problem.outcome_reward)}
        self._values |= {name: (row, problem.outcome_signals[name]) for name, row in problem.signals.items()}
        self._state, self._stage = 0, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self._stage = 0
        self._state = int(self.np_random.choice(self.problem.states, p=self.initial_state_distrib))
        return self._seen(), {"action_mask": self._mask(), "signals": {}}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        row = self.problem.row_of(self._state, int(action), self._stage)
        outcomes = slice(self._row_outcomes[row], self._row_outcomes[row + 1])
        drawn = outcomes.start + int(
            self.np_random.choice(outcomes.stop - outcomes.start, p=self._probability[outcomes])
        )
        values = {name: float(of_row[row] + of_outcome[drawn]) for name, (of_row, of_outcome) in self._values.items()}
        self._state, self._stage = int(self._next[drawn]), self._stage + 1
        truncated = self.problem.horizon is not None and self._stage >= self.problem.horizon
        terminated = not truncated and len(self._own_actions()) == 0
        reward = values.pop("reward")
        return self._seen(), reward, terminated, truncated, {"action_mask": self._mask(), "signals": values}

    def _seen(self) -> int:
        return int(self._given[self._state])

    @property
    def P(self) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:
        """The table of a model that does not depend on the stage, as Gymnasium's toy environments have it."""
        if self.problem.stages > 1:
            raise Error(f"the model has rows for {self.problem.stages} stages, a table P must have one for all")
        if self.problem.states != self._seen_states:
            raise Error("goals that must be remembered have no place in a table P, must be left out of the problem")
        reward, extra = self._values["reward"]
        table: dict[int, dict[int, list[tuple[float, int, float, bool]]]] = {
            state: {} for state in range(self.problem.states)
        }
        for state in range(self.problem.states):
            for row in range(self._state_rows[state], self._state_rows[state + 1]):
                outcomes = range(self._row_outcomes[row], self._row_outcomes[row + 1])
                table[state][int(self._action[row])] = [
                    (float(self._probability[i]), int(self._next[i]), float(reward[row] + extra[i]), self._ends(i))
                    for i in outcomes
                ]
        return table

    def _ends(self, outcome: int) -> bool:
        after = self._next[outcome]
        return bool(self._state_rows[after] == self._state_rows[after + 1])

    def _slot(self) -> int:
        return min(self._stage, self.problem.stages - 1) * self.problem.states + self._state

    def _own_actions(self) -> NDArray[np.int32]:
        return self._action[self._state_rows[self._slot()] : self._state_rows[self._slot() + 1]]

    def _mask(self) -> NDArray[np.int8]:
        mask = np.zeros(max(1, self.problem.actions), dtype=np.int8)
        mask[self._own_actions()] = 1
        return mask
