"""Estimates and sample sizes from Python."""

import random

import numpy as np
import pytest
import redoubt as rd

RIVER = rd.make("river_swim(horizon=5,start=2)", uncertainty=rd.KL(0.05))


def swim(query):
    dice = random.Random(query.seed)
    following = min(query.state + 1, 2) if dice.random() < 0.25 + 0.5 * query.action else 0
    return following, float(query.state), {"cost": 0.1 * query.action}


def test_a_problem_can_be_sampled():
    found = rd.estimate(RIVER, samples=20_000, seed=3, threads=2)
    assert isinstance(found, rd.Problem)
    assert found.queries == 20_000 * 12 and (found.visits == 20_000).all()
    np.testing.assert_allclose(found.probability, RIVER.probability, atol=0.02)
    assert found.constraints == RIVER.constraints and found.uncertainty == RIVER.uncertainty
    assert found == rd.estimate(RIVER, samples=20_000, seed=3, threads=1)
    assert rd.solve(found, "rcvi").reward.worst == pytest.approx(rd.solve(RIVER, "rcvi").reward.worst, abs=0.1)


def test_a_function_can_be_sampled(tmp_path):
    ask = dict(samples=50, states=3, actions=2, signals=["cost"], horizon=4, constraints=[rd.at_most("cost", 0.2)])
    found = rd.estimate(swim, store=tmp_path / "kept", **ask)
    assert found.signals["cost"].tolist() == [0, 0.1] * 3
    assert found.reward.tolist() == [0, 0, 1, 1, 2, 2]
    again = rd.estimate(swim, store=tmp_path / "kept", **ask)
    assert again == found and again.queries == 0 and again.reused == 300
    more = rd.estimate(swim, store=tmp_path / "kept", **{**ask, "samples": 60})
    assert more.queries == 60
    assert rd.estimate(lambda query: query.state, 5, states=2, actions=1, horizon=1).next.tolist() == [0, 1]


def test_a_function_of_many_queries_gives_the_same_problem():
    sizes = []

    def swims(queries):
        sizes.append(len(queries))
        dice = np.array([random.Random(seed).random() for seed in queries.seed.tolist()])
        following = np.where(dice < 0.25 + 0.5 * queries.action, np.minimum(queries.state + 1, 2), 0)
        return following, queries.state, {"cost": 0.1 * queries.action}

    ask = dict(samples=50, states=3, actions=2, signals=["cost"], horizon=4)
    assert rd.estimate(swims, batch=64, **ask) == rd.estimate(swim, **ask)
    assert max(sizes) == 64 and sum(sizes) == 300
    with pytest.raises(rd.Error, match=r"an answer of shape \(1,\) to 8 queries"):
        rd.estimate(lambda queries: (np.zeros(1, int), np.zeros(1)), batch=8, states=4, actions=1, horizon=1)


def test_errors_of_a_function_reach_the_caller(tmp_path):
    def fails(query):
        if query.draw == 7:
            raise RuntimeError("the simulator is on fire")
        return 0

    with pytest.raises(RuntimeError, match="on fire") as caught:
        rd.estimate(fails, 10, states=1, actions=1, horizon=1, store=tmp_path / "kept")
    assert caught.value.__notes__ == ["in the simulator, for state 0, action 0, stage 0, draw 7"]
    assert rd.estimate(lambda query: 0, 10, states=1, actions=1, horizon=1, store=tmp_path / "kept").reused == 7
    with pytest.raises(rd.Error, match="next = 5, must be in 0..1"):
        rd.estimate(lambda query: 5, 10, states=2, actions=1, horizon=1)
    with pytest.raises(rd.Error, match="signals \\[\\] of an answer, must be \\['cost'\\]"):
        rd.estimate(lambda query: 0, 10, states=2, actions=1, signals=["cost"], horizon=1)
    with pytest.raises(rd.Error, match="must say how many states and actions"):
        rd.estimate(lambda query: 0, 10)


def test_radii_from_data(tmp_path):
    found = rd.estimate(RIVER, 1000, delta=0.05, uncertainty=rd.TV(0.0))
    assert len(found.uncertainty.radius) == 12
    log = tmp_path / "log.csv"
    log.write_text("state,action,next\n0,0,1\n1,0,1\n")
    assert rd.recorded(log, horizon=3, reward=None).visits.tolist() == [1, 1]
    with pytest.raises(rd.Error, match="no samples of 2 of 4 rows"):
        rd.recorded(log, horizon=3, reward=None, actions=2)
    whole = rd.recorded(log, horizon=3, reward=None, actions=2, unvisited="simplex", uncertainty=rd.KL(0.1))
    assert whole.unvisited == [1, 3]


def test_sample_sizes():
    size = rd.samples_needed(RIVER, epsilon=0.1, delta=0.05)
    assert size.epsilon <= 0.1 and size.total == 12 * size.per_row
    assert rd.samples_buy(RIVER, size.per_row, delta=0.05).epsilon == size.epsilon
    assert size.lemma_total > size.total
