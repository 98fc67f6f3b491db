"""Nature: which rows it moves, what stages earn against it, and how totals of episodes are spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._core import Error
from .._options import execution
from .._solution import Solution, column_names
from .._tools import simulate
from ._svg import Chart, Line, number

_MOST_STAGES = 200
_EPISODES = 4000
_STEPS = 400_000  # of all episodes of one nature, at most about that
_LONG = 1000  # decisions of an episode that ends when it ends: a guess
_MOST_ROWS = 12  # that a table lists


def courses(solution: Solution) -> tuple[dict[str, Any], list[str]]:
    """What happens under the nominal model and each worst one, by the word for it; and what was left out."""
    assert solution.policy is not None
    problem, found, missing = solution.problem, {}, []
    words = ["nominal", "worst-reward"]
    words += [("worst-" if c.probability is None else "chance-") + c.signal for c in problem.constraints]
    for word in dict.fromkeys(words):
        nature = _core.nature_of(problem, word)
        try:
            found[word] = _core.course(problem, solution.policy._policy, nature, _MOST_STAGES, execution(1))
        except Error as error:
            missing.append(f"{word}: {error}")
    return found, missing


def nature_section(solution: Solution, found: dict[str, Any], missing: list[str]) -> dict[str, Any]:
    names = ["reward", *column_names(solution.problem)]
    stages = [_by_stage(name, i, found) for i, name in enumerate(names)]
    moved = [table for word, course in found.items() if word != "nominal" and (table := _moved(solution, word, course))]
    return {"moved": moved, "stages": stages, "spread": _spread(solution, [*found]), "missing": missing}


def _moved(solution: Solution, word: str, course: Any) -> dict[str, Any] | None:
    """The rows in which nature moves most: from where to where."""
    problem, moved, visits = solution.problem, course.row_moved, course.row_visits
    order = [int(row) for row in np.argsort(-moved, kind="stable")[:_MOST_ROWS] if moved[row] > 1e-12]
    rows = []
    for row in order:
        first, end = problem.row_outcomes[row : row + 2]
        nominal, chosen = problem.probability[first:end], course.outcome_visits[first:end] / visits[row]
        name = [problem.model.state_name(int(s)) for s in problem.next[first:end]]
        change = chosen - nominal
        lost = [f"{name[i]} {nominal[i]:.3f} → {chosen[i]:.3f}" for i in np.argsort(change) if change[i] < -5e-4][:3]
        won = [f"{name[i]} {nominal[i]:.3f} → {chosen[i]:.3f}" for i in np.argsort(-change) if change[i] > 5e-4][:3]
        landed = course.landing_visits[row] / visits[row]
        if landed > 5e-4:
            won.insert(0, f"outside of the row {landed:.3f}")
        rows.append(
            [
                problem.model.row_name(row),
                number(visits[row]),
                f"{moved[row] / visits[row]:.3f}",
                ", ".join(lost),
                ", ".join(won),
            ]
        )
    if not rows:
        return None
    head = ["decision", "expected times taken", "probability moved", "away from", "towards"]
    return {"title": f"Nature {word}", "head": head, "rows": rows, "hidden": int((moved > 1e-12).sum()) - len(rows)}


def _by_stage(name: str, channel: int, found: dict[str, Any]) -> dict[str, Any]:
    earned = {word: course.earned[channel] for word, course in found.items()}
    count = max(len(values) for values in earned.values())
    lines = [Line(word, list(range(len(values))), values, style, dots=count <= 30)
             for style, (word, values) in enumerate(earned.items())]  # fmt: skip
    chart = Chart("stage", f"expected {name}, discounted", lines)
    every = max(1, count // 40)
    rows = [[str(h), *(number(values[h]) for values in earned.values())] for h in range(0, count, every)]
    rows.append(["total", *(number(float(np.sum(values))) for values in earned.values())])
    return {"title": f"Expected {name} by stage", "svg": chart.svg(f"Expected {name} of each stage, by nature"),
            "table": {"head": ["stage", *earned], "rows": rows}}  # fmt: skip


def _spread(solution: Solution, words: list[str]) -> list[dict[str, Any]]:
    """How totals of episodes are spread, under each nature."""
    assert solution.policy is not None
    problem = solution.problem
    endless = 10 / (1 - problem.discount) if problem.discount < 1 else _LONG
    steps = endless if problem.horizon is None else problem.horizon
    episodes = int(min(_EPISODES, max(200, _STEPS / max(1, steps))))
    sampled = {}
    for word in words:
        try:
            sampled[word] = simulate(problem, solution.policy, episodes=episodes, nature=word, tolerance=1e-4)
        except Error:
            continue
    figures = []
    for i, name in enumerate(["reward", *column_names(solution.problem)]):
        totals = {word: (s.reward if i == 0 else s.constraints[i - 1]).totals for word, s in sampled.items()}
        if not totals:
            continue
        low, high = min(t.min() for t in totals.values()), max(t.max() for t in totals.values())
        edges = np.linspace(low, high if high > low else low + 1, 31)
        lines, rows = [], []
        for style, (word, values) in enumerate(totals.items()):
            share = np.histogram(values, edges)[0] / len(values)
            lines.append(Line(word, edges.tolist(), [*share.tolist(), float(share[-1])], style, steps=True))
            rows.append(
                [word, *map(number, (values.mean(), values.min(), *np.percentile(values, (10, 50, 90)), values.max()))]
            )
        chart = Chart(f"{name} of an episode", "share of episodes", lines)
        head = [f"nature ({episodes:,} episodes)", "mean", "least", "10 %", "median", "90 %", "largest"]
        figures.append({"title": f"How the {name} of an episode is spread", "table": {"head": head, "rows": rows},
                        "svg": chart.svg(f"Shares of episodes by their {name}, for each nature")})  # fmt: skip
    return figures
