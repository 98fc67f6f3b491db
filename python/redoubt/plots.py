"""Figures with matplotlib. Each function draws into `ax`, or into a new figure, and returns the axes."""

from __future__ import annotations

import numpy as np

from . import _core
from ._core import Error
from ._policy import Policy
from ._solution import Solution, column_names
from ._tools import WorstKernel

_SIGN = {"at_least": ">=", "at_most": "<="}


def curve(solution: Solution, constraint: int = 0, ax=None):
    """The trade-off curve: guaranteed reward against a constraint's total, the bound, and the chosen point."""
    if not solution.problem.constraints:
        raise Error("a problem without constraints has no curve, must have something to trade the reward for")
    if solution.method != "frontier":
        raise Error(f"a solution by {solution.method} has no curve, must come from the method that has one: frontier")
    if len(solution.curve["reward"]) == 0:
        raise Error(f"a search with status {solution.status} has no curve, must have gone through all stages once")
    name = column_names(solution.problem)[constraint]
    ax = _axes(ax)
    order = np.argsort(solution.curve[name])
    ax.plot(solution.curve[name][order], solution.curve["reward"][order], marker=".", label="what policies guarantee")
    chosen = solution.constraints[constraint]
    _mark_bound(ax.axvline, chosen)
    ax.plot([chosen.worst], [solution.reward.worst], "o", color="C3", label="this policy")
    ax.set(xlabel=f"worst-case {name}", ylabel="worst-case reward")
    ax.legend()
    return ax


def policy(policy: Policy | Solution, stage: int = 0, action: int | None = None, ax=None):
    """A heat map of states against memory: the most likely action, or the probability of one action.

    The memory of a budget policy is labelled with what its constraint must still earn.
    """
    policy = policy.policy if isinstance(policy, Solution) else policy
    problem, ax = policy.problem, _axes(ax)
    memories = [policy.memories(state, stage) for state in range(problem.states)]
    shown = np.full((problem.states, max(memories)), np.nan)
    for state, count in enumerate(memories):
        for memory in range(count):
            weights = policy.action_weights(state, stage, memory)
            if weights.any():
                shown[state, memory] = weights.argmax() if action is None else weights[action]
    last = problem.actions - 1 if action is None else 1
    image = ax.imshow(shown, aspect="auto", origin="lower", interpolation="nearest", vmin=0, vmax=max(1, last))
    bar = ax.figure.colorbar(image, ax=ax)
    if action is None:
        bar.set_ticks(range(problem.actions), labels=[problem.model.action_name(a) for a in range(problem.actions)])
        bar.set_label("most likely action")
    else:
        bar.set_label(f"probability of action {problem.model.action_name(action)}")
    ax.set(xlabel=_memory_label(policy, stage, ax), ylabel="state", title=f"stage {stage}")
    if problem.states <= 30:
        ax.set_yticks(range(problem.states), labels=[problem.model.state_name(s) for s in range(problem.states)])
    return ax


def trace(solution: Solution, x: str = "iteration", ax=None):
    """Reward and constraints over the run of the method; x may also be "seconds" or "row_evaluations"."""
    if len(solution.trace["reward"]) == 0:
        raise Error(f"this solution by {solution.method} has no trace, must have at least one record")
    if x not in ("iteration", "seconds", "row_evaluations"):
        raise Error(f"x = {x!r}, must be one of iteration, seconds, row_evaluations")
    ax = _axes(ax)
    ax.plot(solution.trace[x], solution.trace["reward"], label="reward")
    for name, result in zip(column_names(solution.problem), solution.constraints, strict=True):
        if name in solution.trace:
            (line,) = ax.plot(solution.trace[x], solution.trace[name], label=name)
            ax.axhline(result.bound, color=line.get_color(), linestyle="--", linewidth=1)
    ax.set(xlabel=x.replace("_", " "), ylabel="worst-case total")
    ax.legend()
    return ax


def totals(simulation: _core.Simulation, solution: Solution, name: str = "reward", bins: int = 40, ax=None):
    """How the total of the reward, or of a constraint's signal, is distributed over episodes, with its bound."""
    found = {total.name: total for total in [simulation.reward, *simulation.constraints]}
    if name not in found:
        raise Error(f"name = {name!r}, must be one of {', '.join(found)}")
    ax, total = _axes(ax), found[name]
    ax.hist(total.totals, bins=bins, density=True, alpha=0.6)
    ax.axvline(total.mean, color="C0", label=f"mean {total.mean:.4g}")
    for result in solution.constraints:
        if result.name == name:
            _mark_bound(ax.axvline, result)
    ax.set(xlabel=f"{name} of an episode", ylabel="density")
    ax.legend()
    return ax


def kernel(kernel: WorstKernel, state: int, action: int, stage: int = 0, memory: int = 0, ax=None):
    """What nature makes of a row: its worst distribution beside the nominal one."""
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
    ax.bar(places - 0.2, nominal, 0.4, label="nominal")
    ax.bar(places + 0.2, chosen, 0.4, label="worst case")
    ax.set_xticks(places, labels=names)
    ax.set(
        xlabel="next state", ylabel="probability", title=problem.model.row_name(problem.row_of(state, action, stage))
    )
    ax.legend()
    return ax


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _mark_bound(line, result: _core.ConstraintResult) -> None:
    line(result.bound, color="k", linestyle="--", linewidth=1, label=f"bound {_SIGN[result.sense]} {result.bound:g}")


def _memory_label(policy: Policy, stage: int, ax) -> str:
    if len(policy.budget) != 1:
        return "memory"
    axis = policy.budget[0]
    cells = int(axis.cells[min(stage, len(axis.cells) - 1)])
    ticks = np.unique(np.linspace(0, cells - 1, min(cells, 6)).astype(int))
    ax.set_xticks(ticks, labels=[f"{axis.sign * axis.requirement(stage, int(tick)):.3g}" for tick in ticks])
    constraint = policy.problem.constraints[axis.constraint]
    return f"{constraint.signal} that is left" if axis.sign < 0 else f"{constraint.signal} still to earn"
