"""Models that are code: explored, numbered and named, against the same models written as tables."""

import dataclasses

import numpy as np
import pytest
import redoubt as rd


class Queue:
    """Waiting customers; serving costs and may fail, and beyond `size` customers are lost."""

    def __init__(self, size):
        self.size = size

    def initial(self):
        return (0, "idle")

    def actions(self, state):
        return ["wait", "serve"] if state[0] else ["wait"]

    def step(self, state, action):
        waiting, _ = state
        for arrived, p in ((1, 0.4), (0, 0.6)):
            for served, q in ((1, 0.7), (0, 0.3)) if action == "serve" else ((0, 1.0),):
                after = waiting + arrived - served
                lost = max(after - self.size, 0)
                after = min(after, self.size)
                yield p * q, (after, "busy" if after else "idle"), {"reward": float(served), "lost": lost}

    def labels(self, state):
        return {"full"} if state[0] == self.size else set()


def test_the_same_problem_as_a_table():
    size, model = 4, Queue(4)
    found = rd.explore(model, horizon=6, constraints=[rd.at_most("lost", 0.5)], uncertainty=rd.TV(0.1, reach="support"))
    assert found.states == size + 1 and found.action_names == ["wait", "serve"]
    assert found.state_names[0] == "(0, 'idle')"
    assert [found.state_names[s] for s in found.labels["full"]] == ["(4, 'busy')"]
    number = {(n, "busy" if n else "idle"): n for n in range(size + 1)}
    listed = []
    for state, s in number.items():
        for action in model.actions(state):
            for p, after, values in model.step(state, action):
                listed.append({"state": s, "action": 0 if action == "wait" else 1, "next": number[after], "p": p,
                               "reward": values["reward"], "signals": {"lost": values["lost"]}})  # fmt: skip
    table = rd.Problem(listed, horizon=6, constraints=found.constraints, uncertainty=found.uncertainty)
    assert rd.solve(found).reward.worst == pytest.approx(rd.solve(table).reward.worst, abs=1e-9)


def test_numbers_are_the_order_of_meeting():
    again = [rd.explore(Queue(50), horizon=3) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0].state_names[:3] == ["(0, 'idle')", "(1, 'busy')", "(2, 'busy')"]


@dataclasses.dataclass(frozen=True)
class Cell:
    x: int


@pytest.mark.parametrize("make", [int, str, Cell, lambda x: (x, (x,)), lambda x: frozenset([x])])
def test_states_are_any_hashable_values(make):
    cells = [make(x) for x in range(3)]
    problem = rd.explore(
        initial={cells[0]: 0.5, cells[1]: 0.5}, actions=lambda s: ["on"] if s != cells[2] else [],
        step=lambda s, a: [(1.0, cells[cells.index(s) + 1], 1.0)], labels=lambda s: ["end"] if s == cells[2] else [],
        horizon=5,
    )  # fmt: skip
    assert problem.states == 3 and problem.start.tolist() == [0.5, 0.5, 0]
    assert rd.solve(problem).reward.worst == pytest.approx(1.5)
    assert rd.solve(problem.replace(reward=rd.reach("end"))).reward.worst == pytest.approx(1)


def test_names_that_are_equal_as_text():
    problem = rd.explore(initial=1, actions=lambda s: [0] if s == 1 else [], step=lambda s, a: [(1, "1")], reward=None, horizon=1)
    assert problem.state_names == ["1", "'1'"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (dict(step=lambda s, a: [(0.5, s), (0.48, s)]), "probabilities of (state 0, action 'a') sum to 0.98, must sum to 1"),
        (dict(step=lambda s, a: []), "probabilities of (state 0, action 'a') sum to 0.0, must sum to 1"),
        (dict(step=lambda s, a: [(float("nan"), s)]), "probabilities of (state 0, action 'a') sum to nan, must sum to 1"),
        (dict(step=lambda s, a: [1 / 0]), "(state 0, action 'a') raised ZeroDivisionError: division by zero"),
        (dict(step=lambda s, a: [(1.0,)]), "(state 0, action 'a') gave (1.0,), must be (probability, next state) or with values"),
        (dict(step=lambda s, a: [("p", s)]), "(state 0, action 'a') gave ('p', 0), must be (probability, next state) or with values"),
        (dict(step=lambda s, a: [(1.0, [1])]), "state [1] of type list, must be hashable, such as a tuple"),
        (dict(step=lambda s, a: [(1.0, s, {"reward": "x"})]), "reward = 'x' of (state 0, action 'a'), must be a number"),
        (dict(actions=lambda s: {}[s]), "state 0 raised KeyError: 0"),
        (dict(step=lambda s, a: [(1.0, s + 1)], most_states=3), "more than 3 states can be reached, most_states must be larger"),
        (dict(step=None), "step = None, must be a function, or a method of the model"),
        (dict(initial=ValueError), "initial"),
    ],
)  # fmt: skip
def test_code_that_is_wrong(changes, says):
    given = dict(initial=0, actions=lambda s: ["a"], step=lambda s, a: [(1.0, s, 1.0)], horizon=2) | changes
    if says == "initial":
        del given["initial"]
        says = "initial is missing, must be a state, {state: probability}, or a function that returns one"
    with pytest.raises(rd.Error) as error:
        rd.explore(**given)
    assert str(error.value) == says


def test_large_models_stay_sparse():
    problem = rd.explore(
        initial=(0, 0), actions=lambda s: [0, 1],
        step=lambda s, a: [(0.5, ((s[0] + 1 + a) % 100, s[1]), 1.0), (0.5, (s[0], (s[1] + 1) % 100), 0.0)],
        horizon=2,
    )  # fmt: skip
    assert problem.states == 10_000 and problem.outcomes == 40_000
    assert np.isfinite(rd.solve(problem, method="robust").reward.worst)
