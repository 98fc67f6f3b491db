"""The report: one page, in one file, that shows a solution, explains it, and says how to put it to work."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core, _show
from .._core import Error
from .._options import AnyPath, Progress
from .._solution import Solution, column_names
from .._solve import Comparison, reporter
from .._tools import evaluate
from ._curve import curve_section
from ._nature import courses, nature_section
from ._nodes import policy_section
from ._radius import radius_section
from ._svg import number

if TYPE_CHECKING:
    import jinja2
    from numpy.typing import ArrayLike

_HERE = Path(__file__).parent


def write_report(
    solution: Solution, path: AnyPath, *, comparison: Comparison | None = None, time_limit: float = 5.0,
    progress: Progress = False, coordinates: ArrayLike | None = None,
    files: tuple[str, str] = ("problem.json", "solution.h5"), command: str = "",
) -> None:  # fmt: skip
    """Writes the page: the whole file or none of it. See `Solution.report`."""
    if Path(path).suffix not in (".html", ".htm"):
        raise Error(f"{path}: ending '{Path(path).suffix}', must be .html")
    template = _template()
    with reporter(progress, "report") as report:
        sections = _sections(solution, time_limit, report or (lambda done: None), files, coordinates)
        text = _page(template, solution, sections, _comparison(comparison), command or _command(files))
    _core.write_file(path, text.encode())


def _template() -> jinja2.Template:
    try:
        import jinja2
    except ImportError:
        raise Error("a report needs Jinja2, which is not installed: pip install 'redoubt-mdp[report]'") from None
    loader = jinja2.FileSystemLoader(_HERE)
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(
        "page.html"
    )


def _command(files: tuple[str, str]) -> str:
    return f"redoubt report {' '.join(map(shlex.quote, files))} -o report.html"


def _sections(
    solution: Solution, time_limit: float, told: Callable[[float], object], files: tuple[str, str],
    coordinates: ArrayLike | None,
) -> dict[str, Any]:  # fmt: skip
    """What takes work: all that is known only by evaluating, simulating and solving."""
    _check_problem(solution)
    if solution.policy is None:
        return {"curve": None, "radius": None, "policy": None, "nature": None}
    found, missing = courses(solution)
    told(0.1)
    curve = curve_section(solution, files)
    told(0.2)
    policy = policy_section(solution, found["nominal"].visits, coordinates)
    nature = nature_section(solution, found, missing)
    told(0.4)
    radius = radius_section(solution, time_limit, lambda done: told(0.4 + 0.6 * done))
    return {"curve": curve, "radius": radius, "policy": policy, "nature": nature}


def _page(
    template: jinja2.Template, solution: Solution, sections: dict[str, Any], comparison: dict[str, Any] | None,
    command: str,
) -> str:  # fmt: skip
    from markupsafe import Markup

    data = {"policy": sections["policy"]}
    if sections["curve"]:
        data["curves"] = {one["number"]: one["places"] for one in sections["curve"]["curves"]}
    return template.render(
        title=f"{solution.status}: {solution.method}",
        verdict=verdict(solution),
        guarantees=_guarantees(solution),
        asked=_show._problem_rows(solution.problem),
        work=_work(solution),
        notes=solution.notes,
        comparison=comparison,
        version=_core.version,
        command=command,
        data=Markup(_as_script(data)),  # escaped just there
        css=Markup((_HERE / "page.css").read_text()),
        script=Markup((_HERE / "page.js").read_text()),
        markup=Markup,  # for drawings, which escape their names themselves
        **sections,
    )


def verdict(solution: Solution) -> str:
    """The answer in one sentence."""
    reward, kept = solution.reward, [one for one in solution.constraints if one.satisfied]
    if solution.status == "infeasible":
        return "Infeasible: it is proved that no policy keeps the constraints in the worst case."
    if solution.policy is None:
        return "Stopped: no policy was evaluated before the time was over."
    first = f"{solution.status.capitalize()}: this policy guarantees a reward of {number(reward.worst)} in the worst case"
    if len(kept) < len(solution.constraints):
        broken = ", ".join(one.name for one in solution.constraints if not one.satisfied)
        return f"{first}, but breaks what was asked of {broken}."
    keeps = " and keeps every constraint" if kept else ""
    if solution.gap is None:
        return f"{first}{keeps}; whether a better one exists is not known."
    such = " that keeps them" if kept else ""
    return (f"{first}{keeps}, and no policy{such} "
            f"guarantees more than {number(reward.bound)}: gap {solution.gap:.2g}.")  # fmt: skip


def _guarantees(solution: Solution) -> dict[str, Any]:
    rows = [["reward", number(solution.reward.worst), "as large as possible", ""]]
    for name, one in zip(column_names(solution.problem), solution.constraints, strict=True):
        sign = {"at_most": "≤", "at_least": "≥"}[one.sense]
        what = name if one.probability is None else f"P({name} {sign} {one.bound:g})"
        asked = f"{sign} {one.bound:g}" if one.probability is None else f"≥ {one.probability:g}"
        rows.append([what, number(one.worst), asked, {True: "holds", False: "broken", None: "unknown"}[one.satisfied]])
    return {"head": ["", "worst case", "asked", ""], "rows": rows}


def _work(solution: Solution) -> list[tuple[str, str]]:
    rows = [
        ("method", solution.method),
        ("time", f"{solution.seconds:.3g} s, {solution.row_evaluations:,.0f} row evaluations"),
    ]
    return [*rows, ("policy", _show.policy_size(solution.policy))]


def _comparison(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    head = ["method", "status", "worst-case reward", "gap to the bound", *_show._names(comparison)]
    return {
        "head": head,
        "rows": [list(row) for row in _show._comparison_rows(comparison)],
        "bound": number(comparison.bound),
    }


def _check_problem(solution: Solution) -> None:
    """A file of another problem may fit by its shape alone; what it says of itself must be true here."""
    if solution.policy is None or solution.reward.worst is None:
        return
    found = evaluate(solution.problem, solution.policy)
    pairs: list[tuple[float | None, float | None]] = [(found.reward.worst, solution.reward.worst)]
    pairs += [(a.worst, b.worst) for a, b in zip(found.constraints, solution.constraints, strict=False)]
    for here, said in pairs:
        if here is not None and said is not None and abs(here - said) > 1e-6 * max(1.0, abs(here), abs(said)):
            raise Error(
                f"the solution says {said:.6g} where its policy has {here:.6g} on this problem, must be a solution "
                "of it: other terms, or another problem"
            )
    if len(solution.constraints) != len(solution.problem.constraints):
        raise Error(
            f"the solution is of {len(solution.constraints)} constraints, "
            f"the problem has {len(solution.problem.constraints)}"
        )


def _as_script(data: dict[str, Any]) -> str:
    """JSON that can stand in a page: nothing in it ends a script or begins a tag."""
    text = json.dumps(data, separators=(",", ":"))
    return (
        text.replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
