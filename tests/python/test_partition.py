"""States divided by METIS: ranks send less, and the answer, the trace and the files are those of one process."""

import json

import numpy as np
import pytest
from boards import make_shuffled_board
from mpi import mpirun, needs_mpi
from program import refused, run, run_json
from test_ranks import datasets, without_times

pytestmark = needs_mpi

RANDOM = "garnet(states=400,actions=3,successors=40,horizon=4,start=7,bound=30,set=kl,radius=0.1)"
STEPS = {"rcvi": ["--budget-step", "1"], "frontier": ["--tolerance", ".05"], "robust": []}


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory):
    """In two formats."""
    path = tmp_path_factory.mktemp("shuffled")
    make_shuffled_board(path / "board.json", "grid(size=16)", "--horizon", "6", "--discount", "1")
    for name, flags in [("packed.umb", []), ("plain.umb", ["--uncompressed"])]:
        assert run("convert", path / "board.json", path / name, *flags).returncode == 0
    return path


def needed(result):
    assert result.returncode in (0, 1), result.stderr
    return json.loads(result.stdout)["needed"]


def same_files(one, many):
    found, wanted = datasets(many), datasets(one)
    assert found.keys() == wanted.keys()
    for name in wanted:
        assert np.array_equal(found[name], wanted[name]), name


@pytest.mark.parametrize("uncertainty", ["kl", "tv"])
@pytest.mark.parametrize("method", ["rcvi", "robust", "frontier"])
def test_the_partition_changes_no_bit_of_the_answer(method, uncertainty, shuffled, tmp_path):
    terms = ["--set", uncertainty, "--radius", ".1"]
    if method == "frontier" and uncertainty == "tv":
        terms += ["--reach", "support"]
    options = ["solve", shuffled / "plain.umb", *terms, "--method", method, *STEPS[method], "--json"]
    one = tmp_path / "one.h5"
    expected = run(*options, "-o", one)
    for ranks, threads in [(1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)]:
        path = tmp_path / "many.h5"
        result = mpirun(ranks, *options, "--partition", "metis", "--threads", threads, "-o", path)
        assert result.returncode == expected.returncode, result.stderr
        answer = json.loads(result.stdout)
        if ranks > 1:
            assert answer.pop("needed")["partition"] == "metis"
        assert without_times(answer) == without_times(json.loads(expected.stdout))
        same_files(one, path)


@pytest.mark.parametrize("file", ["board.json", "packed.umb", "plain.umb"])
def test_less_is_sent(file, shuffled):
    for ranks in (2, 4):
        sent = needed(mpirun(ranks, "solve", shuffled / file, "--method", "nominal", "--partition", "metis", "--json"))
        assert sent["partition"] == "metis"
        # Of a board of 16 x 16, its width on both sides of every cut, instead of nearly all states or more.
        assert sent["metis"] <= 16 * 2 * (ranks - 1)
        assert sent["blocks"] >= 200


def test_stages_on_disk_and_stored_policies_know_no_partition(shuffled, tmp_path):
    options = ["solve", "--method", "rcvi", shuffled / "plain.umb", "--set", "kl", "--radius", ".1", "--budget-step", "1",
               "--json"]
    one, streamed = tmp_path / "one.h5", tmp_path / "streamed.h5"
    expected = run(*options, "-o", one)
    kept = ["--checkpoint", tmp_path / "state.h5", "--checkpoint-interval", "0"]  # written at every stage
    solved = json.loads(mpirun(3, *options, *kept, "--partition", "metis", "--policy-out", streamed).stdout)
    assert solved.pop("needed")["partition"] == "metis"
    assert without_times(solved) == without_times(json.loads(expected.stdout))
    same_files(one, streamed)
    evaluation = ["evaluate", shuffled / "plain.umb", "--set", "kl", "--radius", ".1"]
    found = mpirun(3, *evaluation, streamed, "--partition", "metis", "--json")
    answer = json.loads(found.stdout)
    assert answer.pop("needed")["partition"] == "metis"
    assert without_times(answer) == without_times(run_json(*evaluation, one, status=found.returncode))


def test_blocks_are_kept_where_metis_saves_nothing():
    result = mpirun(2, "solve", RANDOM, "--method", "nominal", "--partition", "metis")
    assert "states in blocks" in result.stderr and ": blocks are kept" in result.stderr
    sent = needed(mpirun(2, "solve", RANDOM, "--method", "nominal", "--partition", "metis", "--json"))
    assert sent["partition"] == "blocks" and sent["metis"] > 0.9 * sent["blocks"]


def test_few_states_are_left_in_blocks():
    sent = needed(mpirun(4, "solve", "fork", "--method", "nominal", "--partition", "metis", "--json"))
    assert sent["partition"] == "blocks" and sent["metis"] == sent["blocks"]


def test_info_compares_both(shuffled):
    options = ["info", shuffled / "plain.umb", "--budget-step", "1", "--ranks", "4", "--partition", "metis"]
    assert " in blocks, of " in mpirun(1, *options).stdout
    info = json.loads(mpirun(1, *options, "--json").stdout)
    assert info["needed"]["partition"] == "metis" and info["needed"]["metis"] < info["needed"]["blocks"] / 4
    start = 4  # every rank knows it
    assert sum(rank["others"] for rank in info["ranks"]) <= info["needed"]["metis"] + start
    assert sum(rank["states"] for rank in info["ranks"]) == 256


def test_a_program_without_metis_says_so():
    assert "--partition metis in a program without METIS" in refused("info", "fork", "--ranks", "2", "--partition", "metis")
    assert "partition" in refused("info", "fork", "--partition", "random")
