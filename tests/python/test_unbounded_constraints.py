"""Constraints, every method and every verb without a discount and without a horizon."""

import itertools
import json

import numpy as np
import pytest
import redoubt as rd
from endless import ACTIONS, CRASH, GOAL, STATES, problem_of, random_model, surely_reaches
from program import run
from scipy.optimize import linprog

# ---- where some policies lose for ever ----------------------------------------------------------------------------


def costly_model(seed):
    """Every decision costs something, so that who stays pays for ever, and risk is bought with cost."""
    P, _ = random_model(seed)
    rng = np.random.default_rng(1000 + seed)
    cost = rng.integers(1, 5, (STATES, ACTIONS)).astype(float)
    cost[[GOAL, CRASH]] = 0
    return P, cost


def ends_surely(P):
    return 0 in surely_reaches(P, {GOAL, CRASH})[0]


def constrained_optimum(P, cost, most):
    """The least expected cost of a policy that ends and crashes with at most this probability, by occupation measures."""
    rows = [(s, a) for s in range(STATES) for a in range(ACTIONS) if s not in (GOAL, CRASH)]
    states = [s for s in range(STATES) if s not in (GOAL, CRASH)]
    flow = np.array([[float(r[0] == s) - P[r][s] for r in rows] for s in states])
    found = linprog([cost[r] for r in rows], [[P[r][CRASH] for r in rows]], [most], flow, np.eye(len(states))[0])
    return found.fun if found.status == 0 else None


def constrained(P, cost, most, uncertainty=None):
    paid = np.where(np.arange(STATES)[:, None] < GOAL, cost, 0)
    return problem_of(P, -paid, uncertainty, reward="cost", constraints=[rd.at_most(rd.reach("crash"), most)])


def test_constraints_where_staying_costs_against_linear_programs():
    solved = infeasible = lasting = 0
    for seed in range(60):
        P, cost = costly_model(seed)
        if not ends_surely(P):
            continue
        free = constrained_optimum(P, cost, 1)
        for most in (0.23, 0.47, 0.81):
            expected = constrained_optimum(P, cost, most)
            problem = constrained(P, cost, most)
            solution = rd.solve(problem, tolerance=1e-6)
            lasting += problem.improper
            if expected is None:
                assert solution.status == "infeasible", (seed, most)
                infeasible += 1
                continue
            assert solution.status == "certified", (seed, most, solution)
            assert -solution.reward.worst == pytest.approx(expected, rel=2e-6) and expected >= free - 1e-9
            assert solution.reward.bound == pytest.approx(-expected, rel=2e-6)
            assert solution.constraints[0].worst <= most + 1e-9
            check = rd.verify(problem, solution.policy)
            assert check.reward.worst == pytest.approx(solution.reward.worst, rel=1e-9)
            solved += 1
    assert solved > 30 and infeasible > 5 and lasting > 50


@pytest.mark.parametrize("uncertainty", [rd.KL(0.005), rd.Chi2(0.01), rd.TV(0.01, reach="support")], ids=repr)
def test_robust_constraints_where_staying_costs(uncertainty):
    """The answer holds, and lies between a finite horizon, over which less is paid, and its own bound."""
    solved = 0
    for seed in range(12):
        P, cost = costly_model(seed)
        if not ends_surely(P) or constrained_optimum(P, cost, 0.5) is None:
            continue
        problem = constrained(P, cost, 0.55, uncertainty)
        solution = rd.solve(problem, tolerance=1e-3)
        if solution.status not in ("certified", "feasible"):
            continue
        assert solution.reward.worst <= solution.reward.bound + 1e-9
        assert solution.reward.worst <= rd.solve(problem.replace(horizon=25), tolerance=1e-2).reward.bound + 1e-6
        assert -solution.reward.bound >= constrained_optimum(P, cost, 0.55) - 1e-6  # nature can do no less than nothing
        check = rd.verify(problem, solution.policy)
        assert check.satisfied and check.reward.worst == pytest.approx(solution.reward.worst, rel=1e-8)
        solved += 1
    assert solved >= 4


def test_a_program_with_a_way_to_wait():
    # By hand: `try` reaches the goal with .5, crashes with .1 and is free; `care` with .2 and never crashes; both take a step, and so does
    # waiting. Careful from the first: 5 steps, no risk. Trying: 1 / .6 steps, and a risk of 1 / 6. The best mixture for .1 is in between.
    rows = {"s": {"wait": ({"s": 1.0}, {"reward": -1.0}),
                  "try": ({"goal": 0.5, "crash": 0.1, "s": 0.4}, {"reward": -1.0}),
                  "care": ({"goal": 0.2, "s": 0.8}, {"reward": -1.0})}}  # fmt: skip
    problem = rd.explore(
        initial="s", actions=lambda s: list(rows.get(s, {})),
        step=lambda s, a: [(p, t, rows[s][a][1]) for t, p in rows[s][a][0].items()],
        labels=lambda s: {s} if s in ("goal", "crash") else set(), horizon=None,
        constraints=[rd.at_most(rd.reach("crash"), 0.1)])  # fmt: skip
    assert problem.improper
    solution = rd.solve(problem, tolerance=1e-9)
    share = 0.6  # of episodes that try
    assert solution.status == "certified"
    assert -solution.reward.worst == pytest.approx(share / 0.6 + (1 - share) * 5, rel=1e-8)
    for method in ("rcvi", "crpo"):
        with pytest.raises(rd.Error, match="some policies never come to an end: the method must be frontier"):
            rd.solve(problem, method=method)
    tight = rd.solve(problem.replace(constraints=[rd.at_most(rd.reach("crash"), 0.1), rd.at_least(rd.reach("goal"), 0.95)]))
    assert tight.status == "certified" and tight.constraints[1].worst == pytest.approx(0.95, abs=1e-6)
    assert rd.solve(problem.replace(constraints=[rd.at_least(rd.reach("crash"), 0.5)])).status == "infeasible"


# ---- where every policy ends ------------------------------------------------------------------------------------

ROAD = {
    f"s{i}": {
        "fast": ({f"s{i + 1}": 0.8, f"s{i}": 0.15, "crash": 0.05}, {"steps": 1.0}),
        "slow": ({f"s{i + 1}": 0.5, f"s{i}": 0.5}, {"steps": 1.0}),
    }
    for i in range(4)
}


def road(uncertainty, **terms):
    return rd.explore(
        initial="s0", actions=lambda s: list(ROAD.get(s, {})),
        step=lambda s, a: [(p, t, {"reward": -1.0}) for t, p in ROAD[s][a][0].items()],
        labels=lambda s: {"crash"} if s == "crash" else {"goal"} if s == "s4" else set(),
        constraints=[rd.at_most(rd.reach("crash"), 0.1)], uncertainty=uncertainty, **terms)  # fmt: skip


def test_constraints_where_every_policy_ends():
    # By hand, without uncertainty: `fast` at a state takes 1 / .85 decisions and crashes with .05 / .85; `slow` takes two
    # and never does. A crash saves the decisions of the states behind it, so that fast ones come last.
    problem = road(rd.Nominal(), horizon=None)
    solution = rd.solve(problem, tolerance=1e-7)
    crash, fast = 0.05 / 0.85, 1 / 0.85

    def totals(weights):  # of being fast at each state
        steps, risk = 0.0, 0.0
        for w in reversed(weights):
            steps, risk = w * (fast + (1 - crash) * steps) + (1 - w) * (2 + steps), w * (crash + (1 - crash) * risk) + (1 - w) * risk
        return steps, risk

    # All of the budget is spent, by a policy that mixes: its corners are pure, and the optimum is on their lower hull.
    corners = [totals(w) for w in itertools.product((0, 1), repeat=4)]
    best = min(a + (b - a) * (0.1 - x) / (y - x) for a, x in corners for b, y in corners if x <= 0.1 < y)
    assert solution.status == "certified" and solution.constraints[0].worst == pytest.approx(0.1, rel=1e-6)
    assert -solution.reward.worst == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("uncertainty", [rd.KL(0.02), rd.Chi2(0.03), rd.TV(0.02, reach="support"), rd.TV(0.01)], ids=repr)
def test_robust_constraints_agree_with_long_horizons(uncertainty):
    problem = road(uncertainty, horizon=None)
    solution = rd.solve(problem, tolerance=1e-3)
    long = rd.solve(road(uncertainty, horizon=120), tolerance=1e-3)
    assert solution.status == long.status == "certified"
    # After 120 decisions hardly any episode goes on: both brackets hold the same number.
    assert solution.reward.worst <= long.reward.bound + 1e-6 and long.reward.worst <= solution.reward.bound + 1e-6
    check = rd.verify(problem, solution.policy)
    assert check.reward.worst == pytest.approx(solution.reward.worst, rel=1e-9)
    assert check.constraints[0].worst == pytest.approx(solution.constraints[0].worst, rel=1e-9)
    sampled = rd.simulate(problem, solution.policy, episodes=4000, nature="worst-reward", seed=1)
    assert sampled.reward.mean == pytest.approx(solution.reward.worst, abs=5 * sampled.reward.standard_error)
    assert sampled.cut is None


@pytest.mark.parametrize("method", ["rcvi", "rnpg", "crpo", "epirc", "rppg", "primal-dual", "rrpo", "robust", "nominal"])
def test_every_method_takes_models_in_which_every_policy_ends(method):
    problem = road(rd.KL(0.02), horizon=None)
    bound = rd.solve(problem, tolerance=1e-3).reward.bound
    options = {} if method in ("rcvi", "robust", "nominal") else {"iterations": 60}
    solution = rd.solve(problem, method=method, **options)
    check = rd.verify(problem, solution.policy)
    assert check.reward.worst == pytest.approx(solution.reward.worst, rel=1e-8)
    assert check.constraints[0].worst == pytest.approx(solution.constraints[0].worst, rel=1e-8)
    if solution.constraints[0].satisfied:
        assert solution.reward.worst <= bound + 1e-9
    if method == "rcvi":
        assert solution.cut is not None and any("was cut after" in note for note in solution.notes)


# ---- every verb -------------------------------------------------------------------------------------------------


def test_every_verb_takes_such_a_problem(tmp_path):
    path, answer = tmp_path / "road.json", tmp_path / "answer.h5"
    rd.save(road(rd.KL(0.02), horizon=None), path)
    assert json.loads(path.read_text())["horizon"] is None
    assert rd.load(path) == road(rd.KL(0.02), horizon=None)
    info = run("info", path)
    assert info.returncode == 0 and "no horizon and no discount" in info.stdout, info.stderr
    solved = run("solve", path, "-o", answer)
    assert solved.returncode == 0 and "certified" in solved.stdout, solved.stderr
    assert "agrees with this one" in run("verify", path, answer).stdout
    assert run("evaluate", path, answer).returncode == 0
    assert "reward" in run("simulate", path, answer, "--episodes", 100).stdout
    assert run("convert", path, tmp_path / "road.umb").returncode == 0
    assert rd.load(tmp_path / "road.umb") == rd.load(path)
    best = run("solve", path, "--bound", "reach crash<=1", "--nature", "helpful")
    assert best.returncode == 2 and "nature helpful with 1 constraints" in best.stderr
    plain = {**json.loads(path.read_text()), "constraints": []}
    path.write_text(json.dumps(plain))
    best = run("solve", path, "--nature", "helpful")
    assert best.returncode == 0 and "best case" in best.stdout and "nature helpful" in best.stdout, best.stderr
    assert "best case" in run("evaluate", path, answer, "--nature", "helpful").stdout
    refused = run("solve", path, "--set", "tv", "--radius", 0.9)
    assert refused.returncode == 2 and "for ever" in refused.stderr and refused.stderr.count("\n") == 1
