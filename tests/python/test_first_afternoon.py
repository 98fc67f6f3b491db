"""What a Storm user tries on the first afternoon: each thing works, or is one error that says what to do.

What has tests of its own is not repeated here: intervals with rewards, unnamed rewards, state variables and labels of programs
(test_storm.py), labels in every file (test_labels.py), variables in UMB files (test_files.py), rows_per_state and signals that see
the reward (test_npz.py), constraints judged together (test_info.py), paths that miss the goal (test_storm_unbounded.py).
"""

import json
import re

import numpy as np
import pytest
import redoubt as rd
import scipy.sparse
from program import refused, run

# ---- a goal as a bound in every verb ------------------------------------------------------------------------------

GRID = "grid(size=3,hazards=0.3,radius=0.01)"
GOALS = ("--maximise", "reach goal", "--bound", "reach hazard <= 0.55")
FINITE = (*GOALS, "--horizon", 12, "--discount", 1)
ENDLESS = (*GOALS, "--horizon", "infinite", "--discount", 1)
TRAPPED = (*ENDLESS, "--set", "tv", "--reach", "support", "--radius", 0.1)  # nature can leave out slips of a tenth


@pytest.mark.parametrize("terms", [FINITE, ENDLESS, TRAPPED], ids=["horizon", "no horizon", "traps"])
def test_every_verb_takes_goals_and_bounds_on_them(terms, tmp_path):
    answer = tmp_path / "answer.h5"
    solved = run("solve", GRID, *terms, "-o", answer)
    assert solved.returncode == 0 and "reach hazard" in solved.stdout, solved.stderr
    for verb, *more in (["info"], ["frontier"], ["compare", "--methods", "frontier,robust"], ["solve", "--method", "nominal"]):
        done = run(verb, GRID, *terms, *more)
        assert done.returncode in (0, 1) and not done.stderr, (verb, done.stderr)
    for verb, *more in (["evaluate"], ["verify"], ["simulate", "--episodes", 50], ["report", "-o", tmp_path / "page.html"]):
        done = run(verb, GRID, answer, *terms, *more)
        assert done.returncode == 0 and not done.stderr, (verb, done.stderr)
        assert verb == "report" or "reach hazard" in done.stdout
    assert run("convert", GRID, tmp_path / "grid.json", *terms).returncode == 0
    kept = json.loads((tmp_path / "grid.json").read_text())
    assert kept["objective"] == {"maximise": "reach goal"} and kept["constraints"][0]["signal"] == "reach hazard"
    assert run("solve", tmp_path / "grid.json").stdout.splitlines()[0].startswith("certified")


def test_what_samples_cannot_answer_without_a_horizon(tmp_path):
    assert run("samples", GRID, *FINITE, "--epsilon", 0.1).returncode == 0
    assert run("estimate", GRID, *FINITE, "--samples", 20, "-o", tmp_path / "sampled.json").returncode == 0
    assert "where states have become one" in refused("estimate", GRID, *ENDLESS, "--samples", 20)
    assert refused("samples", GRID, *ENDLESS, "--epsilon", 0.1) == "sample sizes with no discount and no horizon, must have one of them"
    assert "where states have become one" in refused("learn", GRID, *ENDLESS, "--epsilon", 1)
    # Where every policy ends and states are the user's own, an estimate is a problem like any other.
    walk = tmp_path / "walk.json"
    rd.save(rd.explore(initial=0, actions=lambda s: ["on"] if s < 3 else [], step=lambda s, a: [(0.5, s, -1.0), (0.5, s + 1, -1.0)],
                       horizon=None), walk)  # fmt: skip
    sampled = tmp_path / "sampled.json"
    assert run("estimate", walk, "--samples", 2000, "-o", sampled).returncode == 0
    solved = json.loads(run("solve", sampled, "--json").stdout)
    assert solved["status"] == "certified" and solved["reward"]["worst"] == pytest.approx(-6, rel=0.1)
    assert refused("learn", walk, "--epsilon", 1) == "learning with no discount and no horizon, must have one of them"
    data = tmp_path / "data.csv"
    data.write_text("state,action,next,reward\n" + "0,0,1,-1\n0,0,0,-1\n1,0,2,-1\n" * 9)
    assert "neither horizon nor discount is known" in refused("estimate", "--data", data, "--terminal", 2)
    assert run("estimate", "--data", data, "--terminal", 2, "--horizon", "infinite", "-o", sampled).returncode == 0
    assert json.loads(run("solve", sampled, "--json").stdout)["reward"]["worst"] == pytest.approx(-3, rel=1e-9)


# ---- models as Storm writes them ----------------------------------------------------------------------------------

DRN = """// Exported by a model checker
@type: MDP
@parameters

@reward_models
fuel time
@nr_states
3
@nr_choices
5
@model
state 0 [0, 1] init
\taction go [2, 0]
\t\t1 : 0.5
\t\t2 : 0.5
\taction go [1, 0]
\t\t2 : 1
\taction wait [0, 0]
\t\t0 : 1
state 1 [0, 1] crash
\taction stay [0, 0]
\t\t1 : 1
state 2 [0, 0] goal
\taction stay [0, 0]
\t\t2 : 1
"""


@pytest.fixture
def drn(tmp_path):
    path = tmp_path / "model.drn"
    path.write_text(DRN)
    return path


def test_rewards_are_chosen_by_name_and_minimised(drn):
    assert "To solve it, give --horizon N" in run("info", drn).stdout  # which needs neither horizon nor reward
    says = refused("solve", drn, "--horizon", 4)
    assert "nothing is called the reward, must be chosen" in says and "fuel, time" in says  # none is silently 0
    least = run("solve", drn, "--minimise", "fuel", "--horizon", 4, "--json")
    assert json.loads(least.stdout)["reward"]["worst"] == 0  # who waits needs none
    most = run("solve", drn, "--maximise", "fuel", "--horizon", 4, "--json")
    assert json.loads(most.stdout)["reward"]["worst"] == 2
    assert rd.solve(rd.load(drn, minimise="time", horizon=4)).reward.worst == -1


def test_without_a_horizon_it_says_what_to_give_or_solves(drn):
    # Minimal expected fuel until the goal: the second `go`, for 1; the first one misses the goal now and then.
    solution = rd.solve(rd.load(drn, minimise=rd.total_until("fuel", "goal"), horizon=None))
    assert solution.status == "certified" and -solution.reward.worst == pytest.approx(1, abs=1e-12)
    assert "for ever, where 'reward' grows without end" in refused(
        "solve", drn, "--maximise", "time", "--horizon", "infinite", "--discount", 1)  # fmt: skip


def test_labels_names_and_repeated_actions_are_kept(drn, tmp_path):
    problem = rd.load(drn, minimise="fuel", horizon=4)
    assert set(problem.labels) == {"crash", "goal"} and list(problem.labels["goal"]) == [2]
    assert problem.start.tolist() == [1, 0, 0]  # which is what the label "init" says
    assert {"go", "go (2)", "wait", "stay"} <= set(problem.action_names)
    for ending in ("umb", "json", "tra", "pexp", "drn"):
        rd.save(problem, tmp_path / f"again.{ending}")
        again = rd.load(tmp_path / f"again.{ending}", minimise="fuel", horizon=4)
        assert again.labels.keys() == problem.labels.keys() and rd.solve(again).reward.worst == 0


# ---- bad input: one clear error each ------------------------------------------------------------------------------


def corridor(**changes):
    model = {"initial": 0, "actions": lambda s: ["on"] if s < 3 else [], "labels": lambda s: {"end"} if s == 3 else set(),
             "step": lambda s, a: [(0.5, s, {"cost": 1.0}), (0.5, s + 1, {"cost": 1.0})], "horizon": None}  # fmt: skip
    return rd.explore(**{**model, **changes})


def test_an_unknown_label():
    with pytest.raises(rd.Error, match=r"'home'.*the model has.*end"):
        corridor(reward=rd.reach("home"))
    says = refused("solve", GRID, "--maximise", "reach home", "--horizon", 5, "--discount", 1)
    assert "home" in says and "goal" in says


def test_a_goal_that_cannot_be_reached():
    never = {"labels": lambda s: {"end"} if s == 3 else {"far"} if s == 9 else set()}
    with pytest.raises(rd.Error, match="far"):
        corridor(reward=rd.reach("far"), **never)
    closed = {"actions": lambda s: ["on"], "step": lambda s, a: [(1.0, min(s + 1, 2), {"cost": 1.0})],
              "labels": lambda s: {"end"} if s == 0 else {"shut"}}  # fmt: skip
    assert rd.solve(corridor(reward=rd.until("shut", "end"), **closed)).reward.worst == pytest.approx(1, abs=1e-12)  # at the start
    blocked = {"initial": {0: 0.5, 1: 0.5}, **closed}
    assert rd.solve(corridor(reward=rd.reach("end"), **blocked)).reward.bound == pytest.approx(0.5)
    with pytest.raises(rd.Error, match="from 1 no policy comes to the goal with certainty.*the total is infinite"):
        corridor(minimise=rd.steps_to("end"), **blocked)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (lambda s, a: 1 / 0, "division by zero"),
        (lambda s, a: [(0.48, s), (0.5, s + 1)], r"0\.98"),
    ],
    ids=["raises", "sums to .98"],
)
def test_functions_that_go_wrong_name_state_and_action(step, says):
    with pytest.raises(rd.Error) as error:
        corridor(step=step, reward=None)
    assert "0" in str(error.value) and "on" in str(error.value) and re.search(says, str(error.value))


def test_many_numbers_of_actions_in_one_matrix():
    rows = scipy.sparse.csr_matrix(np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]))
    problem = rd.Problem(rows, reward=[1.0, 2.0, 0.0], rows_per_state=[0, 2, 3], horizon=2)
    assert rd.solve(problem).reward.worst == 4
