"""Rows that are mixtures of factors, with the uncertainty set around each factor.

The references know nothing of stages between decisions: the worst case of a row is the mixture of the worst cases of its
factors, by linear programs and by one-dimensional duals of scipy.
"""

import itertools
import pickle

import numpy as np
import pytest
import redoubt as rd
from scipy.optimize import linprog, minimize_scalar
from scipy.sparse import csr_array

STATES, ACTIONS, FACTORS = 4, 2, 3


def draw(seed):
    """Features, factors, reward and cost; some of the weights are zero."""
    rng = np.random.default_rng(seed)
    features = rng.dirichlet(np.ones(FACTORS), size=(STATES, ACTIONS)) * (rng.random((STATES, ACTIONS, FACTORS)) < 0.8)
    features[..., 0] += 0.1
    features /= features.sum(axis=-1, keepdims=True)
    factors = rng.dirichlet(np.ones(STATES), size=FACTORS) * (rng.random((FACTORS, STATES)) < 0.8)
    factors[:, seed % STATES] += 0.2
    factors /= factors.sum(axis=1, keepdims=True)
    return features, factors, rng.random((STATES, ACTIONS)).round(2), rng.random((STATES, ACTIONS)).round(2)


def problem_of(seed, horizon=4, **terms):
    features, factors, reward, cost = draw(seed)
    return rd.Problem(features=features, factors=factors, reward=reward, signals={"cost": cost}, horizon=horizon, **terms)


def least(uncertainty, p, v):
    """The least expectation of v over the set around p."""
    if uncertainty is None:
        return p @ v
    if isinstance(uncertainty, rd.TV):
        n, inside = len(p), p > 0 if uncertainty.reach == "support" else np.ones(len(p), bool)
        eye = np.eye(n)
        ub = np.vstack([np.hstack([eye, -eye]), np.hstack([-eye, -eye]), np.append(np.zeros(n), np.ones(n))])
        found = linprog(np.append(v, np.zeros(n)), ub, np.concatenate([p, -p, [2 * uncertainty.radius]]),
                        np.append(np.ones(n), np.zeros(n))[None], [1.0], bounds=[(0, float(i)) for i in inside] + [(0, 1)] * n)  # fmt: skip
        return found.fun
    p, v = p[p > 0], v[p > 0]
    if isinstance(uncertainty, rd.KL):

        def dual(log_b):
            b = np.exp(log_b)
            low = v.min()
            return -(low - b * np.log(p @ np.exp(-(v - low) / b)) - b * uncertainty.radius)

        starts = np.linspace(-26, 6, 17)
        return max(-minimize_scalar(dual, bounds=(a, a + 2), method="bounded", options={"xatol": 1e-10}).fun for a in starts)

    def dual_chi2(level):  # sqrt form of the dual: level is where P becomes zero
        below = np.minimum(v - level, 0.0)
        return -(level - np.sqrt(1 + uncertainty.radius) * np.sqrt(p @ below**2))

    starts = np.linspace(v.min() - 1, v.max() + 10, 12)
    return max(-minimize_scalar(dual_chi2, bounds=(a, a + 1.5), method="bounded", options={"xatol": 1e-11}).fun for a in starts)


def backward(seed, horizon, discount=1.0, uncertainty=None, channel=2, sign=1.0, decide=None):
    """Values by stage: the best action, or the one that is decided."""
    features, factors, *earned = draw(seed)
    values = np.zeros(STATES)
    for stage in reversed(range(horizon)):
        worst = np.array([least(uncertainty, mu, values) for mu in factors])
        q = sign * earned[channel - 2] + discount * features @ worst
        values = q.max(axis=1) if decide is None else np.array([q[s, decide[stage][s]] for s in range(STATES)])
    return values


SETS = {"none": None, "kl": rd.KL(0.1), "chi2": rd.Chi2(0.2), "tv": rd.TV(0.15, reach="support"), "anywhere": rd.TV(0.1)}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_best_worst_case_is_that_of_backward_induction(kind, discount):
    for seed in range(3):
        problem = problem_of(seed, discount=discount, uncertainty=SETS[kind])
        expected = backward(seed, 4, discount, SETS[kind])
        for start in range(STATES):
            asked = problem.replace(start=start)
            solution = rd.solve(asked, "robust")
            assert solution.reward.worst == pytest.approx(expected[start], abs=2e-8)
            assert rd.verify(asked, solution.policy).reward.worst == pytest.approx(expected[start], abs=2e-8)


def test_the_nominal_policy_is_that_of_the_rows_written_out():
    features, factors, reward, _ = draw(3)
    written = rd.Problem(features @ factors, reward, horizon=4, order="sas", uncertainty=rd.KL(0.1))
    nominal = rd.solve(problem_of(3, uncertainty=rd.KL(0.1)), "nominal")
    values = rd.evaluate(nominal.problem.replace(uncertainty=None), nominal.policy)
    assert values.reward.worst == pytest.approx(rd.solve(written.replace(uncertainty=None), "robust").reward.worst, abs=1e-12)
    assert nominal.reward.worst < values.reward.worst


@pytest.mark.parametrize("kind", [*(k for k in SETS if k != "none"), "interval"])
def test_one_factor_for_each_row_is_the_problem_written_out(kind):
    """Both sets are the same then."""
    rng = np.random.default_rng(5)
    P = rng.dirichlet(np.ones(STATES), size=(STATES, ACTIONS))
    reward, cost = rng.random((2, STATES, ACTIONS))
    arrives = rng.random(STATES)
    lo, hi = np.maximum(P - 0.1, 0), np.minimum(P + 0.2, 1)
    by_factor = SETS.get(kind, rd.Interval(lo.reshape(-1, STATES), hi.reshape(-1, STATES)))
    terms = {"reward": reward, "signals": {"cost": cost, "hit": rd.on_arrival(arrives)}}
    features = np.eye(STATES * ACTIONS).reshape(STATES, ACTIONS, -1)
    for horizon, discount in ((5, 1.0), (None, 0.9)):
        asked = {**terms, "horizon": horizon, "discount": discount}
        written = rd.Problem(P, order="sas", uncertainty=SETS.get(kind, rd.Interval(lo, hi)), **asked)
        factored = rd.Problem(features=features, factors=P.reshape(-1, STATES), uncertainty=by_factor, **asked)
        for objective in ("reward", "hit"):
            other = {} if objective == "reward" else {"reward": "hit"}
            answers = [rd.solve(p.replace(**other), "robust").reward.worst for p in (written, factored)]
            assert answers[1] == pytest.approx(answers[0], abs=1e-9)
        policy = rd.solve(written, "robust").policy
        weights = np.array([[policy.action_weights(s, h) for s in range(STATES)] for h in range(policy.stages)])
        two = np.zeros((2 * len(weights) if horizon else 1, factored.states, ACTIONS))
        two[:: 2 if horizon else 1, :STATES] = weights
        two[two.sum(axis=2) == 0, 0] = 1.0
        again = rd.evaluate(factored, rd.Policy.markov(factored, two))
        assert again.reward.worst == pytest.approx(rd.evaluate(written, policy).reward.worst, abs=1e-9)


def test_every_choice_of_nature_against_one_policy():
    """Two stages; each factor has two outcomes, and an interval two extreme distributions, so that all can be tried. Nature's
    choice may depend on the state and the action; reward and cost have natures of their own."""
    factors = np.array([[0.5, 0.5, 0.0], [0.0, 0.3, 0.7]])
    lo, hi = np.clip(factors - 0.2, 0, 1) * (factors > 0), np.clip(factors + 0.2, 0, 1) * (factors > 0)
    rng = np.random.default_rng(2)
    features = rng.dirichlet(np.ones(2), size=(3, 2))
    earned = rng.random((2, 3, 2))
    decide = [[1, 0, 1], [0, 1, 1]]
    ends = [[[lo[k], hi[k]][i] for i in (0, 1)] for k in range(2)]
    extremes = []
    for k in range(2):
        first, second = np.flatnonzero(factors[k])
        extremes.append([])
        for share in (ends[k][0][first], ends[k][1][first]):
            row = np.zeros(3)
            row[first], row[second] = share, 1 - share
            extremes[k].append(row)
    places = [(0, 0, k) for k in range(2)] + [(1, s, k) for s in range(3) for k in range(2)]
    worst = np.array([np.inf, np.inf])
    for choice in itertools.product((0, 1), repeat=len(places)):
        picked = dict(zip(places, choice, strict=True))
        for channel, sign in ((0, 1.0), (1, -1.0)):
            values = np.zeros(3)
            for stage in (1, 0):
                new = np.zeros(3)
                for s in range(3) if stage else (0,):
                    a = decide[stage][s]
                    row = sum(features[s, a, k] * extremes[k][picked[(stage, s, k)]] for k in range(2))
                    new[s] = sign * earned[channel, s, a] + row @ values
                values = new
            worst[channel] = min(worst[channel], values[0])
    problem = rd.Problem(features=features, factors=factors, reward=earned[0], signals={"cost": earned[1]}, horizon=2,
                         uncertainty=rd.Interval(lo, hi), constraints=[rd.at_most("cost", 9)])  # fmt: skip
    weights = np.zeros((4, problem.states, 2))
    for stage, state in itertools.product(range(4), range(problem.states)):
        weights[stage, state, decide[stage // 2][state] if state < 3 else 0] = 1.0
    policy = rd.Policy.markov(problem, weights)
    for result in (rd.evaluate(problem, policy), rd.verify(problem, policy)):
        assert result.reward.worst == pytest.approx(worst[0], abs=1e-12)
        assert result.constraints[0].worst == pytest.approx(-worst[1], abs=1e-12)


def constrained_optimum(seed, horizon, bound):
    """Without uncertainty, over occupancies of the rows written out: a linear program."""
    features, factors, reward, cost = draw(seed)
    P = features @ factors
    shape = (horizon, STATES, ACTIONS)
    count = int(np.prod(shape))
    place = np.arange(count).reshape(shape)
    eq, b = [], []
    for h, s in itertools.product(range(horizon), range(STATES)):
        line = np.zeros(count)
        line[place[h, s]] = 1.0
        if h > 0:
            line[place[h - 1].ravel()] -= P[:, :, s].ravel()
        eq.append(line)
        b.append(1.0 if (h, s) == (0, 0) else 0.0)
    found = linprog(-np.tile(reward.ravel(), horizon), np.tile(cost.ravel(), horizon)[None], [bound], np.array(eq), b)
    return -found.fun


def test_constraints_without_uncertainty_are_a_linear_program():
    for seed in range(3):
        problem = problem_of(seed, 3)
        lowest = -rd.solve(problem.replace(minimise="cost"), "robust").reward.worst
        bound = lowest + 0.15
        solution = rd.solve(problem.replace(constraints=[rd.at_most("cost", bound)]), tolerance=1e-5)
        assert solution.status == "certified"
        assert solution.reward.worst == pytest.approx(constrained_optimum(seed, 3, bound), abs=1e-4)


@pytest.mark.parametrize("kind", ["kl", "tv", "anywhere"])
def test_frontier_brackets_what_policies_that_see_no_factor_can_do(kind):
    for seed in (0, 1):
        problem = problem_of(seed, 3, uncertainty=SETS[kind])
        lowest = -rd.solve(problem.replace(minimise="cost"), "robust").reward.worst
        free = rd.solve(problem, "robust").reward.worst
        asked = problem.replace(constraints=[rd.at_most("cost", lowest + 0.2)])
        solution = rd.solve(asked, tolerance=1e-3)
        assert solution.status in ("certified", "feasible")
        assert solution.constraints[0].worst <= lowest + 0.2 + 1e-9
        assert solution.reward.worst <= solution.reward.bound + 1e-9 <= free + 2e-9
        slow = rd.verify(asked, solution.policy)
        assert slow.reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
        assert slow.constraints[0].worst == pytest.approx(solution.constraints[0].worst, abs=1e-9)
        simple = rd.solve(asked, "rcvi", fallback="utility")
        if simple.status == "feasible":
            assert simple.reward.worst <= solution.reward.bound + 1e-9


def test_frontier_with_one_factor_for_each_row_closes_the_gap():
    rng = np.random.default_rng(11)
    P = rng.dirichlet(np.ones(3), size=(3, 2))
    reward, cost = rng.random((2, 3, 2))
    terms = {"reward": reward, "signals": {"cost": cost}, "uncertainty": rd.KL(0.05), "horizon": 3,
             "constraints": [rd.at_most("cost", 1.2)]}  # fmt: skip
    written = rd.solve(rd.Problem(P, order="sas", **terms), tolerance=1e-3)
    factored = rd.solve(rd.Problem(features=np.eye(6).reshape(3, 2, 6), factors=P.reshape(6, 3), **terms), tolerance=1e-3)
    assert written.status == factored.status == "certified"
    assert factored.reward.worst <= written.reward.bound + 1e-9 and written.reward.worst <= factored.reward.bound + 1e-9


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_a_controller_never_hears_of_factors(discount):
    features, factors, reward, cost = draw(1)
    problem = problem_of(1, 3, discount=discount, uncertainty=rd.KL(0.05), constraints=[rd.at_most("cost", 0.9)])
    policy = rd.solve(problem).policy
    P, rng = features @ factors, np.random.default_rng(0)
    controller = policy.start(seed=3)
    totals = []
    for _ in range(3000):
        controller.start()
        state, total = 0, 0.0
        for stage in range(3):
            assert controller.stage == stage
            action = controller.act(state)
            total += discount**stage * reward[state, action]
            state = int(rng.choice(STATES, p=P[state, action]))
            controller.observe(state)
        totals.append(total)
    nominal = rd.evaluate(problem.replace(uncertainty=None), policy).reward.worst
    assert np.mean(totals) == pytest.approx(nominal, abs=5 * np.std(totals) / np.sqrt(len(totals)))


METHODS = ("rcvi", "nominal", "crpo", "rnpg", "epirc", "rppg", "primal-dual", "rrpo")


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_return_policies_that_are_evaluated_alike(method):
    options = {} if method in ("rcvi", "nominal") else {"iterations": 20}
    problem = problem_of(1, constraints=[rd.at_most("cost", 2.0)], uncertainty=rd.KL(0.05))
    solution = rd.solve(problem, method, **options)
    again, slow = rd.evaluate(problem, solution.policy), rd.verify(problem, solution.policy)
    assert again.reward.worst == pytest.approx(slow.reward.worst, abs=1e-9)
    assert again.constraints[0].worst == pytest.approx(slow.constraints[0].worst, abs=1e-9)
    assert again.hopeless == pytest.approx(slow.hopeless, abs=1e-9)
    assert solution.reward.worst <= rd.solve(problem.replace(constraints=[]), "robust").reward.worst + 1e-9


def test_rcvi_with_one_factor_for_each_row_is_that_of_the_rows_written_out():
    rng = np.random.default_rng(4)
    P = rng.dirichlet(np.ones(3), size=(3, 2))
    reward, cost = rng.random((3, 2)), rng.integers(0, 3, (3, 2)) / 2
    terms = {"reward": reward, "signals": {"cost": cost}, "uncertainty": rd.KL(0.05), "horizon": 4,
             "constraints": [rd.at_most("cost", 1.5)]}  # fmt: skip
    written = rd.solve(rd.Problem(P, order="sas", **terms), "rcvi")
    factored = rd.solve(rd.Problem(features=np.eye(6).reshape(3, 2, 6), factors=P.reshape(6, 3), **terms), "rcvi")
    assert factored.reward.worst == pytest.approx(written.reward.worst, abs=1e-9)
    assert factored.constraints[0].worst == pytest.approx(written.constraints[0].worst, abs=1e-9)
    assert factored.hopeless == pytest.approx(written.hopeless, abs=1e-9)


def test_simulation_against_the_worst_kernel_comes_to_the_worst_case():
    problem = problem_of(3, 3, uncertainty=rd.KL(0.1))
    solution = rd.solve(problem, "robust")
    totals = rd.simulate(problem, solution.policy, episodes=4000, nature="worst-reward", seed=1).reward.totals
    assert np.mean(totals) == pytest.approx(solution.reward.worst, abs=5 * np.std(totals) / np.sqrt(4000))


def test_radii_of_factors_and_helpful_nature():
    radii = [0.0, 0.1, 0.3]
    features, factors, reward, _ = draw(2)
    problem = problem_of(2, 1, uncertainty=rd.KL(radii), start=1)
    again = problem.replace(uncertainty=rd.KL(radii))
    assert again == problem
    values = np.linspace(0, 1, STATES)
    ends = rd.Problem(features=features, factors=factors, signals={"end": rd.on_arrival(values)}, reward="end", horizon=1,
                      uncertainty=rd.KL(radii), start=1)  # fmt: skip
    worst = np.array([least(rd.KL(r) if r else None, mu, values) for mu, r in zip(factors, radii, strict=True)])
    assert rd.solve(ends, "robust").reward.worst == pytest.approx((features[1] @ worst).max(), abs=1e-8)
    best = np.array([-least(rd.KL(r) if r else None, mu, -values) for mu, r in zip(factors, radii, strict=True)])
    assert rd.solve(ends.replace(nature="helpful"), "robust").reward.worst == pytest.approx((features[1] @ best).max(), abs=1e-8)


def test_goals_are_decided_by_states_not_by_factors():
    problem = rd.Problem(features=[[[0.5, 0.5]], [[0.0, 1.0]], [[1.0, 0.0]]], factors=[[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]],
                         reward=rd.reach("goal"), labels={"goal": {2}}, horizon=2)  # fmt: skip
    assert rd.solve(problem, "robust").reward.worst == pytest.approx(0.25 + 0.25 * 0.5 + 0.5 * 0.25, abs=1e-12)


def test_features_and_factors_of_stages():
    features, factors, reward, _ = draw(0)
    staged = rd.Problem(features=np.stack([features] * 3), factors=np.stack([factors] * 3), reward=reward, horizon=3,
                        uncertainty=rd.Chi2(0.1))  # fmt: skip
    assert rd.solve(staged, "robust").reward.worst == pytest.approx(backward(0, 3, uncertainty=rd.Chi2(0.1))[0], abs=1e-8)
    sparse = rd.Problem(features=csr_array(features.reshape(-1, FACTORS)), factors=csr_array(factors), reward=reward, horizon=3)
    assert rd.solve(sparse, "robust").reward.worst == pytest.approx(backward(0, 3)[0], abs=1e-12)
    assert np.allclose(sparse.factors.toarray(), factors)
    assert rd.solve(sparse.replace(horizon=0), "robust").reward.worst == 0.0


@pytest.mark.parametrize("ending", ["json", "umb", "npz"])
def test_files_keep_factors(tmp_path, ending):
    problem = problem_of(1, constraints=[rd.at_most("cost", 2)], uncertainty=rd.KL([0.1, 0.0, 0.2]))
    rd.save(problem, tmp_path / f"problem.{ending}")
    again = rd.load(tmp_path / f"problem.{ending}")
    assert again == problem and again.given.model == problem.given.model and again.given.model.factors == FACTORS
    assert pickle.loads(pickle.dumps(problem)) == problem


@pytest.mark.parametrize("ending", ["csv", "drn", "tra"])
def test_formats_without_a_place_for_factors_refuse_them(tmp_path, ending):
    with pytest.raises(rd.Error, match=r"3 factors of rows, which a \w+ file cannot keep: write JSON or UMB"):
        rd.save(problem_of(1), tmp_path / f"problem.{ending}")
    assert not list(tmp_path.iterdir())


def test_what_is_shown_is_what_was_given(tmp_path):
    problem = problem_of(0, 7, discount=0.9, uncertainty=rd.KL(0.1), constraints=[rd.at_most("cost", 3.0)])
    text = repr(problem)
    assert "horizon:     7\n" in text and "discount:    0.9\n" in text and "factors:     3, the set is around them" in text
    said = rd.solve(problem, "rcvi").to_dict()
    assert (said["horizon"], said["discount"], said["radius"], said["factors"]) == (7, 0.9, 0.1, 3)


FEATURES, MU = [[[0.5, 0.5]], [[0.0, 1.0]]], [[1.0, 0.0], [0.2, 0.8]]
BAD = [
    ({"features": FEATURES}, "features without factors, must have both"),
    ({"factors": MU}, "factors without features, must have both"),
    ({"features": FEATURES, "factors": MU, "P": [[[1.0]]]}, "features and factors with P"),
    ({"features": FEATURES, "factors": [0.5, 0.5]}, r"factors has shape \(2,\), must be \(K, S\)"),
    ({"features": [[0.5, 0.5]], "factors": MU}, r"features has shape \(1, 2\), must be \(S, A, K\) = \(2, A, 2\)"),
    ({"features": [[[0.5, 0.4]], [[0.0, 1.0]]], "factors": MU}, r"sum to 0\.9"),
    ({"features": FEATURES, "factors": [[1.0, 0.1], [0.2, 0.8]]}, r"sum to 1\.1"),
    ({"features": [[[1.5, -0.5]], [[0.0, 1.0]]], "factors": MU}, r"probability 1\.5 of"),
    ({"features": FEATURES, "factors": MU, "uncertainty": rd.Tilt(1.0)}, "set tilt on a model with 2 factors"),
    ({"features": FEATURES, "factors": MU, "uncertainty": rd.KL(0.1, scope="state")}, "scope state on a model with 2 factors"),
    ({"features": FEATURES, "factors": MU, "start": 2}, "start state 2 is a factor, must be an ordinary state"),
    ({"features": FEATURES, "factors": MU, "reward": lambda s, a, n: s}, "must look at the next state alone"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_factors(given, message):
    with pytest.raises(rd.Error, match=message):
        rd.Problem(**{"reward": 0.0, "horizon": 2, **given})


def test_what_factors_cannot_have():
    problem = problem_of(0, uncertainty=rd.KL(0.1))
    with pytest.raises(rd.Error, match="a chance constraint on 'cost' on a model with 3 factors, must be left out"):
        problem.replace(constraints=[rd.chance("cost", at_most=1, probability=0.9)])
    with pytest.raises(rd.Error, match="Interval with bounds for a problem with factors"):
        problem.replace(uncertainty=rd.Interval(0.0, 1.0))
    with pytest.raises(rd.Error, match="must be 0 where rows have radii of their own"):
        problem.replace(uncertainty=rd.KL(np.full(11, 0.1)))
    solution = rd.solve(problem.replace(constraints=[rd.at_most("cost", 3.0)]))
    with pytest.raises(rd.Error, match="a shield on a model with 3 factors"):
        rd.Shield(solution)
