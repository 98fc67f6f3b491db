"""Gymnasium environments on grids: the controller is run in the environment itself."""

import numpy as np
import pytest
import redoubt as rd

gymnasium = pytest.importorskip("gymnasium")

# th' = th + 0.05 w', w' = w + 0.05 (15 sin th + 3 u), of which the derivatives are bounded by
PENDULUM = [[1.0375, 0.05], [0.75, 1.0]]
UP = {"domain": [(-0.4, 0.4), (-1.5, 1.5)], "cells": 20, "start": [0.1, 0.0], "horizon": 20}


def test_a_pendulum_stays_up_and_it_is_proved_with_lipschitz_constants():
    system = rd.abstract_gymnasium("Pendulum-v1", lipschitz=PENDULUM, **UP)
    assert system.proved and "proved for these Lipschitz constants" in repr(system)
    answer = system.solve()
    assert answer.lower == pytest.approx(1.0, abs=1e-9)
    assert system.run(answer, episodes=5)["hit"] == 0.0
    # What it claims of the environment is what the environment's own formula says.
    written = rd.abstract(lambda x, u: [x[0] + 0.05 * (x[1] + 0.05 * (15 * np.sin(x[0]) + 3 * u[0])),
                                        x[1] + 0.05 * (15 * np.sin(x[0]) + 3 * u[0])],
                          noise=rd.Uniform([0.0, 0.0]), actions=system.actions, **UP)  # fmt: skip
    assert written.dynamics([0.2, -0.3], [1.0]) == pytest.approx(system.dynamics([0.2, -0.3], [1.0]), abs=1e-12)


def test_without_constants_answers_are_estimated():
    system = rd.abstract_gymnasium("Pendulum-v1", **UP)
    assert not system.proved and "estimated, not proved" in repr(system)
    answer = system.solve()
    assert answer.lower == pytest.approx(1.0, abs=1e-9)
    assert system.run(answer, episodes=5)["hit"] == 0.0


def test_a_car_climbs_the_mountain():
    system = rd.abstract_gymnasium("MountainCarContinuous-v0", cells=[60, 50], start=[-0.5, 0.0], repeat=10, samples=0, horizon=20,
                                   actions=[[-1.0], [1.0]], goal=[[(0.45, 0.7), None]])  # fmt: skip
    answer = system.solve()
    assert 0.99 < answer.lower <= answer.upper <= 1.0 + 1e-9
    found = system.run(answer, episodes=2)
    assert found["reached"] == 1.0 and found["reward"] > 50  # 100 for the goal, less what the engine takes


def test_lipschitz_dynamics_hold_what_ranges_hold():
    """A table that cannot be written with ranges; its answers enclose those of the same function written out."""
    terms = {"noise": rd.Gaussian([0.1]), "domain": [(-1.0, 1.0)], "cells": 20, "actions": [-0.1, 0.1], "start": [0.05],
             "horizon": 4}  # fmt: skip
    table = rd.lipschitz(lambda x, u: [np.interp(x[0], [-1.0, 1.0], [-0.8, 0.8]) + u], 0.8)
    exact = rd.abstract(lambda x, u: [0.8 * x[0] + u], **terms).solve()
    found = rd.abstract(table, **terms).solve()
    # Its boxes are a little wider for rounding, and touch one more cell where an end is on a line.
    assert exact.lower - 1e-3 < found.lower <= exact.lower + 1e-9
    assert exact.upper - 1e-9 <= found.upper < exact.upper + 1e-3
    with pytest.raises(rd.Error, match="must be in the range"):
        rd.abstract(rd.lipschitz(lambda x, u: [0.8 * np.asarray(x[0]) + u], 0.1), **terms)


class Noisy(gymnasium.Env):
    """Steps are random."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = np.zeros(1)
        return self.state, {}

    def step(self, action):
        self.state = self.state + self.np_random.normal(size=1)
        return self.state, 0.0, False, False, {}


BAD = [
    ({"env": "Pendulum-v1", "cells": 4, "start": [0.0, 0.0]}, "observations .* that are not the state, must have a domain"),
    ({"env": "Pendulum-v1", **UP, "domain": [(0, 1)]}, r"unwrapped.state has shape \(2,\), must have \(1,\)"),
    ({"env": "Pendulum-v1", **UP, "lipschitz": -1.0}, "Lipschitz constants -1.0, must be finite and at least 0"),
    ({"env": "Pendulum-v1", **UP, "lipschitz": [1.0, 2.0]}, r"Lipschitz constants of shape \(2,\), must be a number or \(2, 2\)"),
    ({"env": "Pendulum-v1", **UP, "lipschitz": 0.01}, "must be in the range"),
    ({"env": "Pendulum-v1", **UP, "repeat": 0}, "repeat = 0"),
    ({"env": Noisy(), "cells": 4, "start": [0.0], "horizon": 2}, "must be without noise"),
    ({"env": "CartPole-v1", "cells": 2, "start": [0.0] * 4, "domain": [(-1, 1)] * 4}, "must be given as a list"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_environments(given, message):
    given = dict(given)
    with pytest.raises(rd.Error, match=message):
        rd.abstract_gymnasium(given.pop("env"), **given)
