"""The shield as a Gymnasium wrapper."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ._shield import Shield


class ShieldedWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """See `redoubt.ShieldedEnv`."""

    def __init__(self, env: gymnasium.Env[Any, Any], shield: Shield) -> None:
        super().__init__(env)
        self.shield = shield
        self._names = shield.policy.problem.model.signal_names

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self.shield.start()
        return observation, {**info, **self._permissions(int(observation))}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        taken = self.shield.take(int(action))
        observation, reward, terminated, truncated, info = self.env.step(taken)
        info = {**info, "action": taken, "corrected": taken != int(action)}
        if not terminated:  # where an episode ends, nothing is promised
            self.shield.observe(int(observation), self._signals(info))
            truncated = truncated or self.shield.ended
        if not (terminated or truncated):
            info |= self._permissions(int(observation))
        return observation, reward, terminated, truncated, info

    def _permissions(self, state: int) -> dict[str, Any]:
        allowed = self.shield.allowed(state)
        mask: NDArray[np.int8] = np.zeros(self.shield.policy.problem.actions, dtype=np.int8)
        mask[[action for action, largest in allowed.items() if largest >= 1]] = 1
        return {"allowed": allowed, "action_mask": mask}

    def _signals(self, info: dict[str, Any]) -> dict[str, float]:
        told = {**info, **info.get("signals", {})}
        return {name: float(told[name]) for name in self._names if name in told}
