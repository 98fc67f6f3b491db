"""Models that are code: explored, numbered and named, against the same models written as tables."""

import dataclasses
import sys

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


class Network:
    """Queues that one server serves in turn, and it may fail: (1 + size) ** queues states."""

    def __init__(self, queues, size):
        self.queues, self.size = queues, size

    def initial(self):
        return (0,) * self.queues

    def actions(self, state):
        return [queue for queue in range(self.queues) if state[queue]] or ["wait"]

    def step(self, state, action):
        served = [(1.0, state)] if action == "wait" else [(0.5, state), (0.5, _changed(state, action, -1))]
        for p, after in served:
            yield 0.7 * p, after, {"reward": -float(sum(state)), "lost": 0.0}
            for queue in range(self.queues):
                full = after[queue] == self.size
                arrived = after if full else _changed(after, queue, 1)
                yield 0.3 / self.queues * p, arrived, {"reward": -float(sum(state)), "lost": float(full)}

    def labels(self, state):
        return {"long"} if max(state) >= 4 else set()


def _changed(state, queue, by):
    return (*state[:queue], state[queue] + by, *state[queue + 1 :])


TERMS = [
    {"discount": 0.9},
    {"discount": 0.9, "uncertainty": rd.KL(0.01)},
    {"horizon": 12, "uncertainty": rd.TV(0.02, reach="support"), "constraints": [rd.at_most("lost", 0.1)]},
    {"horizon": 12, "uncertainty": rd.KL(0.01), "constraints": [rd.at_most(rd.reach("long"), 0.3)]},
    {"horizon": 12, "uncertainty": rd.Chi2(0.01), "reward": rd.avoid("long")},
    {"horizon": 12, "minimise": "lost"},
]


@pytest.mark.parametrize("place", range(len(TERMS)))
def test_a_part_brackets_the_whole(place):
    terms, model = TERMS[place], Network(3, 4)
    whole = rd.solve(rd.explore(model, **terms), tolerance=1e-4)
    ranges = {"reward": (-12, 0), "lost": (0, 1)}
    for most in (10, 1000):
        part = rd.solve_partially(model, ranges=ranges, most_states=most, tolerance=1e-6, **terms)
        slack = 1e-6 * max(1, abs(whole.reward.worst))
        assert part.bound >= whole.reward.worst - slack
        assert part.worst is None or part.worst <= whole.reward.bound + slack
        assert part.expanded <= most
        if part.worst is not None:
            assert rd.evaluate(part.problem, part.solution).reward.worst == pytest.approx(part.worst, rel=1e-11)
    assert part.status == "certified" and part.expanded <= part.met <= 125
    assert part.worst == pytest.approx(whole.reward.worst, abs=2e-3)


def test_a_hundredth_of_ten_million_states():
    model = Network(3, 214)  # 215 ** 3 = 9,938,375 states
    part = rd.solve_partially(model, ranges={"reward": (-642, 0)}, discount=0.9, uncertainty=rd.KL(0.01), tolerance=0.01)
    assert part.status == "certified" and part.gap <= 0.01 * abs(part.bound)
    assert part.expanded <= 0.05 * 215**3 and part.expanded < 2000
    assert part.states[0] == (0, 0, 0)


def test_an_infeasible_part_is_an_infeasible_whole():
    part = rd.solve_partially(Network(3, 214), ranges={"reward": (-642, 0)}, horizon=30, most_states=3000,
                              constraints=[rd.at_least(rd.reach("long"), 0.999)])  # fmt: skip
    assert part.status == "infeasible" and part.worst is None and part.gap == np.inf


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"ranges": {}}, r"ranges has nothing for 'reward', must say what one step earns"),
        ({"ranges": {"reward": (-1, 0)}}, r"reward = -2.0 of \(state .*, must be in \(-1, 0\), as ranges says"),
        ({"uncertainty": rd.Tilt(1.0)}, r"uncertainty Tilt\(1.0\), must be TV, Chi2, KL or Nominal"),
        ({"constraints": [rd.at_most(rd.steps_to("long"), 3)]}, r"'steps to long' has no trivial bounds"),
        ({"constraints": [rd.at_least("reward", -3), rd.at_most("reward", 3)]}, r"'reward' is to be large .* small"),
        ({"constraints": [rd.at_least(rd.reach("long"), 0), rd.at_most(rd.reach("long"), 1)]}, r"label 'long' is wanted"),
    ],
)
def test_what_cannot_be_bounded_is_an_error(change, error):
    with pytest.raises(rd.Error, match=error):
        rd.solve_partially(Network(2, 5), **({"ranges": {"reward": (-10, 0)}, "horizon": 8} | change))


PROGRAM = """
import json, sys
print(json.dumps({"initial": [0, "idle"]}), flush=True)
next(sys.stdin)
for line in sys.stdin:
    asked = json.loads(line)
    waiting = asked["expand"][0]
    actions = {}
    for action in ["wait", "serve"] if waiting else ["wait"]:
        outcomes = actions[action] = []
        for arrived, p in ((1, 0.4), (0, 0.6)):
            for served, q in ((1, 0.7), (0, 0.3)) if action == "serve" else ((0, 1.0),):
                after = waiting + arrived - served
                lost, after = max(after - 40, 0), min(after, 40)
                state = [after, "busy" if after else "idle"]
                outcomes.append([p * q, state, {"reward": float(served), "lost": lost}])
    print(json.dumps({"id": asked["id"], "actions": actions, "labels": ["full"] if waiting == 40 else []}), flush=True)
"""


def program(tmp_path, text):
    (tmp_path / "model.py").write_text(text)
    return f"'{sys.executable}' '{tmp_path / 'model.py'}'"


def test_a_program_is_asked_in_batches_and_gives_the_same_bits(tmp_path):
    same = rd.explore(Queue(40), horizon=3)
    for batch in (1, 7, 256):
        assert rd.explore(program=program(tmp_path, PROGRAM), batch=batch, horizon=3) == same


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "ended, must answer its greeting"),
        ("print(1)", "wrote 1, must be a line of JSON, an object"),
        ("print('{}')", "must say where episodes begin: initial"),
        ("print('{\"initial\": 0}')", "ended, must answer state 0"),
        ("print('{\"initial\": 0}'); print('{\"id\": 5}')", "must have the id of a question without an answer"),
        ("print('{\"initial\": 0}'); print('{\"id\": 0, \"error\": \"tired\"}')", "says of state 0: tired"),
        ("print('{\"initial\": 0}'); print('{\"id\": 0}')", "to state 0, must have actions, an object"),
        ("import time; time.sleep(60)", "gave no answer within 0.5 s, must answer its greeting"),
        ("print('{\"initial\": {}}')", "must be a number, a text, or a list of them"),
    ],
)
def test_a_program_that_breaks_the_rules_is_an_error(text, error, tmp_path):
    patience = 0.5 if "sleep" in text else 60
    with pytest.raises(rd.Error, match=error):
        rd.explore(program=program(tmp_path, text), horizon=3, timeout=patience)
