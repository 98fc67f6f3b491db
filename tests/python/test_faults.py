"""What becomes of work that is disturbed: killed, out of disk, out of memory, under files that change."""

import ctypes
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from program import PROGRAM, ROOT, peak_memory, refused, run
from solutions import contents, same_solution

RIVER = "river_swim(horizon=10,start=3)"
KILLS = 20


# ---- killed, and continued -----------------------------------------------------------------------


def same_bytes(a, b):
    assert a.read_bytes() == b.read_bytes()


def kill_at_work(command, folder, seconds):
    """Kills the command after some seconds, or sooner when it was done by then."""
    folder.mkdir()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    process.wait()
    if process.returncode != -signal.SIGKILL:
        assert process.returncode in (0, 1)
        shutil.rmtree(folder)
        kill_at_work(command, folder, 0.6 * seconds)


def kill_and_go_on(command, folder, seconds):
    """Kills the command, and runs it again to its end; what the kill has left."""
    kill_at_work(command, folder, seconds)
    left = {file.name for file in folder.iterdir()}
    again = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert again.returncode in (0, 1), again.stderr
    assert {file.name for file in folder.iterdir() if "unfinished" in file.name} == set()
    return left


def kill_at_random_moments(command, output, keeps, folder, same):
    """20 kills and 20 results; each is that of a run which nobody disturbed."""
    calm = folder / "calm"
    calm.mkdir()
    begin = time.monotonic()
    assert subprocess.run(command, cwd=calm, capture_output=True).returncode in (0, 1)
    seconds = time.monotonic() - begin
    assert not (calm / keeps).exists()  # done: nothing to go on from
    moments = [random.Random(seed).uniform(0.05, 0.9) for seed in range(KILLS)]
    with ThreadPoolExecutor(2) as pool:
        left = list(pool.map(lambda i: kill_and_go_on(command, folder / str(i), seconds * moments[i]), range(KILLS)))
    for i in range(KILLS):
        same(folder / str(i) / output, calm / output)
    assert sum(keeps in files for files in left) >= 3  # had something to go on from


def test_a_solve_that_was_killed_goes_on_to_the_same_bits(tmp_path):
    problem = "garnet(states=50,actions=4,successors=6,horizon=40)"
    command = [PROGRAM, "solve", "--method", "rcvi", problem, "--budget-step", "0.5", "--threads", "1", "-o", "answer.h5",
               "--checkpoint", "state.h5", "--checkpoint-interval", "0.02"]  # fmt: skip
    kill_at_random_moments(command, "answer.h5", "state.h5", tmp_path, same_solution)


def test_an_estimate_that_was_killed_goes_on_to_the_same_bits(tmp_path):
    simulator = tmp_path / "simulator.py"
    simulator.write_text(SIMULATOR)
    command = [PROGRAM, "estimate", "--simulator", shlex.join([sys.executable, "-S", str(simulator)]), "--samples", "2500",
               "--horizon", "5", "-o", "model.json"]  # fmt: skip
    kill_at_random_moments(command, "model.json", "simulator.samples", tmp_path, same_bytes)


SIMULATOR = """
import json, random, sys
sys.stdin.readline()
print(json.dumps({"states": 4, "actions": 2, "signals": ["cost"]}), flush=True)
for line in sys.stdin:
    query = json.loads(line)
    draw = random.Random(query["seed"])
    print(json.dumps({"id": query["id"], "next": draw.randrange(4), "reward": draw.choice([0, 1]),
                      "signals": {"cost": 0.5}}), flush=True)
"""


def test_an_experiment_that_was_killed_goes_on_to_the_same_table(tmp_path):
    script = ROOT / "experiments" / "sample_complexity" / "run.py"
    command = [sys.executable, script, "--quick", "--only", "fork(set=chi2", "--output", ".", "--checkpoint", "found.json",
               "--checkpoint-interval", "0"]  # fmt: skip
    kill_at_random_moments(command, "figures/sample_complexity.csv", "found.json", tmp_path, same_bytes)


# With a file after each of thousands of steps, no machine is done within half a second. (How frontier goes on, whose
# steps are few, is counted in tests/solvers/checkpoint_test.cc.)
@pytest.mark.parametrize("method, horizon, options", [("robust", 5000, []), ("crpo", 10, ["--iterations", "3000"])])
def test_other_methods_go_on_as_well(method, horizon, options, tmp_path):
    problem = f"garnet(states=20,actions=3,successors=4,horizon={horizon},bound=10)"
    command, state = ["solve", problem, "--method", method, *options, "--json"], tmp_path / "state.h5"
    calm = run(*command, "-o", tmp_path / "calm.h5")
    stopped = run(*command, "--checkpoint", state, "--checkpoint-interval", "0", "--time-limit", "0.5")
    assert json.loads(stopped.stdout)["unfinished"] and state.exists()
    again = run(*command, "--checkpoint", state, "-o", tmp_path / "again.h5")
    assert again.returncode == calm.returncode
    same_solution(tmp_path / "again.h5", tmp_path / "calm.h5")


def test_a_checkpoint_of_another_problem_is_refused_and_names_both(tmp_path):
    state = tmp_path / "state.h5"
    crpo = ["--method", "crpo", "--iterations", "1000000"]
    run("solve", RIVER, *crpo, "--checkpoint", state, "--checkpoint-interval", "0", "--time-limit", "0.5")
    before = state.read_bytes()
    text = refused("solve", "--method", "rcvi", RIVER, "--radius", "0.06", "--checkpoint", state)
    assert "holds the state of" in text and "must be of rcvi(" in text and text.count("horizon 10") == 2
    assert state.read_bytes() == before
    state.write_bytes(before[:-100] + bytes(100))
    assert "seal" in refused("solve", "--method", "rcvi", RIVER, "--checkpoint", state)


# ---- no room, no right to write --------------------------------------------------------------------

WRITERS = {
    "solution": ("solve", "--method", "rcvi", RIVER, "-o", "a.h5"),
    "policy": ("solve", "--method", "rcvi", RIVER, "--policy", "a.csv"),
    "checkpoint": ("solve", "--method", "rcvi", RIVER, "--checkpoint", "a.h5", "--checkpoint-interval", "0"),
    "curve": ("frontier", RIVER, "-o", "a.csv"),
    "json": ("make", "garnet(states=40)", "-o", "a.json"),
    "csv": ("make", "garnet(states=40)", "-o", "a.csv"),
    "umb": ("make", "garnet(states=40)", "-o", "a.umb"),
    "estimate": ("estimate", "garnet(states=40)", "--samples", "100", "-o", "a.json"),
    "traces": ("compare", RIVER, "--methods", "crpo", "-o", "."),
}


def outcome_of(arguments, folder, limit):
    """Runs the program in a folder after limit() was called in its process."""
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, preexec_fn=limit)


def expect_refusal(result, folder, reason, before):
    assert result.returncode == 2, result.stdout + result.stderr
    assert result.stderr.startswith("redoubt: ") and result.stderr.count("\n") == 1, result.stderr
    assert reason in result.stderr, result.stderr
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before  # nothing new, nothing lost


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_may_not_grow_leaves_the_old_one(writer, tmp_path):
    """The limit of a process on the size of files, which needs no rights to set, stands for a full disk."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
    before = {"a.csv": b"old", "a.json": b"old", "a.umb": b"old", "traces.csv": b"old"}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    expect_refusal(outcome_of(WRITERS[writer], tmp_path, limit), tmp_path, "File too large", before)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a disk is not allowed here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_old_file(writer, small_disk):
    (small_disk / "full").write_bytes(bytes(8192))
    before = {"full": bytes(8192)}
    expect_refusal(outcome_of(WRITERS[writer], small_disk, None), small_disk, "No space left", before)


def keep_to_modes():
    """Takes from root, in the process that is to be started, the right to write anywhere."""
    drop_from_bounding_set, dac_override = 24, 1  # of <linux/prctl.h> and <linux/capability.h>
    if ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0) != 0:
        raise PermissionError("root may not give up rights here")


@pytest.fixture(scope="module")
def bound_by_modes():
    """What a process has to do first so that the modes of folders bind it."""
    if os.geteuid() != 0:
        return None
    try:
        subprocess.run(["true"], preexec_fn=keep_to_modes, check=True)
    except subprocess.SubprocessError:
        pytest.skip("root may not give up rights here")
    return keep_to_modes


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_is_read_only_stays_as_it_is(writer, tmp_path, bound_by_modes):
    tmp_path.chmod(0o555)
    expect_refusal(outcome_of(WRITERS[writer], tmp_path, bound_by_modes), tmp_path, "Permission denied", {})


def test_a_file_in_place_of_a_folder_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    assert "folder" in refused("solve", RIVER, "-o", tmp_path / "file" / "a.h5")


def test_standard_output_that_is_full_is_an_error():
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROGRAM, "solve", "--method", "rcvi", RIVER], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2 and "standard output" in result.stderr


# ---- memory -----------------------------------------------------------------------------------------


def test_a_solve_beyond_the_limit_of_memory_is_refused_with_the_numbers(tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (400_000_000, 400_000_000))
    large = ("solve", "--method", "rcvi", "garnet(states=500,actions=4,successors=5,horizon=50)", "--budget-step", "0.02", "--threads", "1")
    result = outcome_of(large, tmp_path, limit)
    expect_refusal(result, tmp_path, "the limit is 0.3 GB", {})
    # A user who insists gets it, and finds out.
    result = outcome_of([*large, "--memory-limit", "1TB"], tmp_path, limit)
    assert result.returncode == 2 and "out of memory" in result.stderr.splitlines()[-1], result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_search_ends_before_it_holds_more_than_its_limit(tmp_path):
    search = ["solve", "garnet(states=200,actions=3,successors=4,horizon=10,start=7,bound=30,set=kl,radius=.1)", "--threads",
              "1", "--json"]  # fmt: skip
    exact = json.loads(run(*search).stdout)
    passes = []
    for megabytes in (60, 150):
        peak, shown = peak_memory(*search, "--tolerance", "1e-6", "--memory-limit", f"{megabytes}MB")
        answer = json.loads(shown)
        assert answer["status"] == "feasible" and not answer["unfinished"]
        assert any("of RAM" in note for note in answer["notes"]), answer["notes"]
        assert peak < 1e6 * megabytes
        assert answer["reward"]["worst"] <= exact["reward"]["bound"] and exact["reward"]["worst"] <= answer["reward"]["bound"]
        passes.append(answer["iterations"])
    assert 0 < passes[0] < passes[1]
    assert "the limit is 0.01 GB" in refused(*search, "--memory-limit", "10MB")


def test_an_infinite_search_ends_between_two_sweeps_before_it_holds_more_than_its_limit():
    search = ["solve", "garnet(states=100,actions=3,successors=5,discount=.9,start=7,bound=30,set=kl,radius=.1)", "--threads",
              "1", "--json"]  # fmt: skip
    before, _ = peak_memory(*search, "--method", "robust")
    exact = json.loads(run(*search, "--tolerance", "1e-2").stdout)
    ends = set()
    for more in (3.2e6, 4e6, 10e6, 28e6):  # within its first pass, after it, and within its second
        limit = before + more
        peak, shown = peak_memory(*search, "--tolerance", "1e-5", "--memory-limit", f"{limit / 1e6}MB")
        answer = json.loads(shown)
        assert answer["status"] == "feasible" and any("of RAM" in note for note in answer["notes"]), answer
        assert peak < limit
        ends.add(re.search(r"(sweep|pass) would", answer["notes"][-1])[1])
        assert answer["reward"]["worst"] <= exact["reward"]["bound"] and exact["reward"]["worst"] <= answer["reward"]["bound"]
    assert ends == {"sweep", "pass"}


@pytest.mark.parametrize("method", ["robust", "nominal", "rcvi", "frontier"])
def test_a_chance_constraint_that_is_too_large_is_refused_before_the_work(method, tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (400_000_000, 400_000_000))
    solve = ("solve", "garnet(states=1000,actions=4,successors=5,horizon=20)", "--bound", "cost<=8 with .5", "--method", method,
             "--threads", "1", "--checkpoint", "state.h5", "--checkpoint-interval", "0")  # fmt: skip
    expect_refusal(outcome_of(solve, tmp_path, limit), tmp_path, "pairs of a state and a budget", {})  # and no state


def test_threads_that_the_system_does_not_give_are_an_error(tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (200_000_000, 200_000_000))
    result = outcome_of(("solve", "--method", "rcvi", RIVER, "--threads", "100"), tmp_path, limit)
    expect_refusal(result, tmp_path, "threads = 100", {})


# ---- files that change, and writers that meet -------------------------------------------------------


def test_a_problem_that_changes_under_a_solve_does_not_matter_to_it(tmp_path):
    problem, calm, again = tmp_path / "problem.json", tmp_path / "calm.h5", tmp_path / "again.h5"
    run("make", "garnet(states=50,actions=4,successors=6,horizon=40)", "-o", problem)
    arguments = ["solve", "--method", "rcvi", problem, "--budget-step", "0.5", "--threads", "1"]
    run(*arguments, "-o", calm)
    process = subprocess.Popen([PROGRAM, *arguments, "-o", again, "--progress"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)  # fmt: skip
    assert os.read(process.stderr.fileno(), 100)  # the bar: the file is read, the work has begun
    kept = problem.read_bytes()
    problem.write_bytes(kept.replace(b"0.", b"1.", 1))
    process.communicate(timeout=60)
    assert process.returncode in (0, 1)
    same_solution(again, calm)
    # The next one is another problem, and a checkpoint knows.
    problem.write_bytes(kept)
    state = tmp_path / "state.h5"
    longer = ["solve", "--method", "crpo", problem, "--iterations", "1000000", "--checkpoint", state]
    run(*longer, "--checkpoint-interval", "0", "--time-limit", "0.5")
    assert state.exists()  # it was stopped
    run("make", "garnet(states=50,actions=4,successors=6,horizon=40,seed=1)", "-o", problem)
    assert "holds the state of" in refused(*longer)


def test_two_solves_that_write_the_same_file_leave_one_of_the_two(tmp_path):
    both = tmp_path / "both.h5"
    alone = []
    for radius in ("0.02", "0.05"):
        alone.append(tmp_path / f"{radius}.h5")
        run("solve", "--method", "rcvi", RIVER, "--radius", radius, "-o", alone[-1])
    for _ in range(5):
        writers = [subprocess.Popen([PROGRAM, "solve", "--method", "rcvi", RIVER, "--radius", radius, "-o", both], stdout=subprocess.DEVNULL)
                   for radius in ("0.02", "0.05")]  # fmt: skip
        assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
        found = contents(both)[0]
        assert found in [contents(path)[0] for path in alone]
    assert {file.name for file in tmp_path.iterdir()} == {"both.h5", "0.02.h5", "0.05.h5"}


# ---- stopped by hand --------------------------------------------------------------------------------

LARGE = "garnet(states=20000,actions=8,successors=10,horizon=50,bound=100)"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A problem of which one stage takes long, and two policies for it: one for its horizon, one for every horizon."""
    folder = tmp_path_factory.mktemp("large")
    assert run("make", LARGE, "-o", folder / "large.umb").returncode == 0
    assert run("solve", folder / "large.umb", "--method", "nominal", "-o", folder / "large.h5").returncode in (0, 1)
    endless = ["--horizon", "infinite", "--discount", "0.9", "-o", folder / "stationary.h5"]
    assert run("solve", folder / "large.umb", "--method", "nominal", *endless).returncode in (0, 1)
    yield folder
    shutil.rmtree(folder)


def processor_seconds(process):
    """What a running process has used so far, all threads together."""
    user, system = open(f"/proc/{process.pid}/stat").read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# Every one of them works for many seconds: `robust`, `evaluate` and `info` because of their long horizon.
@pytest.mark.parametrize("verb", ["solve --method rcvi --memory-limit 1TB", "solve --method frontier",
                                  "solve --method robust --horizon 4000", "solve --method crpo",
                                  "evaluate --horizon 4000", "verify", "info --horizon 4000"])  # fmt: skip
def test_ctrl_c_ends_anything_within_a_second(verb, large):
    name, *options = verb.split()
    solution = {"evaluate": ["stationary.h5"], "verify": ["large.h5"]}.get(name, [])
    command = [PROGRAM, name, "large.umb", *solution, *options, "--threads", "1", "--progress"]
    process = subprocess.Popen(command, cwd=large, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=False)
    assert os.read(process.stderr.fileno(), 100)  # the bar: the file is read, the work has begun
    before = processor_seconds(process)
    process.send_signal(signal.SIGINT)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    # A second, and the end of a process with that much memory. Processor time: a busy machine does not matter.
    assert used.ru_utime + used.ru_stime - before < 1.5
    assert process.returncode in ((0, 1) if name == "solve" else (1,))  # a solve may have a good policy by then
    assert (b"stopped" in out) == (name == "solve")
