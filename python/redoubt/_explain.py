"""What a policy does in one place, why, and what nature makes of it."""

from __future__ import annotations

from html import escape

import numpy as np

from . import _core
from ._core import Error
from ._options import execution
from ._solution import Solution, column_names
from ._tools import worst_kernel


class Explanation:
    """A decision in words; made by `Solution.explain`.

    >>> solution = rd.solve(rd.make("river_swim(horizon=10,start=3)"))
    >>> print(solution.explain(3))
    s3 at stage 0, memory ...: right
    ...
    """

    def __init__(self, title: str, rows: list[tuple[str, str]]) -> None:
        self.title = title
        self.rows = rows

    def __repr__(self) -> str:
        width = max(len(key) for key, _ in self.rows) + 2
        return "\n".join([self.title, *(f"  {key + ':':<{width}}{value}" for key, value in self.rows)])

    def _repr_html_(self) -> str:
        body = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in self.rows)
        return f"<table><caption>{escape(self.title)}</caption><tbody>{body}</tbody></table>"


def explain(solution: Solution, state: int, memory: int | None, stage: int) -> Explanation:
    policy, problem = solution.policy, solution.problem
    if policy is None:
        raise Error("a solution without a policy, must have one to be explained")
    count = policy.memories(state, stage)
    if memory is None:
        memory = _likely_start(solution, state) if stage == 0 else 0
    weights = policy.action_weights(state, stage, memory)
    model = problem.model
    taken = [int(a) for a in np.argsort(-weights, kind="stable") if weights[a] > 0]
    said = ", ".join(f"{model.action_name(a)}{'' if weights[a] > 0.9995 else f' {weights[a]:.1%}'}" for a in taken)
    values = _core.node_values(problem, policy._policy, execution(1))
    at = min(stage, len(values) - 1)
    node = memory + sum(policy.memories(s, stage) for s in range(state))
    rows = [("promised " + name, f"{channel[node]:.6g} in the worst case from here on")
            for name, channel in zip(["reward", *column_names(problem)], values[at], strict=True)]  # fmt: skip
    for word in ["worst-reward", *(f"worst-{c.signal}" for c in problem.constraints if c.probability is None)]:
        kernel = worst_kernel(problem, policy, word.removeprefix("worst-"))
        rows += [(word, _moves(solution, kernel.at(state, a, stage, memory), state, a, stage)) for a in taken]
    rows.append(("memory", f"{memory} of {count}"))
    return Explanation(f"{model.state_name(state)} at stage {stage}, memory {memory}: {said or 'nothing to do'}", rows)


def _likely_start(solution: Solution, state: int) -> int:
    assert solution.policy is not None
    if solution.problem.start[state] == 0:
        return 0
    return int(max(solution.policy._policy.start_moves(state), key=lambda move: move[1])[0])


def _moves(solution: Solution, chosen: _core.RowDistribution, state: int, action: int, stage: int) -> str:
    """What nature makes of a row, outcome by outcome."""
    problem = solution.problem
    row = problem.row_of(state, action, stage)
    outcomes = slice(problem.row_outcomes[row], problem.row_outcomes[row + 1])
    said = [f"{problem.model.state_name(int(s))} {p:.3f} → {q:.3f}"
            for s, p, q in zip(problem.next[outcomes], problem.probability[outcomes], chosen.probability,
                               strict=True)]  # fmt: skip
    if chosen.landing > 0:
        said.append(f"{problem.model.state_name(chosen.landing_state)} (outside) {chosen.landing:.3f}")
    return f"after {problem.model.action_name(action)}: " + ", ".join(said)
