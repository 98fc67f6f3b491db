"""A disk drive and its power manager: the value that Storm publishes for the least power with a short queue.

After the description of the drive by Benini, Bogliolo, Paleologo and De Micheli (1999) in the case studies of PRISM and the tests of
Storm: every millisecond the manager gives an order, then drive, requests and queue move together; so 100 steps are 50 orders.
"""

import pytest
import redoubt as rd

ORDERS = ("active", "idle", "low", "standby", "sleep")
POWER = {"active": 2.5, "idle": 1.5, "low": 0.8, "standby": 0.3, "sleep": 0.1}  # any other: 2.5, on the way
# On the way from one mode to another: where that leads, and how likely within a step.
WAYS = {
    "to low": ("low", 0.25), "from low": ("active", 0.25), "to standby": ("standby", 0.005),
    "from standby": ("active", 0.005), "to sleep": ("sleep", 0.0017), "from sleep": ("active", 0.0017),
}  # fmt: skip
DEPTH = {"active": 0, "idle": 0, "low": 1, "standby": 2, "sleep": 3}  # the manager goes deeper, or all the way up
ARRIVES = (0.102, 0.546)  # another request in the next step: after a step without one, after a step with one
ROOM = 2


def drive_next(drive, order):
    if drive in WAYS:
        to, p = WAYS[drive]
        return {to: p, drive: 1 - p}
    if order == "active":
        return {"active" if DEPTH[drive] == 0 else f"from {drive}": 1.0}
    if order == "idle":
        return {"idle" if drive == "active" else drive: 1.0}
    return {drive if DEPTH[order] <= DEPTH[drive] else f"to {order}": 1.0}


def step(state, action):
    order, drive, requests, queue = state
    if order is None:
        yield 1.0, (action, drive, requests, queue), {}
        return
    if drive == "active":
        left = queue if requests else max(queue - 1, 0)
    else:
        left = min(queue + requests, ROOM)
    earned = {"power": POWER.get(drive, 2.5), "queue": float(queue)}
    for to, p in drive_next(drive, order).items():
        for request in (0, 1):
            q = ARRIVES[requests] if request else 1 - ARRIVES[requests]
            yield p * q, (None, to, request, left), earned


def drive(**terms):
    return rd.explore(initial=(None, "sleep", 0, 0), actions=lambda state: ORDERS if state[0] is None else ("move",),
                      step=step, **terms)  # fmt: skip


def test_the_least_power_with_a_short_queue():
    problem = drive(minimise="power", horizon=100, constraints=[rd.at_most("queue", 70)], uncertainty=rd.Nominal())
    solution = rd.solve(problem, tolerance=1e-9)
    assert solution.status == "certified" and solution.constraints[0].worst <= 70 * (1 + 1e-9)
    assert -solution.reward.worst == pytest.approx(121.6128842, abs=1e-6)  # as published
    assert -solution.reward.bound == pytest.approx(121.6128842, abs=1e-6)
    check = rd.verify(problem, solution.policy)
    assert check.satisfied and -check.reward.worst == pytest.approx(121.6128842, abs=1e-6)
