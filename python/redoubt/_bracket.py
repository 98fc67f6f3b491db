"""Answers from below and from above: what a smaller problem says of a larger one."""

from __future__ import annotations

from . import _show
from ._problem import Problem
from ._solution import Solution
from ._solve import solve


class Bracket:
    """A guarantee, and a bound that no policy exceeds. `below` and `above` are the solutions that they come from."""

    def __init__(self, below: Solution, above: Solution) -> None:
        self.below, self.above = below, above

    @property
    def lower(self) -> float:
        """What the policy guarantees: reward or probability."""
        worst = self.below.reward.worst
        return float("nan") if worst is None else worst

    @property
    def upper(self) -> float:
        """What no policy can exceed."""
        bound = self.above.reward.bound
        return float("inf") if bound is None else bound

    @property
    def gap(self) -> float:
        return self.upper - self.lower

    def _repr_html_(self) -> str:
        return _show.as_code(self)


def solve_both(pessimistic: Problem, optimistic: Problem, method: str | None, options: dict[str, object]) -> list[Solution]:
    """By the method, which without constraints is "robust" unless another is named."""
    chosen = method or ("frontier" if pessimistic.constraints else "robust")
    return [solve(problem, chosen, **options) for problem in (pessimistic, optimistic)]  # type: ignore[call-overload]
