"""The upper side of `learn` against one convex program over all policies and all models within the intervals."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import redoubt as rd


class Oracle:
    """Maximises the reward over everything that remembers its whole past, scaled by how likely each past is. Totals are of
    utilities: more is better."""

    def __init__(self, problem, ball):
        self.problem, self.ball, self.conditions = problem, ball, []
        self.earned = [problem.reward, -problem.signals["cost"]]

    def best(self):
        totals = [0, 0]
        for state in np.flatnonzero(problem_start := self.problem.start):
            totals = [sum(pair) for pair in zip(totals, self.node(0, state, problem_start[state]), strict=True)]
        limit = -self.problem.constraints[0].bound
        asked = cp.Problem(cp.Maximize(totals[0]), [*self.conditions, totals[1] >= limit])
        asked.solve(solver=cp.CLARABEL)
        return None if asked.status == "infeasible" else asked.value

    def node(self, stage, state, weight):
        """What a policy can guarantee of both totals from here on, times the weight."""
        if stage == self.problem.horizon:
            return [0, 0]
        totals, shares = [0, 0], []
        for row in range(self.problem.state_rows[state], self.problem.state_rows[state + 1]):
            ours = slice(self.problem.row_outcomes[row], self.problem.row_outcomes[row + 1])
            follow = self.in_any_model if self.ball is None else self.against_the_ball
            share, beyond = follow(stage, self.problem.next[ours], self.problem.lower[ours], self.problem.upper[ours])
            shares.append(share)
            totals = [total + share * of[row] + more for total, of, more in zip(totals, self.earned, beyond, strict=True)]
        self.conditions.append(sum(shares) == weight)
        return totals

    def in_any_model(self, stage, following, lower, upper):
        """Without a set: the flow into each outcome lies between the ends of its interval. No corner is named."""
        share, flow = cp.Variable(nonneg=True), cp.Variable(len(following))
        self.conditions += [cp.sum(flow) == share, flow >= share * lower, flow <= share * upper]
        after = [self.node(stage + 1, state, flow[i]) for i, state in enumerate(following)]
        return share, [sum(one[total] for one in after) for total in (0, 1)]

    def against_the_ball(self, stage, following, lower, upper):
        """The worst case is convex in the centre, so that the best mixture is one of corners."""
        shares, beyond = [], [0, 0]
        for corner in corners(lower, upper):
            share = cp.Variable(nonneg=True)
            shares.append(share)
            there = np.flatnonzero(corner > 1e-12)
            after = [self.node(stage + 1, following[i], share) for i in there]
            for total in (0, 1):
                values = [one[total] for one in after]
                if not all(isinstance(value, int) for value in values):
                    beyond[total] = beyond[total] + self.worst(cp.hstack(values), corner[there])
        return sum(shares), beyond

    def worst(self, values, p):
        """A number up to the worst case over the ball around p: the duals of docs/uncertainty.md."""
        found, eta, radius = cp.Variable(), cp.Variable(), self.ball.radius
        below = cp.Variable(len(p), nonneg=True)
        if isinstance(self.ball, rd.KL):
            scale, weights = cp.Variable(nonneg=True), cp.Variable(len(p))
            ones = np.ones(len(p))
            self.conditions += [cp.ExpCone((found + scale * radius) * ones - values, scale * ones, weights), p @ weights <= scale]
            return found
        self.conditions += [below >= eta - values]
        if isinstance(self.ball, rd.Chi2):
            self.conditions += [found <= eta - np.sqrt(1 + radius) * cp.norm(cp.multiply(np.sqrt(p), below))]
        else:
            low = cp.Variable()
            self.conditions += [low <= values, eta >= low, found <= eta - p @ below - radius * (eta - low)]
        return found


def corners(lower, upper):
    """All but one at an end of its interval."""
    found = []
    for free in range(len(lower)):
        others = [i for i in range(len(lower)) if i != free]
        for ends in itertools.product(*((lower[i], upper[i]) for i in others)):
            corner = np.zeros(len(lower))
            corner[others] = ends
            corner[free] = 1 - sum(ends)
            if lower[free] - 1e-12 <= corner[free] <= upper[free] + 1e-12:
                found.append(np.maximum(corner, 0))
    return np.unique(np.round(found, 13), axis=0)


def random_problem(seed, successors, horizon, ball, share):
    """`share`: where the bound lies, between the least cost and that of the policy with the most reward."""
    rng = np.random.default_rng(seed)
    P = np.zeros((3, 2, 3))
    for state, action in itertools.product(range(3), range(2)):
        P[state, action, rng.choice(3, successors, replace=False)] = rng.dirichlet(2 * np.ones(successors))
    problem = rd.Problem(P, reward=rng.random((3, 2)), signals={"cost": rng.random((3, 2))}, order="sas", horizon=horizon, start=0,
                         constraints=[rd.at_most("cost", 0)], uncertainty=ball or rd.Nominal())  # fmt: skip
    most = rd.solve(problem, "robust").constraints[0].worst
    least = -rd.solve(problem.replace(minimise="cost", constraints=[]), "robust").reward.worst
    return problem.replace(constraints=[rd.at_most("cost", least + share * (most - least))])


@pytest.mark.parametrize(("ball", "successors", "horizon"), [
    (None, 2, 3), (None, 3, 2), (rd.TV(0.1, "support"), 2, 2), (rd.TV(0.1, "support"), 3, 2), (rd.Chi2(0.1), 2, 2), (rd.Chi2(0.1), 3, 2),
    (rd.KL(0.05), 2, 3), (rd.KL(0.05), 3, 2),
])  # fmt: skip
def test_no_policy_of_any_model_within_the_intervals_exceeds_the_bound(ball, successors, horizon):
    binds = 0
    for seed, share in enumerate([-3, 0, 0.1, 0.3]):
        problem = random_problem(seed, successors, horizon, ball, share)
        drawn = dict(epsilon=1e-4, seed=seed, uniform=True, first_samples=400, round=lambda made: made.samples < 4000)
        learned = rd.learn(problem, **drawn)
        best = Oracle(learned.problem, ball).best()
        if best is None or learned.status == "infeasible":
            assert (best is None) == (learned.status == "infeasible")
            continue
        assert learned.reward.bound >= best - 1e-6
        # No looser than the intervals make it, but for the twentieth of half the gap that a solve may leave.
        assert learned.reward.bound <= best + 0.025 * (learned.rounds["bound"] - learned.rounds["worst"]).max()
        binds += best < rd.learn(problem.replace(constraints=[]), **drawn).reward.bound - 0.01
    assert binds >= 1
