"""Problem: every form of input gives the same problem, arrays come back without copies, errors name the rule."""

import pickle
import tracemalloc

import numpy as np
import pytest
import redoubt as rd
import scipy.sparse as sp

S, A, H = 4, 3, 5


@pytest.fixture
def arrays():
    random = np.random.default_rng(7)
    P = random.random((S, A, S)) * (random.random((S, A, S)) < 0.6)
    P[..., 0] += 0.1
    P /= P.sum(axis=-1, keepdims=True)
    return P, random.random((S, A)), random.random((S, A))


TERMS = dict(horizon=H, discount=0.9, start=1, constraints=[rd.at_most("cost", 2.0)], uncertainty=rd.KL(0.1))


@pytest.fixture
def problem(arrays):
    P, reward, cost = arrays
    return rd.Problem(P, reward=reward, signals={"cost": cost}, **TERMS)


def sparse(P):
    return sp.csr_matrix(P.reshape(S * A, S))


def listed(P):
    return [(s, a, n, P[s, a, n]) for s in range(S) for a in reversed(range(A)) for n in range(S)]


def nested(P):
    return {s: {a: {n: P[s, a, n] for n in range(S)} for a in range(A)} for s in range(S)}


@pytest.mark.parametrize(
    "form",
    [
        lambda P: {"P": P, "order": "sas"},
        lambda P: {"P": P.tolist()},
        lambda P: {"P": np.moveaxis(P, 1, 0)},
        lambda P: {"P": np.moveaxis(P, 1, 0), "order": "ass"},
        lambda P: {"P": np.asfortranarray(P)},
        lambda P: {"P": sparse(P)},
        lambda P: {"P": sp.csr_array(sparse(P))},
        lambda P: {"P": sparse(P).tocoo()},
        lambda P: {"P": sp.csr_matrix(np.moveaxis(P, 1, 0).reshape(A * S, S)), "order": "ass"},
        lambda P: {"P": [sp.csr_matrix(P[:, a]) for a in range(A)], "order": "ass"},
        lambda P: {"P": listed(P)},
        lambda P: {"P": nested(P)},
        lambda P: {"P": {s: [[(p, n) for n, p in enumerate(P[s, a])] for a in range(A)] for s in range(S)}},
    ],
)
def test_every_form_of_transitions_is_the_same_problem(arrays, problem, form):
    P, reward, cost = arrays
    assert rd.Problem(**form(P), reward=reward, signals={"cost": cost}, **TERMS) == problem


def test_sparse_indices_of_any_width(arrays, problem):
    P, reward, cost = arrays
    wide = sp.csr_array(sparse(P))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert rd.Problem(wide, reward=reward, signals={"cost": cost}, **TERMS) == problem
    wide.indices[2] += 2**32
    with pytest.raises(rd.Error, match=r"next states of P has 0\.\.42949672\d\d, must fit in 32 bits"):
        rd.Problem(wide, horizon=H)


def test_intervals_replace_another_set(arrays):
    P, reward, cost = arrays
    low, high = P / 2, np.minimum(1, P + 0.1)
    terms = dict(horizon=2, signals={"cost": cost}, states=["a", "b", "c", "d"])
    problem = rd.Problem(P, reward=reward, uncertainty=rd.KL(0.1), **terms)
    for bounds in [(low, high), (sparse(low), sparse(high)), (0.0, 1.0)]:
        expected = rd.Problem(P, reward=reward, uncertainty=rd.Interval(*bounds), **terms)
        assert problem.replace(uncertainty=rd.Interval(*bounds)) == expected
        again = expected.replace(uncertainty=rd.KL(0.1)).replace(uncertainty=rd.Interval())
        assert again == expected  # the bounds stay with the model
    swapped = rd.Interval(np.moveaxis(low, 1, 0), np.moveaxis(high, 1, 0))
    assert problem.replace(uncertainty=swapped, order="ass") == problem.replace(uncertainty=rd.Interval(low, high))
    narrow = problem.replace(uncertainty=rd.Interval(low, high)).replace(uncertainty=rd.Interval(P, P))
    assert narrow.outcomes == problem.outcomes  # what only nature could reach is gone again
    staged = rd.Problem(np.stack([P] * 2), reward=reward, **terms)
    wider = staged.replace(uncertainty=rd.Interval(low, high))
    assert wider == rd.Problem(np.stack([P] * 2), reward=reward, uncertainty=rd.Interval(low, high), **terms)
    with pytest.raises(rd.Error, match="bounds for 2 stages, must be for 1"):
        problem.replace(uncertainty=rd.Interval(np.stack([low] * 2), np.stack([high] * 2)))
    depends = rd.Problem(P, reward=np.ones((S, A, S)) * np.arange(S), horizon=2)
    assert depends.replace(uncertainty=rd.Interval(0.0, 1.0)).uncertainty == rd.Interval()
    with pytest.raises(rd.Error, match=r"Interval allows \d+ outcomes that .* 'reward' depends on the outcome"):
        depends.replace(uncertainty=rd.Interval(low, high))


def test_intervals_of_listed_transitions(arrays):
    P, reward, _ = arrays
    low, high = P / 2, np.minimum(1, P + 0.1)
    expected = rd.Problem(P, reward=reward, uncertainty=rd.Interval(low, high), horizon=2)
    some = [entry for entry in listed(P) if entry[3] > 0]
    assert rd.Problem(some, reward=reward, uncertainty=rd.Interval(low, high), order="sas", horizon=2) == expected


def test_stage_dependent_forms_agree(arrays):
    P, reward, cost = arrays
    staged = np.stack([P] * H)
    later = np.arange(H)[:, None, None] * cost
    problem = rd.Problem(staged, reward=reward, signals={"cost": later}, **TERMS)
    assert problem.stages == H and problem.rows == H * S * A
    assert rd.Problem(P, reward=reward, signals={"cost": later}, **TERMS) == problem
    assert rd.Problem([sparse(P)] * H, reward=reward, signals={"cost": later}, **TERMS) == problem
    assert rd.Problem(np.moveaxis(staged, 2, 1), reward=reward, signals={"cost": later}, **TERMS) == problem
    assert rd.Problem(P, reward=reward, signals={"cost": later[..., None]}, **TERMS) == problem
    np.testing.assert_array_equal(problem.signals["cost"], later.ravel())


def test_rewards_of_every_shape(arrays):
    P, _, _ = arrays
    by_state = np.arange(S, dtype=float)
    wide = np.repeat(by_state, A)
    np.testing.assert_array_equal(rd.Problem(P, reward=by_state, horizon=1).reward, wide)
    np.testing.assert_array_equal(rd.Problem(P, reward=2.0, horizon=1).reward, np.full(S * A, 2.0))
    np.testing.assert_array_equal(rd.Problem(P, reward=None, horizon=1).reward, np.zeros(S * A))
    over_outcomes = np.random.default_rng(1).random((S, A, S))
    expected = rd.Problem(P, reward=over_outcomes, horizon=1)
    np.testing.assert_array_equal(expected.outcome_reward, over_outcomes[P > 0])
    assert not expected.reward.any()
    swapped = np.moveaxis(over_outcomes, 1, 0)
    sparse_reward = sp.csr_matrix(over_outcomes.reshape(S * A, S))
    assert rd.Problem(np.moveaxis(P, 1, 0), reward=swapped, horizon=1) == expected
    assert rd.Problem(sparse(P), reward=sparse_reward, horizon=1) == expected
    assert rd.Problem(P, reward=over_outcomes[None], horizon=1) == expected
    assert rd.Problem(P, reward=lambda s, a, n: over_outcomes[s, a, n], horizon=1) == expected
    transitions = [
        {"state": s, "action": a, "next": n, "p": P[s, a, n], "reward": over_outcomes[s, a, n]}
        for s in range(S) for a in range(A) for n in range(S)
    ]  # fmt: skip
    assert rd.Problem(transitions, horizon=1) == expected


def test_a_set_of_states_counts_arrivals(arrays):
    P, _, _ = arrays
    problem = rd.Problem(P, reward=None, signals={"hazard": {1, 3}}, horizon=1)
    np.testing.assert_array_equal(problem.outcome_signals["hazard"], np.isin(problem.next, [1, 3]).astype(float))


def test_ragged_actions_names_and_terminal_states():
    transitions = [
        ("dry", "wait", "dry", 0.5),
        ("dry", "wait", "wet", 0.5),
        ("dry", "leave", "gone", 1.0),
        ("wet", "leave", "gone", 1.0),
    ]
    problem = rd.Problem(
        transitions, reward=[[0.0, 1.0], [7.0, 2.0], [9.0, 9.0]], horizon=3, start="dry",
        states=["dry", "wet", "gone"], actions=["wait", "leave"],
    )  # fmt: skip
    assert (problem.states, problem.actions, problem.rows) == (3, 2, 3)
    np.testing.assert_array_equal(problem.state_rows, [0, 2, 3, 3])
    np.testing.assert_array_equal(problem.action, [0, 1, 1])
    np.testing.assert_array_equal(problem.reward, [0.0, 1.0, 2.0])
    assert problem.state_names == ["dry", "wet", "gone"]
    assert rd.solve(problem, "nominal").reward.worst == 1.75


def test_interval_bounds_in_every_form(arrays):
    P, reward, _ = arrays
    low, high = P / 2, np.minimum(1, P + 0.1)  # nature may also reach what P does not
    problem = rd.Problem(P, reward=reward, uncertainty=rd.Interval(low, high), horizon=2)
    assert problem.outcomes == S * A * S
    np.testing.assert_array_equal(problem.upper, high.ravel())
    assert rd.Problem(sparse(P), reward=reward, horizon=2,
                      uncertainty=rd.Interval(sparse(low), sparse(high))) == problem  # fmt: skip
    assert rd.Problem(np.moveaxis(P, 1, 0), reward=reward, horizon=2,
                      uncertainty=rd.Interval(np.moveaxis(low, 1, 0), np.moveaxis(high, 1, 0))) == problem  # fmt: skip
    numbers = rd.Problem(P, reward=reward, uncertainty=rd.Interval(0.0, 1.0), horizon=2)
    assert numbers == rd.Problem(sparse(P), reward=reward, uncertainty=rd.Interval(0.0, 1.0), horizon=2)
    assert numbers.outcomes == np.count_nonzero(P)


def test_start_in_every_form(problem):
    distribution = np.array([0.25, 0.0, 0.75, 0.0])
    mixed = problem.replace(start=distribution)
    assert mixed == problem.replace(start={0: 0.25, 2: 0.75})
    np.testing.assert_array_equal(mixed.start, distribution)
    assert problem.replace(start=np.int64(2)) == problem.replace(start=2)


def test_radius_for_each_row(arrays):
    P, reward, _ = arrays
    radius = np.linspace(0, 0.2, S * A).reshape(S, A)
    problem = rd.Problem(P, reward=reward, uncertainty=rd.KL(radius), horizon=2)
    np.testing.assert_array_equal(problem.uncertainty.radius, radius.ravel())
    with pytest.raises(rd.Error, match="3 radii for 12 rows"):
        problem.replace(uncertainty=rd.TV([0.1, 0.2, 0.3]))


def test_arrays_are_views_that_outlive_the_problem(problem):
    probability = problem.probability
    assert np.shares_memory(probability, problem.probability)
    assert np.shares_memory(problem.transition_matrix().data, probability)
    with pytest.raises(ValueError, match="read-only"):
        probability[0] = 1.0
    copy = probability.copy()
    del problem
    np.testing.assert_array_equal(probability, copy)


def test_replace_make_save_load_and_pickle(problem, tmp_path):
    assert problem.replace(horizon=3).horizon == 3
    assert problem.replace(horizon=None).horizon is None
    assert problem.replace() == problem
    path = tmp_path / "problem.json"
    rd.save(problem, path)
    assert rd.load(path) == problem
    assert rd.load(str(path), horizon=2) == problem.replace(horizon=2)
    rd.save(problem, tmp_path / "plain.umb", uncompressed=True)
    assert rd.load(tmp_path / "plain.umb") == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert rd.make("river_swim(horizon=10)", uncertainty=rd.KL(0.3)).uncertainty == rd.KL(0.3)
    assert "river_swim" in [environment.name for environment in rd.environments()]


def test_defaults_are_those_of_the_library(arrays):
    P, reward, _ = arrays
    terms = rd._core.Terms()
    problem = rd.Problem(P, reward=reward, horizon=1)
    assert problem.discount == terms.discount
    assert problem.terms.start == terms.start
    assert problem.uncertainty == terms.uncertainty


def test_shown_as_text_and_table(problem):
    assert "cost <= 2" in repr(problem)
    assert "<table>" in problem._repr_html_()
    chance = problem.replace(constraints=[rd.chance("cost", at_most=3, probability=0.9)])
    assert "P(cost <= 3) >= 0.9" in repr(chance)
    assert "P(cost &lt;= 3)" in chance._repr_html_()


BAD = {
    "shape of P": (lambda P: rd.Problem(P[0]), r"P has shape \(3, 4\), must be"),
    "axes of P": (lambda P: rd.Problem(P[:, :, :2]), r"P has shape \(4, 3, 2\)"),
    "ambiguous": (lambda P: rd.Problem(np.ones((2, 2, 2)) / 2, horizon=1), "say order='sas' or order='ass'"),
    "order": (lambda P: rd.Problem(P, order="aas"), "order = 'aas', must be"),
    "sum": (lambda P: rd.Problem(P * 0.9, horizon=1), r"\(state 0, action 0\) sum to 0.8999"),
    "nan": (lambda P: rd.Problem(np.where(P > 0.5, np.nan, P), horizon=1), "probability nan"),
    "empty row": (lambda P: rd.Problem(P * (np.arange(A) < 2)[:, None], horizon=1), r"\(state 0, action 2\) has no"),
    "reward shape": (lambda P: rd.Problem(P, reward=np.ones((2, 2)), horizon=1), r"reward has shape \(2, 2\), must be"),
    "signal shape": (lambda P: rd.Problem(P, signals={"c": np.ones(9)}, horizon=1), r"signal 'c' has shape \(9,\)"),
    "signal name": (lambda P: rd.Problem(P, signals={"reward": 1.0}, horizon=1), "signal 'reward'"),
    "stage or outcome": (
        lambda P: rd.Problem(np.ones((2, 2, 2)) / 2, np.ones((2, 2, 2)), order="sas", horizon=2),
        r"may be \(H, S, A\) or \(S, A, S\)",
    ),
    "ragged list": (lambda P: rd.Problem([[[1.0], [0.5, 0.5]]]), "P is not an array"),
    "transition": (lambda P: rd.Problem([(0, 0, 1.0)]), "transition 0 is"),
    "transition key": (lambda P: rd.Problem([{"state": 0, "act": 1}]), "transition 0 has the keys"),
    "negative state": (lambda P: rd.Problem([(-1, 0, 0, 1.0)], horizon=1), r"states -1\.\.-1"),
    "fractional state": (lambda P: rd.Problem([(0.5, 0, 0, 1.0)], horizon=1), "whole numbers"),
    "huge state": (lambda P: rd.Problem([(0, 0, 2**40, 1.0)], horizon=1), "32 bits"),
    "infinite": (lambda P: rd.Problem(P, 1.0), "for ever, where 'reward' grows without end"),
    "stages": (lambda P: rd.Problem(np.stack([P] * 3), 0.0, horizon=2), "rows for 3 stages"),
    "start": (lambda P: rd.Problem(P, 0.0, horizon=1, start=9), "start state 9"),
    "start shape": (lambda P: rd.Problem(P, 0.0, horizon=1, start=[0.5, 0.5]), r"start has shape \(2,\)"),
    "start name": (lambda P: rd.Problem(P, 0.0, horizon=1, start="x"), "no state of that name"),
    "radius": (lambda P: rd.Problem(P, 0.0, horizon=1, uncertainty=rd.KL(-1)), "radius = -1"),
    "reach": (lambda P: rd.TV(0.1, reach="far"), "reach = 'far', must be"),
    "half an interval": (lambda P: rd.Interval(0.0), "both or neither"),
    "no intervals": (lambda P: rd.Problem(P, 0.0, horizon=1, uncertainty=rd.Interval()), "model without intervals"),
    "constraint": (lambda P: rd.Problem(P, 0.0, horizon=1, constraints=[rd.at_most("x", 1)]), "no signal of that name"),
    "not a constraint": (lambda P: rd.Problem(P, 0.0, horizon=1, constraints=["cost"]), "constraints = "),
    "not a set": (
        lambda P: rd.Problem(P, 0.0, horizon=1, uncertainty="kl"),
        "uncertainty = 'kl' of type str, must be one of TV, Chi2, KL, Tilt, Interval, Composed and Nominal",
    ),
    "chance": (lambda P: rd.chance("x", probability=0.5), "one of at_least and at_most"),
    "sparse rows": (lambda P: rd.Problem(sp.csr_matrix(np.ones((5, 4)))), "a multiple of 4 rows"),
    "list of square matrices": (lambda P: rd.Problem([sp.eye(3, format="csr")] * 2), "order='ass' when each"),
    "term": (lambda P: rd.make("river_swim", radius=2), "unknown option 'radius' of make, must be one of constraints"),
    "environment": (lambda P: rd.make("river_swam"), "river_swam"),
    "file": (lambda P: rd.load("no/such/file.json"), "no/such/file.json"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_thing_its_value_and_the_rule(arrays, case):
    build, message = BAD[case]
    with pytest.raises(rd.Error, match=message):
        build(arrays[0])
    assert issubclass(rd.Error, ValueError)


def test_sparse_input_is_never_made_dense():
    states = 20_000  # dense rows would take 3.2 GB
    ring = sp.csr_matrix((np.ones(states), (np.arange(states), (np.arange(states) + 1) % states)))
    tracemalloc.start()
    problem = rd.Problem(ring, reward=ring, signals={"steps": ring * 2}, horizon=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.outcomes == states
    assert peak < 100 * states
