"""Samples of rows that mix factors whose weights are known."""

import json
import shlex
import sys

import numpy as np
import pytest
import redoubt as rd
from program import refused, run_json

WEIGHTS = np.array([[[1.0, 0.0], [0.4, 0.6]], [[0.7, 0.3], [0.0, 1.0]], [[0.5, 0.5], [0.2, 0.8]]])
FACTORS = np.array([[0.8, 0.2, 0.0], [0.1, 0.3, 0.6]])
ROWS = WEIGHTS @ FACTORS
REWARD = np.array([[0.0, 0.1], [1.0, 0.9], [3.0, 2.5]])
COST = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])


def problem_of(factors=FACTORS, weights=WEIGHTS, **terms):
    given = {"horizon": 4, "uncertainty": rd.KL(0.05)} | terms
    return rd.Problem(features=weights, factors=factors, reward=REWARD, signals={"cost": COST}, **given)


def guess(**terms):
    return problem_of(np.full((2, 3), 1 / 3), **terms)


def draws(query):
    return int(np.random.default_rng(query.seed).choice(3, p=ROWS[query.state, query.action]))


def write_log(path, count, seed=0, reward=True, only=None):
    rng = np.random.default_rng(seed)
    lines = ["state,action,next" + (",reward,cost" if reward else "")]
    for _ in range(count):
        s, a = (int(rng.integers(3)), int(rng.integers(2))) if only is None else only[int(rng.integers(len(only)))]
        line = f"{s},{a},{rng.choice(3, p=ROWS[s, a])}"
        lines.append(line + (f",{REWARD[s, a]},{COST[s, a]}" if reward else ""))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_an_estimate_pools_all_rows():
    found = rd.estimate(draws, samples=3000, features=guess())
    assert found.factors.toarray() == pytest.approx(FACTORS, abs=0.03)
    assert found.horizon == 8 and found.given.terms.horizon == 4 and found.uncertainty.radius is not None
    assert np.array_equal(found.given.model.reward[:6].reshape(3, 2), REWARD)
    assert rd.solve(found, "robust").reward.worst == pytest.approx(rd.solve(problem_of(), "robust").reward.worst, abs=0.1)


def test_weights_alone_will_do_where_samples_say_what_rows_earn():
    written = rd.Problem(ROWS, REWARD, signals={"cost": COST}, order="sas", horizon=4)
    by_array = rd.estimate(written, samples=200, seed=1, features=WEIGHTS, uncertainty=rd.KL(0.05))
    by_problem = rd.estimate(written, samples=200, seed=1, features=guess())
    assert by_array.given.model == by_problem.given.model
    assert by_array.visits[:6].tolist() == [200] * 6 and by_array.visits[6:].tolist() == [200, 200]  # of rows; alone
    with pytest.raises(rd.Error, match="'reward' varies within a row with features as an array"):
        rd.estimate(lambda query: (draws(query), float(query.draw % 2)), samples=20, states=3, actions=2, features=WEIGHTS, horizon=4)


def test_a_problem_with_factors_is_sampled_by_factor():
    truth = problem_of()
    found = rd.estimate(truth, samples=500)
    assert found.queries == 1000 and found.given.model.factors == 2
    assert found.factors.toarray() == pytest.approx(FACTORS, abs=0.1)
    learned = rd.learn(truth, epsilon=0.5)
    assert learned.status == "certified" and len(learned.samples) == 8 and not learned.samples[:6].any()
    assert rd.evaluate(truth, learned.policy).reward.worst >= learned.reward.worst - 1e-9


@pytest.mark.parametrize("uncertainty", [None, rd.KL(0.05), rd.TV(0.05), rd.TV(0.05, reach="support"), rd.Chi2(0.05)])
def test_learn_by_rows_that_take_a_factor_alone(uncertainty):
    truth = problem_of(uncertainty=uncertainty)
    best = rd.solve(truth).reward.worst
    learned = rd.learn(draws, features=guess(uncertainty=uncertainty), epsilon=0.6, seed=2)
    assert learned.status == "certified"
    assert learned.reward.worst - 1e-9 <= best <= learned.reward.bound + 1e-6
    slow = rd.verify(learned.problem, learned.policy)
    assert slow.reward.worst == pytest.approx(learned.reward.worst, abs=1e-9)
    again = rd.learn(draws, features=guess(uncertainty=uncertainty), epsilon=0.6, seed=2)
    assert again.policy == learned.policy and again.reward.worst == learned.reward.worst


def test_learn_needs_far_fewer_samples_than_without_features():
    """Six rows share two factors."""
    terms = {"epsilon": 0.5, "states": 3, "actions": 2, "horizon": 4, "uncertainty": rd.KL(0.05)}
    alone = rd.learn(lambda query: (draws(query), REWARD[query.state, query.action]), ranges={"reward": (0, 3)},
                     shared_values=True, **terms)  # fmt: skip
    shared = rd.learn(draws, features=guess(), epsilon=0.5)
    assert shared.status == alone.status == "certified"
    assert shared.samples.sum() * 1.5 <= alone.samples.sum()


def test_learn_by_factors_themselves():
    asked = set()

    def simulator(query):
        asked.add((query.state, query.action))
        return int(np.random.default_rng(query.seed).choice(3, p=FACTORS[query.state - 3]))

    learned = rd.learn(simulator, features=guess(), by_factor=True, epsilon=0.6)
    assert learned.status == "certified" and asked == {(3, 0), (4, 0)}


def test_constraints_are_kept_on_the_true_model():
    bound = rd.at_most("cost", 1.5)
    truth = problem_of(constraints=[bound])
    learned = rd.learn(truth, epsilon=0.6, most_samples=200_000)
    assert learned.status in ("certified", "feasible")
    real = rd.evaluate(truth, learned.policy)
    assert real.constraints[0].worst <= learned.constraints[0].worst + 1e-9 <= 1.5 + 0.6 + 1e-8
    assert real.reward.worst >= learned.reward.worst - 1e-9
    assert learned.reward.bound >= rd.solve(truth).reward.worst - 1e-6


def test_a_log_of_mixtures(tmp_path):
    log = write_log(tmp_path / "log.csv", 40_000)
    likeliest = rd.recorded(log, features=WEIGHTS, horizon=4, uncertainty=rd.KL(0.05))
    assert likeliest.factors.toarray() == pytest.approx(FACTORS, abs=0.03)
    plain = rd.recorded(write_log(tmp_path / "plain.csv", 40_000, reward=False), features=guess())
    assert plain.factors.toarray() == pytest.approx(likeliest.factors.toarray(), abs=1e-12)
    sure = rd.recorded(log, features=guess(), confidence=0.95)
    best = rd.solve(problem_of()).reward.worst
    worst = rd.solve(sure, "robust").reward.worst
    assert worst <= best and worst >= best - 0.7
    # Without features each row has its own data only, and says less.
    assert worst > rd.solve(rd.recorded(log, horizon=4, uncertainty=rd.KL(0.05), confidence=0.95), "robust").reward.worst


def test_factors_of_stages_have_samples_of_their_own():
    late = FACTORS[::-1]
    staged = rd.Problem(features=WEIGHTS, factors=np.full((2, 2, 3), 1 / 3), reward=REWARD, horizon=2)
    rows = np.stack([ROWS, WEIGHTS @ late])

    def simulator(query):
        return int(np.random.default_rng(query.seed).choice(3, p=rows[query.stage, query.state, query.action]))

    found = rd.estimate(simulator, samples=3000, stages=2, features=staged)
    model = found.given.model
    for stage, factors in enumerate((FACTORS, late)):
        first = int(model.state_rows[5 * stage + 3])
        for k in range(2):
            outcomes = slice(*model.row_outcomes[first + k : first + k + 2])
            shares = np.bincount(model.next[outcomes], model.probability[outcomes], 3)
            assert shares == pytest.approx(factors[k], abs=0.05)
    learned = rd.learn(simulator, stages=2, features=staged, epsilon=0.5)
    assert learned.status == "certified"
    truth = rd.Problem(features=WEIGHTS, factors=np.stack([FACTORS, late]), reward=REWARD, horizon=2)
    assert learned.reward.worst <= rd.solve(truth, "robust").reward.worst <= learned.reward.bound + 1e-9


def test_rows_without_samples_are_no_matter(tmp_path):
    log = write_log(tmp_path / "log.csv", 5_000, only=[(0, 1), (2, 1)])
    found = rd.recorded(log, features=guess())
    assert found.factors.toarray() == pytest.approx(FACTORS, abs=0.15)
    with pytest.raises(rd.Error, match="no samples of 4 of 6 rows with features as an array"):
        rd.recorded(log, features=WEIGHTS, horizon=4)
    one = write_log(tmp_path / "one.csv", 500, only=[(0, 1)])
    with pytest.raises(rd.Error, match="features have rank 1, must have rank 2, the number of factors"):
        rd.recorded(one, features=guess())
    loose = rd.recorded(one, features=guess(), confidence=0.95)
    assert rd.solve(loose, "robust").reward.worst <= rd.solve(problem_of()).reward.worst


def test_the_program(tmp_path):
    rd.save(guess(), tmp_path / "guess.json")
    log = write_log(tmp_path / "log.csv", 4_000)
    out = tmp_path / "found.json"
    said = run_json("estimate", "--data", log, "--features", tmp_path / "guess.json", "--set", "tv", "--radius", "0.1", "-o", out)
    assert said["output"] == str(out)
    found = rd.load(out)
    assert found.factors.toarray() == pytest.approx(FACTORS, abs=0.06) and found.given.terms.uncertainty == rd.TV(0.1)
    run_json("estimate", "--data", log, "--features", tmp_path / "guess.json", "--confidence", "0.9", "-o", out)
    assert repr(rd.load(out).given.terms.uncertainty) == "Composed(KL(0.05))"
    program = tmp_path / "rows.py"
    program.write_text(SIMULATOR)
    learned = run_json("learn", "--simulator", shlex.join([sys.executable, str(program)]), "--features", tmp_path / "guess.json",
                       "--epsilon", "0.8", "--store", tmp_path / "samples")  # fmt: skip
    assert learned["status"] == "certified" and learned["samples_of_rows"][:6] == [0] * 6
    assert "--features with PROBLEM, must be with --simulator or --data" in refused(
        "solve", "fork", "--samples", "10", "--features", tmp_path / "guess.json")
    assert "--radius-from-data with --features, must be --confidence" in refused(
        "solve", "--data", log, "--features", tmp_path / "guess.json", "--radius-from-data", "0.1")


SIMULATOR = f"""
import json, random, sys
rows = {json.dumps(ROWS.tolist())}
next(sys.stdin)
print(json.dumps({{"states": 3, "actions": 2}}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    draw = random.Random(asked["seed"]).choices(range(3), rows[asked["state"]][asked["action"]])[0]
    print(json.dumps({{"id": asked["id"], "next": draw, "reward": 0}}), flush=True)
"""

BAD = [
    (lambda: rd.learn(draws, features=WEIGHTS, epsilon=0.5), "features as an array with a simulator that is no Problem"),
    (lambda: rd.learn(draws, features=rd.make("fork"), epsilon=0.5), "features is a Problem without factors"),
    (lambda: rd.learn(draws, by_factor=True, states=3, actions=2), "by_factor without features, must come with them"),
    (lambda: rd.learn(draws, features=problem_of(weights=WEIGHTS * 0.8 + 0.1), epsilon=0.5), "no row takes factor 0 alone"),
    (lambda: rd.estimate(draws, features=guess(), delta=0.1), "a radius from data on a model with 2 factors, must be a confidence"),
    (lambda: rd.estimate(rd.make("fork"), features=guess()), "samples of 4 states, features of 3"),
    (lambda: rd.learn(lambda query: 7, features=guess(), epsilon=0.5), r"next = 7, must be in 0\.\.2"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "message"), BAD)
def test_what_is_refused(ask, message):
    with pytest.raises(rd.Error, match=message):
        ask()
