"""A badly numbered file, written again with near numbers: `redoubt convert --reorder` and `Problem.reorder`."""

import numpy as np
import pytest
from boards import make_shuffled_board
from program import run, run_json

import redoubt as rd


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory):
    path = tmp_path_factory.mktemp("reorder") / "board.json"
    make_shuffled_board(path, "grid(size=12)", "--horizon", "8", "--discount", "1")
    return path


def furthest(problem):
    """What the numbers of a state and of one that its rows lead to differ by at most."""
    from_state = np.repeat(np.arange(problem.states), np.diff(problem.row_outcomes[problem.state_rows]))
    return int(np.max(np.abs(problem.next - from_state)))


@pytest.mark.parametrize("ending", ["json", "csv", "umb"])
def test_convert_writes_near_numbers(ending, shuffled, tmp_path):
    path = tmp_path / f"near.{ending}"
    written = run("convert", shuffled, path, "--reorder")
    assert written.returncode == 0 and written.stderr == ""
    given, near = rd.load(shuffled), rd.load(path)
    assert furthest(given) > 100 and furthest(near) <= 24
    assert near == given.reorder()
    assert sorted(map(int, near.state_names)) == list(range(given.states))


def test_the_answer_is_the_same(shuffled, tmp_path):
    assert run("convert", shuffled, tmp_path / "near.umb", "--reorder").returncode == 0
    options = ["--set", "kl", "--radius", ".1", "--method", "frontier", "--tolerance", "1e-6"]
    given, near = (run_json("solve", path, *options) for path in (shuffled, tmp_path / "near.umb"))
    assert given["status"] == near["status"] == "certified"
    assert near["reward"]["worst"] == pytest.approx(given["reward"]["worst"], abs=2e-6)


def test_states_are_found_again_by_their_old_numbers(shuffled, tmp_path):
    assert run("convert", shuffled, tmp_path / "near.json", "--reorder").returncode == 0
    options = ["--set", "tv", "--radius", ".1", "--method", "robust", "--start"]
    for state in ("3", "77", "143"):
        files = shuffled, tmp_path / "near.json"
        given, near = (run_json("solve", path, *options, state, status=None) for path in files)
        assert near["reward"]["worst"] == pytest.approx(given["reward"]["worst"], abs=1e-9)
    given, near = rd.load(shuffled), rd.load(tmp_path / "near.json")
    assert near.state_names[int(np.argmax(near.start))] == str(int(np.argmax(given.start)))


def test_names_stay():
    problem = rd.make("river_swim(horizon=10,start=3)")
    assert problem.state_names and sorted(problem.reorder().state_names) == sorted(problem.state_names)
