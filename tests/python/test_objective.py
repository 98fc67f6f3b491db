"""What is maximised: files and models without a reward, and signals that take its place."""

import json

import numpy as np
import pytest
import redoubt as rd
from program import refused, run_json

P = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [1.0, 0.0]]])
SIGNALS = {"time": [[1.0, 2.0], [3.0, 4.0]], "energy": [[0.5, 0.0], [0.0, 1.5]]}


def problem(*reward, **terms):
    return rd.Problem(P, *reward, signals=SIGNALS, horizon=3, order="sas", **terms)


def file_without_reward(folder):
    text = json.loads(rd._core.write_json(problem(reward=None)))
    del text["reward"]
    path = folder / "m.json"
    path.write_text(json.dumps(text))
    return path


def test_a_problem_without_a_reward_lists_what_could_be_one():
    with pytest.raises(rd.Error, match="reward, must be chosen: reward NAME or minimise NAME, of time, energy; "):
        problem()
    with pytest.raises(rd.Error, match="must be chosen: reward none says that there is none"):
        rd.Problem(P, horizon=3, order="sas")


def test_no_reward_can_be_meant():
    assert not problem(None).reward.any()
    assert problem(reward=None) == problem(reward="none") == problem(0.0)


def test_a_signal_takes_the_place_of_the_reward_and_stays_a_signal():
    chosen = problem(reward="time", constraints=[rd.at_most("time", 5.0)])
    assert chosen == problem(SIGNALS["time"], constraints=[rd.at_most("time", 5.0)])
    assert problem(minimise="energy") == problem(-np.array(SIGNALS["energy"]))
    assert problem(1.0).replace(reward="time") == problem(reward="time")
    assert problem(1.0).replace(minimise="time").reward.tolist() == [-1.0, -2.0, -3.0, -4.0]
    with pytest.raises(rd.Error, match="reward 'fuel', must be a signal of the model, which has time, energy"):
        problem(reward="fuel")
    with pytest.raises(rd.Error, match="reward and minimise = 'time', must be one of them"):
        problem(1.0, minimise="time")


def test_files_without_a_reward(tmp_path):
    path = file_without_reward(tmp_path)
    with pytest.raises(rd.Error, match=r"m\.json: nothing is called the reward.*of time, energy"):
        rd.load(path)
    assert rd.load(path, reward=None) == problem(None)
    assert rd.load(path, reward="time") == problem(reward="time")
    assert rd.load(path, minimise="time") == problem(minimise="time")
    kept = tmp_path / "kept.json"
    rd.save(problem(None), kept)
    assert rd.load(kept) == problem(None)  # a file of ours says that it is meant


def test_the_program_asks_and_takes_the_answer(tmp_path):
    path = str(file_without_reward(tmp_path))
    chosen = "nothing is called the reward, must be chosen: reward NAME or minimise NAME, of time, energy; "
    assert chosen in refused("solve", path)

    def worst(*flags):
        return run_json("solve", path, "--method", "robust", *flags)["reward"]["worst"]

    assert worst("--reward", "none") == 0
    assert worst("--reward", "time") == worst("--maximise", "time")
    best = rd.solve(problem(minimise="time"), method="robust").reward.worst
    assert worst("--minimise", "time") == best < 0
    both = refused("solve", path, "--reward", "time", "--minimise", "time")
    assert both == "--reward time and --minimise time, must be one of them"


def test_recorded_data_without_a_reward(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("state,action,next,time\n0,0,0,1\n0,0,1,2\n1,0,0,3\n1,0,1,3\n")
    with pytest.raises(rd.Error, match=r"log\.csv: no column is called reward.*of time"):
        rd.recorded(path, horizon=2)
    assert rd.recorded(path, horizon=2, minimise="time").reward.tolist() == [0.0, -3.0]
    assert not rd.recorded(path, horizon=2, reward=None).outcome_reward.any()
