"""RCVI with an exact KL ball as one would write it with numpy: every stage is a few array operations.

Reads a model and its budgets from a JSON file (benchmarks/rcvi.cc writes it), prints the seconds and the value at the start.
"""

import json
import sys
import time

import numpy as np


def worst_kl(p, v, radius):
    """min over KL(P | p) <= radius of P . v along axis 0, by Newton's method kept in a bracket.

    P is proportional to p exp(-x v); the divergence of that row grows with x, and the minimum is where it is the radius.
    """
    low = v.min(axis=0)
    gap = v - low
    spread = gap.max(axis=0)
    at_low = np.where(gap == 0, p, 0).sum(axis=0)
    simple = (spread == 0) | (-np.log(at_low) <= radius)
    spread = np.where(simple, 1, spread)
    gap = np.where(simple, 0, gap / spread)
    mean = (p * gap).sum(axis=0)
    variance = (p * (gap - mean) ** 2).sum(axis=0)
    log_x = np.clip(0.5 * np.log(2 * radius / np.maximum(variance, 1e-300)), -20, 6)  # right for a small radius
    lower, upper = np.full_like(log_x, -30), np.full_like(log_x, 60)
    for _ in range(100):
        x = np.exp(log_x)
        weight = p * np.exp(-x * gap)
        mass = weight.sum(axis=0)
        mean = (weight * gap).sum(axis=0) / mass
        excess = -x * mean - np.log(mass) - radius
        done = simple | (np.abs(excess) <= 1e-11) | (upper - lower < 1e-12)
        if done.all():
            break
        variance = (weight * (gap - mean) ** 2).sum(axis=0) / mass
        lower, upper = np.where(excess < 0, log_x, lower), np.where(excess < 0, upper, log_x)
        newton = log_x - excess / np.maximum(x * x * variance, 1e-300)
        inside = (newton > lower) & (newton < upper)
        log_x = np.where(done, log_x, np.where(inside, newton, (lower + upper) / 2))
    return np.where(simple, low, low - spread * (radius + np.log(mass)) / x)


def best_mix(reward, utility, threshold):
    """max pi . reward subject to pi . utility >= threshold along axis 1, over all pairs; the reward where none is feasible."""
    noise = 1e-11
    feasible = utility >= threshold[None, None, :] - noise
    a, b = reward[:, :, None], reward[:, None, :]
    ua, ub = utility[:, :, None], utility[:, None, :]
    t = threshold[None, None, None, :]
    mixes = feasible[:, :, None] & ~feasible[:, None, :]
    weight = np.where(mixes, (t - ub) / np.where(mixes, ua - ub, 1), 1)
    alone = np.eye(reward.shape[1], dtype=bool)[None, :, :, None]
    value = np.where(feasible[:, :, None] & (mixes | alone), weight * a + (1 - weight) * b, -np.inf)
    flat = value.reshape(len(reward), -1, reward.shape[-1])
    best = flat.argmax(axis=1)[:, None]
    mixed_utility = (weight * ua + (1 - weight) * ub).reshape(flat.shape)
    give_up = reward.argmax(axis=1)[:, None]
    any_feasible = feasible.any(axis=1)
    return (
        np.where(any_feasible, np.take_along_axis(flat, best, 1)[:, 0], np.take_along_axis(reward, give_up, 1)[:, 0]),
        np.where(any_feasible, np.take_along_axis(mixed_utility, best, 1)[:, 0], np.take_along_axis(utility, give_up, 1)[:, 0]),
    )


def solve(model):
    reward, cost = np.array(model["reward"]), np.array(model["cost"])
    states, actions = reward.shape
    nominal = np.zeros((states, states, actions))  # next, state, action
    for s, a, n, p in model["transitions"]:
        nominal[n, s, a] = p
    p = nominal[:, :, :, None]
    low, cells, step, bound = model["low"], model["cells"], model["step"], -model["bound"]
    fall = np.floor(-cost / step + 1e-7).astype(int)  # cells that a step brings the requirement down
    loss = (-cost / step - fall) * step
    loss[np.abs(loss) < 1e-7 * step] = 0
    horizon = len(low) - 1
    value_r = np.zeros((states, cells[horizon]))
    value_g = np.zeros_like(value_r)
    unlisted = np.broadcast_to(p == 0, p.shape)
    for h in reversed(range(horizon)):
        budgets = low[h] + np.arange(cells[h])
        move = np.clip(budgets - fall[:, :, None] - low[h + 1], 0, cells[h + 1] - 1)
        q = []
        for value in (value_r, value_g):
            after = value[:, move]  # next, state, action, budget
            after = np.where(unlisted, np.where(unlisted, -np.inf, after).max(axis=0), after)
            q.append(worst_kl(p, after, model["radius"]))
        q_r = reward[:, :, None] + q[0]
        q_g = -cost[:, :, None] + q[1] - loss[:, :, None]
        value_r, value_g = best_mix(q_r, q_g, bound + budgets * step)
    at = min(max(-low[0], 0), cells[0] - 1)
    return float(value_r[model["start"], at]), float(value_g[model["start"], at])


def main():
    with open(sys.argv[1]) as file:
        model = json.load(file)
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        reward, utility = solve(model)
        best = min(best, time.process_time() - begin)
    print(json.dumps({"seconds": best, "reward": reward, "utility": utility}))


main()
