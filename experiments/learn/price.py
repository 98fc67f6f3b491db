"""What a certificate costs at least: how far one policy's guarantee moves with the samples, of all rows together and of each alone."""

from __future__ import annotations

import numpy as np
import redoubt as rd
from scipy.stats import norm


def distributions(problem: rd.Problem) -> np.ndarray:
    """A row of next states for each row of the problem."""
    P = np.zeros((len(problem.action), problem.states))
    for row in range(len(P)):
        ours = slice(problem.row_outcomes[row], problem.row_outcomes[row + 1])
        np.add.at(P[row], problem.next[ours], problem.probability[ours])
    return P


def product_share(delta: float, regions: int) -> float:
    """What each of so many independent regions may fail with."""
    return -np.expm1(np.log1p(-delta) / regions)


def least_widths(problem: rd.Problem, samples: int, delta: float = 0.05, runs: int = 300) -> tuple[float, float]:
    """Two-sided intervals, at this confidence, for the best reward under one constraint, by someone who knows the policy, the
    price of the constraint, the true model and thus the standard deviation of the error: where errors of rows may cancel, and
    where each row has a region of its own."""
    policy = rd.solve(problem, tolerance=1e-4).policy
    bound, step = problem.constraints[0].bound, 0.02
    above, below = (rd.solve(problem.replace(constraints=[rd.at_most(problem.constraints[0].signal, bound + move)]), tolerance=1e-5)
                    for move in (step, -step))  # fmt: skip
    price = (above.reward.worst - below.reward.worst) / (2 * step)
    rng = np.random.default_rng(0)
    truth = distributions(problem)
    states, actions = problem.states, problem.actions
    given = dict(reward=problem.reward.reshape(states, actions), order="sas", horizon=problem.horizon, start=problem.start,
                 signals={name: values.reshape(states, actions) for name, values in problem.signals.items()},
                 discount=problem.discount, constraints=problem.constraints, uncertainty=problem.uncertainty)  # fmt: skip

    def guarantee(P: np.ndarray) -> float:
        found = rd.evaluate(rd.Problem(P.reshape(states, actions, states), **given), policy)
        return found.reward.worst - price * found.constraints[0].worst

    def deviation(rows: slice) -> float:
        found = []
        for _ in range(runs):
            P = truth.copy()
            P[rows] = rng.multinomial(samples, truth[rows]) / samples
            found.append(guarantee(P))
        return float(np.std(found))

    apart = [deviation(slice(row, row + 1)) for row in range(len(truth)) if (truth[row] > 0).sum() > 1]
    apart = [one for one in apart if one > 1e-4 * max(apart)]  # of rows that the policy uses
    together = 2 * norm.isf(delta / 2) * deviation(slice(None))
    return together, 2 * norm.isf(product_share(delta, len(apart)) / 2) * sum(apart)
