"""What recorded data prove: brackets around the best reward by each set, and how narrow any bracket could be."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import redoubt as rd
from logs import write_log
from models import board, inventory, long_river, queue, streaming
from price import distributions, product_share
from scipy.stats import norm

LOGS: dict[str, Callable[[], rd.Problem] | None] = {
    "river_swim(horizon=10,start=2)": None,
    "machine_replacement(horizon=10,discount=1)": None,
    "streaming(buffer=8,horizon=10,discount=1)": None,
    "board(4)": lambda: board(4),
    "board(6)": lambda: board(6),
    "garnet(states=8,actions=2,spread=2,horizon=10)": None,
    "garnet(states=50,actions=4,successors=4,horizon=10)": None,
}
# One system with more and more room, of which an episode sees a little.
GROWN = {"queue": queue, "streaming": streaming, "long_river": long_river, "inventory": inventory}
LOGS |= {f"{name}({states})": partial(make, states) for name, make in GROWN.items() for states in (10, 50, 200, 500)}
BALLS = (rd.TV(0.0), rd.Chi2(0.0), rd.KL(0.0))


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


@dataclass
class Brackets:
    """Of one log: by --confidence, and by a ball for each row, whose sizes come from the data."""

    truth: float
    low: float
    high: float
    balls: list[float]  # widths: tv, chi2, kl
    visits: np.ndarray
    outcomes: int  # that --confidence lists, of all rows
    seconds: float  # of the processor, for both ends by --confidence

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def times(self) -> float:
        """Narrower than the best ball."""
        return min(self.balls) / self.width


def brackets(problem: rd.Problem, transitions: int, sets: Sequence[rd.TV | rd.Chi2 | rd.KL] = BALLS) -> Brackets:
    """Of the unconstrained optimum without a set of the user's own, from a log of random actions. All of them must hold it."""
    problem = problem.replace(uncertainty=rd.Nominal(), constraints=[])
    terms = dict(horizon=problem.horizon, discount=problem.discount, start=problem.start)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        write_log(log, problem, transitions)
        data = dict(states=problem.states, actions=problem.actions, unvisited="simplex", **terms)
        known = rd.recorded(log, confidence=0.95, uncertainty=rd.Nominal(), **data)
        balls = [rd.recorded(log, delta=0.05, uncertainty=ball, **data) for ball in sets]
    truth = rd.solve(problem, "robust").reward.worst
    begin = time.process_time()
    low, high = bracket(known)
    seconds = time.process_time() - begin
    ends = [(low, high), *map(bracket, balls)]
    assert all(below <= truth + 1e-7 and truth <= above + 1e-7 for below, above in ends), ends
    return Brackets(truth, low, high, [above - below for below, above in ends[1:]], known.visits,
                    len(known.probability), seconds)  # fmt: skip


def table(transitions: int, only: str) -> None:
    print("| log of | truth | `--confidence 0.95` | width | tv | chi2 | kl | times narrower than the best of these | least: rows apart | "
          "least: any |")  # fmt: skip
    print("|---" * 10 + "|")
    seconds = 0.0
    for text, make in LOGS.items():
        if only not in text:
            continue
        problem = make() if make else rd.make(text)
        found = brackets(problem, transitions)
        together, apart = least_widths(problem, found.visits, 0.05)
        print(f"| `{text}` | {found.truth:.3f} | {found.low:.3f} to {found.high:.3f} | {found.width:.3f} | " +
              " | ".join(f"{width:.3f}" for width in found.balls) +
              f" | {found.times:.1f} | {apart:.3f} | {together:.3f} |", flush=True)  # fmt: skip
        seconds = max(seconds, found.seconds)
    print(f"\nBoth ends by --confidence: at most {seconds:.3f} s of the processor")
