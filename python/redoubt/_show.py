"""What a prompt and a notebook show: every value as text and as a table, names of users escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    from ._policy import Policy
    from ._problem import Problem
    from ._solution import Solution
    from ._solve import Comparison

_SIGN = {"at_least": ">=", "at_most": "<="}
_VERDICT = {True: "kept", False: "broken", None: "unknown"}


def problem_text(problem: Problem) -> str:
    lines = [f"{key + ':':<13}{value}" for key, value in _problem_rows(problem)]
    return "\n".join(["redoubt.Problem", *("  " + line for line in lines)])


def problem_html(problem: Problem) -> str:
    return table_html("Problem", _problem_rows(problem))


def solution_text(solution: Solution) -> str:
    lines = [f"{key + ':':<13}{value}" for key, value in _solution_rows(solution)]
    return "\n".join([f"redoubt.Solution by {solution.method}: {solution.status}", *("  " + line for line in lines)])


def solution_html(solution: Solution) -> str:
    table = table_html(f"Solution by {solution.method}: {solution.status}", _solution_rows(solution))
    curve = _curve_html(solution)
    return f'<div class="redoubt">{table}{curve}</div>' if curve else table


# Colours of a notebook's own theme, and the three that the drawing needs.
_CURVE_STYLE = """<style>.redoubt svg:not(.key){max-width:40rem;height:auto}.redoubt .key{width:26px;height:12px}
.redoubt .line{fill:none;stroke-width:2}.redoubt .s0{stroke:#0072b2}.redoubt .s1{stroke:#d55e00;stroke-dasharray:7 3}
.redoubt .band{fill:#d55e00;opacity:.28}.redoubt .asked{stroke:currentColor;stroke-dasharray:4 4}
.redoubt .axis{fill:none;stroke:currentColor}.redoubt .grid{stroke:currentColor;opacity:.2}
.redoubt text{fill:currentColor;font-size:12px}.redoubt .chosen{fill:#b3261e}
.redoubt .legend span{margin-right:1rem}</style>"""


def _curve_html(solution: Solution) -> str:
    """The trade-off of the first constraint with its certified band; nothing where the method has none."""
    if not solution.problem.constraints or solution.policy is None or len(solution.curve["reward"]) == 0:
        return ""
    from .report._curve import curve_chart, price

    chart = curve_chart(solution)
    if chart is None:
        return ""
    drawn = chart.svg(f"Worst-case reward over the {chart.xlabel}")
    return f"{_CURVE_STYLE}{drawn}<p>{escape(price(solution, 0))}</p>"


def _problem_rows(problem: Problem) -> list[tuple[str, str]]:
    each = "" if problem.stages == 1 else f", for each of {problem.stages} stages"
    given = problem.given
    groups, factors = given.model.groups, given.model.factors
    terms = given.terms if problem.two_stages else problem.terms
    picked = "the policy" if terms.helpful_groups else "nature"
    rows = [
        ("states", f"{problem.states:,}"),
        ("actions", f"{problem.actions:,}"),
        ("rows", f"{problem.rows:,} with {problem.outcomes:,} outcomes{each}"),
        ("horizon", "infinite" if terms.horizon is None else f"{terms.horizon:,}"),
        ("discount", f"{terms.discount:g}"),
        ("start", _start(problem)),
        ("signals", ", ".join(problem.model.signal_names) or "none"),
    ]
    rows += [("groups", f"{groups:,}, {picked} picks")] if groups else []
    rows += [("factors", f"{factors:,}, the set is around them")] if factors else []
    rows += [("labels", ", ".join(problem.labels))] if problem.labels else []
    rows += [("constraint", _constraint(c.signal, c.sense, c.bound, c.probability)) for c in problem.constraints]
    return [*rows, ("uncertainty", repr(terms.uncertainty))]


def _start(problem: Problem) -> str:
    start = problem.terms.start
    if len(start.states) == 1:
        return problem.model.state_name(start.states[0])
    return f"{len(start.states):,} states"


def _constraint(signal: str, sense: str, bound: float, probability: float | None) -> str:
    text = f"{signal} {_SIGN[sense]} {bound:g}"
    return text if probability is None else f"P({text}) >= {probability:g}"


def _solution_rows(solution: Solution) -> list[tuple[str, str]]:
    reward = solution.reward
    known = reward.bound is not None and solution.status != "infeasible"
    gap = "" if solution.gap is None else f" (gap {solution.gap:.2g})"
    bound = "" if not known else f"; no policy beats {reward.bound:.6g}{gap}"
    rows = [("reward", f"{_worst(reward.worst)} in the worst case{bound}")]
    rows += [(c.name, f"{_promise(c)}: {_VERDICT[c.satisfied]}") for c in solution.constraints]
    rows.append(("policy", policy_size(solution.policy)))
    rows.append(("work", f"{solution.seconds:.3g} s, {solution.row_evaluations:,.0f} row evaluations"))
    return rows + [("note", note) for note in solution.notes]


def _worst(value: float | None) -> str:
    """A worst case, unless nobody had the time to evaluate it."""
    return "unknown" if value is None else f"{value + 0.0:.6g}"  # no -0


def policy_size(policy: Policy | None) -> str:
    if policy is None:
        return "none"
    return f"{_count(policy.stages, 'stage')}, {_count(policy.memory_states, 'memory state')}"


def policy_text(policy: Policy) -> str:
    return f"<redoubt.Policy: {policy_size(policy)}, {_kind(policy)}>"


def policy_html(policy: Policy) -> str:
    rows = [("kind", _kind(policy)), ("size", policy_size(policy))]
    return table_html(
        "Policy", [*rows, ("states", f"{policy.problem.states:,}"), ("actions", f"{policy.problem.actions:,}")]
    )


def _kind(policy: Policy) -> str:
    return "tracks budgets" if policy.budget else "Markov" if policy.memory_states == 1 else "finite memory"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _promise(c: _core.ConstraintResult) -> str:
    if c.probability is None:
        return f"{_worst(c.worst)}, must be {_SIGN[c.sense]} {c.bound:g}"
    return f"{_SIGN[c.sense]} {c.bound:g} with probability {_worst(c.worst)}, must be {c.probability:g}"


def table_html(title: str, rows: list[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows)
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"


def comparison_text(comparison: Comparison) -> str:
    """One line for each contestant."""
    head = ("", "status", "worst-case reward", "gap to the bound", *_names(comparison))
    table = [head, *_comparison_rows(comparison)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([*lines, f"no policy that keeps the constraints beats {comparison.bound:.6g}"])


def comparison_html(comparison: Comparison) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "status", "reward", "gap", *_names(comparison)))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(entry)}</td>" for entry in row) + "</tr>" for row in _comparison_rows(comparison)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _names(comparison: Comparison) -> list[str]:
    solutions = list(comparison.solutions.values())
    return [c.name for c in solutions[0].constraints] if solutions else []


def _comparison_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    rows = []
    for line in comparison.lines:
        solution = comparison.solutions[line.name]
        gap = "" if line.gap is None else f"{line.gap:.3g}"
        rows.append((line.name, solution.status, _worst(solution.reward.worst), gap,
                     *(_worst(c.worst) for c in solution.constraints)))  # fmt: skip
    return rows


def constraint_call(constraint: _core.Constraint) -> str:
    """How the constraint is made."""
    signal, sense, bound = repr(constraint.signal), constraint.sense, f"{constraint.bound:g}"
    if constraint.probability is None:
        return f"{sense}({signal}, {bound})"
    return f"chance({signal}, {sense}={bound}, probability={constraint.probability:g})"


def ball_text(ball: Any) -> str:
    """TV, Chi2 or KL as it is made; a long list of radii by its length."""
    reach = f", reach={ball.reach!r}" if isinstance(ball, _core.TV) else ""
    scope = ", scope='state'" if ball.scope == "state" else ""
    return f"{type(ball).__name__}({_field(ball.radius)}{reach}{scope})"


def fields_text(thing: object) -> str:
    """What a value of the library holds: AchievableRange(best=0.5, worst=4)."""
    return f"{type(thing).__name__}({', '.join(f'{name}={_field(value)}' for name, value in _fields(thing))})"


def fields_html(thing: object) -> str:
    return table_html(type(thing).__name__, [(name, _field(value)) for name, value in _fields(thing)])


def as_code(thing: object) -> str:
    """How it is made, for a notebook."""
    return f"<code>{escape(repr(thing))}</code>"


def _fields(thing: object) -> list[tuple[str, Any]]:
    names = [name for name, member in vars(type(thing)).items() if isinstance(member, property)]
    return [(name, getattr(thing, name)) for name in names]


def _field(value: object) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"  # no -0
    if isinstance(value, (np.ndarray, list)) and len(value) > 8:
        return f"<{len(value):,} values>"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ")
    return repr(value)


def _give(kind: type, text: Any, html: Any) -> None:
    """Lets a type of the library, which is closed to type checkers, show itself."""
    if text is not None:
        setattr(kind, "__repr__", text)  # noqa: B010
    setattr(kind, "_repr_html_", html)  # noqa: B010


def found_text(solution: _core.Solution) -> str:
    return f"<solution by {solution.method}: {solution.status}>"


# Values of the library; those of the package have a text of their own.
_give(_core.Constraint, constraint_call, as_code)
_BALLS: tuple[type, ...] = (_core.Chi2, _core.KL, _core.TV)
_OTHER_SETS: tuple[type, ...] = (_core.Composed, _core.Interval, _core.Nominal, _core.Tilt)
_VALUES: tuple[type, ...] = (
    _core.AchievableRange, _core.BudgetAxis, _core.ComparisonLine, _core.ConstraintResult, _core.Controller,
    _core.EnvironmentInfo, _core.Evaluation, _core.MarkovKernel, _core.MemoryPlan, _core.Objective, _core.ParameterInfo,
    _core.Query,
    _core.RcviPlan, _core.RewardResult, _core.RowDistribution, _core.SampledTotal, _core.SampleSize, _core.Simulation,
    _core.Start, _core.Terms,
)  # fmt: skip
_give(_core.Solution, found_text, as_code)
for _type in _BALLS:
    _give(_type, ball_text, as_code)
for _type in _OTHER_SETS:
    _give(_type, None, as_code)
for _type in _VALUES:
    _give(_type, fields_text, fields_html)
