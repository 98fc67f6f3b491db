"""Learning with a certificate: the composed set against a convex solver, and every door to `learn`."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import redoubt as rd
from program import PROGRAM, ROOT, refused, run, run_json

sys.path.append(str(ROOT / "experiments" / "learn"))
from certificates import COVERED, SETS, wrong_claims  # noqa: E402
from logs import write_log  # noqa: E402
from models import board, queue, streaming  # noqa: E402
from recorded import brackets  # noqa: E402

SIMULATOR = shlex.join([sys.executable, str(ROOT / "examples" / "simulator.py")])
RIVER = "river_swim(horizon=6,start=3,bound=1.2)"


@pytest.mark.parametrize("kind", ["tv", "chi2", "kl"])
def test_composed_sets_agree_with_a_convex_solver_over_both_rows(kind):
    """Nature's row and the row that it is near are both variables of one convex program."""
    import cvxpy as cp

    rng = np.random.default_rng(7)
    for _ in range(12):
        k = int(rng.integers(2, 6))
        p, v, radius = rng.dirichlet(np.ones(k)), rng.normal(size=k), float(rng.uniform(0.01, 0.3))
        lo, hi = np.maximum(p - rng.uniform(0, 0.2, k), 0), np.minimum(p + rng.uniform(0, 0.2, k), 1)
        moved, centre = cp.Variable(k, nonneg=True), cp.Variable(k, nonneg=True)
        distance = {
            "tv": lambda a, b: cp.norm1(a - b) / 2,
            "chi2": lambda a, b: cp.sum(cp.hstack([cp.quad_over_lin(a[i] - b[i], b[i]) for i in range(k)])),
            "kl": lambda a, b: cp.sum(cp.rel_entr(a, b)),
        }[kind](moved, centre)
        asked = cp.Problem(cp.Minimize(v @ moved), [cp.sum(moved) == 1, cp.sum(centre) == 1, centre >= lo, centre <= hi,
                                                    distance <= radius])  # fmt: skip
        asked.solve(solver=cp.CLARABEL)
        ball = {"tv": rd.TV(radius, "support"), "chi2": rd.Chi2(radius), "kl": rd.KL(radius)}[kind]
        worst, chosen = rd.worst_case(rd.Composed(ball, lo, hi), p, v, return_distribution=True)
        assert worst == pytest.approx(asked.value, abs=2e-6)
        assert chosen @ v == pytest.approx(worst, abs=1e-12)


def test_composed_is_a_set_like_any_other(tmp_path):
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(3), size=(3, 2))
    lo, hi = P * 0.9, np.minimum(P * 1.1, 1)
    problem = rd.Problem(P, reward=rng.random((3, 2)), signals={"cost": rng.random((3, 2))}, order="sas", horizon=4,
                         constraints=[rd.at_most("cost", 2.2)], uncertainty=rd.Composed(rd.KL(0.05), lo, hi))  # fmt: skip
    solution = rd.solve(problem)
    assert solution.status == "certified"
    again = rd.verify(problem, solution.policy)
    assert again.reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
    inner, outer = rd.solve(problem.replace(uncertainty=rd.KL(0.05))), rd.solve(problem.replace(uncertainty=rd.Interval()))
    assert solution.reward.worst < min(inner.reward.bound, outer.reward.bound)
    for name in ("p.json", "p.umb", "p.npz"):
        rd.save(problem, tmp_path / name)
        assert rd.load(tmp_path / name) == problem
    for method in ("rcvi", "robust", "nominal", "rnpg"):
        other = rd.solve(problem, method)
        assert rd.verify(problem, other.policy).reward.worst == pytest.approx(other.reward.worst, abs=1e-9)
    with pytest.raises(rd.Error, match="Composed of none"):
        rd.Composed(rd.Nominal())
    with pytest.raises(rd.Error, match="must be none, tv, chi2 or kl"):
        rd.Composed(rd.Tilt(1.0))


def test_every_door_gives_the_same_answer():
    problem = rd.make(RIVER)
    learned = rd.learn(problem, epsilon=0.3, seed=5)
    assert learned.status == "certified" and learned.gap <= 0.3 and learned.confidence == 0.95
    assert learned.method == "learn" and learned.problem.uncertainty.ball == rd.KL(0.05)
    printed = run_json("learn", RIVER, "--epsilon", "0.3", "--seed", "5")
    assert printed["reward"]["worst"] == learned.reward.worst
    assert printed["samples_of_rows"] == learned.samples.tolist() and printed["confidence"] == 0.95
    assert [one["samples"] for one in printed["rounds"]] == learned.rounds["samples"].tolist()
    assert rd.evaluate(problem, learned.policy).reward.worst >= learned.reward.worst
    assert rd.evaluate(learned.problem, learned.policy).reward.worst == pytest.approx(learned.reward.worst)


def test_a_function_declares_what_it_can_do():
    def step(query):
        up = np.random.default_rng(query.seed).random() < 0.3
        return (min(query.state + up, 2) if query.action else 0), float(query.state == 2), {"wear": float(query.action)}

    sizes = dict(states=3, actions=2, signals=["wear"], horizon=4, uncertainty=rd.TV(0.05, "support"), start=0,
                 constraints=[rd.at_most("wear", 3)], epsilon=0.4)  # fmt: skip
    outcomes = [[[0], [0, 1]], [[0], [1, 2]], [[0], [2]]]
    ranges = {"reward": (0, 1), "wear": (0, 1)}
    declared = rd.learn(step, outcomes=outcomes, ranges=ranges, **sizes)
    assert declared.status == "certified"
    seen = rd.learn(step, ranges=ranges, shared_values=True, **sizes)
    assert seen.status == "certified" and seen.samples.sum() > declared.samples.sum()
    assert abs(seen.reward.worst - declared.reward.worst) < 0.4
    anywhere = rd.learn(step, outcomes=outcomes, ranges=ranges, **sizes | {"start": [0.5, 0.5, 0.0]})
    assert anywhere.problem.start.tolist() == [0.5, 0.5, 0.0]
    with pytest.raises(rd.Error, match="its range must be declared"):
        rd.learn(step, **sizes)
    with pytest.raises(rd.Error, match="no declared outcome"):
        rd.learn(step, outcomes=[[[0], [0, 1]], [[0], [1]], [[0], [2]]], ranges=ranges, **sizes)
    with pytest.raises(rd.Error, match=r"ranges of \['tear'\]"):
        rd.learn(step, ranges={"tear": (0, 1)}, **sizes)


def test_a_program_and_a_stop_in_between(tmp_path):
    store = tmp_path / "kept.samples"
    common = ["learn", "--simulator", SIMULATOR, "--set", "kl", "--radius", "0.02", "--bound", "downtime<=4", "--epsilon", "1.5"]
    whole = run_json(*common, cwd=tmp_path)
    assert not list(tmp_path.iterdir())  # samples that were kept on the way are gone
    assert whole["status"] == "certified" and whole["samples_reused"] == 0
    part = run_json(*common, "--store", str(store), "--most-samples", "400", status=None)
    assert part["status"] in ("feasible", "stopped") and part["samples"] <= 400
    again = run_json(*common, "--store", str(store))
    assert again["samples_reused"] == part["samples"]
    for key in ("reward", "constraints", "samples_of_rows", "rounds"):
        assert again[key] == whole[key], key


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    store = tmp_path / "kept.samples"
    common = ["learn", "--simulator", SIMULATOR, "--set", "kl", "--radius", "0.02", "--bound", "downtime<=4", "--epsilon", "1"]
    whole = run_json(*common, cwd=tmp_path)
    killed = subprocess.Popen([PROGRAM, *common, "--store", store], stdout=subprocess.DEVNULL)
    while killed.poll() is None and not (store.exists() and store.stat().st_size > 5000):
        time.sleep(0.002)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL  # in the middle: it had not ended
    again = run_json(*common, "--store", str(store))
    assert 0 < again["samples_reused"] < again["samples"]
    for key in ("reward", "constraints", "samples_of_rows", "rounds"):
        assert again[key] == whole[key], key


def test_a_simulator_that_dies_or_hangs_costs_no_samples(tmp_path):
    simulator = shlex.join([sys.executable, str(ROOT / "tests" / "sampling" / "simulator.py")])
    common, store = ["--set", "kl", "--radius", "0.02", "--epsilon", "0.8"], ["--store", str(tmp_path / "kept.samples")]
    whole = run_json("learn", "--simulator", simulator, *common, cwd=tmp_path)
    assert whole["status"] == "certified"
    for fault in ("die 60", "hang 60", "garbage 60", "far 60"):
        said = refused("learn", "--simulator", f"{simulator} {fault}", *common, *store, "--timeout", "1")
        assert re.search(r"query .*; samples so far are kept in .*kept\.samples", said), said
    again = run_json("learn", "--simulator", simulator, *common, *store)
    assert again["samples_reused"] == 4 * 59
    for key in ("reward", "constraints", "samples_of_rows", "rounds"):
        assert again[key] == whole[key], key


@pytest.mark.parametrize(("text", "epsilon"), COVERED)
def test_claims_are_true_of_the_true_model(text, epsilon):
    """A short version of `experiments/learn/run.py coverage`."""
    wrong, seeds = [], range(1000, 1004 if "garnet" in text else 1012)
    for one in SETS:
        problem = rd.make(text.format(one))
        truth = rd.solve(problem, tolerance=1e-5)
        for seed in seeds:
            learned = rd.learn(problem, epsilon=epsilon, seed=seed)
            assert learned.status == "certified"
            wrong += wrong_claims(problem, learned, epsilon, truth.reward.worst, truth.status != "infeasible")
    assert len(wrong) <= (3 if len(seeds) == 4 else 5), wrong  # a rate of .05 has more with probability 1 %


def test_the_policy_may_be_of_any_method():
    problem = rd.make(RIVER)
    exact = rd.learn(problem, epsilon=0.3, seed=5)
    paper = rd.learn(problem, epsilon=0.3, seed=5, method={"method": "rcvi", "fallback": "utility"})
    assert paper.samples.tolist() == exact.samples.tolist() and paper.reward.bound == exact.reward.bound
    assert paper.reward.worst < exact.reward.worst
    assert rd.evaluate(paper.problem, paper.policy).reward.worst == pytest.approx(paper.reward.worst)
    printed = run_json("learn", RIVER, "--epsilon", "0.3", "--seed", "5", "--method", "rcvi", "--fallback", "utility")
    assert printed["reward"]["worst"] == paper.reward.worst and printed["status"] == paper.status
    with pytest.raises(rd.Error, match="did you mean 'rcvi'"):
        rd.learn(problem, epsilon=0.3, method="rvci")


def test_the_program_prints_and_writes_what_can_be_verified(tmp_path):
    problem, solution = tmp_path / "known.json", tmp_path / "learned.h5"
    text = run("learn", RIVER, "--epsilon", "0.3", "-o", str(solution), "--problem-out", str(problem)).stdout
    assert text.startswith("certified: with probability at least 0.95")
    assert "Samples: " in text and "holds" in text
    assert json.loads(problem.read_text())["uncertainty"] == {"set": "interval-kl", "radius": 0.05}
    said, checked = run_json("evaluate", str(problem), str(solution), status=None), run_json("verify", str(problem), str(solution), status=None)
    assert said["reward"]["worst"] == pytest.approx(checked["reward"]["worst"], abs=1e-9)


@pytest.mark.parametrize(("flags", "message"), [
    (["--delta", "0.1"], "--epsilon is missing"),
    (["--epsilon", "-1"], "epsilon = -1, must be positive"),
    (["--epsilon", "1", "--delta", "2"], r"delta = 2, must be in \(0, 1\)"),
    (["--epsilon", "1", "--most-samples", "3"], "most_samples = 3, must be at least"),
    (["--epsilon", "1", "--tolerance", "0.1"], "--tolerance is an option of a method, must come with --method"),
    (["--epsilon", "1", "--method", "rcvi", "--step", "0.1"], "--step has no meaning for method rcvi"),
    (["--epsilon", "1", "--set", "tilt", "--temperature", "1"], "set tilt around rows"),
])  # fmt: skip
def test_bad_input_is_one_line(flags, message):
    assert re.search(message, refused("learn", RIVER, *flags))


def bracket_of(log, **given):
    """What a policy has at least and at most, with nature against it and for it."""
    return [rd.solve(rd.recorded(log, nature=nature, **given), "robust").reward.worst for nature in ("adversarial", "helpful")]


@pytest.mark.parametrize("ball", [rd.Nominal(), rd.TV(0.02)], ids=["none", "tv"])
def test_brackets_of_data_hold_the_truth_and_are_narrower_than_balls(tmp_path, ball):
    problem = board(3).replace(uncertainty=ball)
    terms = dict(horizon=problem.horizon, start=0, states=9, actions=4)
    truth = [rd.solve(problem.replace(nature=nature), "robust").reward.worst for nature in ("adversarial", "helpful")]
    wrong = 0
    for seed in range(40):
        write_log(tmp_path / "log.csv", problem, 3000, seed)
        low, high = bracket_of(tmp_path / "log.csv", confidence=0.8, uncertainty=ball, **terms)
        wrong += low > truth[0] + 1e-9 or high < truth[1] - 1e-9
    assert wrong <= 14  # of 40, where a rate of .2 would have more than that with probability 1 %
    write_log(tmp_path / "log.csv", problem, 60000)
    low, high = bracket_of(tmp_path / "log.csv", confidence=0.95, uncertainty=rd.Nominal(), **terms)
    for classical in (rd.TV(0.0), rd.KL(0.0), rd.Chi2(0.0)):
        below, above = bracket_of(tmp_path / "log.csv", delta=0.05, uncertainty=classical, **terms)
        assert above - below > 1.3 * (high - low), classical


@pytest.mark.parametrize("large", [queue, streaming])
def test_on_a_log_of_a_large_system_brackets_are_three_times_narrower_than_balls(large):
    """All of them hold the truth, or `brackets` fails. Balls pay for all 200 states in each row, intervals for what it showed."""
    problem = large(200)
    found = brackets(problem, 100_000)
    assert found.low < found.truth < found.high and len(found.balls) == 3
    assert found.times >= 3
    assert found.outcomes <= len(problem.probability)  # the states that a row never showed are not listed


def test_rows_and_values_that_data_do_not_show_may_be_anything(tmp_path):
    """From 0 to 1 and back; what comes of 1's second action nobody has seen, and 0 pays one of two rewards."""
    log = tmp_path / "log.csv"
    log.write_text("state,action,next,reward\n" + "0,0,1,1\n0,0,0,3\n1,0,0,2\n0,1,1,1.5\n" * 500)
    known = rd.recorded(log, confidence=0.9, states=20, horizon=1, start=1)
    radius = np.array(known.uncertainty.ball.radius)
    assert radius[known.row_of(1, 1)] == 1 and radius[known.row_of(7, 0)] == 1
    assert 0 < radius[known.row_of(1, 0)] < 0.05
    # With 18 states never seen, what is missing is bounded together: no state has an interval of its own.
    assert known.row_outcomes[known.row_of(0, 0) + 1] - known.row_outcomes[known.row_of(0, 0)] == 2
    only = rd.recorded(log, confidence=0.9, states=20, horizon=1, start=0)
    worst, best = bracket_of(log, confidence=0.9, states=20, horizon=1, start=0)
    assert worst == pytest.approx(rd.solve(only, "robust").reward.worst)
    assert 1.6 < worst < 2 < best < 2.4  # a landing of (0, 0) earns 1 at worst, 3 at best
    # Chance constraints have no use for landings: every state is an outcome then.
    asked = rd.recorded(log, confidence=0.9, states=20, horizon=1, uncertainty=rd.KL(0.1))
    assert asked.row_outcomes[1] == 20


def test_data_with_confidence_are_narrower_than_an_inflated_ball(tmp_path):
    problem = rd.make("river_swim(horizon=10,start=2)")
    write_log(tmp_path / "log.csv", problem, 20000)
    terms = dict(horizon=10, start=2, constraints=[rd.at_most("cost", 4)])
    composed = rd.recorded(tmp_path / "log.csv", confidence=0.95, uncertainty=rd.Nominal(), **terms)
    ball = rd.recorded(tmp_path / "log.csv", delta=0.05, uncertainty=rd.KL(0.0), **terms)
    truth = rd.solve(problem.replace(uncertainty=rd.Nominal()))
    values = [rd.solve(known, "robust").reward.worst for known in (composed, ball)]
    assert values[1] < values[0] <= rd.solve(truth.problem, "robust").reward.worst + 1e-9
    with pytest.raises(rd.Error, match="delta and confidence"):
        rd.recorded(tmp_path / "log.csv", confidence=0.95, delta=0.05, **terms)
