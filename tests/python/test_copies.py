"""Problems, policies and solutions pickle, copy, and become plain values, to the last bit and without nan."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
import redoubt as rd
from program import run_json

RIVER = rd.make("river_swim(horizon=10,start=3)")
METHODS = ["frontier", "rcvi", "robust", "crpo"]


def solved(method):
    return rd.solve(RIVER, method, **({"iterations": 20} if method == "crpo" else {}))


@pytest.fixture(scope="module", params=METHODS)
def solution(request):
    return solved(request.param)


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def test_a_solution_pickles_to_the_same_bits(solution):
    other = again(solution)
    assert other == solution and other.problem == solution.problem
    assert repr(other) == repr(solution) and other.to_dict() == solution.to_dict()
    assert rd.evaluate(RIVER, other).reward.worst == solution.reward.worst


def test_a_policy_pickles_and_acts_alike(solution):
    other = again(solution.policy)
    assert other == solution.policy and other.problem == RIVER
    first, second = solution.policy.start(seed=5), other.start(seed=5)
    for state, after in ((3, 4), (4, 3), (3, 3)):
        assert first.act(state) == second.act(state)
        first.observe(1, after)
        second.observe(1, after)


def test_copies_are_equal_and_apart(solution):
    for other in (copy.copy(solution), copy.deepcopy(solution)):
        assert other == solution and other is not solution
        other.notes.append("mine")
        other.trace["reward"] = np.zeros(1)
        assert "mine" not in solution.notes and solution.trace["reward"] is not other.trace["reward"]
    for other in (copy.copy(solution.policy), copy.deepcopy(solution.policy)):
        assert other == solution.policy


def test_the_curve_comes_along():
    solution = solved("frontier")
    other = again(solution)
    assert repr(other.reward_at(3.5)) == repr(solution.reward_at(3.5))
    assert other.policy_at(3.5) == solution.policy_at(3.5)


@pytest.mark.parametrize(
    "problem",
    [
        RIVER.replace(constraints=[rd.at_most("cost", 0.001)]),  # infeasible
        RIVER.replace(constraints=[]),
        RIVER.replace(constraints=[rd.chance("cost", at_most=4, probability=0.8)]),
        RIVER.replace(horizon=None, discount=0.9),
        RIVER.replace(horizon=1),
    ],
    ids=["infeasible", "free", "chance", "infinite", "one stage"],
)
def test_other_answers_pickle_too(problem):
    solution = rd.solve(problem, "frontier", tolerance=1e-2)
    assert again(solution) == solution
    json.dumps(solution.to_dict(), allow_nan=False)


def test_a_stopped_solution_pickles():
    solution = rd.solve(RIVER, "frontier", tolerance=1e-9, time_limit=0)
    assert again(solution) == solution
    json.dumps(solution.to_dict(), allow_nan=False)


def test_problems_pickle_and_copy():
    for problem in (RIVER, rd.make("grid(size=3)", uncertainty=rd.TV(np.full(32, 0.1))), rd.make("inventory")):
        assert again(problem) == problem
        assert copy.copy(problem) == problem and copy.deepcopy(problem) == problem


@pytest.mark.parametrize("made", [
    rd.Nominal(), rd.TV(0.1), rd.TV([0.1, 0.2], reach="support"), rd.Chi2(0.2), rd.KL(0.3), rd.Tilt(2.0),
    rd.at_most("cost", 4), rd.at_least("cost", 4), rd.chance("cost", at_most=4, probability=0.9),
], ids=repr)  # fmt: skip
def test_sets_and_constraints_pickle_and_copy(made):
    assert again(made) == made and copy.deepcopy(made) == made


def test_intervals_pickle_with_their_bounds():
    other = again(rd.Interval(np.array([0.1, 0.2]), 0.9))
    np.testing.assert_array_equal(other.lo, [0.1, 0.2])
    assert other.hi == 0.9


def test_the_dict_has_the_keys_and_values_of_the_program():
    said = solved("rcvi").to_dict()
    printed = run_json("solve", "river_swim(horizon=10,start=3)", "--method", "rcvi")
    shared = set(printed) - {"bytes", "memory"}  # of the run, not of the answer
    assert shared <= set(said)
    for key in shared - {"seconds", "constraints"}:
        assert said[key] == printed[key], key
    for mine, theirs in zip(said["constraints"], printed["constraints"], strict=True):
        assert theirs.items() <= mine.items()


def test_the_dict_is_plain_and_knows_no_nan(solution):
    def leaves(value):
        if isinstance(value, dict):
            assert all(isinstance(key, str) for key in value)
            value = list(value.values())
        if isinstance(value, list):
            return [leaf for entry in value for leaf in leaves(entry)]
        return [value]

    said = solution.to_dict()
    for leaf in leaves(said):
        assert leaf is None or type(leaf) in (str, bool, int) or (type(leaf) is float and math.isfinite(leaf))
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["curve"]["reward"] == solution.curve["reward"].tolist()


def test_unknown_values_are_none():
    said = solved("rcvi").to_dict()
    assert said["reward"]["bound"] is None and said["reward"]["gap"] is None
    assert said["constraints"][0]["probability"] is None and said["cut"] is None
