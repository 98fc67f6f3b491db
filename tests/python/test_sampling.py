"""Estimates and sample sizes from outside: the program."""

import json
import shlex
import sys

import pytest

from program import ROOT, refused, run, run_json

MACHINE = shlex.join([sys.executable, str(ROOT / "examples" / "simulator.py")])
FAULTY = shlex.join([sys.executable, str(ROOT / "tests" / "sampling" / "simulator.py")])


def test_a_simulator_becomes_a_problem(tmp_path):
    output = tmp_path / "machine.json"
    ask = ["estimate", "--simulator", MACHINE, "--samples", 200, "--store", tmp_path / "kept", "-o", output]
    result = run_json(*ask, cwd=tmp_path)
    assert result["queries"] == 200 * 10 and result["samples_reused"] == 0 and result["unvisited"] == []
    problem = json.loads(output.read_text())
    assert problem["horizon"] == 20 and problem["actions"] == ["run", "repair"]
    assert (tmp_path / "kept").stat().st_size > 2000 * 36
    again = run_json(*ask, cwd=tmp_path)
    assert again["queries"] == 0 and again["samples_reused"] == 2000
    assert json.loads(output.read_text()) == problem


def test_solve_in_one_go_says_what_it_asked(tmp_path):
    ask = ["--samples", 200, "--set", "kl", "--radius", 0.01]
    solution = run_json("solve", "--method", "rcvi", "--simulator", MACHINE, *ask, "--bound", "downtime<=6", cwd=tmp_path, status=None)
    assert solution["queries"] == 2000
    assert list(tmp_path.iterdir()) == []
    assert solution["constraints"][0]["name"] == "downtime"


def test_a_known_problem_is_a_simulator_too(tmp_path):
    river = "river_swim(horizon=5,start=2)"
    solution = run_json("solve", "--method", "rcvi", river, "--samples", 1000, status=None)
    assert solution["queries"] == 12000
    first = run_json("solve", "--method", "rcvi", river, "--samples", 1000, "--threads", 1, status=None)
    assert first["reward"] == solution["reward"]
    assert run_json("solve", "--method", "rcvi", river, "--samples", 1000, "--seed", 1, status=None)["reward"] != solution["reward"]


def test_a_dead_simulator_is_one_line_and_keeps_its_samples(tmp_path):
    store = tmp_path / "kept"
    arguments = ["--samples", 1000, "--horizon", 3, "--store", store, "-o", tmp_path / "out.json"]
    text = refused("estimate", "--simulator", f"{FAULTY} die 1000", *arguments)
    assert "ended with status 3 before it answered query 999 (draw 999 of (state 0, action 0))" in text
    assert f"999 of 10000 samples are kept in {store}" in text
    assert not (tmp_path / "out.json").exists()
    result = run_json("estimate", "--simulator", FAULTY, *arguments)
    assert (result["queries"], result["samples_reused"]) == (9001, 999)
    undisturbed = tmp_path / "undisturbed.json"
    run_json("estimate", "--simulator", FAULTY, "--samples", 1000, "--horizon", 3, "-o", undisturbed, cwd=tmp_path)
    assert undisturbed.read_bytes() == (tmp_path / "out.json").read_bytes()


def test_without_a_store_samples_wait_in_this_folder(tmp_path):
    text = refused("solve", "--simulator", f"{FAULTY} die 50", "--samples", 10, cwd=tmp_path)
    assert "49 of 100 samples are kept in simulator.samples" in text
    solution = run_json("solve", "--method", "rcvi", "--simulator", FAULTY, "--samples", 10, cwd=tmp_path, status=None)
    assert (solution["queries"], solution["samples_reused"]) == (51, 49)
    assert not (tmp_path / "simulator.samples").exists()


def test_recorded_data(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("state,action,next,reward,cost\n0,0,1,1,0.5\n0,0,0,1,0.5\n1,0,1,0,0\n0,1,0,0,0\n")
    terms = ["--data", log, "--horizon", 5, "--bound", "cost<=1"]
    assert "no samples of 1 of 4 rows: (state 1, action 1)" in refused("estimate", *terms)
    simplex = run_json("estimate", *terms, "--set", "tv", "--radius", 0.1, "--unvisited", "simplex",
                       "-o", tmp_path / "log.json")  # fmt: skip
    assert simplex["unvisited"] == ["(state 1, action 1)"]
    assert simplex["radius"] == [0.1, 0.1, 0.1, 1]
    log.write_text("state,action,next\n" + "0,0,1\n1,0,1\n" * 50)
    for name in ["tv", "chi2", "kl"]:
        found = run_json("estimate", "--data", log, "--horizon", 5, "--set", name, "--radius-from-data", 0.05,
                         "--reward", "none", "-o", tmp_path / "data.json")  # fmt: skip
        assert len(found["radius"]) == 2 and all(0 < radius < 0.6 for radius in found["radius"])


def test_sample_sizes_both_ways():
    river = ["river_swim(horizon=10)", "--set", "tv", "--radius", 0.1, "--delta", 0.05]
    needed = run_json("samples", *river, "--epsilon", 0.5)
    assert needed["total"] == 12 * needed["per_row"] and needed["epsilon"] <= 0.5
    assert needed["lemma_per_row"] > needed["per_row"] and needed["theorem_total"] > 0
    bought = run_json("samples", *river, "--samples", needed["per_row"])
    assert bought["epsilon"] == needed["epsilon"] and bought["constraints"] == needed["constraints"]
    assert "samples of each of 12 rows" in run("samples", *river, "--epsilon", 0.5).stdout


@pytest.mark.parametrize(
    "arguments, rule",
    [
        (["estimate"], "none of PROBLEM, --simulator and --data are given, must be one of them"),
        (["estimate", "fork", "--data", "log.csv"], "several of PROBLEM, --simulator and --data are given"),
        (["estimate", "fork"], "--samples is missing"),
        (["solve"], "none of PROBLEM, --simulator and --data are given"),
        (["solve", "--simulator", "true"], "--simulator without --samples"),
        (["solve", "--simulator", "true", "--samples", 5], "ended with status 0 before it said hello"),
        (["estimate", "--data", "missing.csv"], "missing.csv: cannot be opened"),
        (["samples", "fork"], "--epsilon and --samples, must give one of them"),
        (["samples", "fork", "--epsilon", -1], "epsilon = -1, must be positive"),
        (["samples", "fork", "--set", "tilt", "--epsilon", 1], "set tilt has no sample size"),
    ],
)
def test_refusals(arguments, rule, tmp_path):
    assert rule in refused(*arguments, cwd=tmp_path)
