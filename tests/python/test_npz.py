"""Files of numpy arrays: our own keep every bit, and the arrays that people have are read as Problem reads them."""

import numpy as np
import pytest
import redoubt as rd

P = np.array([[[0.8, 0.2], [1.0, 0.0]], [[0.1, 0.9], [0.7, 0.3]]])
R = np.array([[1.0, 0.0], [3.0, 0.5]])


@pytest.mark.parametrize("uncertainty", [rd.KL(0.1), rd.TV(0.1), rd.TV([0.1, 0, 0.2, 0.3], reach="support"), rd.Chi2(0.2),
                                         rd.Tilt(2.0), rd.Nominal(), rd.Interval(P * 0.9, np.minimum(P * 1.1, 1)),
                                         rd.Composed(rd.TV(0.1, "support"), P * 0.9, np.minimum(P * 1.1, 1))])  # fmt: skip
def test_round_trip_keeps_every_bit(uncertainty, tmp_path):
    problem = rd.Problem(P, R / 3, signals={"wear": R / 7, "falls, often": rd.on_arrival({1: 1.0})}, order="sas", horizon=7,
                         discount=0.97, start=[0.25, 0.75], states=["dry", "é wet"], actions=["go", "stay"],
                         labels={"goal": {1}, "none": set()}, uncertainty=uncertainty,
                         constraints=[rd.at_most("wear", 3), rd.chance("wear", at_most=4, probability=0.9)])  # fmt: skip
    rd.save(problem, tmp_path / "p.npz")
    assert rd.load(tmp_path / "p.npz") == problem
    assert [path.name for path in tmp_path.iterdir()] == ["p.npz"]


def test_stages_and_goals_too(tmp_path):
    staged = rd.Problem(np.stack([P, P[:, ::-1]]), np.stack([R, 2 * R])[..., np.newaxis], horizon=2, order="sas")
    goals = rd.make("grid(size=3)", reward=rd.reach("goal"), discount=1.0, horizon=5)
    for problem in (staged, goals, rd.make("garnet(states=6,actions=3,seed=1)")):
        rd.save(problem, tmp_path / "p.npz")
        assert rd.load(tmp_path / "p.npz") == problem


def test_arrays_that_people_have(tmp_path):
    expected = rd.Problem(P, R, signals={"wear": R / 2}, order="sas", horizon=5)
    np.savez(tmp_path / "a.npz", P=P, R=R, wear=R / 2, order="sas", horizon=5)
    assert rd.load(tmp_path / "a.npz") == expected
    np.savez(tmp_path / "b.npz", T=np.moveaxis(P, 1, 0), reward=R, wear=R / 2, order="ass")
    assert rd.load(tmp_path / "b.npz", horizon=5) == expected
    import scipy.sparse

    scipy.sparse.save_npz(tmp_path / "c.npz", scipy.sparse.csr_matrix(P.reshape(4, 2)))
    assert rd.load(tmp_path / "c.npz", horizon=5, reward=None).rows == 4


def test_wrong_files_are_errors(tmp_path):
    path = tmp_path / "w.npz"

    def error(**arrays):
        np.savez(path, **arrays)
        with pytest.raises(rd.Error) as caught:
            rd.load(path, horizon=3)
        return str(caught.value).removeprefix(f"{path}: ")

    assert error(R=R) == "has R, one must be called P, T, transitions"
    assert error(P=P, T=P) == "has P, T, one must be called P, T, transitions"
    assert error(P=P[:, :, :1], order="sas") == "P has shape (2, 2, 1), must be (S, A, S) or (A, S, S)"
    assert error(P=P, R=R, reward=R, order="sas") == "has reward and R, one must be the reward"
    assert error(P=P * 0.98, R=R, order="sas").startswith("probabilities of (state 0, action 0) sum to 0.98")
    assert error(P=P, R=np.array([{}]), order="sas").startswith("is not a file of numpy arrays (")  # a pickle
    rd.save(rd.make("river_swim(horizon=3)"), path)
    with np.load(path) as file:
        arrays = dict(file)
    assert error(**{k: v for k, v in arrays.items() if k != "next"}) == "'next' is missing, must be there"
    assert "must be in 0..5" in error(**arrays | {"next": arrays["next"] + 9})
    path.write_bytes(b"PK nonsense")
    with pytest.raises(rd.Error, match="is not a file of numpy arrays"):
        rd.load(path)
    np.savez_compressed(path, P=np.zeros((3000, 2, 3000)))
    with pytest.raises(rd.Error, match="unpacks to .* bytes, must be at most"):
        rd.load(path)
    with pytest.raises(rd.Error, match="No such file or directory"):
        rd.load(tmp_path / "none.npz")


def test_rows_of_states_with_different_numbers_of_actions():
    import scipy.sparse

    rows = scipy.sparse.csr_matrix([[0.5, 0.5, 0], [0, 1, 0], [1, 0, 0], [0, 0.5, 0.5]])
    problem = rd.Problem(rows, reward=[1.0, 2.0, 3.0, 4.0], rows_per_state=[0, 3, 4, 4], horizon=3,
                         signals={"back": lambda s, a, t, r: r == 3 and t == 0})  # fmt: skip
    assert problem.states == 3 and problem.rows == 4
    assert problem.action.tolist() == [0, 1, 2, 0]
    assert problem.reward.tolist() == [1, 2, 3, 4]
    assert problem.outcome_signals["back"].tolist() == [0, 0, 0, 1, 0, 0]
    listed = rd.Problem([(0, 0, 0, 0.5), (0, 0, 1, 0.5), (0, 1, 1, 1), (0, 2, 0, 1), (1, 0, 1, 0.5), (1, 0, 2, 0.5)],
                        reward=[[1, 2, 3], [4, 0, 0], [0, 0, 0]], horizon=3)  # fmt: skip
    assert rd.solve(problem, "robust").reward.worst == rd.solve(listed, "robust").reward.worst
    for wrong, text in (([0, 3, 4], "has 3 entries, must have 4"), ([0, 4, 3, 4], "never decrease"),
                        ([0.0, 1, 2, 4], "must be a list of whole numbers")):  # fmt: skip
        with pytest.raises(rd.Error, match=text):
            rd.Problem(rows, 0.0, rows_per_state=wrong, horizon=1)
    with pytest.raises(rd.Error, match="must be with a sparse matrix"):
        rd.Problem(rows.toarray(), 0.0, rows_per_state=[0, 3, 4, 4], horizon=1)


def test_constraints_are_judged_together():
    # Each action is good for one of two utilities: either can reach 4, both together only 2 each.
    both = rd.Problem(np.ones((1, 2, 1)), 0.0, signals={"x": [[1.0, 0.0]], "y": [[0.0, 1.0]]}, order="sas", horizon=4,
                      constraints=[rd.at_least("x", 1), rd.at_least("y", 3)])  # fmt: skip
    assert rd.achievable_range(both).best == 4
    assert rd.achievable_range(both, together=True).best == pytest.approx(1, abs=1e-3)
    with pytest.raises(rd.Error, match="no policy keeps those"):
        rd.achievable_range(both.replace(constraints=[rd.at_least("x", 1), rd.at_least("y", 5)]), together=True)


def test_signals_of_an_environment_see_the_reward_and_states_have_labels():
    gymnasium = pytest.importorskip("gymnasium")
    cliff = rd.from_gymnasium(gymnasium.make("CliffWalking-v1"), signals={"fall": lambda s, a, t, r: r == -100}, horizon=30,
                              labels={"top": lambda state: state < 12, "start": {36}})  # fmt: skip
    assert cliff.labels["top"].tolist() == list(range(12)) and cliff.labels["start"].tolist() == [36]
    falls = cliff.signals["fall"][np.repeat(np.arange(cliff.rows), np.diff(cliff.row_outcomes))] + cliff.outcome_signals["fall"]
    rewards = cliff.reward[np.repeat(np.arange(cliff.rows), np.diff(cliff.row_outcomes))] + cliff.outcome_reward
    assert falls.sum() > 0 and np.array_equal(falls == 1, rewards == -100)
