"""Gymnasium environments with real vectors for states, as continuous systems on grids."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._abstract import Abstraction, AbstractSolution, abstract
from ._core import Error
from ._ranges import Range
from ._systems import Uniform, around, boxes_of, lipschitz_constants

_MARGIN = 0.05  # of the width of what samples show, on either side


class EnvironmentSteps:
    """The dynamics of an environment as a function of points, or of ranges by samples or by Lipschitz constants."""

    def __init__(self, env: Any, axes: int, repeat: int, samples: int, lipschitz: NDArray[np.float64] | None) -> None:
        self.env = copy.deepcopy(env)  # of its own: whoever runs the other must not find it elsewhere
        self.repeat, self.samples, self.lipschitz = repeat, samples, lipschitz
        self.env.reset(seed=0)
        inner = self.env.unwrapped
        if _shape_of_state(inner) != (axes,):
            raise Error(f"an environment whose unwrapped.state has shape {_shape_of_state(inner)}, must have ({axes},), as the domain")
        self._kind = type(inner.state)

    def step(self, point: NDArray[np.float64], action: Any) -> NDArray[np.float64]:
        """Where an action leads, held for `repeat` steps."""
        inner = self.env.unwrapped
        inner.state = np.array(point, dtype=np.float64) if self._kind is np.ndarray else self._kind(point.tolist())
        for _ in range(self.repeat):
            ended = bool(inner.step(np.atleast_1d(np.asarray(action, dtype=np.float32)))[2])
            if ended:
                break
        return np.array(inner.state, dtype=np.float64)

    def points(self, points: NDArray[np.float64], action: Any) -> NDArray[np.float64]:
        return np.array([self.step(point, action) for point in points]).reshape(points.shape)

    def __call__(self, x: Sequence[Any], u: Any) -> list[Any]:
        if not isinstance(x[0], Range):
            found = self.points(np.stack([np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in x], axis=1), u)
            return list(found.T) if np.ndim(x[0]) else found[0].tolist()
        middle, half = boxes_of(x)
        centre = self.points(middle, u)
        if self.lipschitz is not None:
            return list(around(centre, half, self.lipschitz))
        least, most = centre.copy(), centre.copy()
        rng = np.random.default_rng(0)
        corners = [np.array(signs) for signs in itertools.product((-1.0, 1.0), repeat=middle.shape[1])]
        for where in [*corners, *rng.uniform(-1, 1, (self.samples, *middle.shape))]:
            found = self.points(middle + where * half, u)
            least, most = np.minimum(least, found), np.maximum(most, found)
        wider = _MARGIN * (most - least)
        return [Range(a, b) for a, b in zip((least - wider).T, (most + wider).T, strict=True)]


class GymnasiumAbstraction(Abstraction):
    """A Gymnasium environment on a grid; made by `abstract_gymnasium`. `proved` says whether its answers are.

    >>> system = rd.abstract_gymnasium("Pendulum-v1", domain=[(-0.4, 0.4), (-1.5, 1.5)], cells=8, start=[0.0, 0.0], horizon=2)
    >>> system.proved, system.cells
    (False, 64)
    """

    proved: bool = False
    env: Any = None
    repeat: int = 1

    def __repr__(self) -> str:
        text = f"{self.cells:,} cells, {len(self.actions)} actions"
        label = "proved for these Lipschitz constants" if self.proved else "estimated, not proved"
        return f"<redoubt.GymnasiumAbstraction: {text}; {label}>"

    def run(self, solution: AbstractSolution, episodes: int = 100, seed: int = 0) -> dict[str, float]:
        """Episodes of the environment itself, from the start, under the controller of a solution: how many reached a goal or
        hit a hazard, and the mean of the environment's own rewards."""
        inner = self.env.unwrapped
        controller = solution.controller(seed)
        horizon = self.question.terms["horizon"] or 10_000
        reached = hit = earned = 0.0
        for _ in range(episodes):
            controller.start()
            inner.state = self._of_environment(self.start)
            for _ in range(horizon):
                action = controller.act(np.array(inner.state, dtype=np.float64))
                if action is None:
                    break
                for _ in range(self.repeat):
                    _, reward, ended, *_ = inner.step(np.atleast_1d(np.asarray(action, dtype=np.float32)))
                    earned += float(reward)
                    if ended:
                        break
            end = self.state(inner.state) - self.cells
            reached, hit = reached + (end == 0), hit + (end > 0)
        return {"reached": reached / episodes, "hit": hit / episodes, "reward": earned / episodes}

    def _of_environment(self, point: Any) -> Any:
        steps: Any = self.dynamics
        return np.array(point, dtype=np.float64) if steps._kind is np.ndarray else steps._kind(point)


def abstract_gymnasium(
    env: Any,
    *,
    domain: Sequence[tuple[float, float]] | None = None,
    cells: int | Sequence[int],
    start: Sequence[float],
    actions: Sequence[Any] | None = None,
    repeat: int = 1,
    samples: int = 4,
    lipschitz: ArrayLike | None = None,
    **terms: Any,
) -> GymnasiumAbstraction:
    """A Gymnasium environment with a real vector for its state (`env.unwrapped.state`, which can be set), as `abstract` has it.

    Where the cells lead is found by stepping the environment from points inside them: from the middle, the corners and `samples` more.
    That shows nothing about the points in between, so answers are **estimated, not proved**, unless Lipschitz constants are given: then
    they hold if these do.

    Args:
        env: an environment without noise, or its name.
        domain: as for `abstract`; not given: the bounds of the observations, a hundredth wider, where they are the state.
        cells: how many along each coordinate.
        start: the state where an episode begins.
        actions: a list; not given: five along a `Box` of one action.
        repeat: for how many steps of the environment an action is held.
        samples: random points in each cell, beside its corners and its middle.
        lipschitz: of the step over `repeat`: L[i][j] bounds how fast coordinate i of the next state changes with coordinate j;
            a number is for all of them.
        terms: goal, hazards, horizon, and the other arguments of `abstract`.

    >>> system = rd.abstract_gymnasium("Pendulum-v1", domain=[(-0.4, 0.4), (-1.5, 1.5)], cells=12, start=[0.0, 0.0], horizon=4)
    >>> answer = system.solve()
    >>> system.run(answer, episodes=2)["hit"]
    0.0
    """
    import gymnasium

    opened = gymnasium.make(env) if isinstance(env, str) else env
    box = _domain(opened) if domain is None else list(domain)
    axes = len(box)
    bounds = None if lipschitz is None else lipschitz_constants(lipschitz, axes)
    if repeat < 1 or samples < 0:
        raise Error(f"repeat = {repeat} and samples = {samples}, must be at least 1 and at least 0")
    steps = EnvironmentSteps(opened, axes, repeat, samples, bounds)
    point = np.array(start, dtype=np.float64)
    chosen = _actions(opened) if actions is None else list(actions)
    if point.shape == (axes,) and chosen and not np.array_equal(steps.step(point, chosen[0]), steps.step(point, chosen[0])):
        raise Error("an environment that leads from one state to two with the same action, must be without noise")
    made = abstract(steps, noise=Uniform([0.0] * axes), domain=box, cells=cells, actions=chosen, start=start,
                    checks=1000 if bounds is not None else 0, **terms)  # fmt: skip
    system = GymnasiumAbstraction.__new__(GymnasiumAbstraction)
    system.__dict__.update(made.__dict__)
    system.env, system.repeat, system.proved = opened, repeat, bounds is not None
    return system


def _shape_of_state(inner: Any) -> tuple[int, ...]:
    state: Any = getattr(inner, "state", None)
    return () if state is None else np.asarray(state).shape


def _domain(env: Any) -> list[tuple[float, float]]:
    space = env.observation_space
    env.reset(seed=0)
    if _shape_of_state(env.unwrapped) != space.shape or not np.isfinite([space.low, space.high]).all():
        raise Error(f"observations {space} that are not the state, must have a domain")
    wider = 0.01 * (space.high - space.low).astype(np.float64)
    return list(zip((space.low - wider).tolist(), (space.high + wider).tolist(), strict=True))


def _actions(env: Any) -> list[Any]:
    space = env.action_space
    if getattr(space, "shape", None) != (1,):
        raise Error(f"actions of {space}, must be given as a list")
    return [[float(u)] for u in np.linspace(space.low[0], space.high[0], 5)]
