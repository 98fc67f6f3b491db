"""The comparisons: which problem, which methods, and what came out."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from pathlib import Path

from program import Program, command

STEPS = (0.001, 0.01, 0.1)
RADII = (0.01, 0.05, 0.1)
GARNET_SEEDS = range(10)


@dataclass(frozen=True)
class Case:
    name: str  # of its files
    title: str
    problem: str
    rcvi: tuple[str, ...] = ()  # options of RCVI
    figure: bool = True
    steps: tuple[float, ...] = STEPS
    frontier: tuple[str, ...] = ("--tolerance", "0.001")


def _river(radius: float, start: str, text: str) -> Case:
    where = "" if start == "uniform" else f",start={start}"
    return Case(f"river_swim-{start}-{radius}", f"Constrained RiverSwim, radius {radius}, {text}",
                f"river_swim(radius={radius}{where})", ("--budget-step", "0.01"))  # fmt: skip


def _garnet(radius: float, seed: int) -> Case:
    shown = seed == 0
    return Case(f"garnet-{seed}-{radius}", f"Garnet, radius {radius}, seed {seed}",
                f"garnet(radius={radius},seed={seed})", ("--budget-step", "0.5"),
                figure=shown, steps=STEPS if shown else (0.01,))  # fmt: skip


CASES = (
    *(_river(radius, "uniform", "uniform start") for radius in RADII),
    *(_river(radius, "2", "start s2") for radius in RADII),
    *(_garnet(radius, 0) for radius in RADII),
    *(_garnet(0.05, seed) for seed in GARNET_SEEDS if seed != 0),
    Case("river_swim-99", "Constrained RiverSwim, discount .99, cost at most 42, start s2",
         "river_swim(discount=0.99,bound=42,start=2)", ("--budget-step", "0.2")),
    *(Case(f"river_swim-10-s{start}", f"Constrained RiverSwim, horizon 10, start s{start}",
           f"river_swim(horizon=10,discount=1,start={start})", figure=False, steps=(0.1,)) for start in range(6)),
)  # fmt: skip


@dataclass
class Line:
    """One method on one problem."""

    name: str
    method: str
    step: float | None
    status: str
    first_feasible: float | None
    last_reward: float
    last_cost: float
    best_reward: float | None
    gap: float | None
    row_evaluations: float
    seconds: float
    trace: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Result:
    case: Case
    bound: float  # no policy that keeps the constraint guarantees more
    budget: float
    lines: list[Line]
    commands: list[str]

    def line(self, method: str, step: float | None = None) -> Line:
        return next(a for a in self.lines if a.method == method and (step is None or a.step == step))


def run(case: Case, program: Program, folder: Path) -> Result:
    """Each method in its own call with one thread, so that nothing disturbs the seconds."""
    calls = [
        ("rcvi", ["compare", case.problem, "--methods", "rcvi", *case.rcvi]),
        ("rcvi, fallback utility", ["compare", case.problem, "--methods", "rcvi", *case.rcvi, "--fallback", "utility"]),
        ("frontier", ["compare", case.problem, "--methods", "frontier", *case.frontier]),
        ("", ["compare", case.problem, "--methods", "rnpg,crpo", "--steps", ",".join(map(str, case.steps))]),
    ]
    lines, bound = [], math.inf
    for name, arguments in calls:
        summary, text = program.compare(*arguments[1:], "--threads", "1")
        traces = _traces(text)
        bound = min(bound, summary["bound"])
        for entry in summary["methods"]:
            label = name or entry["name"]
            lines.append(_line(label, entry, traces.get(entry["name"], {})))
    for line in lines:
        line.gap = None if line.best_reward is None else bound - line.best_reward
    budget = _bound_of(program, case)
    _write_traces(folder / f"{case.name}.csv", lines)
    return Result(case, bound, budget, lines, [command(*arguments) for _, arguments in calls])


def _bound_of(program: Program, case: Case) -> float:
    return program.json("solve", case.problem, "--method", "robust")["constraints"][0]["bound"]


def _line(label: str, entry: dict, trace: dict[str, list[float]]) -> Line:
    method, _, step = label.partition(", step ")
    return Line(label, method, float(step) if step else None, entry["status"], entry["first_feasible"],
                entry["last_reward"], entry["last_constraints"][0], entry["best_reward"], entry["gap"],
                entry["row_evaluations"], entry["seconds"], trace)  # fmt: skip


def _traces(text: str) -> dict[str, dict[str, list[float]]]:
    traces: dict[str, dict[str, list[float]]] = {}
    columns = ["iteration", "row_evaluations", "seconds", "reward", "bound", "cost"]
    for name, *values in list(csv.reader(text.splitlines()))[1:]:
        trace = traces.setdefault(name, {column: [] for column in columns})
        for column, value in zip(columns, values, strict=True):
            trace[column].append(float(value or "nan"))
    return traces


def thinned(trace: dict[str, list[float]], most: int = 90) -> dict[str, list[float]]:
    """Records at even distances on a logarithmic axis, with the first and the last."""
    count = len(trace.get("iteration", ()))
    if count == 0:
        return trace
    keep = {0, count - 1} | {round(count ** (i / most)) - 1 for i in range(most)}
    return {column: [values[i] for i in sorted(keep)] for column, values in trace.items()}


def _write_traces(path: Path, lines: list[Line]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["method", "iteration", "row_evaluations", "seconds", "reward", "bound", "cost"])
        for line in lines:
            for record in zip(*thinned(line.trace).values(), strict=True):
                writer.writerow([line.name, *("" if math.isnan(value) else f"{value:.7g}" for value in record)])
