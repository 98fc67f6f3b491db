"""Chance constraints from Python: solved, simulated, and seen as the ordinary problem that they are."""

import re

import pytest
import redoubt as rd
from redoubt import _core

PROBLEM = rd.make("river_swim(horizon=6,start=3)", uncertainty=rd.KL(0.02),
                  constraints=[rd.chance("cost", at_most=1.0, probability=0.8)])  # fmt: skip


def test_the_total_keeps_its_bound_as_often_as_promised():
    solution = rd.solve(PROBLEM, "frontier")
    assert solution.status == "certified"
    (kept,) = solution.constraints
    assert kept.satisfied and kept.worst >= 0.8
    assert re.search(r"cost: +<= 1 with probability 0\.8\d*, must be 0\.8: kept", repr(solution))
    episodes = rd.simulate(PROBLEM, solution, episodes=4000, seed=1)
    assert episodes.constraints[0].mean >= kept.worst - 4 * episodes.constraints[0].standard_error


def test_the_ordinary_problem_has_the_same_answers():
    augmented = _core.augment(PROBLEM)
    assert _core.has_chance_constraints(PROBLEM) and not _core.has_chance_constraints(augmented.problem)
    assert augmented.exact and set(augmented.state) <= set(range(PROBLEM.states))
    solution = rd.solve(PROBLEM, "frontier")
    ordinary = _core.evaluate(augmented.problem, _core.to_augmented(augmented, solution.policy._policy), _core.Execution())
    assert ordinary.reward.worst == pytest.approx(solution.reward.worst, rel=1e-9)
