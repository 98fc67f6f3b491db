"""Labels: named sets of states, from every form in which people have them, in files and in what is shown."""

import numpy as np
import pytest
from program import run

import redoubt as rd

CHAIN = [[[0.5, 0.5, 0.0]], [[0.0, 0.5, 0.5]], [[0.0, 0.0, 1.0]]]


def chain(**options):
    return rd.Problem(CHAIN, 1.0, order="sas", horizon=3, states=["a", "b", "c"], **options)


@pytest.mark.parametrize(
    "goal",
    [[1, 2], {2, 1}, ["b", "c"], {"c", 1}, np.array([2, 1, 1]), [False, True, True], np.array([0, 1, 1], bool),
     lambda state: state > 0],
    ids=["list", "set", "names", "mixed", "array", "mask", "array mask", "function"],
)  # fmt: skip
def test_every_form_of_a_set_of_states(goal):
    problem = chain(labels={"goal": goal, "nowhere": []})
    assert {name: states.tolist() for name, states in problem.labels.items()} == {"goal": [1, 2], "nowhere": []}


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        ([3], "state 3 of label 'goal', must be in 0..2"),
        ([-1], "state -1 of label 'goal', must be in 0..2"),
        (["d"], "label 'goal' has 'd', the model has no state of that name"),
        ("a", "label 'goal' = 'a', must be a list or a set of states, a mask, or a function"),
        ([True, False], "label 'goal' is a mask of 2 values, must have one for each of 3 states"),
        ([0.5], "label 'goal' has entries of type float64, must be whole numbers"),
    ],
)
def test_what_is_not_a_set_of_states(goal, says):
    with pytest.raises(rd.Error) as error:
        chain(labels={"goal": goal})
    assert str(error.value) == says


@pytest.mark.parametrize("ending", ["json", "csv", "umb"])
def test_files_keep_labels(ending, tmp_path):
    problem = chain(labels={"goal": {2}, 'odd "name", é': {0, 2}, "nowhere": []})
    rd.save(problem, tmp_path / f"p.{ending}")
    assert rd.load(tmp_path / f"p.{ending}") == problem
    assert problem != chain()


def test_files_keep_labels_of_rows_that_depend_on_the_stage(tmp_path):
    staged = rd.Problem([CHAIN, CHAIN], 1.0, order="sas", horizon=2, labels={"goal": {0, 2}})
    rd.save(staged, tmp_path / "p.umb")
    assert rd.load(tmp_path / "p.umb") == staged


def test_replacing_terms_and_states_keeps_labels():
    problem = chain(labels={"goal": {2}})
    assert problem.replace(horizon=5, uncertainty=rd.Interval(0.0, 1.0)).labels["goal"].tolist() == [2]
    moved = problem.reorder()
    assert [moved.state_names[state] for state in moved.labels["goal"]] == ["c"]


def test_what_is_shown():
    assert "labels:      goal, hazard" in repr(rd.make("grid"))
    assert "labels" not in repr(chain())
    info = run("info", "grid(size=3)").stdout
    assert "Labels: goal (1 state), hazard (" in info
