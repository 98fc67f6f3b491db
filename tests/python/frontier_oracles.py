"""Exact values of small robust constrained problems by linear and conic programs that share nothing with the library.

A case is drawn as plain arrays, turned into a `redoubt.Problem` by the tests and into a program here. Signals are the
reward (number 0) and then the utilities of the constraints; all of them are wanted large.
"""

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix, csr_matrix


@dataclass
class Case:
    P: np.ndarray  # (S, A, S), nominal
    values: np.ndarray  # (1 + I, S, A, S): of every outcome
    required: np.ndarray  # (I,)
    start: np.ndarray  # (S,)
    horizon: int
    discount: float = 1.0
    set: str = "none"  # none, tv, tv anywhere, chi2, kl, interval
    radius: float = 0.0
    low: np.ndarray | None = None  # (S, A, S), for interval
    high: np.ndarray | None = None


def occupancy(case: Case) -> float | None:
    """The largest expected reward of the nominal model under the constraints; None when they cannot be met.

    Variables are the discounted probabilities x[h, s, a]; what enters a state at a stage leaves it by its actions.
    """
    stages, (states, actions, _) = case.horizon, case.P.shape
    expected = np.einsum("sat,jsat->jsa", case.P, case.values)
    flow = np.zeros((stages, states, stages, states, actions))
    for h in range(stages):
        for s in range(states):
            flow[h, s, h, s] = 1
        if h > 0:
            flow[h, :, h - 1] = -case.discount * np.moveaxis(case.P, 2, 0)
    entering = np.zeros((stages, states))
    entering[0] = case.start
    size = stages * states * actions
    total = [np.tile(e, (stages, 1, 1)).ravel() for e in expected]
    found = linprog(-total[0], A_ub=-np.array(total[1:]).reshape(-1, size), b_ub=-case.required,
                    A_eq=flow.reshape(stages * states, size), b_eq=entering.ravel())  # fmt: skip
    return -found.fun if found.status == 0 else None


class Program:
    """max c . x subject to rows of A x <= b, A x = b, and b - A x in cones. Rows are dicts {variable: coefficient}."""

    def __init__(self):
        self.size = 0
        self.at_most, self.equal, self.round, self.exponential = [], [], [], []

    def new(self, count):
        self.size += count
        return range(self.size - count, self.size)

    def matrix(self, rows):
        columns = [list(row) for row, _ in rows]
        begin = np.cumsum([0] + [len(c) for c in columns])
        entries = np.array([value for row, _ in rows for value in row.values()], dtype=float)
        indices = np.array([n for c in columns for n in c], dtype=int)
        return csr_matrix((entries, indices, begin), shape=(len(rows), self.size)), np.array([b for _, b in rows])

    def maximum(self, objective) -> float | None:
        cost = np.zeros(self.size)
        for n, weight in objective.items():
            cost[n] = -weight
        return self.conic(cost) if self.round or self.exponential else self.linear(cost)

    def linear(self, cost):
        (upper, most), (same, value) = self.matrix(self.at_most), self.matrix(self.equal)
        found = linprog(cost, A_ub=upper, b_ub=most, A_eq=same, b_eq=value, bounds=(None, None))
        if found.status == 2:
            return None
        assert found.status == 0, found.message
        return -found.fun

    def conic(self, cost):
        rows, cones = list(self.equal), [clarabel.ZeroConeT(len(self.equal))]
        rows += self.at_most
        cones.append(clarabel.NonnegativeConeT(len(self.at_most)))
        for cone in self.round:
            rows += cone
            cones.append(clarabel.SecondOrderConeT(len(cone)))
        for cone in self.exponential:
            rows += cone
            cones.append(clarabel.ExponentialConeT())
        matrix, bounds = self.matrix(rows)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        solver = clarabel.DefaultSolver(
            csc_matrix((self.size, self.size)), cost, csc_matrix(matrix), bounds, cones, settings
        )
        found = solver.solve()
        status = str(found.status)
        if "PrimalInfeasible" in status:
            return None
        assert status in ("Solved", "AlmostSolved"), status
        return -found.obj_val


def recursion(case: Case) -> float | None:
    """The largest guaranteed reward under the constraints, against a nature that sees the history; None: infeasible.

    One program over the tree of histories. A node's totals are scaled by the probability that the policy's own
    choices lead to it, so that mixing actions is linear; the worst case of a row is concave and positively
    homogeneous, and enters by its dual.
    """
    program = Program()
    signals = len(case.values)
    totals = program.new(signals)
    sums = [{totals[j]: 1.0} for j in range(signals)]
    for state in np.flatnonzero(case.start):
        weight = program.new(1)[0]
        program.equal.append(({weight: 1.0}, 1.0))
        node = _node(program, case, 0, state, weight)
        for j in range(signals):
            sums[j][node[j]] = -case.start[state]
    program.at_most += [(row, 0.0) for row in sums]
    program.at_most += [({totals[c + 1]: -1.0}, -b) for c, b in enumerate(case.required)]
    return program.maximum({totals[0]: 1.0})


def _node(program, case, stage, state, weight):
    """Variables for the totals that a policy guarantees from here, when it comes here with this weight."""
    signals = len(case.values)
    totals = program.new(signals)
    if stage == case.horizon:
        program.equal += [({total: 1.0}, 0.0) for total in totals]
        return totals
    choice = program.new(case.P.shape[1])
    program.equal.append(({weight: -1.0} | {a: 1.0 for a in choice}, 0.0))
    program.at_most += [({a: -1.0}, 0.0) for a in choice]
    sums = [{total: 1.0} for total in totals]
    for action, alpha in enumerate(choice):
        p = case.P[state, action]
        reached = range(len(p)) if case.set == "tv anywhere" else np.flatnonzero(p)
        later = [_node(program, case, stage + 1, t, alpha) for t in reached]
        for j in range(signals):
            # Of each outcome: its own value, when the action is taken, and what is guaranteed from there on.
            z = [{alpha: case.values[j, state, action, t], later[i][j]: case.discount} for i, t in enumerate(reached)]
            worst = _WORST[case.set](program, case, z, (state, action, list(reached)))
            for n, coefficient in worst.items():
                sums[j][n] = sums[j].get(n, 0.0) - coefficient
    program.at_most += [(row, 0.0) for row in sums]
    return totals


def _below(program, z):
    """Fresh variables u <= z: mass may be taken from an outcome at most as far as it has any."""
    u = program.new(len(z))
    for variable, outcome in zip(u, z, strict=True):
        program.at_most.append(({variable: 1.0} | {n: -c for n, c in outcome.items()}, 0.0))
    return u


def _none(program, case, z, where):
    p = case.P[where]
    total = {}
    for share, outcome in zip(p, z, strict=True):
        for n, c in outcome.items():
            total[n] = total.get(n, 0.0) + share * c
    return total


def _tv(program, case, z, where):
    """max over u <= z of p . u - radius (max u - min u)"""
    p, u, (low, high) = case.P[where], _below(program, z), program.new(2)
    for variable in u:
        program.at_most += [({low: 1.0, variable: -1.0}, 0.0), ({variable: 1.0, high: -1.0}, 0.0)]
    return dict(zip(u, p, strict=True)) | {high: -case.radius, low: case.radius}


def _chi2(program, case, z, where):
    """max over u <= z of p . u - sqrt(radius) times the standard deviation of u"""
    p, u, (spread,) = case.P[where], _below(program, z), program.new(1)
    cone = [({spread: -1.0}, 0.0)]
    for i, share in enumerate(p):
        row = {variable: np.sqrt(share) * q for variable, q in zip(u, p, strict=True)}
        row[u[i]] -= np.sqrt(share)
        cone.append((row, 0.0))
    program.round.append(cone)
    return dict(zip(u, p, strict=True)) | {spread: -np.sqrt(case.radius)}


def _kl(program, case, z, where):
    """max of c - radius t such that sum p_i t exp((c - z_i) / t) <= t"""
    c, t = program.new(2)
    parts = program.new(len(z))
    for variable, outcome in zip(parts, z, strict=True):
        program.exponential.append([({c: -1.0} | outcome, 0.0), ({t: -1.0}, 0.0), ({variable: -1.0}, 0.0)])
    program.at_most.append((dict(zip(parts, case.P[where], strict=True)) | {t: -1.0}, 0.0))
    return {c: 1.0, t: -case.radius}


def _interval(program, case, z, where):
    """max of t + low . a - high . b such that z = t + a - b"""
    (t,), a, b = program.new(1), program.new(len(z)), program.new(len(z))
    for i, outcome in enumerate(z):
        program.equal.append(({t: 1.0, a[i]: 1.0, b[i]: -1.0} | {n: -c for n, c in outcome.items()}, 0.0))
    program.at_most += [({n: -1.0}, 0.0) for n in (*a, *b)]
    low, high = case.low[where], case.high[where]
    return {t: 1.0} | dict(zip(a, low, strict=True)) | dict(zip(b, -high, strict=True))


_WORST = {"none": _none, "tv": _tv, "tv anywhere": _tv, "chi2": _chi2, "kl": _kl, "interval": _interval}


def random_case(seed: int, set: str, *, states=3, actions=2, successors=2, constraints=1, horizon=2) -> Case:
    """A case whose constraints ask for something between what nature and chance leave and the best there is."""
    random = np.random.default_rng([seed, len(set), states, horizon])
    P = np.zeros((states, actions, states))
    for row in P.reshape(-1, states):
        reached = random.choice(states, successors, replace=False)
        row[reached] = random.dirichlet(np.ones(successors)) + 0.05
    P /= P.sum(axis=-1, keepdims=True)
    # Values of outcomes are rows' own where nature may add outcomes, which earn nothing else.
    ends = states if seed % 3 == 0 and set != "tv anywhere" else 1
    values = random.random((1 + constraints, states, actions, ends)).repeat(states // ends, axis=-1)
    start = random.dirichlet(np.ones(states)) if seed % 4 == 0 else np.eye(states)[seed % states]
    low, high = P * random.random(P.shape), P + (P > 0) * (1 - P) * random.random(P.shape)
    case = Case(P, values, np.zeros(0), start, horizon, 1.0 if seed % 2 else 0.9, set,
                float(random.uniform(0.02, 0.3)), low, high)  # fmt: skip
    value = occupancy if set == "none" else recursion
    best = [value(Case(**vars(case) | {"values": values[[c + 1]]})) for c in range(constraints)]
    case.required = random.uniform(0.7 if constraints == 1 else 0.5, 0.98) * np.array(best)
    return case
