"""What `learn` claims against the truth, and what it costs. Each part prints a table for docs/measurements/sample_complexity.md:

    .venv/bin/python experiments/learn/run.py coverage --runs 400     # the claims of 400 runs each, checked on the true model
    .venv/bin/python experiments/learn/run.py samples                 # draws to certify, against `samples`
    .venv/bin/python experiments/learn/run.py adaptive                # adaptive against uniform draws
    .venv/bin/python experiments/learn/run.py bracket                 # the certified bracket over the samples
    .venv/bin/python experiments/learn/run.py recorded                # a log of 100,000 transitions
    .venv/bin/python experiments/learn/run.py time                    # a round against a frontier solve
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import redoubt as rd
from certificates import coverage
from models import long_river
from price import least_widths
from recorded import table as recorded

RIVER = "river_swim(horizon=10,set=kl,radius=0.05,bound=4)"
FIGURES = Path(__file__).resolve().parents[2] / "docs" / "measurements" / "figures"
PRICED = [
    ("river_swim(horizon=10,start=2)", 0.5),
    ("river_swim(horizon=10,start=3)", 0.5),
    ("machine_replacement(horizon=10,discount=1)", 0.5),
    ("garnet(states=8,actions=2,spread=2,horizon=5,bound=16,seed=1)", 4.0),
    ("streaming(buffer=4,horizon=8)", 0.5),
]


def samples(seeds: int) -> None:
    print(f"| problem | epsilon | rows | samples: of each row | in all | learn: in all, median of {seeds} | times fewer |\n{'|---' * 7}|")
    for text, epsilon in PRICED:
        problem = rd.make(text)
        asked = rd.samples_needed(problem, epsilon=epsilon)
        drawn = []
        for seed in range(seeds):
            learned = rd.learn(problem, epsilon=epsilon, seed=seed, most_samples=20_000_000)
            assert learned.status == "certified", (text, learned.status)
            drawn.append(int(learned.samples.sum()))
        needed = float(np.median(drawn))
        print(f"| `{text}` | {epsilon} | {len(problem.action)} | {asked.per_row:,} | {asked.total:,.0f} | {needed:,.0f} | {asked.total / needed:,.0f} |", flush=True)


def adaptive(seeds: int) -> None:
    problem = long_river(60)
    print(f"| draws | samples, median of {seeds} | rows with more than the first round |\n{'|---' * 3}|")
    for uniform in (False, True):
        runs = [rd.learn(problem, epsilon=0.04, seed=seed, uniform=uniform) for seed in range(seeds)]
        assert all(run.status == "certified" for run in runs), [run.status for run in runs]
        print(f"| {'uniform' if uniform else 'adaptive'} | {np.median([run.samples.sum() for run in runs]):,.0f} | "
              f"{np.median([(run.samples > 32).sum() for run in runs]):.0f} of {len(problem.action)} |", flush=True)  # fmt: skip


def bracket(seeds: int) -> None:
    measured = mean_errors(RIVER)
    problem = rd.make(RIVER)
    truth = rd.solve(problem, tolerance=1e-5).reward.worst
    least = np.array(least_widths(problem, 1000)) * math.sqrt(1000)
    print(f"| samples of each row | measured error, mean | certified bracket, median of {seeds} | times the error | least: any | least: rows apart | "
          f"guaranteed in advance | truth inside |\n{'|---' * 8}|")  # fmt: skip
    sizes, widths = [300, 1000, 3000, 10_000, 30_000, 100_000], []
    for size in sizes:
        runs = [rd.learn(problem, epsilon=1e-4, seed=seed, uniform=True, strict=True, first_samples=size, round=lambda _: False)
                for seed in range(seeds)]  # fmt: skip
        kept = [run for run in runs if run.constraints[0].satisfied]
        widths.append(np.median([run.reward.bound - run.reward.worst for run in kept]) if kept else math.nan)
        inside = all(run.reward.bound >= truth - 1e-7 for run in runs)
        error, promise = measured[size]
        any_, apart = least / math.sqrt(size)
        print(f"| {size:,} | {error:.3g} | {widths[-1]:.3g} | {widths[-1] / error:.0f} | {any_:.3g} | {apart:.3g} | {promise:.3g} | "
              f"{'yes' if inside else 'no'} |", flush=True)  # fmt: skip
    good = np.isfinite(widths)
    slope = np.polyfit(np.log(np.array(sizes)[good]), np.log(np.array(widths)[good]), 1)[0]
    print(f"\nslope {slope:.2f}, optimum {truth:.4f}")
    draw(sizes, widths, measured)


def mean_errors(problem: str) -> dict[int, tuple[float, float]]:
    """By samples of each row: the mean error that experiments/sample_complexity measured, and the guarantee beside it."""
    found: dict[int, list[tuple[float, float]]] = {}
    with (FIGURES / "sample_complexity.csv").open() as file:
        for line in csv.DictReader(file):
            if line["problem"] == problem:
                error = float(line["shortfall"]) + float(line["violation"])
                found.setdefault(int(line["samples"]), []).append((error, float(line["bound"])))
    return {size: (float(np.mean([one[0] for one in lines])), lines[0][1]) for size, lines in found.items()}


def draw(sizes: list[int], widths: list[float], measured: dict[int, tuple[float, float]]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "redoubt"
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
    every = sorted(measured)
    axis.loglog(every, [measured[n][1] for n in every], "--", color="tab:gray", label="guaranteed before the first draw")
    axis.loglog(sizes, widths, "s-", color="tab:blue", label="certified bracket")
    axis.loglog(every, [measured[n][0] for n in every], "o-", color="tab:orange", label="measured error, mean")
    axis.set(xlabel="samples of each row", ylabel="reward", title=RIVER)
    axis.title.set_size("small")
    axis.legend()
    figure.savefig(FIGURES / "learn.svg", metadata={"Date": None})


def least_time(call: Callable[[], object], times: int = 3) -> float:
    """Milliseconds of the processor: the least of a few, which other work on the machine disturbs least."""
    spent = []
    for _ in range(times):
        begin = time.process_time()
        call()
        spent.append(time.process_time() - begin)
    return 1e3 * min(spent)


def estimated_models(problem: rd.Problem, epsilon: float, seed: int) -> list[rd.Problem]:
    """The model that each round of a run estimates, with the set of the problem."""
    found: list[rd.Problem] = []
    while True:
        left = iter(range(len(found)))
        learned = rd.learn(problem, epsilon=epsilon, seed=seed, round=lambda _, left=left: next(left, None) is not None)
        found.append(learned.problem.replace(uncertainty=problem.uncertainty))
        if learned.status == "certified":
            return found


def draw_time(problem: rd.Problem) -> float:
    """Milliseconds of one draw within `learn`: what more of them cost a run of one round."""

    def run(each: int) -> rd.LearnedSolution:
        return rd.learn(problem, epsilon=1e6, first_samples=each)

    few, many = 1000, 11_000
    drawn = run(many).samples.sum() - run(few).samples.sum()
    return (least_time(lambda: run(many)) - least_time(lambda: run(few))) / drawn


def duration(seeds: int) -> None:
    print("| problem | rounds | a round, ms | of which draws | frontier of the last model, ms | ratio without draws | "
          f"frontier of the round's model, ms | ratio without draws |\n{'|---' * 8}|")  # fmt: skip
    for text, epsilon in PRICED:
        problem = rd.make(text)
        empirical = rd.estimate(problem, samples=1000)
        last = least_time(lambda: rd.solve(empirical), 9)  # noqa: B023
        draw = draw_time(problem)
        rounds, each, draws, own = [], [], [], []
        for seed in range(seeds):
            samples = rd.learn(problem, epsilon=epsilon, seed=seed).rounds["samples"]
            rounds.append(len(samples))
            each.append(least_time(lambda: rd.learn(problem, epsilon=epsilon, seed=seed), 5) / len(samples))  # noqa: B023
            draws.append(draw * samples[-1] / len(samples))
            models = estimated_models(problem, epsilon, seed)
            own.append(float(np.mean([least_time(lambda: rd.solve(model)) for model in models])))  # noqa: B023
        round_, drawing, of_round = (float(np.median(found)) for found in (each, draws, own))
        print(f"| `{text}` | {np.median(rounds):.0f} | {round_:.2f} | {drawing:.2f} | {last:.2f} | {(round_ - drawing) / last:.1f} | "
              f"{of_round:.2f} | {(round_ - drawing) / of_round:.1f} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["coverage", "samples", "adaptive", "bracket", "recorded", "time"])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--only", default="", help="problems whose text holds this")
    parser.add_argument("--transitions", type=int, default=100_000)
    given = parser.parse_args()
    {
        "coverage": lambda: coverage(given.runs, given.delta, given.only),
        "samples": lambda: samples(given.seeds),
        "adaptive": lambda: adaptive(given.seeds),
        "bracket": lambda: bracket(given.seeds),
        "recorded": lambda: recorded(given.transitions, given.only),
        "time": lambda: duration(given.seeds),
    }[given.part]()


if __name__ == "__main__":
    main()
