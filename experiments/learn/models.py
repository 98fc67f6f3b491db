"""Models of any size, for experiments and tests."""

from __future__ import annotations

import numpy as np
import redoubt as rd


def board(size: int) -> rd.Problem:
    """A grid with slip: a step goes to either side with probability .1 each; the far corner pays while one is there."""
    P = np.zeros((size * size, 4, size * size))
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    for cell in range(size * size):
        for move in range(4):
            for turn, chance in ((0, 0.8), (1, 0.1), (3, 0.1)):
                down, right = steps[(move + turn) % 4]
                to = min(max(cell // size + down, 0), size - 1) * size + min(max(cell % size + right, 0), size - 1)
                P[cell, move, to] += chance
    reward = np.zeros((size * size, 4))
    reward[-1] = 1
    return rd.Problem(P, reward=reward, order="sas", horizon=4 * size, start=0)


def long_river(states: int) -> rd.Problem:
    """A river with a long quiet bank: most states are rarely visited."""
    rng = np.random.default_rng(0)
    P = np.zeros((states, 2, states))
    for s in range(states):
        stay, back = rng.uniform(0.45, 0.55), rng.uniform(0.25, 0.35)
        P[s, 0, max(s - 1, 0)] += 1
        P[s, 1, max(s - 1, 0)] += back
        P[s, 1, s] += stay
        P[s, 1, min(s + 1, states - 1)] += 1 - stay - back
    reward = np.zeros((states, 2))
    reward[:, 1] = np.linspace(0, 1, states)
    return rd.Problem(P, reward=reward, signals={"cost": np.tile([0.0, 1.0], (states, 1))}, order="sas", horizon=10,
                      constraints=[rd.at_most("cost", 6)], uncertainty=rd.KL(0.02), start=2)  # fmt: skip


def queue(states: int) -> rd.Problem:
    """At most one job arrives and one is done in a slot; speeds .3 and .5, the faster one at a price, which random actions load
    to .7. A slot that serves earns its speed."""
    P, reward = np.zeros((states, 2, states)), np.zeros((states, 2))
    for waiting in range(states):
        for action, speed in enumerate((0.3, 0.5)):
            done, arrives = speed if waiting > 0 else 0.0, 0.28
            P[waiting, action, max(waiting - 1, 0)] += done * (1 - arrives)
            P[waiting, action, min(waiting + 1, states - 1)] += arrives * (1 - done)
            P[waiting, action, waiting] += done * arrives + (1 - done) * (1 - arrives)
            reward[waiting, action] = done - 0.25 * (speed - 0.3)
    return rd.Problem(P, reward=reward, order="sas", horizon=20, start=0)


def inventory(states: int) -> rd.Problem:
    """Orders of 0, 4 or 8 items for a demand of 0 to 8, binomial with mean 4. A slot that begins with stock earns 1; items cost."""
    demand = np.array([70, 56, 28, 8, 1])
    demand = np.concatenate([demand[:0:-1], demand]) / 256
    P, reward = np.zeros((states, 3, states)), np.zeros((states, 3))
    for stock in range(states):
        for action in range(3):
            available = min(stock + 4 * action, states - 1)
            for wanted, chance in enumerate(demand):
                P[stock, action, max(available - wanted, 0)] += chance
            reward[stock, action] = (stock > 0) - 0.05 * (available - stock)
    return rd.Problem(P, reward=reward, order="sas", horizon=20, start=8 if states > 8 else 0)


def streaming(states: int) -> rd.Problem:
    return rd.make(f"streaming(buffer={states - 1},horizon=20,discount=1)")
