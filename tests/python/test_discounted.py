"""Infinite horizons against policy iteration in numpy, for every set: values, brackets and policies."""

import os

import numpy as np
import pytest
import redoubt as rd

MODELS = int(os.environ.get("REDOUBT_DISCOUNTED_MODELS", "6"))  # for each set
DISCOUNTS = [0.5, 0.9, 0.99, 0.999, 0.9999]


def keep(p, v, radius):
    return p


def tilted(p, v, radius, shape):
    """P of the family shape(p, v, t), all rows at once; its divergence from p falls as t grows."""
    low, high = np.full(len(p), -30.0), np.full(len(p), 30.0)
    for _ in range(120):
        middle = (low + high) / 2
        P, divergence = shape(p, v, middle[:, None])
        inside = divergence <= radius
        high, low = np.where(inside, middle, high), np.where(inside, low, middle)
    return shape(p, v, high[:, None])[0]


def kl(p, v, radius):
    def shape(p, v, t):
        weight = p * np.exp(-(v - v.min(axis=1, keepdims=True)) / np.exp(t))
        P = weight / weight.sum(axis=1, keepdims=True)
        return P, (P * np.log(np.where(P > 0, P / p, 1))).sum(axis=1)

    return tilted(p, v, radius, shape)


def chi2(p, v, radius):
    def shape(p, v, t):
        weight = p * np.maximum(np.exp(t) - (v - v.min(axis=1, keepdims=True)), 0)
        P = weight / weight.sum(axis=1, keepdims=True)
        return P, ((P - p) ** 2 / p).sum(axis=1)

    return tilted(p, v, radius, shape)


def tv(p, v, radius):
    """Of rows that list every place where mass may land, with probability zero where need be."""
    P, move = p.copy(), np.full(len(p), radius)
    rows = np.arange(len(p))
    lowest = np.argmin(v, axis=1)
    for i in np.argsort(-v, axis=1, kind="stable").T:
        taken = np.where(i == lowest, 0, np.minimum(move, P[rows, i]))
        P[rows, i] -= taken
        P[rows, lowest] += taken
        move = move - taken
    return P


def interval(p, v, radius):
    P = np.maximum(p - radius, 0)
    left = 1 - P.sum(axis=1)
    rows = np.arange(len(p))
    for i in np.argsort(v, axis=1, kind="stable").T:
        given = np.minimum(np.minimum(p[rows, i] + radius, 1) - P[rows, i], left)
        P[rows, i] += given
        left = left - given
    return P


BOUND = 0.1  # of composed sets: how far the centre of a ball is from the row


def around(ball):
    """A ball around the centre that nature takes within the bounds: that with the most mass on the lowest values."""

    def worst(p, v, radius):
        centre = interval(p, v, BOUND)
        P = np.zeros_like(p)
        for row, c in enumerate(centre):
            on = c > 0
            P[row, on] = ball(c[None, on], v[row][None, on], radius)[0]
        return P

    return worst


def bounded(ball):
    return lambda p: rd.Composed(ball, np.where(p > 0, np.maximum(p - BOUND, 0), 0),
                                 np.where(p > 0, np.minimum(p + BOUND, 1), 0))  # fmt: skip


SETS = {
    "none": (lambda p: rd.Nominal(), keep),
    "tv": (lambda p: rd.TV(0.15, reach="support"), tv),
    "tv anywhere": (lambda p: rd.TV(0.15), tv),
    "chi2": (lambda p: rd.Chi2(0.15), chi2),
    "kl": (lambda p: rd.KL(0.15), kl),
    "interval": (lambda p: rd.Interval(np.maximum(p - 0.15, 0), np.minimum(p + 0.15, 1)), interval),
    "interval-tv": (bounded(rd.TV(0.15, reach="support")), around(tv)),
    "interval-chi2": (bounded(rd.Chi2(0.15)), around(chi2)),
    "interval-kl": (bounded(rd.KL(0.15)), around(kl)),
}


def random_model(seed):
    """Rows P[state, action], rewards of any size, and their support: a few states anywhere, or the neighbours, where
    news travels slowly. Half of the models have a state that earns nothing and keeps what comes there."""
    random = np.random.default_rng(seed)
    states, actions = int(random.integers(2, 9)), int(random.integers(1, 4))
    P = random.dirichlet(np.ones(states), size=(states, actions))
    near = np.abs(np.subtract.outer(np.arange(states), np.arange(states))) <= 1
    mask = near[:, None, :] if seed % 2 else random.random(P.shape) < 0.6
    P = P * mask + 1e-3 * near[:, None, :]
    reward = (random.random((states, actions)) - 0.3) * 10.0 ** random.integers(-3, 4)
    if seed % 4 >= 2:
        P[-1] = np.eye(states)[-1]
        reward[-1] = 0
    P = np.where(P < 1e-4, 0, P)
    P /= P.sum(axis=-1, keepdims=True)
    return P, reward


def worst_rows(P, values, radius, worst, everywhere):
    """Nature's answer to the values, for every row; on the support alone unless it may land anywhere."""
    states, actions, _ = P.shape
    rows = P.reshape(-1, states)
    answer = np.zeros_like(rows)
    if everywhere:
        answer = worst(rows, np.broadcast_to(values, rows.shape), radius)
    else:
        for i, row in enumerate(rows):  # by support: sets read nothing else
            on = row > 0
            answer[i, on] = worst(row[None, on], values[None, on], radius)[0]
    return answer.reshape(P.shape)


def best_values(P, reward, discount, radius, worst, everywhere):
    """Policy iteration: nature's, for every policy, inside of ours; every step a linear system."""
    states = len(P)
    index = np.arange(states)
    values = np.zeros(states)
    policy = None
    for _ in range(50):
        nature = worst_rows(P, values, radius, worst, everywhere)
        q = reward + discount * nature @ values
        better = q.argmax(axis=1)
        if policy is not None:  # keep what is as good: ties must not go on for ever
            slack = 1e-12 * np.abs(values).max()
            better = np.where(q[index, policy] >= q.max(axis=1) - slack, policy, better)
            if (better == policy).all():
                return values
        policy = better
        for _ in range(60):
            kernel = worst_rows(P, values, radius, worst, everywhere)[index, policy]
            solved = np.linalg.solve(np.eye(states) - discount * kernel, reward[index, policy])
            change = np.abs(solved - values).max()
            values = solved
            if change <= 1e-11 * np.abs(values).max():
                break
    raise AssertionError("policy iteration did not end")


@pytest.mark.parametrize("name", SETS)
def test_values_and_brackets_against_policy_iteration(name):
    make, worst = SETS[name]
    everywhere = name in ("tv anywhere", "interval", "none")
    for seed in range(MODELS):
        discount = DISCOUNTS[seed % len(DISCOUNTS)]
        P, reward = random_model(seed)
        start = seed % len(P)
        problem = rd.Problem(P, reward=reward, discount=discount, start=start, uncertainty=make(P), order="sas")
        solution = rd.solve(problem, method="robust", threads=1 + seed % 2)
        expected = best_values(P, reward, discount, 0.15, worst, everywhere)
        # What the oracle itself can be trusted for: nature's answers to 1e-12 of the values, over the whole horizon.
        trust = 1e-11 * np.abs(expected).max() / (1 - discount)
        where = f"{name}, seed {seed}, discount {discount}"
        assert solution.reward.bound >= expected[start] - trust, where
        assert solution.reward.worst <= expected[start] + trust, where
        allowed = 1e-8 * max(abs(expected[start]), 1e-3 * np.abs(expected).max())
        assert solution.reward.worst >= expected[start] - trust - allowed, where
        assert solution.reward.bound <= expected[start] + trust + allowed, where
        if abs(expected[start]) >= 0.02 * np.abs(expected).max():  # not lost in the rounding of the others
            assert solution.status == "certified", where


def test_tilt_against_value_iteration():
    """`tilt` is no ball and has no bracket; its values are where sweeps change nothing."""
    for seed in range(MODELS):
        discount = [0.5, 0.9, 0.99][seed % 3]
        P, reward = random_model(seed)
        temperature = np.abs(reward).max() / (1 - discount) / 3
        values, change = np.zeros(len(P)), np.inf
        while change > 1e-13 * np.abs(reward).max() / (1 - discount):
            weight = P * np.exp(-(values - values.min()) / temperature)
            better = (reward + discount * (weight @ values) / weight.sum(axis=2)).max(axis=1)
            values, change = better, np.abs(better - values).max()
        start = seed % len(P)
        problem = rd.Problem(P, reward=reward, discount=discount, start=start, uncertainty=rd.Tilt(temperature), order="sas")
        near = 1e-9 * np.abs(values).max()
        assert rd.solve(problem, method="robust").reward.worst == pytest.approx(values[start], abs=near), f"seed {seed}"


@pytest.mark.parametrize("discount", [0.999, 0.99999])
def test_a_long_line_is_worth_what_a_linear_system_says(discount):
    """Steps along it would take a million sweeps: small models are solved by elimination."""
    states, random = 400, np.random.default_rng(1)
    P = np.zeros((states, 2, states))
    for s in range(states):
        for near in (max(s - 1, 0), s, min(s + 1, states - 1)):
            P[s, :, near] += random.random(2) + 0.1
    P /= P.sum(axis=2, keepdims=True)
    reward = random.random((states, 2)) - 0.5
    problem = rd.Problem(P, reward=reward, order="sas", discount=discount, start=states // 2)
    solution = rd.solve(problem, method="nominal")
    action, every = np.zeros(states, dtype=int), np.arange(states)
    while True:  # policy iteration
        values = np.linalg.solve(np.eye(states) - discount * P[every, action], reward[every, action])
        better = reward + discount * P @ values
        if np.all(better.max(axis=1) <= values + 1e-13 / (1 - discount)):
            break
        action = better.argmax(axis=1)
    near = 1e-8 * abs(values).max()
    assert solution.reward.worst == pytest.approx(values[states // 2], abs=near)
    assert rd.evaluate(problem, solution.policy).reward.worst == pytest.approx(values[states // 2], abs=near)
