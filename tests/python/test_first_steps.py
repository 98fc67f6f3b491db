"""What a new user gets wrong, and is told; what a new user has at hand, and is taken."""

import numpy as np
import pandas as pd
import pytest
import redoubt as rd
import scipy.sparse

P = [[[0.8, 0.2], [1.0, 0.0]], [[0.1, 0.9], [0.7, 0.3]]]
REWARD = [[1.0, 0.0], [3.0, 0.0]]
RIVER = rd.make("river_swim(horizon=3,start=3)")
SOLUTION = rd.solve(RIVER, "robust")


def problem(**other):
    given = {"P": P, "reward": REWARD, "signals": {"wear": [0.0, 1.0]}, "order": "sas", "horizon": 3}
    given |= {"constraints": [rd.at_most("wear", 2)], **other}
    return rd.Problem(given.pop("P"), **given)


@pytest.mark.parametrize("other", [
    {"P": np.array(P)}, {"P": tuple(map(tuple, P))},
    {"P": scipy.sparse.csr_matrix(np.array(P).reshape(4, 2)), "order": None},
    {"P": scipy.sparse.coo_array(np.array(P).reshape(4, 2)), "order": None},
    {"P": [np.array(rows) for rows in P]}, {"reward": np.array(REWARD)}, {"reward": pd.DataFrame(REWARD)},
    {"signals": {"wear": pd.Series([0.0, 1.0])}}, {"signals": {"wear": [0, 1]}}, {"start": np.int64(0)},
    {"start": [1.0, 0.0]}, {"start": pd.Series([1.0, 0.0])}, {"horizon": np.int32(3)}, {"discount": np.float32(1)},
    {"constraints": (rd.at_most("wear", np.float64(2)),)},
], ids=lambda other: ", ".join(f"{key}: {type(value).__name__}" for key, value in other.items()))  # fmt: skip
def test_what_people_have_at_hand_is_taken(other):
    assert problem(**other) == problem()


@pytest.mark.parametrize("call, said", [
    (lambda: rd.solve("river_swim"), r"problem = 'river_swim' of type str, must be a Problem, such as rd\.make\("),
    (lambda: rd.solve(P), "problem = a list, must be a Problem"),
    (lambda: rd.solve(RIVER, methd="frontier"), r"unknown option 'methd' of method '\w+' \(did you mean 'method'\?\)"),
    (lambda: rd.solve(RIVER, 3), "method = 3, must be one of rcvi, frontier"),
    (lambda: rd.solve(RIVER, threads=0), "threads = 0"),
    (lambda: rd.solve(RIVER, threads=1.5), r"threads = 1\.5, must be"),
    (lambda: rd.solve(RIVER, "frontier", tolerance="fine"), "tolerance = 'fine', must be float"),
    (lambda: rd.evaluate(SOLUTION, RIVER), "problem = a Solution, must be a Problem"),
    (lambda: rd.evaluate(RIVER, [[1, 0]] * 6), "policy = a list, must be a Policy or a Solution"),
    (lambda: rd.simulate(RIVER, SOLUTION, episodes=10.5), r"episodes = 10\.5, must be int"),
    (lambda: rd.simulate(RIVER, SOLUTION, nature="worst"), "worst"),
    (lambda: rd.make("river_swm"), "'river_swm' does not exist, did you mean river_swim"),
    (lambda: rd.make("river_swim", horizont=3), r"unknown option 'horizont' of make \(did you mean 'horizon'\?\)"),
    (lambda: RIVER.replace(bound=3), "unknown option 'bound' of Problem.replace.*must be one of constraints"),
    (lambda: problem(constraint=[rd.at_most("wear", 2)]), r"unknown option 'constraint' .*did you mean 'constraints'"),
    (lambda: problem(constraints=rd.at_most("wear", 2)), r"constraints = at_most\('wear', 2\) .* must be a list"),
    (lambda: problem(constraints=["wear <= 2"]), r"constraints = \['wear <= 2'\] .* must be a list of constraints"),
    (lambda: problem(constraints=[rd.at_most("waer", 2)]), "waer"),
    (lambda: problem(uncertainty="kl"), "uncertainty = 'kl' of type str, must be one of TV, Chi2, KL"),
    (lambda: problem(horizon="long"), "horizon = 'long' of type str, must be a whole number"),
    (lambda: problem(reward=[1.0, 2.0, 3.0]), r"reward has shape \(3,\), must be \(S,\) = \(2,\)"),
    (lambda: problem(P=[[0.5, 0.5], [0.5, 0.5]]), r"P has shape \(2, 2\), must be \(S, A, S\)"),
    (lambda: problem(P=np.array(P) * 0.9), "0.9"),
    (lambda: problem(start=5), "5"),
    (lambda: problem(start="new"), "start = 'new', the model has no state of that name"),
    (lambda: rd.KL(-0.1) and problem(uncertainty=rd.KL(-0.1)), r"-0\.1"),
    (lambda: rd.TV(0.1, reach="any"), "reach = 'any', must be 'anywhere' or 'support'"),
    (lambda: SOLUTION.policy.action_weights(6), r"state 6, must be in 0\.\.5"),
    (lambda: SOLUTION.policy.action_weights(0, stage=3), r"stage 3, must be in 0\.\.2"),
    (lambda: SOLUTION.policy.action_weights(0, memory=1), r"memory 1 in state 0 at stage 0, must be in 0\.\.0"),
    (lambda: rd.Policy.markov(RIVER, [[1, 0]]), r"weights have shape \(1, 2\), must be \(S, A\) = \(6, 2\)"),
    (lambda: rd.load("no_such_file.json"), r"no_such_file\.json"),
    (lambda: rd.compare(RIVER, "frontier"), "contestants = 'frontier', must be a list of methods"),
])  # fmt: skip
def test_mistakes_are_named(call, said):
    with pytest.raises(rd.Error, match=said):
        call()


def test_states_and_actions_may_have_names():
    names = {"states": ["new", "worn"], "actions": ["run", "repair"]}
    named = problem(P={"new": {"run": {"new": 0.8, "worn": 0.2}, "repair": {"new": 1.0}},
                       "worn": {"run": {"new": 0.1, "worn": 0.9}, "repair": {"new": 0.7, "worn": 0.3}}},
                    order=None, start="new", **names)  # fmt: skip
    assert named == problem(**names)
