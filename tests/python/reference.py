"""Slow and plain implementations that share nothing with the library: oracles for the tests."""

from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar


def worst_kl(p, v, radius):
    """max over t > 0 of -t log sum p exp(-v / t) - t radius, the dual of the ball."""
    p, v = np.asarray(p)[p > 0], np.asarray(v)[p > 0]
    low = v.min()
    if radius == 0:
        return float(p @ v)
    if radius >= -np.log(p[v == low].sum()):
        return float(low)

    def loss(log_t):
        t = np.exp(log_t)
        return t * np.log(p @ np.exp(-(v - low) / t)) + t * radius

    best = minimize_scalar(loss, bounds=(-18, 12), method="bounded", options={"xatol": 1e-12})
    return float(low - best.fun)


def worst_tv(p, v, radius):
    """Takes mass from the largest values and puts it on the least: on any entry of v (reach anywhere)."""
    p, move = np.array(p), radius
    low = int(np.argmin(v))
    for i in np.argsort(-np.asarray(v), kind="stable"):
        if i == low:
            continue
        taken = min(move, p[i])
        p[i] -= taken
        p[low] += taken
        move -= taken
    return float(p @ v)


def worst_tv_support(p, v, radius):
    p, v = np.asarray(p)[p > 0], np.asarray(v)[p > 0]
    return worst_tv(p, v, radius)


def best_mixture(reward, utility):
    """max pi . reward subject to pi . utility >= 0, over all pairs of actions; None when no action is feasible."""
    if utility.max() < 0:
        return None
    best = None
    for i in range(len(reward)):
        for j in range(len(reward)):
            if utility[i] < 0 or (i != j and utility[j] >= 0):
                continue
            weight = 1.0 if i == j else -utility[j] / (utility[i] - utility[j])
            value = weight * reward[i] + (1 - weight) * reward[j]
            if best is None or value > best[0] + 1e-13:
                best = value, weight * utility[i] + (1 - weight) * utility[j]
    return best


def rcvi(P, reward, utility, bound, horizon, start, worst, fallback="reward", discount=1.0):
    """The paper's algorithm, top down and exact: no grid. Returns worst-case reward and utility of the policy."""
    states, actions, _ = P.shape

    @cache
    def values(stage, state, budget):
        if stage == horizon:
            return 0.0, -budget
        q = np.empty((2, actions))
        for a in range(actions):
            left = round((budget - utility[state, a]) / discount, 12)
            after = np.array([values(stage + 1, s, left) for s in range(states)])
            q[0, a] = reward[state, a] + discount * worst(P[state, a], after[:, 0])
            q[1, a] = discount * worst(P[state, a], after[:, 1])
        mixed = best_mixture(q[0], np.where(np.abs(q[1]) < 1e-12, 0.0, q[1]))
        if mixed is not None:
            return mixed
        first, second = (q[0], q[1]) if fallback == "reward" else (q[1], q[0])
        a = np.argmax(np.where(first > first.max() - 1e-9, second, -np.inf))  # ties go to the other quantity
        return q[0, a], q[1, a]

    r, g = values(0, start, round(bound, 12))
    return r, g + bound
