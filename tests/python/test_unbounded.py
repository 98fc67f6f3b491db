"""No discount and no horizon: totals until an end, and what happens at all times."""

import itertools
import json

import numpy as np
import pytest
import redoubt as rd
from program import run
from scipy.optimize import linprog

STATES, ACTIONS = 7, 2
GOAL, CRASH = 5, 6


def random_model(seed):
    """Rows of one to three outcomes, so that many states form end components; goal and crash stay where they are."""
    rng = np.random.default_rng(seed)
    P = np.zeros((STATES, ACTIONS, STATES))
    for s in range(STATES):
        for a in range(ACTIONS):
            if s in (GOAL, CRASH):
                P[s, a, s] = 1
                continue
            near = rng.choice(5, size=rng.integers(1, 3), replace=False)
            support = np.append(near, rng.choice([GOAL, CRASH])) if rng.random() < 0.4 else near
            P[s, a, support] = rng.dirichlet(np.ones(len(support)) * 3)
    cost = np.where(rng.random((STATES, ACTIONS)) < 0.5, 0.0, rng.integers(1, 5, (STATES, ACTIONS)).astype(float))
    cost[[GOAL, CRASH]] = 0
    P[4, 0] = np.eye(STATES)[[0, GOAL, CRASH]].mean(axis=0)  # so that both can be reached from somewhere
    P[0, 0] = np.eye(STATES)[[rng.integers(4), 4]].mean(axis=0)
    return P / P.sum(axis=2, keepdims=True), cost


def problem_of(P, cost, uncertainty=None, **terms):
    labels = {"goal": {GOAL}, "crash": {CRASH}}
    return rd.Problem(P, signals={"cost": cost}, labels=labels, uncertainty=uncertainty or rd.Nominal(), order="sas",
                      horizon=None, discount=1.0, start=0, **terms)  # fmt: skip


# ---- linear programs --------------------------------------------------------------------------------------------


def largest(P, paid, fixed=()):
    """The least v >= 0 with v >= paid + P v: what the best policy earns. None: without bound."""
    rows = [(s, a) for s in range(STATES) for a in range(ACTIONS) if s not in fixed]
    A = np.array([P[s, a] - np.eye(STATES)[s] for s, a in rows])
    b = np.array([-paid[s, a] for s, a in rows])
    found = linprog(np.ones(STATES), A, b, bounds=[(0, 0) if s in fixed else (0, None) for s in range(STATES)])
    return found.x[0] if found.status == 0 else None


def smallest(P, paid, zero, allowed):
    """The largest v with v <= paid + P v and v = 0 in states that are at their end. None: without bound."""
    rows = [(s, a) for s in range(STATES) for a in range(ACTIONS) if allowed[s, a] and s not in zero]
    A = np.array([np.eye(STATES)[s] - P[s, a] for s, a in rows]).reshape(-1, STATES)
    b = np.array([paid[s, a] for s, a in rows])
    acts = {s for s, _ in rows}
    bounds = [(0, None) if s in acts else (0, 0) for s in range(STATES)]
    found = linprog(-np.ones(STATES), A, b, bounds=bounds)
    return found.x[0] if found.status == 0 else None


def can_avoid(P, bad):
    """States from which a policy never comes to a set of states."""
    safe = set(range(STATES)) - bad
    while True:
        still = {s for s in safe if any(set(np.flatnonzero(P[s, a])) <= safe for a in range(ACTIONS))}
        if still == safe:
            return safe
        safe = still


def surely_reaches(P, goal):
    """States from which a policy reaches a set with certainty, and the rows that never leave them."""
    sure = set(range(STATES))
    while True:
        near = set(goal)
        while True:
            more = {s for s in sure - near for a in range(ACTIONS)
                    if set(np.flatnonzero(P[s, a])) <= sure and set(np.flatnonzero(P[s, a])) & near}  # fmt: skip
            if not more:
                break
            near |= more
        if near == sure:
            break
        sure = near
    allowed = np.array([[s in sure and set(np.flatnonzero(P[s, a])) <= sure for a in range(ACTIONS)]
                        for s in range(STATES)])  # fmt: skip
    return sure, allowed


def brackets(solution, expected, sign=1):
    slack = 1e-7 * max(1.0, abs(expected))
    assert solution.status == "certified", solution.notes
    assert solution.reward.worst - slack <= sign * expected <= solution.reward.bound + slack
    assert solution.reward.bound - solution.reward.worst <= 2 * slack


def test_200_random_models_with_end_components_against_linear_programs():
    finite = infinite = 0
    for seed in range(200):
        P, cost = random_model(seed)
        to_goal, to_crash = P[:, :, GOAL].copy(), P[:, :, CRASH].copy()
        to_goal[[GOAL, CRASH]] = to_crash[[GOAL, CRASH]] = 0
        ends = (GOAL, CRASH)
        brackets(rd.solve(problem_of(P, cost, reward=rd.reach("goal"))), largest(P, to_goal, ends))
        least = smallest(P, to_crash, can_avoid(P, {CRASH}) | {GOAL, CRASH}, np.ones((STATES, ACTIONS), bool))
        brackets(rd.solve(problem_of(P, cost, minimise=rd.reach("crash"))), least, -1)
        # Everything that is paid for ever, or else an error.
        most = largest(P, cost, ends)
        try:
            brackets(rd.solve(problem_of(P, cost, reward="cost")), most)
            finite += 1
        except rd.Error as error:
            assert most is None and "for ever, where 'reward' grows without end" in str(error)
            infinite += 1
        # Infinite on paths that miss the goal.
        sure, allowed = surely_reaches(P, {GOAL})
        for words, paid in ((rd.steps_to("goal"), np.ones((STATES, ACTIONS))), (rd.total_until("cost", "goal"), cost)):
            if 0 in sure:
                brackets(rd.solve(problem_of(P, cost, minimise=words)), smallest(P, paid, {GOAL}, allowed), -1)
                finite += 1
            else:
                with pytest.raises(rd.Error, match="no policy comes to the goal with certainty"):
                    problem_of(P, cost, minimise=words)
                infinite += 1
    assert finite > 100 and infinite > 100


# ---- with uncertainty -------------------------------------------------------------------------------------------


def worst_rows(uncertainty, P, v):
    """Nature's answer to values, for every row: their worst cases and the distributions."""
    value, Q = np.zeros((STATES, ACTIONS)), np.zeros_like(P)
    for s in range(STATES):
        for a in range(ACTIONS):
            on = P[s, a] > 0
            found = rd.worst_case(uncertainty, P[s, a][on], v[on], return_distribution=True)
            value[s, a], Q[s, a][on] = found[0], found[1]
    return value, Q


SETS = [rd.KL(0.05), rd.Chi2(0.1), rd.TV(0.02, reach="support")]


@pytest.mark.parametrize("uncertainty", SETS, ids=repr)
def test_robust_reachability_lies_between_a_finite_horizon_and_a_fixed_kernel(uncertainty):
    solved = refused = tight = 0
    for seed in range(40):
        P, cost = random_model(seed)
        try:
            problem = problem_of(P, cost, uncertainty, reward=rd.reach("goal"))
        except rd.Error as error:  # the set may drop the way out of a component
            assert "nature can keep an episode in states" in str(error)
            refused += 1
            continue
        solution = rd.solve(problem)
        # Reaching the goal pays by its own value of one, which nature sees.
        v = np.zeros(STATES)
        v[GOAL] = 1
        for _ in range(800):
            value, Q = worst_rows(uncertainty, P, v)
            best = value.max(axis=1)
            best[GOAL], best[CRASH] = 1, 0
            change, v = np.abs(best - v).max(), best
            if change < 1e-13:
                break
        to_goal = Q[:, :, GOAL].copy()
        to_goal[[GOAL, CRASH]] = 0
        above = largest(Q, to_goal, (GOAL, CRASH))
        assert solution.status == "certified"
        assert v[0] <= solution.reward.bound + 1e-8
        assert solution.reward.worst <= above + 1e-8
        assert solution.reward.bound - solution.reward.worst < 1e-7
        if change < 1e-13:  # episodes that nature can delay for long have not ended by then
            assert above - v[0] < 1e-6
            tight += 1
        check = rd.verify(problem, solution.policy)
        assert check.reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
        solved += 1
    assert solved >= 25 and tight >= 15


# ---- traps, by hand ---------------------------------------------------------------------------------------------


def small(rows, uncertainty=None, **terms):
    """rows: {state: {action: ({next: probability}, {signal: value})}}; states without rows are ends."""
    return rd.explore(
        initial="s", actions=lambda s: list(rows.get(s, {})),
        step=lambda s, a: [(p, t, rows[s][a][1]) for t, p in rows[s][a][0].items()],
        labels=lambda s: {"goal"} if s == "goal" else set(),
        uncertainty=uncertainty or rd.Nominal(), horizon=None, discount=1.0, **terms)  # fmt: skip


def test_a_loop_that_pays_nothing():
    # Values from above, all one, satisfy every equation of the loop; the answer is what the way out is worth.
    loop = {"s": {"wait": ({"s": 1.0}, {}), "go": ({"goal": 0.5, "fail": 0.5}, {})}}
    for uncertainty, expected in ((None, 0.5), (rd.TV(0.2, reach="support"), 0.3)):
        solution = rd.solve(small(loop, uncertainty, reward=rd.reach("goal")))
        assert solution.status == "certified" and solution.reward.worst == pytest.approx(expected, abs=1e-12)
        assert solution.reward.bound == pytest.approx(expected, abs=1e-9)
    # Of two states that lead to each other, the better way out counts; whoever wants to stay may.
    pair = {"s": {"over": ({"t": 1.0}, {}), "go": ({"goal": 0.3, "fail": 0.7}, {})},
            "t": {"back": ({"s": 0.5, "t": 0.5}, {}), "go": ({"goal": 0.6, "fail": 0.4}, {})}}  # fmt: skip
    problem = small(pair, reward=rd.reach("goal"))
    assert "s or t" in problem.state_names and "go from t" in problem.action_names
    assert rd.solve(problem).reward.worst == pytest.approx(0.6, abs=1e-12)
    least = rd.solve(small(pair, minimise=rd.reach("goal")))
    assert least.reward.worst == 0 and least.reward.bound == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("enough", "too_much", "steps"),
    [
        (rd.TV(0.05, reach="support"), rd.TV(0.1, reach="support"), 20.0),
        (rd.KL(0.1), rd.KL(0.11), None),  # drops a tenth at -log(.9) = .10536
        (rd.Chi2(0.1), rd.Chi2(0.12), None),  # at .1 / .9 = .1111
    ],
    ids=["tv", "kl", "chi2"],
)
def test_a_set_that_may_drop_the_only_way_out(enough, too_much, steps):
    rows = {"s": {"try": ({"s": 0.9, "goal": 0.1}, {})}}
    reached = rd.solve(small(rows, enough, reward=rd.reach("goal")))
    assert reached.status == "certified" and reached.reward.worst == pytest.approx(1, abs=1e-9)
    taken = -rd.solve(small(rows, enough, minimise=rd.steps_to("goal"))).reward.worst
    exit_ = -rd.worst_case(enough, np.array([0.9, 0.1]), np.array([0.0, -1.0]))
    least = rd.worst_case(enough, np.array([0.9, 0.1]), np.array([0.0, 1.0]))
    assert taken == pytest.approx(1 / least, rel=1e-8) and exit_ > 0.1
    if steps is not None:
        assert taken == pytest.approx(steps, rel=1e-9)
    trapped = rd.solve(small(rows, too_much, reward=rd.reach("goal")))  # for ever, if nature wants to
    assert trapped.status == "certified" and trapped.reward.worst == trapped.reward.bound == 0
    with pytest.raises(rd.Error, match="from s no policy comes to the goal with certainty"):
        small(rows, too_much, minimise=rd.steps_to("goal"))
    # Another action that nature cannot undo is worth what it is; what can be undone adds nothing to it.
    rows["s"]["jump"] = ({"goal": 0.5, "fail": 0.5}, {})
    problem = small(rows, too_much, reward=rd.reach("goal"))
    solution = rd.solve(problem)
    jump = rd.worst_case(too_much, np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    assert solution.status == "certified" and solution.reward.worst == pytest.approx(jump, abs=1e-12)
    assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(jump, abs=1e-12)
    controller = solution.policy.start()
    assert problem.given.model.action_names[controller.act(0)] == "jump"


def test_a_trap_together_with_something_else_names_the_states():
    rows = {"s": {"try": ({"s": 0.9, "goal": 0.1}, {"wear": 0.0}), "jump": ({"goal": 0.5, "fail": 0.5}, {"wear": 1.0})}}
    for asked in ({"minimise": rd.reach("goal")}, {"reward": rd.reach("goal"), "constraints": [rd.at_most("wear", 1)]}):
        with pytest.raises(rd.Error, match="nature can keep an episode in states s for ever, where it earns nothing"):
            small(rows, rd.TV(0.1, reach="support"), **asked)


def test_an_interval_with_lower_bound_zero():
    P = np.array([[[0.9, 0.1]], [[0.0, 1.0]]])

    def problem(low, **asked):
        lo, hi = np.array([[[0.5, low]], [[0.0, 1.0]]]), np.array([[[1.0, 0.5]], [[0.0, 1.0]]])
        return rd.Problem(P, labels={"goal": {1}}, uncertainty=rd.Interval(lo, hi), order="sas", horizon=None, **asked)

    assert rd.solve(problem(0.25, reward=rd.reach("goal"))).reward.worst == pytest.approx(1, abs=1e-9)
    assert -rd.solve(problem(0.25, minimise=rd.steps_to("goal"))).reward.worst == pytest.approx(4, rel=1e-9)
    assert rd.solve(problem(0.0, reward=rd.reach("goal"))).reward.bound == 0
    with pytest.raises(rd.Error, match="from 0 no policy comes to the goal with certainty"):
        problem(0.0, minimise=rd.steps_to("goal"))


def test_totals_that_grow_for_ever_name_the_states():
    rows = {"s": {"on": ({"t": 1.0}, {"reward": 1.0}), "out": ({"goal": 1.0}, {})}, "t": {"back": ({"s": 1.0}, {})}}
    with pytest.raises(rd.Error, match="in states s; t for ever, where 'reward' grows without end.*discount below 1"):
        small(rows)
    rows["s"]["on"] = ({"t": 1.0}, {"reward": -1.0})  # nobody stays where it costs
    solution = rd.solve(small(rows))
    assert solution.status == "certified" and solution.reward.worst == 0 == pytest.approx(solution.reward.bound, abs=1e-9)
    rows["s"]["on"] = ({"t": 1.0}, {"wear": 1.0})
    assert rd.solve(small(rows, reward=None, constraints=[rd.at_most("wear", 3)])).constraints[0].worst == 0
    with pytest.raises(rd.Error, match="where 'wear' grows without end, every policy"):
        small(rows, reward=None, constraints=[rd.at_least("wear", 3)])


# ---- constraints where some policies lose for ever ----------------------------------------------------------------


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


# ---- a nature that helps ----------------------------------------------------------------------------------------


def test_a_helpful_nature_is_the_other_end_of_the_range():
    P, cost = random_model(3)
    for horizon, discount in ((None, 0.9), (6, 1.0)):
        base = rd.Problem(P, reward=cost, order="sas", horizon=horizon, discount=discount, uncertainty=rd.TV(0.1, reach="support"))
        best = base.replace(nature="helpful")
        low, high = rd.solve(base), rd.solve(best)
        assert high.status == "certified" and low.reward.bound < high.reward.worst
        v = np.zeros(STATES)
        for _ in range(horizon or 400):  # the best case of v is minus the worst case of -v
            v = (cost - discount * worst_rows(rd.TV(0.1, reach="support"), P, -v)[0]).max(axis=1)
        assert high.reward.worst == pytest.approx(v[0], rel=1e-9) == high.reward.bound
        assert rd.verify(best, high.policy).reward.worst == pytest.approx(v[0], rel=1e-9)
        assert rd.evaluate(base, high.policy).reward.worst < low.reward.bound + 1e-9
        same = base.replace(uncertainty=rd.Nominal())
        assert rd.solve(same.replace(nature="helpful")).reward.worst == pytest.approx(rd.solve(same).reward.worst)
    with pytest.raises(rd.Error, match="'adversarial' or 'helpful'"):
        base.replace(nature="kind")
    limited = rd.make("river_swim(horizon=5,start=3)").replace(nature="helpful")
    for method in ("frontier", "rcvi", "crpo"):
        with pytest.raises(rd.Error, match="nature helpful with"):
            rd.solve(limited, method=method)
    policy = rd.solve(limited.replace(nature="adversarial")).policy
    assert rd.evaluate(limited, policy).constraints[0].worst < 4  # a cost is low where nature helps


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
