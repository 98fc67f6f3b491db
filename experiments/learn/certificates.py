"""Claims of `learn`, checked on the true models."""

from __future__ import annotations

import time

import numpy as np
import redoubt as rd

SETS = ["set=tv,radius=.05,reach=support", "set=chi2,radius=.1", "set=kl,radius=.05"]
# Problem, epsilon; the bounds bind.
COVERED = [
    ("river_swim(horizon=10,start=2,{})", 0.5),
    ("fork(bound=1.2,{})", 0.05),
    ("garnet(states=8,actions=2,spread=2,horizon=5,bound=16,seed=1,{})", 4.0),
    ("grid(size=4,horizon=8,{})", 0.7),
]


def wrong_claims(problem: rd.Problem, learned: rd.LearnedSolution, epsilon: float, best: float, feasible: bool) -> list[str]:
    """Which of the claims of one run the true model contradicts."""
    found = []
    if learned.status == "infeasible":
        return ["infeasible"] if feasible else []
    if learned.reward.bound < best - 1e-7:
        found.append("bound")
    real = rd.evaluate(problem, learned.policy)
    if real.reward.worst < learned.reward.worst - 1e-7:
        found.append("reward")
    for mine, true in zip(learned.constraints, real.constraints, strict=True):
        sign = 1 if mine.sense == "at_most" else -1
        if sign * (true.worst - mine.worst) > 1e-7:
            found.append("constraint")
        if learned.status == "certified" and sign * (true.worst - mine.bound) > epsilon + 1e-7:
            found.append("kept")
    return found


def coverage(runs: int, delta: float, only: str) -> None:
    from scipy.stats import binom

    most = int(binom.ppf(0.99, runs, delta))
    print(f"| problem | set | epsilon | runs | certified | wrong | at most (1 % test) | samples, median | seconds |\n{'|---' * 9}|")
    for text, epsilon in COVERED:
        for one in SETS:
            problem = rd.make(text.format(one))
            if only not in text.format(one):
                continue
            truth = rd.solve(problem, tolerance=1e-5)
            wrong, certified, samples, begin = 0, 0, [], time.process_time()
            for seed in range(runs):
                learned = rd.learn(problem, epsilon=epsilon, delta=delta, seed=seed)
                wrong += bool(wrong_claims(problem, learned, epsilon, truth.reward.worst, truth.status != "infeasible"))
                certified += learned.status == "certified"
                samples.append(learned.samples.sum())
            print(f"| `{text.format('...')}` | {one.split(',')[0][4:]} | {epsilon} | {runs} | {certified} | {wrong} | {most} | "
                  f"{np.median(samples):,.0f} | {time.process_time() - begin:.0f} |", flush=True)  # fmt: skip
