"""Chance constraints against exact programs on an augmented problem that is built here by hand."""

import numpy as np
import pytest
import redoubt as rd
from frontier_oracles import Case, random_case, recursion


def chance_case(seed, set, horizon):
    """A case whose utility is 0 or 1 for each (state, action), and the total that is asked for."""
    case = random_case(seed, set, states=3, actions=2, horizon=horizon)
    random = np.random.default_rng(seed)
    earned = random.integers(0, 2, size=case.P.shape[:2])
    case.values = np.stack([case.values[0], np.repeat(earned[..., None], case.P.shape[2], axis=2)]).astype(float)
    return case, 1 + seed % horizon


def problem_of(case, bound, probability):
    sets = {"none": rd.Nominal(), "tv": rd.TV(case.radius, reach="support"), "chi2": rd.Chi2(case.radius),
            "kl": rd.KL(case.radius), "interval": rd.Interval(case.low, case.high)}  # fmt: skip
    return rd.Problem(case.P, case.values[0], signals={"goals": case.values[1][..., 0]},
                      constraints=[rd.chance("goals", at_least=bound, probability=probability)],
                      uncertainty=sets[case.set], horizon=case.horizon, start=case.start / case.start.sum(),
                      order="sas")  # fmt: skip


def augmented(case, bound, probability):
    """An ordinary case on (state, goals still missing), whose utility is the change of 'none is missing'."""
    states, actions, _ = case.P.shape
    pairs = [(s, missing) for s in range(states) for missing in range(bound + 1)]
    number = {pair: n for n, pair in enumerate(pairs)}
    shape = (len(pairs), actions, len(pairs))
    P, values, low, high = np.zeros(shape), np.zeros((2, *shape)), np.zeros(shape), np.zeros(shape)
    for (s, missing), n in number.items():
        for a in range(actions):
            for to in range(states):
                left = max(0, missing - int(case.values[1, s, a, to]))
                m = number[to, left]
                P[n, a, m] = case.P[s, a, to]
                values[:, n, a, m] = case.values[0, s, a, to], (left == 0) - (missing == 0)
                if case.low is not None:
                    low[n, a, m], high[n, a, m] = case.low[s, a, to], case.high[s, a, to]
    start = np.zeros(len(pairs))
    for s in range(states):
        start[number[s, bound]] = case.start[s]
    return Case(P, values, np.array([probability]), start, case.horizon, 1.0, case.set, case.radius, low, high)


@pytest.mark.parametrize("set", ["none", "tv", "interval", "chi2", "kl"])
def test_frontier_is_the_best_that_any_policy_does(set):
    asked = 0
    for seed in range(12):
        case, bound = chance_case(seed, set, 2 + seed % 2)
        free = problem_of(case, bound, 1e-9)
        most = rd.solve(problem_of(case, bound, 1.0), method="frontier").constraints[0]
        best = 1.0 if most.satisfied else most.best_achievable
        probability = max(1e-3, 0.8 * best)
        exact = recursion(augmented(case, bound, probability))
        solution = rd.solve(problem_of(case, bound, probability), method="frontier", tolerance=1e-5)
        if exact is None:
            assert solution.status == "infeasible", seed
            continue
        assert solution.status == "certified", (seed, solution.status)
        assert solution.reward.worst <= exact + 1e-5, seed
        assert solution.reward.bound >= exact - 1e-5, seed
        assert solution.constraints[0].worst >= probability - 1e-9
        slow = rd.verify(problem_of(case, bound, probability), solution.policy)
        assert slow.constraints[0].worst == pytest.approx(solution.constraints[0].worst, abs=1e-9)
        asked += rd.solve(free, method="robust").reward.worst > exact + 1e-6
    assert asked >= 3  # the constraint costs something


def test_it_is_kept_in_files_and_shown(tmp_path):
    problem = rd.make("river_swim(horizon=6,start=3)").replace(
        constraints=[rd.chance("cost", at_most=2.0, probability=0.7)])  # fmt: skip
    for name in ("problem.json", "problem.umb"):
        rd.save(problem, tmp_path / name)
        assert rd.load(tmp_path / name) == problem
    assert "P(cost <= 2) >= 0.7" in str(problem)
    solution = rd.solve(problem, method="frontier", tolerance=0.01)
    assert solution.constraints[0].probability == 0.7
    assert solution.constraints[0].satisfied
    simulation = rd.simulate(problem, solution.policy, episodes=20_000, nature="chance-cost")
    kept = simulation.constraints[0]
    assert abs(kept.mean - solution.constraints[0].worst) <= 4 * kept.standard_error


def test_what_is_wrong_is_named():
    with pytest.raises(rd.Error, match="must have one of at_least and at_most"):
        rd.chance("cost", probability=0.5)
    problem = rd.make("river_swim(horizon=6,start=3)")
    with pytest.raises(rd.Error, match=r"probability 1.5 of the constraint on 'cost', must be in \(0, 1\]"):
        problem.replace(constraints=[rd.chance("cost", at_most=2.0, probability=1.5)])
    endless = rd.make("river_swim(discount=0.9)").replace(constraints=[rd.chance("cost", at_most=2.0, probability=0.5)])
    with pytest.raises(rd.Error, match="the chance constraint on 'cost' has an infinite horizon"):
        rd.solve(endless, "rcvi")
