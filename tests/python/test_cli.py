"""The program from outside: output, exit status, files, and errors of one line."""

import json
import os
import re
import select
import signal
import subprocess
import time

import pytest

from program import PROGRAM, ROOT, refused, run, run_json

RIVER = "river_swim(horizon=10,start=3)"
SOLVE_KEYS = {
    "status", "method", "reward", "constraints", "seconds", "row_evaluations", "iterations", "states", "actions",
    "horizon", "discount", "set", "memory_states", "version",
}


def test_alone_it_shows_what_to_try():
    result = run()
    assert result.returncode == 0
    tries = re.findall(r"^  redoubt (.*?)  +", result.stdout, re.MULTILINE)
    assert len(tries) == 3
    for command in tries:
        assert run(*(part.strip('"') for part in command.split())).returncode == 0


def test_version_names_the_libraries():
    text = run("--version").stdout
    for library in ["redoubt", "HDF5", "libarchive", "nlohmann-json", "fmt", "CLI11"]:
        assert re.search(rf"{library} \d+\.\d+\.\d+", text)


def test_every_verb_has_help():
    verbs = re.findall(r"^  (\w+)  +[A-Z]", run("--help").stdout, re.MULTILINE)
    assert {"make", "envs", "info", "solve", "convert"} <= set(verbs)
    for verb in verbs:
        result = run(verb, "--help")
        assert result.returncode == 0 and f"redoubt {verb}" in result.stdout
        assert f"redoubt {verb} " in (ROOT / "docs" / "cli.md").read_text()


def test_frontier_writes_its_curve(tmp_path):
    answer = run_json("frontier", RIVER, "-o", tmp_path / "curve.csv")
    assert answer["status"] == "certified" and answer["reward"]["worst"] > .95
    header, *lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert header == "reward,cost" and len(lines) == len(answer["curve"])
    assert [float(x) for x in lines[0].split(",")] == [answer["curve"][0]["reward"], *answer["curve"][0]["constraints"]]


# Problems

def test_every_built_in_problem_has_information():
    for environment in run_json("envs")["environments"]:
        assert environment["description"]
        info = run_json("info", environment["name"])
        assert info["states"] > 0 and info["rcvi"]["bytes"] > 0
        assert environment["name"] in run("envs", environment["name"]).stdout


@pytest.mark.parametrize("ending", ["json", "csv", "umb"])
def test_convert_keeps_the_problem(tmp_path, ending):
    assert run("make", RIVER, "-o", tmp_path / "first.json").returncode == 0
    assert run("convert", tmp_path / "first.json", tmp_path / f"second.{ending}").returncode == 0
    assert run("convert", tmp_path / f"second.{ending}", tmp_path / "third.json").returncode == 0
    assert (tmp_path / "third.json").read_text() == (tmp_path / "first.json").read_text()


def test_make_writes_to_standard_output():
    problem = json.loads(run("make", RIVER).stdout)
    assert problem["format"] == "redoubt-problem" and problem["horizon"] == 10


def test_flags_replace_terms_and_nothing_else(tmp_path):
    path = tmp_path / "problem.json"
    arguments = ["--set", "tv", "--radius", ".1", "--reach", "support", "--bound", "cost<=3", "--horizon", "7",
                 "--discount", "0.95", "--start", "s2"]
    assert run("make", RIVER, *arguments, "-o", path).returncode == 0
    problem = json.loads(path.read_text())
    assert problem["uncertainty"] == {"set": "tv", "radius": 0.1, "reach": "support"}
    assert problem["constraints"] == [{"signal": "cost", "at_most": 3.0}]
    assert (problem["horizon"], problem["discount"], problem["start"]) == (7, 0.95, "s2")
    again = json.loads(run("make", path, "--radius", ".2").stdout)
    assert again["uncertainty"] == {"set": "tv", "radius": 0.2, "reach": "support"}
    again["uncertainty"]["radius"] = 0.1
    assert again == problem


def test_terms_that_a_file_lacks_come_from_flags(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("idstatefrom,idaction,idstateto,probability,reward,wear\n0,0,0,1,1,.5\n0,1,0,1,0,0\n")
    answer = run_json("solve", path, "--horizon", "4", "--bound", "wear<=1", "--set", "kl", "--radius", ".1")
    assert answer["reward"]["worst"] == pytest.approx(2)
    assert answer["constraints"][0]["worst"] == pytest.approx(1)
    assert "horizon" in refused("solve", path)


def test_chance_constraints(tmp_path):
    terms = ["--bound", "cost<=4 with .7"]  # a bound takes one word, so that files may follow it
    info = run_json("info", RIVER, *terms)
    (constraint,) = info["constraints"]
    assert constraint["probability"] == 0.7 and 0 < constraint["worst"] < constraint["best"] <= 1
    assert info["rcvi"]["augmented_states"] > 6
    answer = run_json("solve", RIVER, *terms, "--method", "frontier", "--tolerance", ".05", "-o", "it.h5", cwd=tmp_path)
    (kept,) = answer["constraints"]
    assert kept["probability"] == 0.7 and kept["satisfied"] and kept["worst"] >= 0.7 - 1e-9
    again = run_json("evaluate", RIVER, *terms, "it.h5", cwd=tmp_path)["constraints"][0]["worst"]
    assert again == pytest.approx(kept["worst"], abs=1e-12)
    slow = run_json("verify", RIVER, *terms, "it.h5", cwd=tmp_path)["constraints"][0]["worst"]
    assert slow == pytest.approx(kept["worst"], abs=1e-9)
    worst = ["--nature", "chance-cost", "--episodes", "20000"]
    sampled = run_json("simulate", RIVER, *terms, "it.h5", *worst, cwd=tmp_path)
    (share,) = sampled["constraints"]
    assert abs(share["mean"] - kept["worst"]) <= 4 * share["standard_error"]
    assert "P(cost <= 4)" in run("evaluate", RIVER, *terms, "it.h5", cwd=tmp_path).stdout


def test_several_constraints_are_refused_with_the_memory_they_need():
    terms = ["--bound", "cost<=4", "--bound", "cost>=0.8"]
    plan = run_json("info", RIVER, *terms, "--memory-limit", "1MB")["rcvi"]
    assert plan["bytes"] > 1e6 and len(plan["axes"]) == 2
    text = refused("solve", RIVER, "--method", "rcvi", *terms, "--memory-limit", "1MB")
    assert " x " in text and "budgets at most" in text and f"{plan['bytes'] / 1e9:.3g} GB" in text


# Solving

def test_solve_reports_every_key():
    answer = run_json("solve", RIVER)
    assert SOLVE_KEYS <= set(answer)
    assert set(answer["reward"]) == {"worst", "bound", "static_bound", "gap"}
    assert {"name", "sense", "bound", "worst", "satisfied"} <= set(answer["constraints"][0])
    assert answer["status"] == "certified" and answer["method"] == "frontier"
    assert answer["constraints"][0]["worst"] <= 4 + 1e-9
    assert (answer["states"], answer["actions"], answer["horizon"], answer["set"]) == (6, 2, 10, "kl")


def test_river_swim_has_the_values_of_the_literature():
    for start, worst in [(0, .021), (1, .079), (2, .320), (3, .726)]:
        assert run_json("solve", f"river_swim(horizon=10,start={start})", "--method", "rcvi")["reward"]["worst"] == \
            pytest.approx(worst, abs=6e-4)
    for start, worst in [(0, .021), (1, .078), (2, .313), (3, .645)]:
        answer = run_json("solve", f"river_swim(horizon=10,start={start})", "--method", "rcvi", "--budget-step", ".05")
        assert answer["reward"]["worst"] == pytest.approx(worst, abs=6e-4)


def test_a_broken_constraint_is_an_outcome_not_an_error():
    answer = run_json("solve", "hedge", "--method", "rcvi", status=1)
    assert answer["status"] == "violated"
    assert answer["constraints"][0]["worst"] == pytest.approx(.25)
    table = run("solve", "hedge", "--method", "rcvi")
    assert table.returncode == 1 and table.stderr == "" and "BROKEN" in table.stdout


def test_a_tolerance_ends_the_sweeps_of_robust_and_nominal():
    terms = ["river_swim(start=0,discount=0.95)", "--bound", "cost<=1000", "--method"]
    rough, fine = (run_json("solve", *terms, "robust", *flags)["reward"] for flags in (["--tolerance", ".1"], []))
    assert fine["gap"] <= 1e-8 * fine["bound"] < rough["gap"] <= .1 * rough["bound"]
    assert rough["worst"] <= fine["bound"] and fine["worst"] <= rough["bound"]
    nominal = run_json("solve", *terms, "nominal", "--tolerance", ".1")["reward"]["worst"]
    assert nominal <= fine["bound"]
    assert refused("solve", *terms, "robust", "--tolerance", "2") == "tolerance = 2, must be in (0, 1)"


def test_a_policy_that_breaks_a_constraint_has_no_gap():
    arguments = ["solve", RIVER, "--method", "robust", "--bound", "cost<=2"]
    reward = run_json(*arguments, status=1)["reward"]
    assert reward["bound"] == pytest.approx(reward["worst"]) and reward["gap"] is None
    assert "gap" not in run(*arguments).stdout
    assert ": gap 0\n" in run("solve", RIVER, "--method", "robust", "--bound", "cost<=5").stdout


def test_compare_refuses_options_that_none_of_its_methods_has():
    assert refused("compare", RIVER, "--inner", "3") == \
        "--inner has no meaning for method rcvi or rnpg or crpo, must be left out"
    assert refused("compare", RIVER, "--methods", "rcvi,robust", "--steps", ".1") == \
        "--steps has no meaning for method rcvi or robust, must be left out"
    answer = run_json("compare", RIVER, "--methods", "rcvi,rnpg", "--iterations", "2")  # rcvi has no such option
    assert [method["name"] for method in answer["methods"]] == ["rcvi", "rnpg"]


def test_the_table_speaks_in_words_and_names():
    text = run("solve", RIVER).stdout
    assert text.startswith("certified: ")
    for words in ["worst case", "at most 4", "holds", "start s3", "in s3:", "right", "kl, radius 0.05"]:
        assert words in text


@pytest.mark.parametrize("method", ["rcvi", "robust", "nominal"])
def test_threads_do_not_change_the_answer(method):
    answers = [run_json("solve", "machine_replacement(start=0)", "--method", method, "--threads", n, status=1)
               for n in (1, 2, 3)]
    for answer in answers:
        del answer["seconds"]
    assert answers[0] == answers[1] == answers[2]


def test_options_reach_the_method():
    plain = run_json("solve", RIVER, "--method", "rcvi", "--budget-step", ".05")
    mixed = run_json("solve", RIVER, "--method", "rcvi", "--budget-step", ".05", "--rounding", "mixed")
    slack = run_json("solve", RIVER, "--method", "rcvi", "--slack", ".05", status=1)
    careful = run_json("solve", "river_swim(horizon=10,start=4)", "--method", "rcvi", "--fallback", "utility", status=None)
    careless = run_json("solve", "river_swim(horizon=10,start=4)", "--method", "rcvi", "--fallback", "reward", status=1)
    assert mixed["reward"]["worst"] != plain["reward"]["worst"]
    assert slack["constraints"][0]["worst"] > 4
    assert careful["constraints"][0]["worst"] < careless["constraints"][0]["worst"]
    short = run_json("solve", "river_swim(start=0)", "--method", "rcvi", "--tolerance", "1e-2")
    assert short["cut"] < run_json("solve", "river_swim(start=0)", "--method", "rcvi")["cut"]


def test_a_time_limit_stops_with_an_answer():
    answer = run_json("solve", RIVER, "--time-limit", "0")
    assert answer["status"] == "feasible" and answer["unfinished"] and answer["constraints"][0]["satisfied"]


def test_what_was_not_evaluated_is_unknown(tmp_path):
    command = ["solve", "garnet(states=20000,actions=8,successors=10,horizon=2000,bound=100)", "--method", "robust",
               "--threads", "1", "--time-limit", "0"]  # fmt: skip
    answer = run_json(*command, status=1)
    assert answer["status"] == "stopped" and answer["reward"]["worst"] is None and answer["reward"]["gap"] is None
    assert [answer["constraints"][0][key] for key in ("worst", "satisfied")] == [None, None]
    shown = run(*command, "-o", tmp_path / "nothing.h5").stdout
    assert "unknown" in shown and "nan" not in shown and "BROKEN" not in shown and "nothing to write" in shown
    assert list(tmp_path.iterdir()) == []


LONG = ["solve", "garnet(states=100,actions=10,successors=20,horizon=100)", "--method", "rcvi",
        "--budget-step", "0.02", "--threads", "1"]


def test_progress_goes_to_standard_error_and_ctrl_c_stops_cleanly():
    process = subprocess.Popen([PROGRAM, *LONG, "--progress", "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    shown = os.read(process.stderr.fileno(), 200)  # the solve has begun once the bar is there
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=60)
    assert b"%" in shown + rest
    answer = json.loads(out)
    assert answer["unfinished"] and process.returncode == (answer["status"] == "stopped")


def test_a_second_ctrl_c_ends_the_program():
    process = subprocess.Popen([PROGRAM, *LONG, "--progress"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.read(process.stderr.fileno(), 200)
    process.send_signal(signal.SIGINT)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(.01)
    process.communicate()
    assert process.returncode in (-signal.SIGINT, 0, 1)  # 0 or 1: it had stopped by itself in between


def test_a_terminal_gets_a_bar_unless_told_otherwise():
    terminal, side = os.openpty()
    process = subprocess.Popen([PROGRAM, *LONG], stdout=subprocess.PIPE, stderr=side)
    while b"%" not in os.read(terminal, 200):  # first comes how much memory it needs
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (0, 1)
    while select.select([terminal], [], [], 0)[0]:
        os.read(terminal, 1000)
    subprocess.run([PROGRAM, *LONG, "--no-progress", "--time-limit", ".5"], stdout=subprocess.PIPE, stderr=side,
                   timeout=60)
    assert select.select([terminal], [], [], 10)[0]  # how much memory it needs
    assert b"%" not in os.read(terminal, 1000)


def test_no_bar_without_a_terminal():
    result = subprocess.run([PROGRAM, *LONG, "--time-limit", ".5"], capture_output=True, timeout=60)
    assert re.fullmatch(rb"This needs [\d.]+ GB of RAM: model .*, values .*, policy .*\n", result.stderr)


def test_memory_that_does_not_fit_is_refused_with_the_number():
    text = refused("solve", RIVER, "--method", "rcvi", "--memory-limit", "10kB")
    assert re.search(r"needs [\d.e-]+ GB", text) and "memory_limit" in text
    assert run("solve", RIVER, "--method", "rcvi", "--memory-limit", "1GB").returncode == 0


# Errors: the thing, its value and the rule, on one line

@pytest.mark.parametrize("arguments, words", [
    (["slove", RIVER], ["slove", "did you mean solve"]),
    (["solve"], ["PROBLEM", "must be one of them"]),
    (["info"], ["PROBLEM", "required"]),
    (["solve", RIVER, "--method", "robust", "--slack", "1"], ["--slack", "robust"]),
    (["solve", RIVER, "--step", "1"], ["--step", "frontier"]),
    (["solve", RIVER, "--rdius", "1"], ["--rdius", "did you mean --radius"]),
    (["solve", RIVER, "extra"], ["extra"]),
    (["--versoin"], ["--versoin", "did you mean --version"]),
    (["solve", "rivr_swim"], ["rivr_swim", "did you mean river_swim"]),
    (["solve", "nothing.json"], ["nothing.json", "cannot be opened"]),
    (["solve", "problem.txt"], ["problem.txt", ".json"]),
    (["solve", RIVER, "--radius", "wide"], ["--radius", "wide", "must be a number"]),
    (["solve", RIVER, "--radius", "-1"], ["radius", "-1", "at least 0"]),
    (["solve", RIVER, "--radius"], ["--radius", "required"]),
    (["solve", RIVER, "--set", "tilt", "--radius", "1"], ["--radius", "tilt"]),
    (["solve", RIVER, "--set", "kl2"], ["--set", "kl2", "did you mean kl"]),
    (["solve", "hedge", "--set", "kl"], ["--set kl", "--radius"]),
    (["solve", RIVER, "--reach", "support"], ["--reach", "kl"]),
    (["solve", RIVER, "--set", "interval"], ["interval"]),
    (["solve", RIVER, "--bound", "cost=4"], ["--bound", "cost=4", "NAME>=X"]),
    (["solve", RIVER, "--bound", "toll<=4"], ["toll"]),
    (["solve", RIVER, "--bound", "cost<=4 with luck"], ["--bound", "cost<=4 with luck", "NAME<=X with P"]),
    (["solve", RIVER, "--bound", "cost<=4 with 1.5"], ["probability 1.5", "cost", "(0, 1]"]),
    (["solve", RIVER, "--horizon", "2.5"], ["--horizon", "2.5", "whole number"]),
    (["solve", RIVER, "--horizon", "infinite"], ["discount"]),
    (["solve", RIVER, "--discount", "1.2"], ["discount", "1.2", "(0, 1]"]),
    (["solve", RIVER, "--start", "9"], ["--start", "9", "0 to 5"]),
    (["solve", RIVER, "--start", ".5:.5"], ["--start", "2", "6"]),
    (["solve", RIVER, "--method", "rcvj"], ["--method", "rcvj", "did you mean rcvi"]),
    (["solve", RIVER, "--threads", "-2"], ["--threads", "-2", "at least 1"]),
    (["solve", RIVER, "--time-limit", "-1"], ["--time-limit", "-1", "at least 0"]),
    (["solve", RIVER, "--method", "rcvi", "--slack", "-1"], ["slack", "-1", "at least 0"]),
    (["solve", RIVER, "--memory-limit", "10XB"], ["--memory-limit", "10XB"]),
    (["envs", "rivr_swim"], ["rivr_swim", "did you mean river_swim"]),
])
def test_errors_are_one_line(arguments, words):
    text = refused(*arguments)
    for word in words:
        assert word in text


def test_nothing_is_written_when_the_input_is_bad(tmp_path):
    refused("make", RIVER, "--radius", "-1", "-o", "out.json", cwd=tmp_path)
    refused("make", RIVER, "-o", "out.txt", cwd=tmp_path)
    refused("convert", "missing.json", "out.json", cwd=tmp_path)
    refused("make", RIVER, "-o", "no/such/folder/out.json", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error():
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROGRAM, "solve", RIVER], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2 and result.stderr.count("\n") == 1


# Stored policies

@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """RiverSwim solved by RCVI: what solve said, and the file."""
    path = tmp_path_factory.mktemp("stored") / "river.h5"
    return run_json("solve", RIVER, "--method", "rcvi", "-o", path), path


def test_evaluate_says_what_solve_said(stored):
    answer, path = stored
    evaluation = run_json("evaluate", RIVER, path)
    assert evaluation["reward"]["worst"] == answer["reward"]["worst"]
    assert evaluation["constraints"] == answer["constraints"]


def test_evaluate_under_other_terms(stored):
    _, path = stored
    worse = run_json("evaluate", RIVER, path, "--radius", ".1", status=1)
    assert not worse["satisfied"] and worse["constraints"][0]["worst"] > 4
    assert run_json("evaluate", RIVER, path, "--set", "none")["constraints"][0]["worst"] < 4


def test_verify_agrees(stored):
    answer, path = stored
    verified = run_json("verify", RIVER, path)
    assert verified["agrees"] and verified["difference"] < 1e-9
    assert verified["reward"]["worst"] == pytest.approx(answer["reward"]["worst"], rel=1e-9)
    assert run("verify", RIVER, path, "--radius", ".1").returncode == 1


def test_simulation_comes_close_to_the_worst_case(stored):
    answer, path = stored
    worst = run_json("simulate", RIVER, path, "--nature", "worst-cost", "--episodes", "20000", "--seed", "1")
    cost = worst["constraints"][0]
    assert abs(cost["mean"] - answer["constraints"][0]["worst"]) < 4 * cost["standard_error"]
    nominal = run_json("simulate", RIVER, path, "--episodes", "20000")
    assert nominal["constraints"][0]["mean"] < cost["mean"]
    other = [run_json("simulate", RIVER, path, "--threads", n, "--seed", "5") for n in (1, 2)]
    assert other[0] == other[1] != run_json("simulate", RIVER, path, "--seed", "6")


def test_policies_for_other_programs(stored, tmp_path):
    _, path = stored
    assert run("evaluate", RIVER, path, "--policy", tmp_path / "policy.csv").returncode == 0
    assert (tmp_path / "policy.csv").read_text().startswith("step,idstate,")


@pytest.mark.parametrize("arguments, words", [
    (["evaluate", "hedge", "STORED"], ["6 states", "4"]),
    (["evaluate", RIVER, "nothing.h5"], ["nothing.h5"]),
    (["evaluate", RIVER, "STORED", "--horizon", "12"], ["10 stages", "12"]),
    (["simulate", RIVER, "STORED", "--nature", "kind"], ["kind", "nominal"]),
    (["simulate", RIVER, "STORED", "--episodes", "0"], ["episodes", "0"]),
    (["solve", RIVER, "-o", "river.txt"], ["river.txt", ".h5"]),
    (["solve", RIVER, "-o", "no/river.h5"], ["no/river.h5", "does not exist"]),
    (["solve", RIVER, "--policy", "river.h5"], ["river.h5", ".csv"]),
])
def test_errors_about_solutions_are_one_line(stored, tmp_path, arguments, words):
    text = refused(*(stored[1] if word == "STORED" else word for word in arguments), cwd=tmp_path)
    for word in words:
        assert word in text
    assert list(tmp_path.iterdir()) == []
