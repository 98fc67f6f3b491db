"""States renumbered for the work, where that pays: the answer, the files and what goes on from them stay the same."""

import json

import pytest
from boards import make_shuffled_board
from mpi import mpirun, needs_mpi
from program import refused, run, run_json
from test_order import same_files
from test_ranks import without_times

import redoubt as rd

# A board so large, and with so many budgets, that no core's own cache has room for it.
STEP = ["--budget-step", ".25", "--horizon", "12", "--bound", "hazard<=6"]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    path = tmp_path_factory.mktemp("near")
    make_shuffled_board(path / "board.json", "grid(size=100)")
    assert run("convert", path / "board.json", path / "board.umb", "--uncompressed").returncode == 0
    return path / "board.umb"


@pytest.mark.parametrize("terms", [["tv"], ["chi2"], ["kl"], ["tv", "--reach", "support"]], ids="-".join)
def test_the_order_changes_no_bit(terms, board, tmp_path):
    options = ["solve", board, "--set", *terms, "--radius", ".1", *STEP, "--json"]
    given, near, streamed = (tmp_path / f"{name}.h5" for name in ("given", "near", "streamed"))
    expected = run(*options, "--order", "given", "-o", given)
    assert "far" not in json.loads(expected.stdout)
    for flags in (["-o", near], ["--policy-out", streamed, "--threads", "2"], ["-o", near, "--order", "near"]):
        found = run(*options, *flags)
        assert found.returncode == expected.returncode
        answer = json.loads(found.stdout)
        assert answer["far"]["order"] == "near" and answer["far"]["near"] < answer["far"]["given"] / 4
        assert without_times(answer) == without_times(json.loads(expected.stdout))
    same_files(given, near)
    same_files(given, streamed)
    evaluation = ["evaluate", board, given, "--set", *terms, "--radius", ".1", *STEP[2:]]
    one = run_json(*evaluation, "--order", "given", status=expected.returncode)
    other = run_json(*evaluation, status=expected.returncode)
    assert other["far"]["order"] == "near" and without_times(other) == without_times(one)


def test_work_goes_on_in_the_other_order(board, tmp_path):
    options = ["solve", board, "--set", "kl", "--radius", ".1", *STEP, "--threads", "1", "--json"]
    expected = run(*options, "-o", tmp_path / "one.h5")
    kept = ["--checkpoint", tmp_path / "state.h5", "--checkpoint-interval", "0", "-o", tmp_path / "two.h5"]
    for limit in (0.2, 0.4, 0.8, 1.6, 3.2):  # until some stages are done
        stopped = run(*options, *kept, "--order", "given", "--time-limit", limit)
        assert json.loads(stopped.stdout)["status"] == "stopped"
        if (tmp_path / "state.h5").exists():
            break
    assert (tmp_path / "state.h5").exists()
    found = run(*options, *kept)
    answer = json.loads(found.stdout)
    assert answer["far"]["order"] == "near"
    assert without_times(answer) == without_times(json.loads(expected.stdout))
    same_files(tmp_path / "one.h5", tmp_path / "two.h5")


def test_the_order_is_told(board):
    options = ["solve", board, "--set", "tv", "--radius", ".1", *STEP]
    assert "States are renumbered for this work: " in run(*options).stderr
    assert "renumbered" not in run(*options, "--order", "given").stderr
    assert "The given order of states is kept: 0 %" in run("solve", "grid(size=9)", "--order", "near").stderr
    assert run("solve", "grid(size=9)").stderr == ""
    assert "order" in refused("frontier", "fork", "--order", "near")


def test_python_has_the_same_word():
    problem = rd.make("grid(size=9)")
    found = [rd.solve(problem, order=order).reward for order in ("given", "near")]
    assert found[0].worst == found[1].worst
    with pytest.raises(rd.Error, match="order = 'far', must be one of given, near"):
        rd.solve(problem, order="far")


@needs_mpi
@pytest.mark.parametrize("order", ["near", "metis"])
def test_every_rank_has_its_own(order, board, tmp_path):
    options = ["solve", board, "--set", "tv", "--radius", ".1", *STEP, "--json"]
    expected = run(*options, "-o", tmp_path / "one.h5")
    found = mpirun(2, *options, "--order", order, "-o", tmp_path / "two.h5")
    answer = json.loads(found.stdout)
    assert answer["far"]["order"] == "near"
    answer.pop("needed", None)
    assert without_times(answer) == without_times(json.loads(expected.stdout))
    same_files(tmp_path / "one.h5", tmp_path / "two.h5")
