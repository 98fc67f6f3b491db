"""Stages of a policy on disk while it is made: the same file, and memory that does not grow with the horizon."""

import re

import h5py
import numpy as np
import pytest
from program import refused, run, run_json

PROBLEM = "garnet(states=40,actions=3,successors=4,horizon={},start=7,bound=30)"


def stages(path):
    with h5py.File(path) as file:
        return {name: item[()] for name, item in file["policy/stages"].items()}


@pytest.mark.parametrize("terms", [[], ["--horizon", "infinite", "--discount", ".9"]])
def test_the_file_is_the_one_that_memory_gives(terms, tmp_path):
    options = ["solve", "--method", "rcvi", PROBLEM.format(6), "--budget-step", "3", *terms]
    memory, disk = tmp_path / "memory.h5", tmp_path / "disk.h5"
    expected = run_json(*options, "-o", memory, status=None)
    found = run_json(*options, "--policy-out", disk, status=None)
    for answer in (expected, found):
        answer.pop("seconds"), answer.pop("bytes"), answer.pop("memory")
    assert found == expected
    wanted, written = stages(memory), stages(disk)
    assert written.keys() == wanted.keys()
    assert all(np.array_equal(written[name], wanted[name]) for name in wanted)
    assert run_json("evaluate", PROBLEM.format(6), disk, *terms, status=None)["reward"]["worst"] == found["reward"]["worst"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["disk.h5", "memory.h5"]


def test_memory_planned_does_not_grow_with_the_horizon(tmp_path):
    def planned(horizon, *output):
        return run_json("solve", "--method", "rcvi", PROBLEM.format(horizon), "--budget-step", "30", *output, status=None)["bytes"][0]

    in_memory = [planned(h, "-o", tmp_path / "a.h5") for h in (20, 200)]
    on_disk = [planned(h, "--policy-out", tmp_path / "b.h5") for h in (20, 200)]
    states = run_json("info", PROBLEM.format(200), "--budget-step", "30")["rcvi"]["memory_states"]
    stage = 40 * states * 4
    assert in_memory[1] - on_disk[1] > 50 * stage
    assert on_disk[1] < in_memory[1] / 2
    assert on_disk[0] < in_memory[0]


def test_it_is_the_whole_solution_or_nothing(tmp_path):
    assert "must be given alone" in refused("solve", "fork", "--policy-out", tmp_path / "a.h5", "-o", tmp_path / "b.h5")
    assert re.search(r"ending '.csv', must be .h5", refused("solve", "fork", "--policy-out", tmp_path / "a.csv"))
    run("solve", "--method", "rcvi", PROBLEM.format(400), "--policy-out", tmp_path / "a.h5", "--time-limit", "0")
    assert [file.name for file in tmp_path.iterdir()] == ["a.h5"]
