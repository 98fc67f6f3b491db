"""What recorded data prove: brackets around the best reward by each set, and how narrow any bracket could be."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import redoubt as rd
from logs import write_log
from price import distributions, product_share
from scipy.stats import norm


def board(size: int) -> rd.Problem:
    """A grid with slip: a step goes to either side with probability .1 each; the far corner pays while one is there."""
    P = np.zeros((size * size, 4, size * size))
    steps = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    for cell in range(size * size):
        for move in range(4):
            for turn, chance in ((0, 0.8), (1, 0.1), (3, 0.1)):
                down, right = steps[(move + turn) % 4]
                to = min(max(cell // size + down, 0), size - 1) * size + min(max(cell % size + right, 0), size - 1)
                P[cell, move, to] += chance
    reward = np.zeros((size * size, 4))
    reward[-1] = 1
    return rd.Problem(P, reward=reward, order="sas", horizon=4 * size, start=0)


# Every bracket is that of the unconstrained optimum without a set of the user's own.
LOGS = {
    "river_swim(horizon=10,start=2)": None,
    "machine_replacement(horizon=10,discount=1)": None,
    "streaming(buffer=8,horizon=10,discount=1)": None,
    "board(4)": lambda: board(4),
    "board(6)": lambda: board(6),
    "garnet(states=8,actions=2,spread=2,horizon=10)": None,
    "garnet(states=50,actions=4,successors=4,horizon=10)": None,
}


def bracket(known: rd.Problem) -> tuple[float, float]:
    """The best guarantee with nature against the policy, and the best that any policy could have: with nature for it."""
    worst, best = (rd.solve(known.replace(nature=nature), "robust").reward.worst for nature in ("adversarial", "helpful"))
    return worst, best


def gradients(problem: rd.Problem) -> np.ndarray:
    """The best total of the nominal model, differentiated by the probability of each (row, next state)."""
    P = distributions(problem)
    owner = np.repeat(np.arange(problem.states), np.diff(problem.state_rows))
    value, values, best = np.zeros(problem.states), [], []
    for _ in range(problem.horizon):
        worth = problem.reward + problem.discount * P @ value
        best.append(np.array([a + worth[a:b].argmax() for a, b in zip(problem.state_rows[:-1], problem.state_rows[1:], strict=True)]))
        values.append(value)
        value = worth[best[-1]]
    visits, found, factor = np.array(problem.start, float), np.zeros(P.shape), 1.0
    for rows_here, following in zip(reversed(best), reversed(values), strict=True):
        found[rows_here] += factor * problem.discount * visits[owner[rows_here], None] * following
        visits, factor = visits @ P[rows_here], factor * problem.discount
    spread = (P * found**2).sum(1) - (P * found).sum(1) ** 2
    return np.sqrt(np.maximum(spread, 0))


def least_widths(problem: rd.Problem, visits: np.ndarray, delta: float) -> tuple[float, float]:
    """The two-sided interval, at this confidence, of the best policy's total when everything but the errors is known, to first
    order: where errors of rows may cancel, and where each row has a region of its own and may be anywhere in it."""
    deviation = np.divide(gradients(problem), np.sqrt(visits), out=np.zeros(len(visits)), where=visits > 0)
    together = 2 * norm.isf(delta / 2) * np.sqrt((deviation**2).sum())
    return together, 2 * norm.isf(product_share(delta, (deviation > 0).sum()) / 2) * deviation.sum()


def table(transitions: int) -> None:
    print("| log of | truth | `--confidence 0.95` | width | tv | chi2 | kl | times narrower than the best of these | least: rows apart | least: any |")
    print("|---" * 10 + "|")
    for text, make in LOGS.items():
        problem = (make() if make else rd.make(text)).replace(uncertainty=rd.Nominal(), constraints=[])
        terms = dict(horizon=problem.horizon, discount=problem.discount, start=problem.start)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log.csv"
            write_log(log, problem, transitions)
            data = dict(states=problem.states, unvisited="simplex", **terms)
            known = rd.recorded(log, confidence=0.95, uncertainty=rd.Nominal(), **data)
            balls = [rd.recorded(log, delta=0.05, uncertainty=ball, **data) for ball in (rd.TV(0.0), rd.Chi2(0.0), rd.KL(0.0))]
        truth = rd.solve(problem, "robust").reward.worst
        low, high = bracket(known)
        assert low <= truth + 1e-7 and truth <= high + 1e-7, text
        widths = [above - below for below, above in map(bracket, balls)]
        together, apart = least_widths(problem, known.visits, 0.05)
        print(f"| `{text}` | {truth:.3f} | {low:.3f} to {high:.3f} | {high - low:.3f} | " + " | ".join(f"{width:.3f}" for width in widths) +
              f" | {min(widths) / (high - low):.1f} | {apart:.3f} | {together:.3f} |", flush=True)  # fmt: skip
