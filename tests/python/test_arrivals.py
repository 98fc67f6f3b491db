"""Signals that are earned by arrival, also by arrivals that no row lists: total variation with reach anywhere."""

import numpy as np
import pytest
import reference
import redoubt as rd
from frontier_oracles import random_case, recursion
from test_frontier import expect_bracket, problem_of

HOLE = 2


def trap(signal, radius=0.1, **terms):
    """Two states that lead to each other, and a hole that no row leads to, out of which nothing leads."""
    P = np.zeros((3, 2, 3))
    P[0, :, 1] = P[1, :, 0] = P[HOLE, :, HOLE] = 1.0
    terms = {"horizon": 3, "constraints": [rd.at_most("hazard", 0.05)]} | terms
    reward = [[1.0, 0.5], [1.0, 0.5], [0.0, 0.0]]
    return rd.Problem(P, reward, signals={"hazard": signal}, uncertainty=rd.TV(radius), order="sas", **terms)


def first_visit(signal_of_hole):
    """The same with a hole that ends the episode: hazard is the probability to fall into it."""
    rows = [(0, a, 1, 1.0) for a in range(2)] + [(1, a, 0, 1.0) for a in range(2)]
    return rd.Problem(rows, 1.0, states=3, horizon=3, signals={"hazard": signal_of_hole},
                      constraints=[rd.at_most("hazard", 0.05)], uncertainty=rd.TV(0.1))  # fmt: skip


BY_ARRIVAL = {
    "set": {HOLE},
    "function": lambda s, a, n: float(n == HOLE),
    "array": rd.on_arrival([0.0, 0.0, 1.0]),
    "dict": rd.on_arrival({HOLE: 1.0}),
    "dense": np.broadcast_to([0.0, 0.0, 1.0], (3, 2, 3)),
}


@pytest.mark.parametrize("form", BY_ARRIVAL)
def test_a_hole_that_no_row_leads_to_is_not_safe(form):
    problem = trap(BY_ARRIVAL[form])
    assert problem.arrival_signals["hazard"].tolist() == [0.0, 0.0, 1.0]
    assert problem == trap({HOLE})
    for method in ("frontier", "rcvi", "robust", "crpo"):
        solution = rd.solve(problem, method=method, **({"iterations": 5} if method == "crpo" else {}))
        assert solution.status in ("infeasible", "violated"), (method, solution)
        # A tenth falls at once and arrives in the hole again and again, another tenth of the rest later.
        assert solution.constraints[0].worst == pytest.approx(0.1 * 3 + 0.09 * 2 + 0.081, abs=1e-9), method
        assert rd.verify(problem, solution.policy).constraints[0].worst == pytest.approx(0.561, abs=1e-12)


def test_a_hole_that_ends_the_episode_is_fallen_into_with_its_probability():
    solution = rd.solve(first_visit({HOLE}), method="frontier")
    assert solution.status == "infeasible"
    assert solution.constraints[0].best_achievable == pytest.approx(1 - 0.9**3, abs=1e-9)


def test_a_signal_of_the_row_is_earned_as_the_rows():
    problem = trap(np.zeros((3, 2)))
    solution = rd.solve(problem, method="frontier")
    assert solution.status == "certified" and solution.constraints[0].worst == 0.0
    assert not np.signbit(solution.constraints[0].worst)
    looks_at_the_state = trap(lambda s, a, n: float(n == HOLE and s != HOLE))
    assert not looks_at_the_state.arrival_signals["hazard"].any()


def test_the_answer_says_what_a_landing_earns():
    said = "such an arrival earns the row's own values and what its state gives: hazard"
    assert any(said in note for note in rd.solve(trap({HOLE}), method="robust").notes)
    plain = rd.solve(trap(np.zeros((3, 2))), method="robust").notes
    assert any("earns the row's own values and nothing else" in note for note in plain)
    support = trap({HOLE}).replace(uncertainty=rd.TV(0.1, reach="support"))
    assert not any("arrival" in note for note in rd.solve(support, method="robust").notes)


def test_an_estimate_keeps_what_arrivals_earn():
    """Sampled under kl, which has no landings, and solved with total variation, which has."""
    found = rd.estimate(trap({HOLE}).replace(uncertainty=rd.KL(0.1)), samples=20)
    assert found.arrival_signals["hazard"].tolist() == [0.0, 0.0, 1.0]
    for problem in (found.replace(uncertainty=rd.TV(0.1)), rd.estimate(trap({HOLE}), samples=20)):
        solution = rd.solve(problem, method="frontier")
        assert solution.status == "infeasible"
        assert solution.constraints[0].best_achievable == pytest.approx(0.561, abs=1e-9)
    for set in (rd.TV(0.1), rd.KL(0.1)):  # radii from data, which must not vary within a row otherwise
        problem = rd.estimate(trap({HOLE}), samples=20, uncertainty=set, delta=0.1)
        assert rd.solve(problem, method="robust").constraints[0].worst > 0.561


def worst_totals(problem, P, row, arrival, weights):
    """Backward, over all states as outcomes: the least total of row(s, a) + arrival(next), or of its negative."""
    values = np.zeros(len(P))
    for _ in range(problem.horizon):
        q = [[row[s, a] + reference.worst_tv(P[s, a], arrival + problem.discount * values, problem.uncertainty.radius)
              for a in range(P.shape[1])] for s in range(len(P))]  # fmt: skip
        values = (weights * np.array(q)).sum(axis=1)
    return problem.start @ values


@pytest.mark.parametrize("seed", range(12))
def test_any_policy_by_brute_force(seed):
    case = random_case(seed, "tv anywhere", states=4, actions=2, horizon=3)
    random = np.random.default_rng(seed)
    arrival = np.where(random.random((2, 4)) < 0.5, random.normal(size=(2, 4)), 0.0)
    row = case.values[..., 0]
    problem = problem_of(case).replace(constraints=[])
    problem = rd.Problem(case.P, rd.on_arrival(arrival[0], row[0]), signals={"u": rd.on_arrival(arrival[1], row[1])},
                         constraints=[rd.at_most("u", 1.0), rd.at_least("u", 1.0)], uncertainty=problem.uncertainty,
                         horizon=3, discount=case.discount, start=problem.start, order="sas")  # fmt: skip
    weights = random.dirichlet(np.ones(2), 4)
    policy = rd.Policy.markov(problem, weights)
    expected = [worst_totals(problem, case.P, row[0], arrival[0], weights),
                -worst_totals(problem, case.P, -row[1], -arrival[1], weights),
                worst_totals(problem, case.P, row[1], arrival[1], weights)]  # fmt: skip
    for found in (rd.evaluate(problem, policy), rd.verify(problem, policy)):
        assert [found.reward.worst, *(c.worst for c in found.constraints)] == pytest.approx(expected, abs=1e-12)
    best = rd.solve(problem, method="robust").reward.worst
    pure = [worst_totals(problem, case.P, row[0], arrival[0], np.eye(2)[list(actions)]) for actions in
            np.ndindex(2, 2, 2, 2)]  # fmt: skip
    assert best >= max(pure) - 1e-12  # one rule for all stages is among those that it chooses from


@pytest.mark.parametrize("constraints, tolerance, count", [(1, 1e-3, 24), (2, 1e-2, 6)])
def test_frontier_against_one_linear_program(constraints, tolerance, count):
    for seed in range(count):
        case = random_case(seed, "tv anywhere", states=3 + seed % 2, constraints=constraints)
        arrival = np.random.default_rng(seed).random((1 + constraints, 3 + seed % 2)) * (seed % 3)
        case.values = case.values + arrival[:, None, None, :]
        best = [recursion(type(case)(**vars(case) | {"values": case.values[[c + 1]], "required": np.zeros(0)}))
                for c in range(constraints)]  # fmt: skip
        case.required = 0.8 * np.array(best)
        expect_bracket(case, recursion(case), tolerance, 1e-7, seed, problem=by_arrival(case, arrival))


def by_arrival(case, arrival):
    row = case.values[..., 0] - arrival[:, None, None, 0]
    signals = {f"u{c}": rd.on_arrival(arrival[c + 1], row[c + 1]) for c in range(len(case.required))}
    return rd.Problem(
        case.P, rd.on_arrival(arrival[0], row[0]), signals=signals, uncertainty=rd.TV(case.radius),
        constraints=[rd.at_least(f"u{c}", b) for c, b in enumerate(case.required)], horizon=case.horizon,
        discount=case.discount, start=case.start / case.start.sum(), order="sas",
    )  # fmt: skip


def test_arrivals_are_kept_by_files_and_refused_by_csv(tmp_path):
    problem = trap({HOLE})
    for name in ("m.json", "m.umb"):
        rd.save(problem, tmp_path / name)
        assert rd.load(tmp_path / name) == problem
    with pytest.raises(rd.Error, match="hazard is earned by arrivals.*write JSON or UMB"):
        rd.save(problem, tmp_path / "m.csv")


def test_wrong_arrivals_are_refused():
    with pytest.raises(rd.Error, match=r"signal 'hazard' on arrival has shape \(2,\), must be \(S,\) = \(3,\)"):
        trap(rd.on_arrival([0.0, 1.0]))
    with pytest.raises(rd.Error, match=r"signal 'hazard' on arrival in state 7, must be in 0\.\.2"):
        trap(rd.on_arrival({7: 1.0}))
    with pytest.raises(rd.Error, match="signal 'hazard' of .* is nan, must be finite"):
        trap(rd.on_arrival({HOLE: np.nan}))


def test_gymnasium_signals_are_earned_by_every_arrival():
    import gymnasium

    lake = gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=False)
    holes = {5, 7, 11, 12}
    for signal in (holes, lambda s, a, n: n in holes):
        problem = rd.from_gymnasium(lake, signals={"hazard": signal}, horizon=6, uncertainty=rd.TV(0.05),
                                    constraints=[rd.at_most("hazard", 0.2)])  # fmt: skip
        assert set(np.flatnonzero(problem.arrival_signals["hazard"])) == holes
        # Every step may fall into a hole, wherever it is taken.
        safest = rd.achievable_range(problem, 0).best
        assert safest == pytest.approx(1 - 0.95**6, abs=1e-9)
