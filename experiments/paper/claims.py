"""What is measured for each claim of the paper, beside the comparisons."""

from __future__ import annotations

import math
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cases import Line, Result
from program import Program, command

CLOSE = 0.01  # a value has arrived when it stays within this share of its final one


@dataclass
class Memory:
    """Best guaranteed rewards where a policy must remember: the paper's Lemma 1, and `hedge`."""

    problem: str
    budget: float
    methods: dict[str, tuple[str, float, float]]  # method: status, reward, constraint
    bound: float
    commands: list[str]


def memory(program: Program, problem: str) -> Memory:
    calls = [
        ["--methods", "rcvi,frontier"],
        ["--methods", "crpo,primal-dual", "--step", "0.002", "--iterations", "20000"],
    ]
    methods, bound = {}, math.inf
    for call in calls:
        summary = program.json("compare", problem, *call)
        bound = min(bound, summary["bound"])
        for entry in summary["methods"]:
            best = entry["best_reward"]
            methods[entry["name"]] = (entry["status"], entry["last_reward"] if best is None else best,
                                      entry["last_constraints"][0])  # fmt: skip
    budget = program.json("solve", problem, "--method", "robust")["constraints"][0]["bound"]
    return Memory(problem, budget, methods, bound, [command("compare", problem, *call) for call in calls])


@dataclass
class Arrival:
    """How long a method took to its own best feasible reward."""

    case: str
    line: Line
    at: dict[str, float] | None  # iteration, row evaluations, seconds; None: never


def arrivals(_: Program, results: list[Result]) -> list[Arrival]:
    found = []
    for result in results:
        if not result.case.figure:
            continue
        for line in result.lines:
            if line.method == "rcvi":
                found.append(Arrival(result.case.title, line, _settled(line)))
            elif line.step is not None:
                found.append(Arrival(result.case.title, line, _reached(line, result.budget)))
    return found


def _settled(line: Line) -> dict[str, float]:
    """Backward steps after which the value of the k-step problem no longer changes by more than a share."""
    reward = line.trace["reward"]
    last = max((i for i, value in enumerate(reward) if abs(value - reward[-1]) > CLOSE * abs(reward[-1])), default=-1)
    return _record(line, min(last + 1, len(reward) - 1))


def _reached(line: Line, budget: float) -> dict[str, float] | None:
    if line.best_reward is None:
        return None
    goal = line.best_reward - CLOSE * abs(line.best_reward)
    for i, (reward, cost) in enumerate(zip(line.trace["reward"], line.trace["cost"], strict=True)):
        if cost <= budget and reward >= goal:
            return _record(line, i)
    return None


def _record(line: Line, index: int) -> dict[str, float]:
    return {key: line.trace[key][index] for key in ("iteration", "row_evaluations", "seconds")}


@dataclass
class Sampling:
    """Error of what RCVI claims on an estimated model, against the number of samples of each row."""

    samples: list[int]
    reward_error: list[float]  # mean over seeds
    violation: list[float]
    slope: float  # of log error against log samples; the theorem says -1/2
    commands: list[str]
    needed: dict  # what `samples` says of epsilon .5
    learned: list[int]  # samples in all with which `learn` certified that, for each seed
    certifying: list[str]  # the commands of these two


def sampling(program: Program, _: list[Result]) -> Sampling:
    problem = "river_swim(horizon=10,discount=1,start=2)"
    sizes, seeds = [100, 1000, 10000, 100000], range(10)
    rewards, violations = [], []
    with tempfile.TemporaryDirectory() as folder:
        model, answer = str(Path(folder) / "estimated.json"), str(Path(folder) / "policy.h5")
        calls = []
        for count in sizes:
            errors, misses = [], []
            for seed in seeds:
                calls = [
                    ["estimate", problem, "--samples", str(count), "--seed", str(seed), "-o", model],
                    ["solve", model, "--method", "rcvi", "--budget-step", "0.01", "-o", answer],
                    ["evaluate", problem, answer],
                ]
                run = lambda calls=calls: [program.print_json(*call) for call in calls]  # files of a folder that goes
                _, claimed, true = program.checkpoint.once(f"{problem}, {count} samples, seed {seed}", run)
                errors.append(abs(claimed["reward"]["worst"] - true["reward"]["worst"]))
                constraint = true["constraints"][0]
                misses.append(max(0.0, constraint["worst"] - constraint["bound"]))
            rewards.append(statistics.mean(errors))
            violations.append(statistics.mean(misses))
    x, y = [math.log(n) for n in sizes], [math.log(e) for e in rewards]
    slope = statistics.linear_regression(x, y).slope
    shown = [" ".join(command(*call).replace(folder + "/", "").split()) for call in calls]
    exact = ["--epsilon", "0.5", "--delta", "0.05"]
    needed = program.json("samples", problem, *exact)
    learned = [program.json("learn", problem, *exact, "--seed", str(seed)) for seed in range(5)]
    if any(one["status"] != "certified" for one in learned):
        raise SystemExit(f"learn {problem}: {[one['status'] for one in learned]}, must be certified")
    return Sampling(sizes, rewards, violations, slope, shown, needed, [one["samples"] for one in learned],
                    [command("samples", problem, *exact), command("learn", problem, *exact)])  # fmt: skip


@dataclass
class Extensions:
    grid: list[tuple[str, str, float, float]]  # budget step, status, reward, cost
    two: dict[str, dict]  # a problem with two constraints, by each method
    chance: dict[str, dict]  # a problem with a chance constraint, by each method
    state: dict[str, dict]  # rows of a state that share the radius, by each method
    alone: dict  # the answer of frontier where every row has that radius to itself
    factors: dict[str, dict]  # rows that mix a few distributions, by each method
    commands: dict[str, list[str]]


def extensions(program: Program, _: list[Result]) -> Extensions:
    problem = "river_swim(horizon=10,discount=1,start=3)"
    grid = []
    for step in ("0", "0.01", "0.05", "0.1", "0.4"):
        answer = program.json("solve", problem, "--method", "rcvi", "--budget-step", step)
        grid.append((step, answer["status"], answer["reward"]["worst"], answer["constraints"][0]["worst"]))
    methods = {"RCVI": ["--method", "rcvi"],
               "RCVI, fallback utility": ["--method", "rcvi", "--fallback", "utility"],
               "frontier": ["--method", "frontier", "--tolerance", "0.01"]}  # fmt: skip
    two = ["solve", problem, "--bound", "cost<=4", "--bound", "cost>=0.8"]
    chance = ["solve", problem, "--bound", "cost<=4 with 0.8"]
    state = ["solve", problem, "--scope", "state"]
    factors = ["solve", "experiments/paper/factors.json"]
    commands = {"rounding": [command("solve", problem, "--method", "rcvi", "--budget-step", "0.4")],
                "two": [command(*two, *options) for options in methods.values()],
                "chance": [command(*chance, *options) for options in methods.values()],
                "state": [command(*state, *options) for options in methods.values()],
                "factors": [command(*factors, *options) for options in methods.values()]}  # fmt: skip

    def by_method(arguments):
        return {name: program.json(*arguments, *options) for name, options in methods.items()}

    alone = program.json("solve", problem, *methods["frontier"])
    return Extensions(grid, by_method(two), by_method(chance), by_method(state), alone, by_method(factors), commands)


MEASUREMENTS = {
    "fork": lambda program, _: memory(program, "fork(radius=0.1)"),
    "hedge": lambda program, _: memory(program, "hedge"),
    "arrivals": arrivals,
    "sampling": sampling,
    "extensions": extensions,
}
