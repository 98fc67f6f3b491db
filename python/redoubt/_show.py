"""Problems and solutions as text and as tables for notebooks."""

from __future__ import annotations

from html import escape

import numpy as np

from . import _core

_SIGN = {"at_least": ">=", "at_most": "<="}


def problem_text(problem) -> str:
    lines = [f"{key + ':':<13}{value}" for key, value in _problem_rows(problem)]
    return "\n".join(["redoubt.Problem", *("  " + line for line in lines)])


def problem_html(problem) -> str:
    return _table("Problem", _problem_rows(problem))


def solution_text(solution) -> str:
    lines = [f"{key + ':':<13}{value}" for key, value in _solution_rows(solution)]
    return "\n".join([f"redoubt.Solution by {solution.method}: {solution.status}", *("  " + line for line in lines)])


def solution_html(solution) -> str:
    return _table(f"Solution by {solution.method}: {solution.status}", _solution_rows(solution))


def _problem_rows(problem) -> list[tuple[str, str]]:
    each = "" if problem.stages == 1 else f", for each of {problem.stages} stages"
    rows = [
        ("states", f"{problem.states:,}"),
        ("actions", f"{problem.actions:,}"),
        ("rows", f"{problem.rows:,} with {problem.outcomes:,} outcomes{each}"),
        ("horizon", "infinite" if problem.horizon is None else f"{problem.horizon:,}"),
        ("discount", f"{problem.discount:g}"),
        ("start", _start(problem)),
        ("signals", ", ".join(problem.model.signal_names) or "none"),
    ]
    rows += [("constraint", _constraint(c.signal, c.sense, c.bound, c.probability)) for c in problem.constraints]
    return [*rows, ("uncertainty", repr(problem.uncertainty))]


def _start(problem) -> str:
    start = problem.terms.start
    if len(start.states) == 1:
        return problem.model.state_name(start.states[0])
    return f"{len(start.states):,} states"


def _constraint(signal: str, sense: str, bound: float, probability: float | None) -> str:
    text = f"{signal} {_SIGN[sense]} {bound:g}"
    return text if probability is None else f"P({text}) >= {probability:g}"


def _solution_rows(solution) -> list[tuple[str, str]]:
    reward = solution.reward
    known = reward.bound is not None and solution.status != "infeasible"
    gap = "" if solution.gap is None else f" (gap {solution.gap:.2g})"
    bound = "" if not known else f"; no policy beats {reward.bound:.6g}{gap}"
    rows = [("reward", f"{reward.worst:.6g} in the worst case{bound}")]
    rows += [(c.name, f"{_promise(c)}: {'kept' if c.satisfied else 'broken'}") for c in solution.constraints]
    rows.append(("policy", policy_size(solution.policy)))
    rows.append(("work", f"{solution.seconds:.3g} s, {solution.row_evaluations:,.0f} row evaluations"))
    return rows + [("note", note) for note in solution.notes]


def policy_size(policy) -> str:
    return f"{_count(policy.stages, 'stage')}, {_count(policy.memory_states, 'memory state')}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _promise(c) -> str:
    if c.probability is None:
        return f"{c.worst:.6g}, must be {_SIGN[c.sense]} {c.bound:g}"
    return f"{_SIGN[c.sense]} {c.bound:g} with probability {c.worst:.6g}, must be {c.probability:g}"


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows)
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"


def comparison_text(comparison) -> str:
    """One line for each contestant."""
    head = ("", "status", "worst-case reward", "gap to the bound", *_names(comparison))
    table = [head, *_comparison_rows(comparison)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([*lines, f"no policy that keeps the constraints beats {comparison.bound:.6g}"])


def comparison_html(comparison) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "status", "reward", "gap", *_names(comparison)))
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(entry)}</td>" for entry in row) + "</tr>" for row in _comparison_rows(comparison)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _names(comparison) -> list[str]:
    solutions = list(comparison.solutions.values())
    return [c.name for c in solutions[0].constraints] if solutions else []


def _comparison_rows(comparison) -> list[tuple[str, ...]]:
    rows = []
    for line in comparison.lines:
        solution = comparison.solutions[line.name]
        gap = "" if line.gap is None else f"{line.gap:.3g}"
        rows.append((line.name, solution.status, f"{solution.reward.worst:.6g}", gap,
                     *(f"{c.worst:.6g}" for c in solution.constraints)))  # fmt: skip
    return rows


def constraint_call(constraint: _core.Constraint) -> str:
    """How the constraint is made."""
    signal, sense, bound = repr(constraint.signal), constraint.sense, f"{constraint.bound:g}"
    if constraint.probability is None:
        return f"{sense}({signal}, {bound})"
    return f"chance({signal}, {sense}={bound}, probability={constraint.probability:g})"


def fields_text(thing) -> str:
    """What a value of the library holds: AchievableRange(best=0.5, worst=4)."""
    names = [name for name, member in vars(type(thing)).items() if isinstance(member, property)]
    return f"{type(thing).__name__}({', '.join(f'{name}={_field(getattr(thing, name))}' for name in names)})"


def _field(value) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"  # no -0
    if isinstance(value, (np.ndarray, list)) and len(value) > 8:
        return f"<{len(value):,} values>"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ")
    return repr(value)


# What a prompt shows of the library's values; those of the package have a text of their own.
_core.Constraint.__repr__ = constraint_call
for _type in (
    _core.AchievableRange, _core.BudgetAxis, _core.ComparisonLine, _core.ConstraintResult, _core.EnvironmentInfo,
    _core.Evaluation, _core.MarkovKernel, _core.MemoryPlan, _core.ParameterInfo, _core.RcviPlan, _core.RewardResult,
    _core.RowDistribution, _core.SampledTotal, _core.SampleSize, _core.Simulation, _core.Start, _core.Terms,
):  # fmt: skip
    _type.__repr__ = fields_text
