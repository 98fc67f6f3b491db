"""From Gymnasium environments with a transition table, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _show
from ._build import Uncertainty
from ._core import Error
from ._labels import labels_of
from ._options import named_options
from ._policy import Policy
from ._problem import Problem
from ._solution import Solution, as_policy
from ._values import OnArrival, by_arrival, looks_at_reward, on_arrival

if TYPE_CHECKING:
    from gymnasium import Env


@named_options
def from_gymnasium(
    env: Env[Any, Any], *, signals: Mapping[str, Any] | None = None, start: Any = None,
    constraints: Sequence[_core.Constraint] = (), uncertainty: Uncertainty | None = None, horizon: int | None = None,
    discount: float = 1.0, labels: Mapping[str, Any] | None = None,
) -> Problem:  # fmt: skip
    """A problem from an environment whose `unwrapped.P` is a table, such as FrozenLake, CliffWalking or Taxi.

    Transitions that terminate end the episode: a state that is only ever reached by them has no actions; where
    a state is also reached otherwise, they lead to one more state, the last one, instead.

    Args:
        env: the environment, wrapped or not.
        signals: by name, a function of (state, action, next) or of (state, action, next, reward), a set of states, which counts arrivals in it, an
            array (S,), (S, A) or (S, A, S), or what `on_arrival` made. Sets, and functions that look at the next state
            alone, are earned by every arrival there, also by those that nature alone makes possible.
        start: as for `Problem`; the environment's own `initial_state_distrib` by default.
        constraints: as for `Problem`.
        uncertainty: as for `Problem`.
        horizon: as for `Problem`.
        discount: as for `Problem`.
        labels: as for `Problem`: sets of states, masks, or functions of the state's number.

    States of a board, such as FrozenLake's, are named after their row and column.

    >>> import gymnasium
    >>> lake = rd.from_gymnasium(gymnasium.make("FrozenLake-v1"), signals={"hole": {5, 7, 11, 12}}, horizon=20,
    ...                          constraints=[rd.at_most("hole", 0.5)], uncertainty=rd.TV(0.01))
    >>> lake.states, lake.state_names[5]
    (16, '(1, 1)')
    """
    inner = env.unwrapped
    table = getattr(inner, "P", None)
    if table is None:
        raise Error(f"{type(inner).__name__} has no table P, must have one to be read; bring a simulator instead")
    count = int(inner.observation_space.n)  # type: ignore[attr-defined]  # a space of numbers
    start = _start_of(inner, count) if start is None else start
    terminal = _terminal_states(table, start)
    functions, arrays = _split(signals or {})
    found = {name: by_arrival(function, count) for name, function in functions.items()}
    arrivals = {name: values for name, values in found.items() if values is not None}
    transitions, row_reward, ends = _transitions(table, terminal, functions, arrivals, count)
    given = {name: _padded(values, count, ends) for name, values in arrays.items()}
    given |= {name: on_arrival(np.append(values, [0.0] * ends)) for name, values in arrivals.items()}
    names = _names(inner, count, ends)
    return Problem(
        transitions,
        reward=row_reward,
        signals=given,
        states=names or count + ends,
        labels=dict(labels_of(labels, count, names[:count])),
        start=np.append(start, [0.0] * ends) if np.ndim(start) else start,
        order="sas",
        constraints=constraints,
        uncertainty=uncertainty,
        horizon=horizon,
        discount=discount,
    )


class GymController:
    """Acts in a Gymnasium loop: call it with each observation, and with the `info` that came with it.

    Signals of the model that `info` has, in `info["signals"]` or under their own names, tell outcomes apart that lead
    to the same state. The environment may do what the model did not foresee: `unmodelled` counts how often, and is an
    Error each time with unmodelled="error" (see `Policy.start`).

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> env, controller = rd.as_gymnasium(problem), rd.GymController(rd.solve(problem, "robust"))
    >>> observation, info = env.reset(seed=0)
    >>> controller.reset()
    >>> done, steps = False, 0
    >>> while not done:
    ...     observation, reward, terminated, truncated, info = env.step(controller(observation, info))
    ...     done, steps = terminated or truncated, steps + 1
    >>> steps
    5
    """

    def __init__(self, policy: Policy | Solution, seed: int = 0, unmodelled: str = "continue") -> None:
        policy = as_policy(policy)
        self._policy = policy
        self._controller = policy.start(seed, unmodelled=unmodelled)
        self._names = policy.problem.given.model.signal_names
        self._running = False

    def __repr__(self) -> str:
        return f"<redoubt.GymController of {self._policy!r}>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    @property
    def unmodelled(self) -> int:
        """How often it went on in what the model did not foresee, in all episodes."""
        return self._controller.unmodelled

    def reset(self) -> None:
        """Begins a new episode."""
        self._controller.start()
        self._running = False

    def __call__(self, observation: Any, info: Mapping[str, Any] | None = None) -> int:
        state = int(observation)
        if self._running:
            self._controller.observe(state, self._signals(info or {}))
        self._running = True
        return self._controller.act(state)

    def _signals(self, info: Mapping[str, Any]) -> dict[str, float]:
        told = {**info, **info.get("signals", {})}
        return {name: float(told[name]) for name in self._names if name in told}

    def run(self, env: Env[Any, Any], episodes: int, seed: int | None = None) -> dict[str, NDArray[np.float64]]:
        """Totals of whole episodes: "reward", "steps", and the signals that `info` carries (see `as_gymnasium`).

        >>> problem = rd.make("river_swim(horizon=5,start=3)")
        >>> controller = rd.GymController(rd.solve(problem, "robust"))
        >>> sorted(controller.run(rd.as_gymnasium(problem), episodes=3, seed=0))
        ['cost', 'reward', 'steps']
        """
        rows: list[dict[str, float]] = []
        for episode in range(episodes):
            observation, info = env.reset(seed=seed if episode == 0 else None)
            self.reset()
            totals, done = {"reward": 0.0, "steps": 0.0}, False
            while not done and not self._controller.ended:
                observation, reward, terminated, truncated, info = env.step(self(observation, info))
                done = terminated or truncated
                totals["reward"] += float(reward)
                totals["steps"] += 1
                for name, value in info.get("signals", {}).items():
                    totals[name] = totals.get(name, 0.0) + value
            rows.append(totals)
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, 0.0) for row in rows]) for name in names}


def as_gymnasium(problem: Problem) -> Env[Any, Any]:
    """A Gymnasium environment of the nominal model; `info["signals"]` has the value of each signal of a step.

    Rewards are not discounted. `info["action_mask"]` says which actions the state has. Observations are states of the model that
    the problem was made of; where goals are decided, rewards and signals know it.

    >>> env = rd.as_gymnasium(rd.make("river_swim(horizon=5,start=3)"))
    >>> env.reset(seed=0)[0]
    3
    >>> env.step(1)[4]["signals"]["cost"] >= 0
    True
    """
    from ._gym_env import ProblemEnv

    return ProblemEnv(problem)


def _names(inner: Any, count: int, ends: int) -> list[str]:
    """Of the states of `as_gymnasium`, and of a board, which is its `desc` or has its `shape`; else none."""
    if own := getattr(inner, "state_names", []):
        return [*own, *["end"] * ends]
    shape = np.shape(inner.desc) if hasattr(inner, "desc") else tuple(getattr(inner, "shape", ()))
    if len(shape) != 2 or shape[0] * shape[1] != count:
        return []
    return [f"({row}, {column})" for row in range(shape[0]) for column in range(shape[1])] + ["end"] * ends


def _start_of(inner: Any, count: int) -> NDArray[np.float64]:
    start = getattr(inner, "initial_state_distrib", None)
    if start is None:
        raise Error(f"{type(inner).__name__} has no initial_state_distrib, must have one unless start is given")
    return np.asarray(start, dtype=np.float64).ravel()[:count]


def _choices(table: Any) -> Iterator[tuple[int, int, Any]]:
    for state, choices in table.items() if isinstance(table, Mapping) else enumerate(table):
        for action, outcomes in choices.items() if isinstance(choices, Mapping) else enumerate(choices):
            yield int(state), int(action), outcomes


def _terminal_states(table: Any, start: Any) -> set[int]:
    """States that episodes never go on from: reached by terminating transitions only, and no start."""
    ended: set[int] = set()
    entered: set[int] = set()
    for _, _, outcomes in _choices(table):
        for _, after, _, terminated in outcomes:
            (ended if terminated else entered).add(int(after))
    starts = (
        np.flatnonzero(start).tolist() if np.ndim(start) else list(start) if isinstance(start, Mapping) else [start]
    )
    return ended - entered - set(starts)


def _arrivals(states: frozenset[int]) -> Callable[[int, int, int], float]:
    return lambda state, action, after: float(after in states)


def _split(signals: Mapping[str, Any]) -> tuple[dict[str, Callable[..., float]], dict[str, Any]]:
    """Signals as functions of a transition, and signals as arrays."""
    functions: dict[str, Callable[..., float]] = {}
    arrays: dict[str, Any] = {}
    for name, values in signals.items():
        if isinstance(values, AbstractSet):
            functions[name] = _arrivals(frozenset(values))
        elif callable(values):
            functions[name] = values
        else:
            arrays[name] = values
    return functions, arrays


def _transitions(
    table: Any, terminal: set[int], functions: dict[str, Callable[..., float]],
    arrivals: dict[str, NDArray[np.float64]], count: int,
) -> tuple[list[dict[str, Any]], NDArray[np.float64], int]:  # fmt: skip
    """Transitions, the reward of each row that all its outcomes share, and whether there is a last state.

    The signals of a transition are what it earns beyond the arrival in its next state.
    """
    transitions: list[dict[str, Any]] = []
    ends = 0
    actions = 1 + max(action for _, action, _ in _choices(table))
    shared = np.zeros((count, actions))
    looking = {name for name, value in functions.items() if looks_at_reward(value)}
    for state, action, outcomes in _choices(table):
        if state in terminal:
            continue
        rewards = {float(reward) for p, _, reward, _ in outcomes if p > 0}
        if len(rewards) == 1:
            shared[state, action] = rewards.pop()
        for p, after, reward, terminated in outcomes:
            leaves = terminated and int(after) not in terminal
            ends |= leaves
            seen = (state, action, int(after), float(reward))
            signals = {name: float(value(*seen[: 4 if name in looking else 3])) for name, value in functions.items()}
            if not leaves:
                signals = {name: value - arrivals[name][after] if name in arrivals else value
                           for name, value in signals.items()}  # fmt: skip
            transitions.append({
                "state": state,
                "action": action,
                "next": count if leaves else int(after),
                "p": float(p),
                "reward": float(reward) - shared[state, action],
                "signals": signals,
            })  # fmt: skip
    return transitions, np.pad(shared, ((0, int(ends)), (0, 0))), int(ends)


def _padded(values: Any, count: int, ends: int) -> Any:
    """An array over the environment's states, with zeros for the last one."""
    if isinstance(values, OnArrival):
        row = None if values.row is None else _padded(values.row, count, ends)
        return on_arrival(np.append(values.array(count, "a signal"), [0.0] * ends), row)
    array = np.asarray(values, dtype=np.float64)
    if not ends or array.ndim == 0 or array.shape[0] != count:
        return array
    after = [(0, ends)] if array.ndim == 3 else []
    return np.pad(array, [(0, ends), *[(0, 0)] * (min(array.ndim, 2) - 1), *after])
