"""Figures with matplotlib. Each function draws into `ax`, or into a new figure, and returns the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _maps
from ._cells import cells
from ._core import Error
from ._policy import Policy
from ._solution import Solution, as_policy, column_names
from ._tools import WorstKernel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIGN = {"at_least": "≥", "at_most": "≤"}
_NO_DECISION = (0.85, 0.85, 0.85)  # the colour of terminal states
_MOST_NAMES = 30  # of states along an axis


def curve(solution: Solution, constraint: int = 0, ax: Axes | None = None) -> Axes:
    """The trade-off between the guaranteed reward and a constraint's bound: what is reached, and what none can beat.

    With several constraints the others keep their bounds.

    >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "frontier")
    >>> ax = rd.plots.curve(solution)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('bound on cost', 'worst-case reward')
    """
    if not solution.problem.constraints:
        raise Error("a problem without constraints has no curve, must have something to trade the reward for")
    if solution.method != "frontier":
        raise Error(f"a solution by {solution.method} has no curve, must come from the method that has one: frontier")
    if len(solution.curve["reward"]) == 0:
        raise Error(f"a search with status {solution.status} has no curve, must have gone through all stages once")
    if not 0 <= constraint < len(solution.constraints):
        raise Error(f"constraint {constraint}, must be in 0..{len(solution.constraints) - 1}")
    ax, chosen = _axes(ax), solution.constraints[constraint]
    asked, reached, beyond = _band(solution, constraint)
    ax.plot(asked, reached, color="C0", label="guaranteed by a policy")
    if not np.isnan(beyond).all():
        ax.plot(asked, beyond, color="0.35", linewidth=0.8, linestyle=":")
        top = np.nanmax(beyond) + 0.08 * (np.nanmax(beyond) - np.nanmin(reached) or 1)
        ax.fill_between(asked, beyond, top, color="0.92", linewidth=0, label="proved: no policy gets here")
        ax.fill_between(asked, reached, beyond, color="C1", alpha=0.5, linewidth=0, label="between the two: not known")
        ax.set_ylim(top=top)
    limit, strictest = chosen.best_achievable, max if _asks_for_more(chosen) else min
    end = strictest(_number_asked(chosen), *asked)
    if limit is not None and strictest(limit, end) == end:  # proved: no policy keeps a stricter bound than the limit
        ax.axvspan(limit, end, color="0.92", linewidth=0)
    ax.axvline(_number_asked(chosen), color="k", linestyle="--", linewidth=1, label=f"asked {_asked(chosen)}")
    if chosen.worst is not None and solution.reward.worst is not None:
        ax.plot([chosen.worst], [solution.reward.worst], "o", color="C3", label="this policy", zorder=3)
    name = column_names(solution.problem)[constraint]
    ax.set(xlabel=f"bound on {name}" if chosen.probability is None else f"probability that {name} {_limit(chosen)}",
           ylabel="worst-case reward", title=_others(solution, constraint))  # fmt: skip
    ax.margins(x=0.02)
    _legend_below(ax)
    return ax


def policy(
    policy: Policy | Solution, stage: int | None = None, action: int | None = None, ax: Axes | None = None, *,
    memory: int | None = None, coordinates: ArrayLike | None = None,
) -> Axes:  # fmt: skip
    """What a policy does: the most likely action of each decision by its colour, paler where it is less likely.

    A board where states have coordinates; otherwise states against stages for a policy without memory, and states
    against memory for others, whose budgets are labelled with what is left of them.

    Args:
        policy: what to show.
        stage: which decisions; None: the first ones, or every stage where stages are an axis.
        action: show the probability of this action instead.
        ax: where to draw.
        memory: on a board: which memory state; None: the one in which an episode begins.
        coordinates: row and column of each state, (S, 2); None: as the names of states say, such as "(2, 3)".

    >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "robust")
    >>> ax = rd.plots.policy(solution)
    >>> ax.get_xlabel(), [entry.get_text() for entry in ax.get_legend().get_texts()]
    ('stage', ['left', 'right'])
    """
    policy = as_policy(policy)
    problem, ax = policy.problem, _axes(ax)
    if action is not None and not 0 <= action < problem.actions:
        raise Error(f"action {action}, must be in 0..{problem.actions - 1}")
    places = _maps.coordinates_of(problem) if coordinates is None else _maps.check_coordinates(problem, coordinates)
    if places is not None:
        cells = _maps.on_a_board(policy, stage or 0, memory, places)
    elif stage is None and policy.memory_states == 1:
        cells = _maps.by_stage(policy)
    else:
        cells = _maps.by_memory(policy, stage or 0)
    if action is None:
        _paint_actions(ax, cells, problem.model.action_name)
    else:
        _paint_probability(ax, cells, action, problem.model.action_name(action))
    ax.set(xlabel=cells.xlabel, ylabel=cells.ylabel, title=cells.title)
    _label_cells(ax, cells, policy, stage or 0, board=places is not None)
    return ax


def trace(solution: Solution, x: str = "iteration", ax: Axes | None = None) -> Axes:
    """Reward, its bound and constraints over the run of the method; x may also be "seconds" or "row_evaluations".

    >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "crpo", iterations=20)
    >>> ax = rd.plots.trace(solution)
    >>> [line.get_label() for line in ax.lines]
    ['reward', 'cost', 'asked of cost: ≤ 4']
    """
    if len(solution.trace["reward"]) == 0:
        raise Error(f"this solution by {solution.method} has no trace, must have at least one record")
    if x not in ("iteration", "seconds", "row_evaluations"):
        raise Error(f"x = {x!r}, must be one of iteration, seconds, row_evaluations")
    ax, at = _axes(ax), solution.trace[x]
    marker = "." if len(at) <= 40 else None
    ax.plot(at, solution.trace["reward"], marker=marker, color="C0", label="reward")
    if "bound" in solution.trace:
        bound = np.where(np.isfinite(solution.trace["bound"]), solution.trace["bound"], np.nan)
        ax.plot(at, bound, marker=marker, color="C0", linestyle=":", label="no policy beats")
        ax.fill_between(at, solution.trace["reward"], bound, color="C0", alpha=0.15, linewidth=0)
    for i, (name, result) in enumerate(zip(column_names(solution.problem), solution.constraints, strict=True)):
        if name in solution.trace:
            ax.plot(at, solution.trace[name], marker=marker, color=f"C{i + 1}", label=name)
            ax.axhline(
                _number_asked(result),
                color=f"C{i + 1}",
                linestyle="--",
                linewidth=1,
                label=f"asked of {name}: {_asked(result)}",
            )
    if x != "seconds":
        _whole_ticks(ax.xaxis)
    ax.set(xlabel=x.replace("_", " "), ylabel="worst-case total")
    _legend_below(ax)
    return ax


def totals(
    simulation: _core.Simulation, solution: Solution, name: str = "reward", bins: int = 40, ax: Axes | None = None
) -> Axes:
    """How the total of the reward, or of a constraint's signal, is distributed over episodes, with its bound.

    Totals that are all whole numbers have a bar for each of them, or for equally many.

    >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"), "frontier")
    >>> ax = rd.plots.totals(rd.simulate(solution.problem, solution), solution, "cost")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('cost of an episode', 'share of episodes')
    """
    found = {total.name: total for total in [simulation.reward, *simulation.constraints]}
    if name not in found:
        raise Error(f"name = {name!r}, must be one of {', '.join(found)}")
    ax, total = _axes(ax), found[name]
    edges = _whole_bins(total.totals, bins)
    share = np.full(len(total.totals), 1 / len(total.totals))
    ax.hist(total.totals, bins=edges or bins, weights=share, color="C0", alpha=0.6, edgecolor="white")
    if edges:
        _whole_ticks(ax.xaxis)
    ax.axvline(total.mean, color="C0", label=f"mean {total.mean:.4g}")
    ax.set(xlabel=f"{name} of an episode", ylabel="share of episodes")
    for result in solution.constraints:
        if result.name == name:
            label = f"asked of the mean: {_asked(result)}"
            ax.axvline(_number_asked(result), color="k", linestyle="--", linewidth=1, label=label)
            if result.probability is not None:
                ax.set(xlabel=f"episodes in which {name} {_limit(result)} (1), and others (0)", xticks=[0, 1])
    _legend_below(ax)
    return ax


def kernel(
    kernel: WorstKernel, state: int, action: int, stage: int = 0, memory: int = 0, ax: Axes | None = None
) -> Axes:
    """What nature makes of a row: its worst distribution beside the nominal one.

    >>> problem = rd.make("river_swim(horizon=10,start=3)")
    >>> ax = rd.plots.kernel(rd.worst_kernel(problem, rd.solve(problem, "robust")), state=3, action=1)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['s2', 's3', 's4']
    """
    problem, ax = kernel.problem, _axes(ax)
    worst = kernel.at(state, action, stage, memory)
    first = problem.row_outcomes[problem.row_of(state, action, stage)]
    outcomes = slice(first, first + len(worst.probability))
    names = [problem.model.state_name(int(s)) for s in problem.next[outcomes]]
    nominal, chosen = list(problem.probability[outcomes]), list(worst.probability)
    if worst.landing > 0:
        names.append(f"{problem.model.state_name(worst.landing_state)} (outside)")
        nominal.append(0.0)
        chosen.append(worst.landing)
    places = np.arange(len(names))
    ax.bar(places - 0.2, nominal, 0.4, color="0.7", label="nominal")
    ax.bar(places + 0.2, chosen, 0.4, color="C3", label="worst case")
    ax.set_xticks(places, labels=names, rotation=0 if sum(map(len, names)) < 60 else 90)
    ax.set(
        xlabel="next state", ylabel="probability", title=problem.model.row_name(problem.row_of(state, action, stage))
    )
    _legend_below(ax)
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def _legend_below(ax: Axes) -> None:
    """Where it covers nothing that is drawn."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)


def _whole_ticks(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _whole_bins(totals: NDArray[np.float64], most: int) -> list[float]:
    """Edges between whole numbers, at most so many bars; none when totals are not whole."""
    if not np.array_equal(totals, np.rint(totals)):
        return []
    low, high = totals.min(), totals.max()
    width = max(1, int(np.ceil((high - low + 1) / most)))
    edges: list[float] = (np.arange(low, high + width + 1, width) - 0.5).tolist()
    return edges


# The trade-off curve.


def _limit(result: _core.ConstraintResult) -> str:
    return f"{_SIGN[result.sense]} {result.bound:g}"


def _number_asked(result: _core.ConstraintResult) -> float:
    return result.bound if result.probability is None else result.probability


def _asked(result: _core.ConstraintResult) -> str:
    return _limit(result) if result.probability is None else f"≥ {result.probability:g}"


def _others(solution: Solution, constraint: int) -> str:
    """What the other constraints ask."""
    said = [
        f"{one.name} {_limit(one)}" if one.probability is None else f"P({one.name} {_limit(one)}) {_asked(one)}"
        for i, one in enumerate(solution.constraints)
        if i != constraint
    ]
    return f"with {', '.join(said)}" if said else ""


def _band(solution: Solution, constraint: int) -> tuple[NDArray[np.float64], ...]:
    """Bounds on a constraint, the reward that is reached under each of them, and the one that none can beat."""
    bounds = [_number_asked(one) for one in solution.constraints]
    own, corners = bounds[constraint], solution.curve[column_names(solution.problem)[constraint]]
    ends = [*corners, own, solution.constraints[constraint].worst]
    asked, reached = [], []
    for place in np.union1d(corners, np.linspace(min(ends), max(ends), 200)):
        bounds[constraint] = float(place)
        try:
            reward = solution.reward_at(*bounds)
        except Error:
            continue  # out of reach of the curve
        asked.append(place)
        reached.append(reward.worst)
    at, low = np.array(asked), np.array(reached)
    return at, low, _beyond(at, low, own, solution.reward.bound, _asks_for_more(solution.constraints[constraint]))


def _beyond(
    at: NDArray[np.float64], reached: NDArray[np.float64], own: float, bound: float | None, asks_for_more: bool
) -> NDArray[np.float64]:
    """What no policy beats under each bound on a constraint, from what none beats under its own.

    Policies can be mixed, so the best reward is a concave function of the bound: beyond its own bound it lies below the
    line from any point that is reached on the near side through the point that none beats.
    """
    if bound is None:
        return np.full(len(at), np.nan)
    beyond = np.where((at >= own) == asks_for_more, bound, np.inf)  # stricter bounds leave no more
    beyond[at == own] = bound
    for place, reward in zip(at[at != own], reached[at != own], strict=True):
        farther = (at - own) * (place - own) < 0
        line = bound + (bound - reward) * (at - own) / (own - place)
        beyond[farther] = np.minimum(beyond[farther], line[farther])
    return np.where(np.isfinite(beyond), np.maximum(beyond, reached), np.nan)


def _asks_for_more(result: _core.ConstraintResult) -> bool:
    return result.sense == "at_least" or result.probability is not None


# Maps of policies.


def _paint_actions(ax: Axes, cells: _maps.Cells, action_name: Any) -> None:
    from matplotlib.patches import Patch

    actions = cells.weights.shape[-1]
    colours, best = _colours(actions), np.nan_to_num(cells.weights).argmax(axis=-1)
    share = np.nan_to_num(cells.weights).max(axis=-1)[..., np.newaxis]
    image = 1 - share * (1 - colours[best])
    image[cells.is_state & ~cells.decided] = _NO_DECISION
    image[~cells.is_state] = 1.0
    _show_image(ax, cells, image)
    patches = [Patch(color=tuple(colours[a].tolist()), label=action_name(a)) for a in np.unique(best[cells.decided])]
    if (cells.is_state & ~cells.decided).any():
        patches.append(Patch(color=_NO_DECISION, label="no decision"))
    ax.legend(handles=patches, title="most likely action", loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False,
              borderaxespad=0, ncols=1 + (len(patches) - 1) // 16)  # fmt: skip


def _paint_probability(ax: Axes, cells: _maps.Cells, action: int, name: str) -> None:
    shown = np.where(cells.decided, cells.weights[..., action], np.nan)
    image = _show_image(ax, cells, shown, vmin=0, vmax=1, cmap="Blues")
    ax.figure.colorbar(image, ax=ax, label=f"probability of action {name}")


def _show_image(ax: Axes, cells: _maps.Cells, image: NDArray[np.float64], **options: Any) -> Any:
    rows, columns = cells.weights.shape[:2]
    board = cells.xlabel == "column"
    shown = ax.imshow(image, aspect="equal" if board else "auto", origin="upper" if board else "lower",
                      interpolation="nearest", **options)  # fmt: skip
    if rows <= 40 and columns <= 40:  # lines between the cells
        ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1)
        ax.tick_params(which="minor", length=0)
    return shown


def _colours(count: int) -> NDArray[np.float64]:
    import matplotlib as mpl

    few, places = ("tab10" if count <= 10 else "tab20"), np.arange(count)
    shades = mpl.colormaps[few](places) if count <= 20 else mpl.colormaps["hsv"](0.95 * places / count)
    return np.asarray(shades)[:, :3]


def _label_cells(ax: Axes, cells: _maps.Cells, policy: Policy, stage: int, board: bool) -> None:
    _whole_ticks(ax.xaxis)
    _whole_ticks(ax.yaxis)
    states = policy.problem.states
    if not board and states <= _MOST_NAMES:
        ax.set_yticks(range(states), labels=[policy.problem.model.state_name(s) for s in range(states)])
    if cells.xlabel == "memory" and len(policy.budget) == 1:
        axis = policy.budget[0]
        count = int(axis.cells[min(stage, len(axis.cells) - 1)])
        ticks = np.unique(np.linspace(0, count - 1, min(count, 6)).astype(int))
        ax.set_xticks(ticks, labels=[f"{axis.sign * axis.requirement(stage, int(tick)):.3g}" for tick in ticks])
        signal = policy.problem.constraints[axis.constraint].signal
        ax.set_xlabel(f"{signal} that is left" if axis.sign < 0 else f"{signal} still to earn")
