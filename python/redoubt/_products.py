"""Backward induction for continuous systems whose rows are products of laws along each axis, without writing rows out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._noise_samples import SampledNoise

if TYPE_CHECKING:
    from ._abstract import Abstraction, Question

_GOALS = (_core.reach("goal"), _core.avoid("hazard"))


def is_product(question: Question) -> bool:
    """Whether nothing is asked but a total, or one of the usual goals, up to a horizon, and noise is known and independent."""
    terms, noise, objective = question.terms, question.noise, question.objective
    if isinstance(noise, SampledNoise) or noise.follows.any():
        return False
    if terms["horizon"] is None or len(terms["constraints"]) or terms["uncertainty"] is not None:
        return False
    earned = not objective.chosen and "reward" in question.functions
    # Goals are worth one whenever they are come to.
    return earned or (objective.signal in _GOALS and not objective.minimise and terms["discount"] == 1.0)


@dataclass(frozen=True)
class ProductSolution:
    """The guarantee and the bound of each cell at the first stage, and the number of the action in each cell at every stage."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    table: NDArray[np.integer[Any]]


def solve_products(system: Abstraction, threads: int = 1) -> ProductSolution:
    lower, table = _backward(system, False, threads)
    upper, _ = _backward(system, True, threads)
    return ProductSolution(lower, upper, table)


def _backward(system: Abstraction, helpful: bool, threads: int) -> tuple[NDArray[np.float64], NDArray[np.integer[Any]]]:
    question, cells, products = system.question, system.cells, system.products
    assert products is not None
    earned: Any = 0.0
    values = np.zeros(cells + 3)  # the cells, then goal, hazard and outside
    if not question.objective.chosen:
        earned = system.ranges["reward"][int(helpful)]
    elif question.objective.signal == _core.reach("goal"):
        values[cells] = 1.0
    else:
        values[: cells + 1] = 1.0
    stages = []
    for _ in range(int(question.terms["horizon"])):
        expected = np.asarray(products.expectations(values, helpful, threads)).reshape(cells, -1)
        worth = earned + question.terms["discount"] * expected
        stages.append(worth.argmax(axis=1))
        values[:cells] = worth.max(axis=1)
    return values[:cells], np.array(stages[::-1], dtype=np.min_scalar_type(len(system.actions)))
