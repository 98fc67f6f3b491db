"""Problems and solutions as text and as tables for notebooks."""

from __future__ import annotations

from html import escape

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
    for c in solution.constraints:
        verdict = "kept" if c.satisfied else "broken"
        rows.append((c.name, f"{c.worst:.6g}, must be {_SIGN[c.sense]} {_required(c)}: {verdict}"))
    rows.append(("policy", f"{solution.policy.stages:,} stages, {solution.policy.memory_states:,} memory states"))
    rows.append(("work", f"{solution.seconds:.3g} s, {solution.row_evaluations:,.0f} row evaluations"))
    return rows + [("note", note) for note in solution.notes]


def _required(c) -> str:
    return f"{c.bound:g}" if c.probability is None else f"{c.bound:g} with probability {c.probability:g}"


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    body = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in rows)
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"
