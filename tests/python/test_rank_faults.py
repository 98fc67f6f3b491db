"""Work of several ranks that is disturbed: one of them is killed, or cannot write; and what goes on from there."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time

import pytest
from mpi import ENVIRONMENT, mpi_command, mpirun, needs_mpi
from program import refused, run
from solutions import same_solution

pytestmark = needs_mpi

KILLS = 6
SOLVE = ["solve", "--method", "rcvi", "garnet(states=200,actions=4,successors=6,horizon=60)", "--budget-step", "0.7", "--threads", "1"]
CHECKPOINT = ["--checkpoint", "state.h5", "--checkpoint-interval", "0"]  # after each of 60 stages


def children(process):
    """The ranks that mpirun has started by now."""
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:
        return []


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def kill_a_rank(command, folder, moment):
    """Kills one rank after some of the checkpoints; True when the run was still at work. Nothing is left of it but the
    checkpoint."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env=ENVIRONMENT)  # fmt: skip
    state, seen, wanted = folder / "state.h5", set(), moment.randint(1, 15)
    while process.poll() is None and len(seen) < wanted:
        with contextlib.suppress(FileNotFoundError):
            seen.add(state.stat().st_mtime_ns)
        time.sleep(0.002)
    ranks = children(process)
    if process.poll() is not None or len(ranks) < 2:
        process.communicate(timeout=60)
        return False
    killed = moment.choice(ranks)
    os.kill(killed, signal.SIGKILL)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGKILL, message
    assert f"process rank {ranks.index(killed)} " in message and "signal 9 (Killed)" in message
    deadline = time.monotonic() + 60
    while any(is_alive(pid) for pid in ranks):
        assert time.monotonic() < deadline, "a rank outlives the run"
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("output", ["-o", "--policy-out"])
def test_a_rank_that_is_killed_ends_the_run_which_goes_on_with_any_number_of_ranks(output, tmp_path):
    assert run(*SOLVE, "-o", tmp_path / "calm.h5").returncode in (0, 1)
    kills = 0
    for seed in range(KILLS // 2):
        moment = random.Random(f"{output} {seed}")
        folder = tmp_path / str(seed)
        folder.mkdir()
        arguments = [*SOLVE, output, "answer.h5"]
        if kill_a_rank(mpi_command(moment.choice([2, 3]), *arguments, *CHECKPOINT, quiet=False), folder, moment):
            kills += 1
            names = {file.name for file in folder.iterdir()}
            assert "state.h5" in names and "answer.h5" not in names
            assert all(name == "state.h5" or name.endswith(".unfinished") for name in names)
        arguments += ["--checkpoint", "state.h5"]
        ranks = moment.choice([1, 2, 3])
        again = mpirun(ranks, *arguments, cwd=folder) if ranks > 1 else run(*arguments, cwd=folder)
        assert again.returncode in (0, 1), again.stderr
        same_solution(folder / "answer.h5", tmp_path / "calm.h5")
        assert [file.name for file in folder.iterdir()] == ["answer.h5"]
    assert kills >= KILLS // 3


def test_a_checkpoint_that_cannot_be_written_ends_the_run_with_the_reason(tmp_path):
    result = mpirun(2, *SOLVE, "--checkpoint", "missing/state.h5", "--checkpoint-interval", "0", cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    expected = "redoubt: rank 0: missing/state.h5: cannot be written (No such file or directory)"
    assert expected in result.stderr.splitlines()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["robust", "nominal"])
def test_other_methods_of_ranks_go_on_as_well(method, tmp_path):
    # With a file written after each of 5,000 stages, no machine is done within the limit.
    options = ["solve", "garnet(states=40,actions=3,successors=4,horizon=5000,bound=10)", "--method", method, "--json"]
    calm = run(*options, "-o", tmp_path / "calm.h5")
    state = ["--checkpoint", tmp_path / "state.h5", "--checkpoint-interval"]
    stopped = mpirun(3, *options, *state, "0", "--time-limit", "0.5")
    assert json.loads(stopped.stdout)["unfinished"], stopped.stderr
    assert (tmp_path / "state.h5").exists()
    again = mpirun(2, *options, *state, "60", "-o", tmp_path / "again.h5")
    assert again.returncode == calm.returncode
    same_solution(tmp_path / "again.h5", tmp_path / "calm.h5")


def test_a_checkpoint_of_ranks_knows_its_problem(tmp_path):
    other = ["solve", "garnet(states=200,actions=4,successors=6,horizon=5000)", "--method", "robust"]
    mpirun(2, *other, *CHECKPOINT, "--time-limit", "0.5", cwd=tmp_path)
    text = refused(*SOLVE, "--radius", "0.06", *CHECKPOINT, cwd=tmp_path)
    assert "holds the state of" in text and "must be of rcvi(" in text and text.count("200 states") == 2
    result = mpirun(3, *SOLVE, "--radius", "0.06", *CHECKPOINT, cwd=tmp_path)
    assert result.returncode == 2 and f"redoubt: {text}" in result.stderr.splitlines()
