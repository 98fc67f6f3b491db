"""python -m redoubt VERB: what the program `redoubt` leaves to Python: convert by stormpy, report, policy, aggregate."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import Error, aggregate, load, load_solution, make
from ._problem import Problem
from ._sources import read_draft, save_draft


def _constants(text: str) -> dict[str, int | float | bool]:
    return dict(_constant(part) for part in text.split(",") if part)


def _constant(part: str) -> tuple[str, int | float | bool]:
    name, equals, value = (word.strip() for word in part.partition("="))
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, int(value) if value.lstrip("+-").isdigit() else float(value)
    except ValueError:
        raise Error(f"--constants {part}, must read NAME=VALUE, with a number, true or false") from None


def _convert(given: argparse.Namespace) -> None:
    draft = read_draft(given.source, _constants(given.constants) or None, given.property)
    save_draft(draft, given.target, given.uncompressed)
    print(f"Wrote {given.target}")


def _problem(name: str) -> Problem:
    """A file, or a built-in problem."""
    return load(name) if Path(name).suffix in (".json", ".csv", ".umb") or Path(name).exists() else make(name)


def _places(name: str, states: int) -> NDArray[np.int64] | None:
    """Row and column of each state of the built-in grid, whose states have numbers only."""
    size = math.isqrt(states)
    return np.argwhere(np.ones((size, size))) if name.split("(")[0] == "grid" and size * size == states else None


def _report(given: argparse.Namespace) -> None:
    solution = load_solution(_problem(given.problem), given.solution)
    name = given.name or given.problem
    progress = (lambda done: print(f"\rreport {done:4.0%}", end="", file=sys.stderr)) if sys.stderr.isatty() else False
    solution.report(given.output, time_limit=given.time_limit, progress=progress,
                    coordinates=_places(name, solution.problem.states),
                    files=(name, given.solution), command=given.command)  # fmt: skip
    print(f"Report written to {given.output}")


def _policy(given: argparse.Namespace) -> None:
    solution = load_solution(_problem(given.problem), given.solution)
    try:
        bounds = [float(bound) for bound in given.bounds.split(",")]
    except ValueError:
        raise Error(f"--bounds {given.bounds}, must be numbers with commas between them") from None
    if len(bounds) != len(solution.problem.constraints):
        raise Error(f"--bounds {given.bounds}, must be one for each of {len(solution.problem.constraints)} constraints")
    solution.policy_at(*bounds).export(given.output)
    print(f"Policy written to {given.output}")


def _labels(file: str) -> NDArray[np.str_]:
    try:
        return np.array(Path(file).read_text(encoding="utf-8").split())
    except OSError as error:
        raise Error(f"{file}: {error.strerror}, must be a file with one word for each state") from None
    except UnicodeDecodeError:
        raise Error(f"{file} is not text, must have one word for each state") from None


def _aggregate(given: argparse.Namespace) -> None:
    problem = _problem(given.problem)
    cells = aggregate(problem, _labels(given.labels) if given.labels else None)
    refines = given.tolerance is not None or given.most_cells is not None
    answer = cells.refine(given.tolerance or 1e-9, given.most_cells) if refines else cells.solve()
    if given.output:
        answer.policy.export(given.output)
    if given.json:
        print(json.dumps({"states": problem.states, "cells": answer.aggregation.cells, "lower": answer.lower,
                          "upper": answer.upper, "gap": answer.gap}))  # fmt: skip
        return
    print(f"{answer.aggregation.cells:,} cells of {problem.states:,} states")
    print(f"  A policy on cells guarantees {answer.lower:.6g}")
    print(f"  No policy guarantees more than {answer.upper:.6g}: gap {answer.gap:.6g}")
    if given.output:
        print(f"Policy written to {given.output}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m redoubt", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    convert = verbs.add_parser("convert", help="a model in another format; PRISM and JANI programs are read by stormpy")
    convert.add_argument("source", metavar="IN", help="a PRISM or JANI program, or a file of Redoubt")
    convert.add_argument("target", metavar="OUT", help="file to write; its ending chooses the format")
    convert.add_argument("--constants", default="", help="values of open constants, as in N=4,p=0.5")
    convert.add_argument("--property", help="what Storm would be asked: becomes objective, constraints and horizon")
    convert.add_argument("--uncompressed", action="store_true", help="a .umb file that several ranks read together")
    convert.set_defaults(run=_convert)
    report = verbs.add_parser("report", help="one page that shows a solution")
    report.add_argument("--time-limit", type=float, default=5.0, help="seconds for solving with other radii (5)")
    report.add_argument("--name", default="", help="what the problem is called in commands that the page shows")
    report.add_argument("--command", default="", help="how the page was made, to be shown on it")
    report.set_defaults(run=_report)
    policy = verbs.add_parser(
        "policy", help="the policy of a solution by frontier for other bounds, without solving again"
    )
    policy.add_argument("--bounds", required=True, help="one for each constraint, with commas between them")
    policy.set_defaults(run=_policy)
    cells = verbs.add_parser("aggregate", help="states as cells: a guarantee and a bound from a smaller problem")
    cells.add_argument("problem", metavar="PROBLEM", help="a file, or a built-in problem")
    cells.add_argument("--labels", default="", help="a file with one word for each state: those with the same word are a cell")
    cells.add_argument("--tolerance", type=float, help="split cells until the gap is this share of the bound")
    cells.add_argument("--most-cells", type=int, help="split cells until there are so many")
    cells.add_argument("-o", "--output", default="", help="file for the policy of the problem (.json)")
    cells.add_argument("--json", action="store_true", help="print one JSON object")
    cells.set_defaults(run=_aggregate)
    for verb in (report, policy):
        verb.add_argument("problem", metavar="PROBLEM", help="a file, or a built-in problem")
        verb.add_argument("solution", metavar="SOLUTION", help="what solve -o has written")
        verb.add_argument("-o", "--output", required=True, help="file to write")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        given.run(given)
    except Error as error:
        print(f"redoubt: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
