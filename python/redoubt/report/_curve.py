"""The trade-off: the certified band, the price of a constraint, and the policies along it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import plots
from .._core import Error
from .._solution import Solution, column_names
from ._svg import Chart, Line, number

_PLACES = 41  # of the slider


def curve_section(solution: Solution, files: tuple[str, str]) -> dict[str, Any] | None:
    """What the page shows of the trade-off for each constraint; None where the method has none.

    Files: what the problem and the solution are called in commands.
    """
    if not solution.problem.constraints or solution.policy is None or len(solution.curve["reward"]) == 0:
        return None
    shown = [one for i in range(len(solution.constraints)) if (one := _one(solution, i, files)) is not None]
    return {"curves": shown} if shown else None


def curve_chart(solution: Solution, constraint: int = 0) -> Chart | None:
    """The certified band; None where nothing of it is known."""
    at, reached, beyond = plots._band(solution, constraint)
    if len(at) < 2:
        return None
    chosen, name = solution.constraints[constraint], column_names(solution.problem)[constraint]
    above = [None if np.isnan(value) else float(value) for value in beyond]
    xs, low = at.tolist(), reached.tolist()
    lines = [Line("guaranteed by a policy", xs, low)]
    known = any(value is not None for value in above)
    if known:
        lines.append(Line("proved: none gets above", xs, above, 1))
    marker = None
    if chosen.worst is not None and solution.reward.worst is not None:
        marker = (plots._number_asked(chosen), solution.reward.worst, "the chosen bound")
    what = f"bound on {name}" if chosen.probability is None else f"probability that {name} {plots._limit(chosen)}"
    return Chart(what, "worst-case reward", lines, (xs, low, above) if known else None, "between the two: not known",
                 (plots._number_asked(chosen), f"asked: {plots._asked(chosen)}"), marker)  # fmt: skip


def _one(solution: Solution, constraint: int, files: tuple[str, str]) -> dict[str, Any] | None:
    chart = curve_chart(solution, constraint)
    if chart is None:
        return None
    name = column_names(solution.problem)[constraint]
    asked = plots._number_asked(solution.constraints[constraint])
    places = _places(solution, constraint, chart, files)
    table = [[number(x), number(low), "\N{EN DASH}" if high is None else number(high)]
             for x, low, high in _thinned(chart)]  # fmt: skip
    return {
        "name": name,
        "number": constraint,
        "svg": chart.svg(f"Worst-case reward that can be guaranteed, over the bound on {name}", f"chosen{constraint}"),
        "table": {"head": [chart.xlabel, "guaranteed reward", "none gets above"], "rows": table},
        "price": price(solution, constraint),
        "places": places,
        "first": min(range(len(places)), key=lambda i: abs(places[i]["bound"] - asked)) if places else 0,
    }


def price(solution: Solution, constraint: int) -> str:
    """How much reward one unit of the bound is worth, on either side of it."""
    at, reached, _ = plots._band(solution, constraint)
    asked = plots._number_asked(solution.constraints[constraint])
    order = np.argsort(at)
    at, reached = at[order], reached[order]
    slopes = []
    for side in (at < asked - 1e-12, at > asked + 1e-12):
        if side.sum() and len(at) > 1:
            near = int(np.flatnonzero(side)[-1 if at[side][0] < asked else 0])
            here = float(np.interp(asked, at, reached))
            slopes.append(abs((reached[near] - here) / (at[near] - asked)))
    if not slopes:
        return ""
    low, high = min(slopes), max(slopes)
    worth = number(low) if high - low <= 1e-3 * max(high, 1e-12) else f"{number(low)} to {number(high)}"
    return f"Near the bound, one unit of it is worth {worth} of guaranteed reward."


def _thinned(chart: Chart) -> list[tuple[float, float, float | None]]:
    low, above = chart.lines[0], chart.lines[1].y if len(chart.lines) > 1 else [None] * len(chart.lines[0].x)
    every = max(1, len(low.x) // 40)
    rows = list(zip(low.x, low.y, above, strict=True))
    return [row for i, row in enumerate(rows) if (i % every == 0 or i == len(rows) - 1) and row[1] is not None]  # type: ignore[misc]


def _places(solution: Solution, constraint: int, chart: Chart, files: tuple[str, str]) -> list[dict[str, Any]]:
    """Where the slider stops: bound, guarantees, first decisions and the command for each."""
    bounds = [plots._number_asked(one) for one in solution.constraints]
    asked, (low, high) = bounds[constraint], (min(chart.lines[0].x), max(chart.lines[0].x))
    stops = sorted({*np.linspace(low, high, _PLACES - 1).tolist(), min(max(asked, low), high)})
    above = chart.lines[1] if len(chart.lines) > 1 else chart.lines[0]
    known = sorted((x, y) for x, y in zip(above.x, above.y, strict=True) if y is not None)
    places = []
    for stop in stops:
        bounds[constraint] = stop
        try:
            reward, policy = solution.reward_at(*bounds), solution.policy_at(*bounds)
        except Error:
            continue
        beyond = (
            float(np.interp(stop, [x for x, _ in known], [y for _, y in known]))
            if above is not chart.lines[0]
            else None
        )
        places.append({
            "bound": stop,
            "shown": number(stop),
            "reward": number(reward.worst),
            "beyond": number(beyond),
            "first": _first_decisions(policy),
            "command": _command(files, bounds),
            "x": chart.px(stop),
            "y": chart.py(reward.worst if reward.worst is not None else 0.0),
        })  # fmt: skip
    return places


def _first_decisions(policy: Any) -> str:
    problem, said = policy.problem, []
    for state in np.flatnonzero(problem.start)[:4].tolist():
        weights = np.zeros(problem.actions)
        for memory, weight in policy._policy.start_moves(state):
            weights += weight * policy.action_weights(state, 0, memory)
        taken = ", ".join(
            f"{problem.model.action_name(int(a))} {weights[a]:.0%}" for a in np.argsort(-weights) if weights[a] > 5e-4
        )
        said.append(f"in {problem.model.state_name(state)}: {taken or 'nothing to do'}")
    return "; ".join(said)


def _command(files: tuple[str, str], bounds: list[float]) -> str:
    listed = ",".join(f"{bound:.10g}" for bound in bounds)
    problem, solution = (
        f"'{name}'" if not name.replace(".", "").replace("/", "").isalnum() else name for name in files
    )
    return f"python -m redoubt policy {problem} {solution} --bounds {listed} -o policy.json"
