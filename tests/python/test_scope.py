"""Sets that belong to a state: as data, and against oracles that share nothing with the library."""

import csv
import json
import pickle

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest
import redoubt as rd
import scipy.optimize
from program import refused, run, run_json

P = np.array([[[0.8, 0.2], [1.0, 0.0]], [[0.1, 0.9], [0.7, 0.3]]])
R = np.array([[1.0, 0.0], [3.0, 0.5]])
SHARED = [rd.TV(0.1, scope="state"), rd.TV(0.1, reach="support", scope="state"), rd.Chi2(0.2, scope="state"), rd.KL(0.1, scope="state")]


@pytest.mark.parametrize("uncertainty", [*SHARED, rd.KL([0.1, 0.2], scope="state"), rd.TV([0.0, 0.3], scope="state")])
@pytest.mark.parametrize("ending", ["json", "umb", "npz"])
def test_files_keep_the_scope(uncertainty, ending, tmp_path):
    problem = rd.Problem(P, R, order="sas", horizon=3, uncertainty=uncertainty)
    rd.save(problem, tmp_path / f"p.{ending}")
    again = rd.load(tmp_path / f"p.{ending}")
    assert again == problem
    assert again.uncertainty.scope == "state"
    assert rd.solve(again, "robust").reward.worst == rd.solve(problem, "robust").reward.worst


@pytest.mark.parametrize("ending", ["json", "umb"])
def test_radii_of_stages(ending, tmp_path):
    staged = rd.Problem(np.stack([P, P[:, ::-1]]), np.stack([R, 2 * R])[..., np.newaxis], horizon=2, order="sas",
                        uncertainty=rd.KL([[0.1, 0.2], [0.3, 0.4]], scope="state"))  # fmt: skip
    rd.save(staged, tmp_path / f"p.{ending}")
    assert rd.load(tmp_path / f"p.{ending}") == staged
    assert staged.uncertainty.radius.tolist() == [0.1, 0.2, 0.3, 0.4]


def test_words():
    assert repr(rd.KL(0.1, scope="state")) == "KL(0.1, scope='state')"
    assert repr(rd.TV(0.1, scope="state")) == "TV(0.1, reach='anywhere', scope='state')"
    assert repr(rd.KL(0.1)) == "KL(0.1)"
    for ball in SHARED:
        assert pickle.loads(pickle.dumps(ball)) == ball
        assert ball.scope == "state"
    assert rd.KL(0.1) != rd.KL(0.1, scope="state")
    assert rd.make("river_swim(scope=state)").uncertainty.scope == "state"


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(rd.Error, match="scope = 'rows', must be 'row' or 'state'"):
        rd.KL(0.1, scope="rows")
    with pytest.raises(rd.Error, match="3 radii with scope state for 2 states, must be one for each state"):
        rd.Problem(P, R, order="sas", horizon=3, uncertainty=rd.KL([0.1, 0.2, 0.3], scope="state"))
    with pytest.raises(rd.Error, match="radius -0.1 of .*, must be finite and at least 0"):
        rd.Problem(P, R, order="sas", horizon=3, uncertainty=rd.KL([0.1, -0.1], scope="state"))
    with pytest.raises(rd.Error, match="scope state is not there yet for the worst case of a row"):
        rd.worst_case(rd.KL(0.1, scope="state"), [0.5, 0.5], [0, 1])
    with pytest.raises(rd.Error, match="set kl of scope state with no discount and no horizon"):
        rd.Problem(P, R, order="sas", discount=1.0, uncertainty=rd.KL(0.1, scope="state"))
    with pytest.raises(rd.Error, match="must be of scope row to be aggregated"):
        rd.aggregate(rd.make("river_swim(horizon=10,scope=state)"), [0, 0, 1, 1, 2, 2])
    with pytest.raises(rd.Error, match="must be of scope row for a continuous system"):
        rd.abstract(lambda x, u: [0.9 * x[0] + u], noise=rd.Gaussian([0.1]), domain=[(-2, 2)], cells=[20], actions=[0.0],
                    goal=[[(-0.2, 0.2)]], horizon=3, start=[1.0], uncertainty=rd.KL(0.1, scope="state"))  # fmt: skip
    for name in ("tilt", "interval", "none"):
        assert f"--scope has no meaning for set {name}, must be left out" in refused("info", "river_swim", "--set", name, "--scope", "state")
        assert f"scope = state, has no meaning for set {name}" in refused("info", f"river_swim(set={name},scope=state)")
    rd.save(rd.make("river_swim(horizon=3)"), tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    for entry, message in [({"set": "none", "scope": "state"}, "scope"), ({"set": "kl", "radius": 0.1, "scope": "rows"}, 'must be "row" or "state"')]:
        document["uncertainty"] = entry
        (tmp_path / "wrong.json").write_text(json.dumps(document))
        assert message in refused("info", tmp_path / "wrong.json")
    problem = rd.make("river_swim(horizon=5)", constraints=[])
    with pytest.raises(rd.Error, match="weights"):
        rd.evaluate(rd.make("river_swim(horizon=5,scope=state)"), rd.Policy.markov(problem, np.full((6, 2), 0.3)))


def test_flags(tmp_path):
    """Two equal actions share the radius: with weights 1/2, moving mass gains nature half as much."""
    rows = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
    rd.save(rd.Problem(rows, np.array([[[0.0, 1.0]] * 2] * 2), order="sas", horizon=1), tmp_path / "p.json")
    asked = ("solve", tmp_path / "p.json", "--method", "robust", "--set", "tv", "--reach", "support", "--radius", "0.2", "--scope")
    row, state = run_json(*asked, "row"), run_json(*asked, "state")
    assert (row["scope"], state["scope"]) == ("row", "state")
    assert (row["reward"]["worst"], state["reward"]["worst"]) == pytest.approx((0.3, 0.4), abs=1e-15)
    assert "tv, radius 0.2, reach support, scope state" in run(*asked, "state").stdout


def kl_cost(p, v, x):
    """The least KL divergence that brings the mean of v down to x."""
    if p @ v <= x:
        return 0.0
    low = v.min()
    if x <= low:
        return -np.log(p[v == low].sum()) if x == low else np.inf
    mean = lambda b: (p * np.exp(-b * (v - low))) @ v / (p @ np.exp(-b * (v - low)))
    top = 1.0
    while mean(top) > x:
        top *= 2
        if top > 1e9:
            return -np.log(p[v == low].sum())
    b = scipy.optimize.brentq(lambda b: mean(b) - x, 0, top, xtol=1e-14)
    return -b * (x - low) - np.log(p @ np.exp(-b * (v - low)))


def chi2_cost(p, v, x):
    """By the sets of outcomes that keep mass, lowest values first."""
    if p @ v <= x:
        return 0.0
    order = np.argsort(v)
    p, v = p[order], v[order]
    best = np.inf
    for n in range(1, len(v) + 1):
        a, m = p[:n].sum(), p[:n] @ v[:n] / p[:n].sum()
        s = p[:n] @ (v[:n] - m) ** 2 / a
        if m <= x or s == 0:
            best = min(best, 1 / a - 1) if m <= x and v[n - 1] == v[0] else best
            continue
        t = a * s / (m - x)
        if v[n - 1] <= m + t / a + 1e-12:
            best = min(best, (m - x) ** 2 / (a * s) + 1 / a - 1)
    return best


def tv_cost(p, v, x, floor):
    order = np.argsort(-v)
    low, left, moved = min(v.min(), floor), p @ v - x, 0.0
    for i in order:
        gain = v[i] - low
        if left <= 0 or gain <= 0:
            break
        mass = min(p[i], left / gain)
        moved += mass
        left -= mass * gain
    return moved if left <= 1e-15 else np.inf


def state_value(set_, radius, rows, values, rewards, discount, floor):
    """Bisection on the value of a state: the largest to which nature cannot bring all actions."""
    pays = [r + discount * values for r in rewards]
    def cost(x):
        if isinstance(set_, rd.KL):
            return sum(kl_cost(p[p > 0], v[p > 0], x) for p, v in zip(rows, pays, strict=True))
        if isinstance(set_, rd.Chi2):
            return sum(chi2_cost(p[p > 0], v[p > 0], x) for p, v in zip(rows, pays, strict=True))
        everywhere = set_.reach == "anywhere"
        return sum(tv_cost(p[p > 0], v[p > 0], x, r + discount * floor if everywhere else np.inf)
                   for p, v, r in zip(rows, pays, rewards, strict=True))  # fmt: skip
    everywhere = isinstance(set_, rd.TV) and set_.reach == "anywhere"
    lows = [min(v[p > 0].min(), v.min() if everywhere else np.inf) for p, v in zip(rows, pays, strict=True)]
    low, high = max(lows), max(p @ v for p, v in zip(rows, pays, strict=True))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) > radius else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("set_", SHARED, ids=str)
def test_robust_against_a_bisection_in_numpy(set_, seed):
    random = np.random.default_rng(seed)
    states, actions, horizon = 4, 3, 3
    rows = random.dirichlet(np.ones(states), size=(states, actions)) * (random.random((states, actions, states)) < 0.8)
    rows[rows.sum(axis=2) == 0] = 1 / states
    rows /= rows.sum(axis=2, keepdims=True)
    rewards = random.random((states, actions))
    problem = rd.Problem(rows, rewards, order="sas", horizon=horizon, discount=0.9, uncertainty=set_)
    values = np.zeros(states)
    for _ in range(horizon):
        values = np.array([state_value(set_, set_.radius, rows[s], values, rewards[s], 0.9, values.min()) for s in range(states)])
    for s in range(states):
        solution = rd.solve(problem.replace(start=s), "robust")
        assert solution.status == "certified"
        assert solution.reward.worst == pytest.approx(values[s], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("set_", SHARED, ids=str)
def test_one_decision_against_convex_programs(set_, seed):
    """Nature's problem at one node, and the policy's, both as they are defined."""
    random = np.random.default_rng(100 + seed)
    states, actions = 4, 3
    rows = random.dirichlet(np.ones(states), size=actions)
    pay, reward, weights = random.random(states), random.random(actions), random.dirichlet(np.ones(actions))
    model = np.zeros((states, actions, states))
    model[0] = rows
    for s in range(1, states):
        model[s, :, s] = 1
    earned = np.broadcast_to(reward[:, np.newaxis] + pay, model.shape)
    problem = rd.Problem(model, earned, order="sas", horizon=1, uncertainty=set_)
    own = np.full((states, actions), 1 / actions)
    own[0] = weights
    found = rd.evaluate(problem, rd.Policy.markov(problem, own)).reward.worst
    nature = cp.Variable((actions, states), nonneg=True)
    def distance(a):
        if isinstance(set_, rd.TV):
            return cp.norm1(nature[a] - rows[a]) / 2
        if isinstance(set_, rd.Chi2):
            return cp.sum(cp.square(nature[a] - rows[a]) / rows[a])
        return cp.sum(cp.rel_entr(nature[a], rows[a]))
    rules = [cp.sum(nature, axis=1) == 1, sum(distance(a) for a in range(actions)) <= set_.radius]
    means = [reward[a] + nature[a] @ pay for a in range(actions)]
    if not (isinstance(set_, rd.TV) and set_.reach == "anywhere"):  # a landing there earns the row's own reward only
        cp.Problem(cp.Minimize(sum(weights[a] * means[a] for a in range(actions))), rules).solve(solver=cp.CLARABEL)
        assert found == pytest.approx(sum(weights[a] * means[a].value for a in range(actions)), abs=1e-6)
        best = cp.Problem(cp.Minimize(cp.maximum(*means)), rules)
        best.solve(solver=cp.CLARABEL)
        assert rd.solve(problem, "robust").reward.worst == pytest.approx(best.value, abs=1e-6)


@pytest.fixture(scope="module")
def many():
    """A solution that takes three actions or more in some state."""
    solution = rd.solve(rd.make("garnet(states=6,actions=5,successors=3,horizon=4,set=kl,radius=.2,scope=state,start=0)"), "robust")
    weights = np.array([solution.policy.action_weights(s, 0) for s in range(6)])
    assert (weights > 0).sum(axis=1).max() > 2
    return solution, weights


def test_policies_of_many_actions_are_exported(many, tmp_path):
    solution, weights = many
    solution.policy.export(tmp_path / "policy.csv")
    with (tmp_path / "policy.csv").open() as file:
        lines = list(csv.DictReader(file))
    written = np.zeros_like(weights)
    for line in lines:
        if line["step"] == "0":
            written[int(line["idstate"]), int(line["idaction"])] += float(line["probability"])
    np.testing.assert_allclose(written, weights, atol=1e-15)
    rd.save_solution(solution, tmp_path / "solution.h5")
    assert rd.load_solution(solution.problem, tmp_path / "solution.h5") == solution
    assert pickle.loads(pickle.dumps(solution)) == solution


def test_schedulers_of_storm_hold_mixtures(many, tmp_path):
    solution, weights = many
    solution.policy.export(tmp_path / "policy.storm.json")
    first = [entry for entry in json.loads((tmp_path / "policy.storm.json").read_text()) if entry["m"] == 0]  # the first decision
    written = np.zeros_like(weights)
    for entry in first:
        for choice in entry["c"]:
            written[entry["s"], int(choice["labels"][0])] = choice["prob"]
    np.testing.assert_allclose(written, weights, atol=1e-15)


def test_gymnasium_draws_from_the_mixture(many):
    solution, weights = many
    controller = rd.GymController(solution, seed=3)
    taken = np.zeros(5)
    for _ in range(4000):
        controller.reset()
        taken[controller(0, {})] += 1
    np.testing.assert_allclose(taken / 4000, weights[0], atol=5 * 0.5 / np.sqrt(4000))


def test_plots_show_the_mixture(many):
    mpl.use("Agg")
    solution, weights = many
    axes = solution.plot_policy(stage=0)
    shown = axes.images[0].get_array()
    assert shown.shape[0] == 6
    for action in range(5):
        one = solution.plot_policy(stage=0, action=action).images[0].get_array()
        np.testing.assert_allclose(np.asarray(one).reshape(6, -1)[:, 0], weights[:, action], atol=1e-12)
