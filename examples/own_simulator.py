"""Bringing one's own simulator: a function of (state, action, seed) is enough."""

import numpy as np
import redoubt as rd

LEVELS = 8  # of a reservoir: 0 is dry, 7 is full


def reservoir(queries: rd.Queries):
    """One week for many (level, release) at once: inflow is random, water beyond the brim is spilt."""
    inflow = np.array([np.random.default_rng(seed).poisson(1.5) for seed in queries.seed])
    released = np.minimum(queries.action, queries.state)
    level = queries.state - released + inflow
    after = np.minimum(level, LEVELS - 1)
    power = np.sqrt(released * (1.0 + queries.state))
    return after, power, {"spilt": (level - after).astype(float)}


problem = rd.estimate(
    reservoir,
    samples=500,
    batch=1000,
    states=LEVELS,
    actions=4,
    signals=["spilt"],
    horizon=26,
    start=4,
    uncertainty=rd.Chi2(0.05),
    constraints=[rd.at_most("spilt", 6.0)],
)
solution = rd.solve(problem, method="frontier")
print(solution)
needed = rd.samples_needed(problem.replace(uncertainty=rd.TV(0.05)), epsilon=1.0, delta=0.05)
print(f"samples of each row that guarantee an error of 1 with TV .05: {needed.per_row:,}")
