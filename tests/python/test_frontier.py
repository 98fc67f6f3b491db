"""The frontier method against exact values: its bracket must hold them, and be as tight as asked."""

import numpy as np
import pytest
import redoubt as rd
from frontier_oracles import Case, occupancy, random_case, recursion
from scipy.optimize import linprog


def problem_of(case: Case) -> rd.Problem:
    sets = {
        "none": rd.Nominal(),
        "tv": rd.TV(case.radius, reach="support"),
        "tv anywhere": rd.TV(case.radius),
        "chi2": rd.Chi2(case.radius),
        "kl": rd.KL(case.radius),
        "interval": rd.Interval(case.low, case.high),
    }
    of_rows = bool((case.values == case.values[..., :1]).all())
    values = case.values[..., 0] if of_rows else case.values
    return rd.Problem(
        case.P,
        values[0],
        signals={f"u{c}": v for c, v in enumerate(values[1:])},
        constraints=[rd.at_least(f"u{c}", b) for c, b in enumerate(case.required)],
        uncertainty=sets[case.set],
        horizon=case.horizon,
        discount=case.discount,
        start=case.start / case.start.sum(),
        order="sas",
    )


def expect_bracket(case: Case, exact: float | None, tolerance: float, accuracy: float, what, problem=None):
    """`accuracy` is that of the oracle. A gap is measured as the status does: against at least one."""
    problem = problem_of(case) if problem is None else problem
    solution = rd.solve(problem, method="frontier", tolerance=tolerance, threads=1)
    if exact is None:
        assert solution.status == "infeasible", what
        return
    slack = accuracy * max(1.0, abs(exact))
    assert solution.status == "certified", (what, solution.status, solution.reward.worst, exact, solution.reward.bound)
    assert solution.reward.worst <= exact + slack, (what, solution.reward.worst, exact)
    assert solution.reward.bound >= exact - slack, (what, solution.reward.bound, exact)
    assert solution.gap <= tolerance * max(1.0, abs(solution.reward.bound)), what
    assert all(c.satisfied for c in solution.constraints), what
    assert all(c.satisfied for c in rd.verify(problem, solution.policy).constraints), what


@pytest.mark.parametrize("constraints, count", [(1, 100), (2, 100), (3, 40)])
def test_without_uncertainty_it_is_the_occupancy_program(constraints, count):
    for seed in range(count):
        case = random_case(seed, "none", states=3 + seed % 3, actions=2 + seed % 3, successors=2 + seed % 2,
                           horizon=2 + seed % 4, constraints=constraints)  # fmt: skip
        expect_bracket(case, occupancy(case), 1e-6, 1e-7, seed)


def discounted_occupancy(P, values, required, start, discount) -> float | None:
    """The optimum over stationary policies for ever: variables are discounted visits of (state, action)."""
    states, actions, _ = P.shape
    flow = np.repeat(np.eye(states), actions, axis=1) - discount * P.reshape(-1, states).T
    limits = dict(A_ub=-values[1:].reshape(len(required), -1), b_ub=-required) if len(required) else {}
    found = linprog(-values[0].ravel(), A_eq=flow, b_eq=start, **limits)
    return -found.fun if found.status == 0 else None


@pytest.mark.parametrize("discount", [0.9, 0.99, 0.999])
def test_without_uncertainty_and_horizon_it_is_the_discounted_occupancy_program(discount):
    solved = 0
    for seed in range(36 if discount < 0.999 else 12):
        random = np.random.default_rng(seed)
        states, actions, constraints = 3 + seed % 5, 2 + seed % 3, 1 + seed % 3
        P = random.dirichlet(np.full(states, 0.5), (states, actions))
        values = random.random((1 + constraints, states, actions))
        best = [discounted_occupancy(P, values[[c + 1]], np.zeros(0), np.eye(states)[0], discount) for c in range(constraints)]
        required = random.uniform(0.7, 0.9) * np.array(best)
        exact = discounted_occupancy(P, values, required, np.eye(states)[0], discount)
        problem = rd.Problem(
            P, values[0], signals={f"u{c}": v for c, v in enumerate(values[1:])}, discount=discount, order="sas",
            constraints=[rd.at_least(f"u{c}", b) for c, b in enumerate(required)], uncertainty=rd.Nominal(),
        )  # fmt: skip
        solution = rd.solve(problem, method="frontier", tolerance=1e-6)
        if exact is None:
            assert solution.status == "infeasible", seed
            continue
        solved += 1
        assert solution.status == "certified", (seed, solution)
        assert solution.reward.worst == pytest.approx(exact, rel=2e-6), seed
        assert solution.reward.bound >= exact * (1 - 1e-8), seed
    assert solved > 5


@pytest.mark.parametrize("constraints, set, count", [(2, "kl", 12), (2, "chi2", 8), (2, "interval", 12), (2, "tv", 20), (2, "tv anywhere", 16),
                                                     (3, "kl", 4), (3, "chi2", 4), (3, "interval", 12), (3, "tv", 12), (3, "tv anywhere", 8)])  # fmt: skip
def test_several_constraints_against_one_program(constraints, set, count):
    for seed in range(count):
        case = random_case(seed, set, states=3 + seed % 3, actions=2 + seed % 3, successors=2 + seed % 2,
                           horizon=2 + seed % 2, constraints=constraints)  # fmt: skip
        expect_bracket(case, recursion(case), 1e-2, 1e-6, (set, seed))


SHAPES = [(3, 2, 2), (4, 2, 3), (5, 2, 2), (3, 3, 2), (4, 4, 2), (3, 2, 4)]  # states, actions, horizon


@pytest.mark.parametrize("set, count", [("tv", 120), ("tv anywhere", 80), ("interval", 30)])
def test_polyhedral_sets_against_one_linear_program(set, count):
    for seed in range(count):
        states, actions, horizon = SHAPES[seed % (5 if set == "tv anywhere" else 6)]
        if set == "tv" and seed % 40 == 39:
            states, actions, horizon = 3, 2, 5
        case = random_case(seed, set, states=states, actions=actions, horizon=horizon)
        expect_bracket(case, recursion(case), 1e-3, 1e-7, (set, seed))


@pytest.mark.parametrize("set, count", [("chi2", 30), ("kl", 30)])
def test_smooth_sets_against_one_conic_program(set, count):
    for seed in range(count):
        states, actions, horizon = SHAPES[seed % 4]
        case = random_case(seed, set, states=states, actions=actions, horizon=horizon)
        expect_bracket(case, recursion(case), 1e-3, 1e-6, (set, seed))


@pytest.mark.parametrize("set", ["tv", "tv anywhere", "interval", "chi2", "kl"])
def test_a_finer_answer_is_reachable(set):
    for seed in range(8):
        case = random_case(seed, set)
        expect_bracket(case, recursion(case), 1e-5, 1e-6, (set, seed))


def test_the_oracles_agree_where_they_must():
    """At a radius of nothing every set is none, where the tree and the occupancy measure are two ways to one number."""
    for seed, set in enumerate(["none", "tv", "tv anywhere", "chi2"]):
        case = random_case(seed, set, horizon=3)
        case.radius = 0.0
        np.testing.assert_allclose(recursion(case), occupancy(case), atol=1e-6)
