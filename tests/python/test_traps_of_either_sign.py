"""Where nature can keep an episode for ever, and what is asked for may be lost as well as earned: minimised reachability and constraints."""

import itertools

import numpy as np
import pytest
import redoubt as rd
from endless import CRASH, GOAL, small
from scipy.optimize import linprog

STATES, ACTIONS = 5, 2  # that act, before goal and crash
DROPS = [rd.TV(0.1, reach="support"), rd.KL(0.11), rd.Chi2(0.12)]  # each can leave out a tenth
TRY = {"s": {"try": ({"s": 0.9, "goal": 0.04, "fail": 0.06}, {})}}


def agree(problem, policy, reward, *constraints):
    for evaluation in (rd.evaluate(problem, policy), rd.verify(problem, policy)):
        assert evaluation.reward.worst == pytest.approx(reward, abs=1e-9)
        assert [c.worst for c in evaluation.constraints] == pytest.approx(list(constraints), abs=1e-9)


@pytest.mark.parametrize("uncertainty", DROPS, ids=repr)
def test_nature_leaves_a_trap_by_the_way_that_it_likes_best(uncertainty):
    # It may leave both ways out, or only the one that it does not want: against a small probability to reach the goal it goes there with certainty.
    problem = small(TRY, uncertainty, minimise=rd.reach("goal"))
    solution = rd.solve(problem)
    assert problem.improper and solution.status == "certified"
    assert solution.reward.worst == pytest.approx(-1, abs=1e-9) and solution.reward.bound == pytest.approx(-1, abs=1e-9)
    agree(problem, solution.policy, -1)
    assert rd.simulate(problem, solution.policy, episodes=200, nature="worst-reward").reward.mean == pytest.approx(-1)
    nominal = rd.simulate(problem, solution.policy, episodes=4000, nature="nominal").reward
    assert nominal.mean == pytest.approx(-0.4, abs=5 * nominal.standard_error)
    # Against the same goal as a reward it stays; as a constraint, the goal has a nature of its own.
    problem = small(TRY, uncertainty, reward=rd.reach("goal"), constraints=[rd.at_most(rd.reach("goal"), 0.9)])
    found = rd.solve(problem, method="robust")
    agree(problem, found.policy, 0, 1)
    assert rd.simulate(problem, found.policy, episodes=50, nature="worst-reward").reward.mean == 0
    assert rd.simulate(problem, found.policy, episodes=50, nature="worst-reach goal").constraints[0].mean == pytest.approx(1)


@pytest.mark.parametrize("uncertainty", DROPS, ids=repr)
def test_a_policy_that_wants_to_stay_pays_what_nature_leaves_for(uncertainty, tmp_path):
    # Waiting would be free if nature did not lead away from it; values of 1 satisfy the equation of the loop as well.
    rows = {"s": {"wait": ({"s": 0.9, "t": 0.1}, {}), "jump": ({"goal": 1.0}, {})},
            "t": {"go": ({"goal": 0.3, "fail": 0.7}, {})}}  # fmt: skip
    problem = small(rows, uncertainty, minimise=rd.reach("goal"))
    solution = rd.solve(problem)
    expected = rd.worst_case(uncertainty, np.array([0.3, 0.7]), np.array([-1.0, 0.0]))
    assert problem.improper and solution.status == "certified"
    assert solution.reward.worst == pytest.approx(expected, abs=1e-9) and solution.reward.bound == pytest.approx(expected, abs=1e-9)
    agree(problem, solution.policy, expected)
    avoid = rd.solve(small(rows, uncertainty, reward=rd.avoid("goal")))
    assert avoid.status == "certified" and avoid.reward.worst == pytest.approx(1 + expected, abs=1e-9)
    simulated = rd.simulate(problem, solution.policy, episodes=4000, nature="worst-reward", seed=3).reward
    assert simulated.mean == pytest.approx(expected, abs=5 * simulated.standard_error)
    # The kernel that is exported leaves, too.
    rd.save_induced(problem, solution.policy, tmp_path / "worst.json", nature="worst-reward")
    chain = rd.load(tmp_path / "worst.json", horizon=None, discount=1.0)
    assert rd.solve(chain).reward.worst == pytest.approx(expected, abs=1e-6)


def test_a_wait_that_nothing_leads_away_from_is_free():
    rows = {"s": {"wait": ({"s": 0.9, "t": 0.1}, {}), "jump": ({"goal": 1.0}, {})}, "t": {"back": ({"s": 0.5, "fail": 0.5}, {})}}
    solution = rd.solve(small(rows, rd.TV(0.1, reach="support"), minimise=rd.reach("goal")))
    assert solution.status == "certified" and solution.reward.worst == solution.reward.bound == 0


def test_a_trap_beside_a_loop_that_costs_names_the_states():
    rows = {"s": {"try": ({"s": 0.9, "goal": 0.1}, {"wear": 0.0}), "on": ({"u": 1.0}, {})}, "u": {"on": ({"u": 0.9, "goal": 0.1}, {"wear": 1.0})}}
    with pytest.raises(rd.Error, match="can be kept in states s for ever, where it pays nothing, and elsewhere where 'wear' grows without end"):
        small(rows, rd.TV(0.1, reach="support"), reward=rd.reach("goal"), constraints=[rd.at_most("wear", 1)])


def random_rows(seed):
    rng = np.random.default_rng(seed)
    P = np.zeros((STATES + 2, ACTIONS, STATES + 2))
    for s, a in itertools.product(range(STATES), range(ACTIONS)):
        support = rng.choice(STATES + 2, size=rng.integers(1, 4), replace=False)
        P[s, a, support] = rng.dirichlet(np.ones(len(support)) * 2)
    P[0, 0] = np.eye(STATES + 2)[[1, 2]].mean(axis=0)
    P[1, 0] = np.eye(STATES + 2)[[1, GOAL, CRASH]].mean(axis=0)  # so that both can be reached
    for end in (GOAL, CRASH):
        P[end, :, end] = 1
    if seed % 2:
        radius = rng.choice([0.1, 0.34, 0.5])
        return P, rd.TV(radius, reach="support"), lambda s, a, v: least_by_tv(P[s, a], radius, v)
    fixed = (P > 0).sum(axis=2, keepdims=True) == 1
    low = np.where(fixed, P, np.where(rng.random(P.shape) < 0.5, 0, P / 2))
    high = np.where(P > 0, np.where(fixed, P, np.minimum(1, P + 0.5)), 0)
    return P, rd.Interval(low, high), lambda s, a, v: least_by_bounds(low[s, a], high[s, a], v)


def least_by_tv(p, radius, v):
    """The least expectation within the radius: mass goes from the largest values to the smallest."""
    on = [i for i in np.argsort(v, kind="stable") if p[i] > 0]
    mass = p.copy()
    for i in on[:0:-1]:
        moved = min(radius, mass[i])
        mass[[i, on[0]]] += [-moved, moved]
        radius -= moved
    return mass @ v


def least_by_bounds(low, high, v):
    mass = low.copy()
    for i in np.argsort(v, kind="stable"):
        mass[i] += min(1 - mass.sum(), high[i] - mass[i])
    return mass @ v


def reached(least, label, policy, nature, actions=None, sweeps=20000):
    """The probability to reach a label within many decisions, and whether it still grows: the limit from below."""
    v = np.zeros(STATES + 2)
    v[label] = 1
    for _ in range(sweeps):
        last = v.copy()
        for s in range(STATES):
            rows = range(ACTIONS) if actions is None else [actions[s]]
            v[s] = policy([nature * least(s, a, nature * last) for a in rows])
        if np.abs(v - last).max() < 1e-14:
            return v[0], True
    return v[0], False


def posed(P, uncertainty, **terms):
    return rd.Problem(P, labels={"goal": {GOAL}, "crash": {CRASH}}, uncertainty=uncertainty, order="sas", horizon=None, start=0, **terms)


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_random_traps_against_the_limit_of_finite_horizons(first):
    trapped = 0
    for seed in range(first, first + 30):
        P, uncertainty, least = random_rows(seed)
        low, settled = reached(least, CRASH, min, -1)
        for terms, offset in (({"minimise": rd.reach("crash")}, 0), ({"reward": rd.avoid("crash")}, 1)):
            problem = posed(P, uncertainty, **terms)
            solution = rd.solve(problem, method="robust")
            trapped += problem.improper
            assert solution.status == "certified"
            assert solution.reward.worst <= offset - low + 1e-9 and solution.reward.bound - solution.reward.worst < 1e-9
            if settled:
                assert solution.reward.worst == pytest.approx(offset - low, abs=1e-9)
            assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
    assert trapped > 20


@pytest.mark.parametrize("first", range(0, 16, 4))
def test_random_constraints_against_all_pure_policies(first):
    # A mixture of policies that the linear program finds must lie below the bound, and the answer between the two. Every number is evaluated twice.
    trapped = certified = 0
    for seed in range(first, first + 4):
        P, uncertainty, least = random_rows(seed)
        points = np.array([[reached(least, GOAL, max, 1, acts, 1500)[0], reached(least, CRASH, max, -1, acts, 1500)[0]]
                           for acts in itertools.product(range(ACTIONS), repeat=STATES)])  # fmt: skip
        bound = (points[:, 1].min() + points[:, 1].max()) / 2
        mixture = linprog(-points[:, 0], [points[:, 1]], [bound], [np.ones(len(points))], [1])
        problem = posed(P, uncertainty, reward=rd.reach("goal"), constraints=[rd.at_most(rd.reach("crash"), bound)])
        solution = rd.solve(problem)
        trapped += problem.improper
        certified += problem.improper and solution.status == "certified"
        assert solution.status in ("certified", "feasible")
        assert solution.reward.worst - 1e-9 <= solution.reward.bound and -mixture.fun <= solution.reward.bound + 1e-7
        agree(problem, solution.policy, solution.reward.worst, solution.constraints[0].worst)
        for nature, expected in (("worst-reward", solution.reward.worst), ("worst-reach crash", solution.constraints[0].worst)):
            found = rd.simulate(problem, solution.policy, episodes=1000, nature=nature, seed=seed)
            sample = found.reward if nature == "worst-reward" else found.constraints[0]
            assert sample.mean == pytest.approx(expected, abs=6 * max(sample.standard_error, 1e-3))
        for method in ("robust", "nominal"):
            other = rd.solve(problem, method=method)
            agree(problem, other.policy, other.reward.worst, other.constraints[0].worst)
        if points[:, 1].min() > 0.02:  # what no policy keeps is proved, with what the best one keeps
            strict = rd.solve(posed(P, uncertainty, reward=rd.reach("goal"), constraints=[rd.at_most(rd.reach("crash"), points[:, 1].min() - 0.01)]))
            assert strict.status == "infeasible"
            assert strict.constraints[0].best_achievable == pytest.approx(points[:, 1].min(), abs=1e-6)
    assert trapped >= 2 and certified >= 1
