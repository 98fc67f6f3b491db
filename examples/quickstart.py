"""Quickstart: a machine that wears out, a bound on its downtime, and a policy that keeps it in the worst case."""

import numpy as np
import redoubt as rd

P = np.array([  # P[state, action, next state]
    [[0.8, 0.2, 0.0], [1.0, 0.0, 0.0]],  # new: run, repair
    [[0.0, 0.8, 0.2], [0.9, 0.1, 0.0]],  # worn
    [[0.0, 0.0, 1.0], [0.6, 0.0, 0.4]],  # broken
])  # fmt: skip
profit = np.array([[10.0, 3.0], [9.0, -6.0], [0.0, -6.0]])
downtime = np.array([0.0, 0.0, 1.0])  # days on which it is broken

problem = rd.Problem(
    P,
    reward=profit,
    signals={"downtime": downtime},
    constraints=[rd.at_most("downtime", 0.3)],
    uncertainty=rd.KL(0.05),
    horizon=20,
    states=["new", "worn", "broken"],
    actions=["run", "repair"],
)
solution = rd.solve(problem, method="frontier")
print(problem)
print(solution)
assert solution.status == "certified"

# Run it: episodes under the nominal model, and under the nature that is worst for the downtime.
for nature in ("nominal", "worst-downtime"):
    days = rd.simulate(problem, solution, episodes=10_000, nature=nature)
    print(f"{nature}: profit {days.reward.mean:.1f}, downtime {days.constraints[0].mean:.2f}")
