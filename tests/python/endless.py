"""Models for totals without a discount and without a horizon, and what linear programs say of them."""

import numpy as np
import redoubt as rd
from scipy.optimize import linprog

STATES, ACTIONS = 7, 2
GOAL, CRASH = 5, 6


def random_model(seed):
    """Rows of one to three outcomes, so that many states form end components; goal and crash stay where they are."""
    rng = np.random.default_rng(seed)
    P = np.zeros((STATES, ACTIONS, STATES))
    for s in range(STATES):
        for a in range(ACTIONS):
            if s in (GOAL, CRASH):
                P[s, a, s] = 1
                continue
            near = rng.choice(5, size=rng.integers(1, 3), replace=False)
            support = np.append(near, rng.choice([GOAL, CRASH])) if rng.random() < 0.4 else near
            P[s, a, support] = rng.dirichlet(np.ones(len(support)) * 3)
    cost = np.where(rng.random((STATES, ACTIONS)) < 0.5, 0.0, rng.integers(1, 5, (STATES, ACTIONS)).astype(float))
    cost[[GOAL, CRASH]] = 0
    P[4, 0] = np.eye(STATES)[[0, GOAL, CRASH]].mean(axis=0)  # so that both can be reached from somewhere
    P[0, 0] = np.eye(STATES)[[rng.integers(4), 4]].mean(axis=0)
    return P / P.sum(axis=2, keepdims=True), cost


def problem_of(P, cost, uncertainty=None, **terms):
    labels = {"goal": {GOAL}, "crash": {CRASH}}
    return rd.Problem(P, signals={"cost": cost}, labels=labels, uncertainty=uncertainty or rd.Nominal(), order="sas",
                      horizon=None, discount=1.0, start=0, **terms)  # fmt: skip


def largest(P, paid, fixed=()):
    """The least v >= 0 with v >= paid + P v: what the best policy earns. None: without bound."""
    rows = [(s, a) for s in range(STATES) for a in range(ACTIONS) if s not in fixed]
    A = np.array([P[s, a] - np.eye(STATES)[s] for s, a in rows])
    b = np.array([-paid[s, a] for s, a in rows])
    found = linprog(np.ones(STATES), A, b, bounds=[(0, 0) if s in fixed else (0, None) for s in range(STATES)])
    return found.x[0] if found.status == 0 else None


def smallest(P, paid, zero, allowed):
    """The largest v with v <= paid + P v and v = 0 in states that are at their end. None: without bound."""
    rows = [(s, a) for s in range(STATES) for a in range(ACTIONS) if allowed[s, a] and s not in zero]
    A = np.array([np.eye(STATES)[s] - P[s, a] for s, a in rows]).reshape(-1, STATES)
    b = np.array([paid[s, a] for s, a in rows])
    acts = {s for s, _ in rows}
    bounds = [(0, None) if s in acts else (0, 0) for s in range(STATES)]
    found = linprog(-np.ones(STATES), A, b, bounds=bounds)
    return found.x[0] if found.status == 0 else None


def can_avoid(P, bad):
    """States from which a policy never comes to a set of states."""
    safe = set(range(STATES)) - bad
    while True:
        still = {s for s in safe if any(set(np.flatnonzero(P[s, a])) <= safe for a in range(ACTIONS))}
        if still == safe:
            return safe
        safe = still


def surely_reaches(P, goal):
    """States from which a policy reaches a set with certainty, and the rows that never leave them."""
    sure = set(range(STATES))
    while True:
        near = set(goal)
        while True:
            more = {s for s in sure - near for a in range(ACTIONS)
                    if set(np.flatnonzero(P[s, a])) <= sure and set(np.flatnonzero(P[s, a])) & near}  # fmt: skip
            if not more:
                break
            near |= more
        if near == sure:
            break
        sure = near
    allowed = np.array([[s in sure and set(np.flatnonzero(P[s, a])) <= sure for a in range(ACTIONS)]
                        for s in range(STATES)])  # fmt: skip
    return sure, allowed


def brackets(solution, expected, sign=1):
    slack = 1e-7 * max(1.0, abs(expected))
    assert solution.status == "certified", solution.notes
    assert solution.reward.worst - slack <= sign * expected <= solution.reward.bound + slack
    assert solution.reward.bound - solution.reward.worst <= 2 * slack


def worst_rows(uncertainty, P, v):
    """Nature's answer to values, for every row: their worst cases and the distributions."""
    value, Q = np.zeros((STATES, ACTIONS)), np.zeros_like(P)
    for s in range(STATES):
        for a in range(ACTIONS):
            on = P[s, a] > 0
            found = rd.worst_case(uncertainty, P[s, a][on], v[on], return_distribution=True)
            value[s, a], Q[s, a][on] = found[0], found[1]
    return value, Q


def small(rows, uncertainty=None, **terms):
    """rows: {state: {action: ({next: probability}, {signal: value})}}; states without rows are ends."""
    return rd.explore(
        initial="s", actions=lambda s: list(rows.get(s, {})),
        step=lambda s, a: [(p, t, rows[s][a][1]) for t, p in rows[s][a][0].items()],
        labels=lambda s: {"goal"} if s == "goal" else set(),
        uncertainty=uncertainty or rd.Nominal(), horizon=None, discount=1.0, **terms)  # fmt: skip
