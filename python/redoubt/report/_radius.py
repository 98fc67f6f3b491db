"""How the answer depends on the radius: of this policy, and of the best one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._problem import Problem
from .._solution import Solution, column_names
from .._solve import solve
from .._tools import evaluate
from ._svg import Chart, Line, number

_SHARES = (1.0, 0.0, 2.0, 0.5, 1.5, 0.25, 0.75, 1.25)  # of the radius, in the order in which they are looked at


def radius_section(solution: Solution, time_limit: float, told: Callable[[float], object]) -> dict[str, Any]:
    """Worst cases of this policy and of the best one over a range of radii, as many as the time allows."""
    problem = solution.problem
    set_: Any = problem.given.terms.uncertainty  # what `replace` changes
    if (
        solution.policy is None
        or not isinstance(set_, (_core.TV, _core.KL, _core.Chi2))
        or not np.any(np.asarray(set_.radius))
    ):
        return {"note": "The set has no radius to change."}
    end, own, best = time.monotonic() + time_limit, {}, {}
    mean = float(np.mean(np.asarray(set_.radius)))
    for i, share in enumerate(_SHARES):
        told(i / len(_SHARES))
        left = end - time.monotonic()
        if i and left <= 0:
            break
        other = problem.replace(uncertainty=_scaled(set_, share))
        if (other.states, other.rows) != (problem.states, problem.rows):
            continue  # other states have become one there, of which this policy does not speak
        own[share * mean] = evaluate(other, solution.policy)
        if problem.constraints and (left := end - time.monotonic()) > 0:
            found = (
                solution
                if share == 1
                else solve(other, "frontier", tolerance=1e-2, time_limit=left / (len(_SHARES) - i))
            )
            best[share * mean] = found if found.status in ("certified", "feasible") else None
    radii = sorted(own)
    missing = sorted(share * mean for share in _SHARES if share * mean not in own)
    return {
        "figures": _figures(problem, solution, radii, own, best),
        "missing": ", ".join(number(radius) for radius in missing),
        "several": np.asarray(set_.radius).ndim > 0,
    }


def _scaled(set_: Any, share: float) -> Any:
    kind: Any = type(set_)
    radius = share * np.asarray(set_.radius) if np.ndim(set_.radius) else share * set_.radius
    return kind(radius, set_.reach) if isinstance(set_, _core.TV) else kind(radius)


def _figures(
    problem: Problem, solution: Solution, radii: list[float], own: dict[float, Any], best: dict[float, Any]
) -> list[dict[str, Any]]:
    now = float(np.mean(np.asarray(getattr(problem.given.terms.uncertainty, "radius"))))  # noqa: B009
    charts = [("reward", [own[r].reward.worst for r in radii], [best.get(r) and best[r].reward.worst for r in radii])]
    for i, name in enumerate(column_names(problem)):
        charts.append((name, [own[r].constraints[i].worst for r in radii],
                       [best.get(r) and best[r].constraints[i].worst for r in radii]))  # fmt: skip
    figures = []
    for name, this, others in charts:
        lines = [Line("this policy", radii, this, 0, dots=True)]
        if any(value is not None for value in others):
            known = [(r, v) for r, v in zip(radii, others, strict=True) if v is not None]
            lines.append(
                Line("the best policy for that radius", [r for r, _ in known], [v for _, v in known], 1, dots=True)
            )
        chart = Chart("radius", f"worst-case {name}", lines, asked=(now, "the radius that was asked"))
        rows = [[number(r), number(a), number(b)] for r, a, b in zip(radii, this, others, strict=True)]
        figures.append({
            "svg": chart.svg(f"Worst-case {name} over the radius"),
            "table": {"head": ["radius", "this policy", "best policy"], "rows": rows},
            "title": f"Worst-case {name}",
        })  # fmt: skip
    return figures
