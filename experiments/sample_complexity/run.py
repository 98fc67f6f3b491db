"""How the error of a policy that was learnt from samples falls with their number.

    .venv/bin/python experiments/sample_complexity/run.py          # figure, table and page into docs/measurements/
    .venv/bin/python experiments/sample_complexity/run.py --quick  # fewer samples and seeds, into build/
    .venv/bin/python experiments/sample_complexity/run.py --checkpoint FILE    # goes on there after a kill

For every problem, set and N: estimate the model from N samples of each row, solve it exactly, and evaluate the
policy on the true model. Its error is its shortfall in worst-case reward plus its violation of the constraint.
"""

import argparse
import csv
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "experiments")]
import redoubt as rd  # noqa: E402
from checkpoint import Checkpoint, write_whole  # noqa: E402

TOLERANCE = 1e-5  # of the solver, relative: well below the errors that are measured
DELTA = 0.05
UNSEEN = 1e-9  # probability that the estimate keeps for outcomes that no sample showed


@dataclass
class Case:
    name: str
    set: str
    problem: rd.Problem
    optimum: float = 0.0


@dataclass
class Point:
    """One case and N: shortfall and violation of all seeds, and what the theory promises for their sum."""

    samples: int
    shortfall: np.ndarray
    violation: np.ndarray
    bound: float

    @property
    def errors(self):
        return self.shortfall + self.violation


def cases():
    river = {
        "tv": "river_swim(horizon=10,set=tv,radius=0.1,bound=4.5)",
        "chi2": "river_swim(horizon=10,set=chi2,radius=0.1,bound=4)",
        "kl": "river_swim(horizon=10,set=kl,radius=0.05,bound=4)",
    }
    fork = {
        "tv": "fork(set=tv,radius=0.1,reach=support,bound=1.2)",
        "chi2": "fork(set=chi2,radius=0.1,bound=1.2)",
        "kl": "fork(set=kl,radius=0.05,bound=1.2)",
    }
    for ids in (river, fork):
        for name, id in ids.items():
            yield Case(id, name, rd.make(id))


def learnt(truth, samples, seed):
    """The estimated problem, with every outcome of the true one: a policy must know what to do after any of them."""
    found = rd.estimate(truth, samples=samples, seed=seed)
    estimated = found.transition_matrix().toarray()
    P = {state: {} for state in range(truth.states)}
    reward = np.zeros((truth.states, truth.actions))
    signals = {name: np.zeros_like(reward) for name in truth.signals}
    for state in range(truth.states):
        for row in range(truth.state_rows[state], truth.state_rows[state + 1]):
            action = truth.action[row]
            possible = truth.next[truth.row_outcomes[row] : truth.row_outcomes[row + 1]]
            unseen = UNSEEN / len(possible)
            P[state][action] = {to: (1 - UNSEEN) * estimated[row, to] + unseen for to in possible}
            reward[state, action] = found.reward[row]
            for name, values in signals.items():
                values[state, action] = found.signals[name][row]
    return rd.Problem(P, reward, signals=signals, constraints=truth.constraints, uncertainty=truth.uncertainty,
                      horizon=truth.horizon, discount=truth.discount, start=truth.start)  # fmt: skip


def errors_of(case, samples, seed):
    """Shortfall and violation of the policy that this seed's samples lead to."""
    solution = rd.solve(learnt(case.problem, samples, seed), "frontier", tolerance=TOLERANCE)
    truth = rd.evaluate(case.problem, solution)
    constraint = truth.constraints[0]
    miss = constraint.worst - constraint.bound if constraint.sense == "at_most" else constraint.bound - constraint.worst
    return max(0.0, case.optimum - truth.reward.worst), max(0.0, miss)


def measure(case, sizes, seeds, pool, checkpoint, report):
    case.optimum = checkpoint.once(
        case.name, lambda: rd.solve(case.problem, "frontier", tolerance=TOLERANCE / 10).reward.worst
    )

    def once(samples, seed):
        return checkpoint.once(f"{case.name} {samples} {seed}", lambda: errors_of(case, samples, seed))

    for samples in sizes:
        errors = []
        for error in pool.map(lambda seed, n=samples: once(n, seed), range(seeds)):
            errors.append(error)
            report()
        size = rd.samples_buy(case.problem, samples, delta=DELTA)
        yield Point(samples, *np.array(errors).T, size.reward_error + size.violation[0])


def band(errors, rounds=2000):
    """A 95 % confidence interval of the mean, by bootstrap."""
    picks = np.random.default_rng(0).integers(len(errors), size=(rounds, len(errors)))
    return np.quantile(errors[picks].mean(axis=1), [0.025, 0.975])


def slope(points):
    """Of log(mean error) over log(N), least squares."""
    return np.polyfit(np.log([p.samples for p in points]), np.log([p.errors.mean() for p in points]), 1)[0]


def plot(results, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    colours = {"tv": "tab:blue", "chi2": "tab:orange", "kl": "tab:green"}
    for axis, environment in zip(axes, ("river_swim", "fork"), strict=True):
        for case, points in results:
            if not case.name.startswith(environment):
                continue
            sizes = [p.samples for p in points]
            low, high = np.array([band(p.errors) for p in points]).T
            colour = colours[case.set]
            axis.plot(sizes, [p.errors.mean() for p in points], "o-", ms=3, color=colour,
                      label=f"{case.set}, slope {slope(points):.2f}")  # fmt: skip
            axis.fill_between(sizes, np.maximum(low, 1e-12), high, color=colour, alpha=0.2, lw=0)
            axis.plot(sizes, [p.bound for p in points], "--", color=colour, lw=1)
        axis.set(xscale="log", yscale="log", xlabel="samples of each row", title=environment)
        axis.grid(alpha=0.3, which="major")
        axis.legend(frameon=False)
    axes[0].set_ylabel("shortfall plus violation")
    write_whole(path, lambda name: figure.savefig(name, metadata={"Date": None}))


def table(results):
    lines = []
    for case, points in results:
        lines += [f"`{case.name}`, optimum {case.optimum:.5f}, slope {slope(points):.2f}:", ""]
        lines += ["| N | mean error | 95 % band | of it violation | largest | guaranteed |", "|---|---|---|---|---|---|"]
        for p in points:
            low, high = band(p.errors)
            lines.append(f"| {p.samples:,} | {p.errors.mean():.2e} | {low:.1e} to {high:.1e} "
                         f"| {p.violation.mean() / p.errors.mean():.0%} | {p.errors.max():.1e} | {p.bound:.1e} |")  # fmt: skip
        lines.append("")
    return "\n".join(lines)


def write_errors(results, path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["problem", "samples", "seed", "shortfall", "violation", "bound"])
        for case, points in results:
            for p in points:
                each = enumerate(zip(p.shortfall, p.violation, strict=True))
                writer.writerows([case.name, p.samples, seed, *error, p.bound] for seed, error in each)


def page(results, seconds, seeds):
    text = (Path(__file__).parent / "page.md").read_text()
    worst = max(p.errors.max() / p.bound for _, points in results for p in points)
    facts = {
        "@table@": table(results),
        "@date@": str(date.today()),
        "@seeds@": str(seeds),
        "@seconds@": f"{seconds:.0f}",
        "@cores@": str(os.cpu_count()),
        "@share@": f"{worst:.1%}",
        "@slopes@": ", ".join(f"{slope(points):.2f}" for _, points in results),
    }
    for key, value in facts.items():
        text = text.replace(key, value)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    parser.add_argument("--only", default="", help="the cases with this in their names")
    parser.add_argument("--output", type=Path, help="folder; docs/measurements/ unless given")
    parser.add_argument("--checkpoint", type=Path, help="file that keeps what was found, and is gone on from")
    parser.add_argument("--checkpoint-interval", type=float, default=2.0, help="seconds between two writes of it")
    options = parser.parse_args()
    output = options.output or ROOT / ("build/sample_complexity" if options.quick else "docs/measurements")
    figures = output / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    sizes = [10, 100, 1000] if options.quick else [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000]
    seeds = 4 if options.quick else 50

    from tqdm import tqdm

    begin = time.monotonic()
    work = f"sample_complexity {options.only}, N {sizes}, {seeds} seeds, redoubt {rd.__version__}"
    checkpoint = Checkpoint(options.checkpoint, work, options.checkpoint_interval)
    everything = [case for case in cases() if options.only in case.name]
    with ThreadPoolExecutor(os.cpu_count()) as pool, tqdm(total=len(everything) * len(sizes) * seeds) as bar:
        results = [(case, list(measure(case, sizes, seeds, pool, checkpoint, bar.update))) for case in everything]
    seconds = time.monotonic() - begin

    plot(results, figures / "sample_complexity.svg")
    text = page(results, seconds, seeds)
    write_whole(output / "sample_complexity.md", lambda name: name.write_text(text))
    write_whole(figures / "sample_complexity.csv", lambda name: write_errors(results, name))
    checkpoint.remove()
    print(table(results))
    if options.quick:
        return 0  # too few seeds to judge by
    above = [case.name for case, points in results if any((p.errors > p.bound).any() for p in points)]
    shallow = [case.name for case, points in results if slope(points) > -0.4]
    for names, what in ((above, "error above the guarantee"), (shallow, "slope above -0.4")):
        if names:
            print(f"{what}: {', '.join(names)}", file=sys.stderr)
    return 1 if above or shallow else 0


if __name__ == "__main__":
    sys.exit(main())
