"""UMB against the independent package umbi: it reads what we write, and we read what it writes."""

import json
import random
import sys
from fractions import Fraction

import pytest

pytest.importorskip("umbi", reason="scripts/requirements.txt installs it")
import umbi.ats
import umbi.umb
from umbi.ats.explicit_ats import ExplicitAts, TimeType
from umbi.datatypes import Interval

from program import ROOT, refused, run

sys.path.insert(0, str(ROOT / "tests" / "data"))
from umbi_walk import walk  # noqa: E402


def convert(source, target, *flags):
    result = run("convert", source, target, *flags)
    assert result.returncode == 0, result.stderr
    return target


def as_json(source, tmp_path, *flags):
    return json.loads(convert(source, tmp_path / "converted.json", *flags).read_text())


def transitions(problem):
    """(state, action, next) -> [p, reward of the outcome], of a problem file."""
    out = {}
    for t in problem["transitions"]:
        key, value = ((t["state"], t["action"], t["next"]), [t["p"], t.get("reward", 0)]) if isinstance(
            t, dict) else (tuple(t[:3]), [t[3], 0])
        assert key not in out
        out[key] = value
    return out


def random_ats(seed, interval=False):
    draw = random.Random(seed)
    ats = ExplicitAts()
    ats.time = TimeType.DISCRETE
    ats.num_players = 1
    ats.num_initial_states = 1
    ats.num_choice_actions = 3
    states = draw.randint(1, 6)
    for state in range(states):
        ats.add_state()
    for state in range(states):
        for action in draw.sample(range(3), draw.randint(1, 3)):
            choice = ats.add_state_choice(state=state)
            choice.action = action
            targets = draw.sample(range(states), draw.randint(1, states))
            parts = [draw.randint(1, 9) for _ in targets]
            for target, part in zip(targets, parts):
                p = part / sum(parts)
                choice.add_branch(target=target, prob=Interval(p / 2, (1 + p) / 2) if interval else p)
    ats.set_initial_states([draw.randrange(states)])
    reward = ats.add_reward_annotation(name="reward")
    reward.set_choice_values([draw.random() for _ in ats.choices])
    reward.set_branch_values([draw.random() for _ in ats.branches])
    cost = ats.add_reward_annotation(name="id-of-cost", alias="cost, in €")
    cost.set_state_values([float(draw.randint(1, 5)) for _ in ats.states])
    ap = ats.add_ap_annotation(name="odd", alias="an odd state")
    ap.set_state_values([state % 2 == 1 for state in ats.states])
    ats.validate()
    return ats


@pytest.mark.parametrize("seed", range(20))
def test_we_read_what_umbi_writes(seed, tmp_path):
    ats = random_ats(seed)
    umbi.ats.write(ats, tmp_path / "m.umb")
    problem = as_json(tmp_path / "m.umb", tmp_path, "--horizon", 5)

    rewards = ats.get_reward_annotation("reward")
    expected, index = {}, 0
    for choice in ats.choices:
        assert problem["reward"][choice.state][choice.action] == rewards.choice_values[choice.index]
        cost = ats.get_reward_annotation("id-of-cost").state_values[choice.state]
        assert problem["signals"]["cost, in €"][choice.state][choice.action] == cost
        for branch in choice.branches:
            expected[choice.state, choice.action, branch.target] = [branch.prob, rewards.branch_values[index]]
            index += 1
    found = transitions(problem)
    assert found.keys() == expected.keys()
    for key, (p, reward) in expected.items():
        assert found[key][0] == pytest.approx(p, rel=1e-15)
        assert found[key][1] == reward
    assert [problem["start"]] == ats.initial_states
    assert problem["labels"] == {"an odd state": [state for state in ats.states if state % 2]}


@pytest.mark.parametrize("seed", range(5))
def test_intervals_of_umbi_become_the_set_interval(seed, tmp_path):
    ats = random_ats(seed, interval=True)
    umbi.ats.write(ats, tmp_path / "m.umb")
    problem = as_json(tmp_path / "m.umb", tmp_path, "--horizon", 5)
    assert problem["uncertainty"] == {"set": "interval"}
    bounds = {(t["state"], t["action"], t["next"]): (t["lower"], t["upper"]) for t in problem["transitions"]}
    for choice in ats.choices:
        for branch in choice.branches:
            p = branch.prob
            assert bounds[choice.state, choice.action, branch.target] == (p.left, p.right)


def test_exact_fractions_of_umbi(tmp_path):
    umbi.ats.write(walk(), tmp_path / "walk.umb")
    found = transitions(as_json(tmp_path / "walk.umb", tmp_path, "--horizon", 5))
    assert found[1, "right", 2] == [float(Fraction(9, 10)), 0.5]


ENVIRONMENTS = ["river_swim(horizon=10,start=3)", "garnet(states=7,actions=3,seed=1)", "inventory", "grid"]


@pytest.mark.parametrize("flags", [[], ["--uncompressed"]], ids=["packed", "plain"])
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_umbi_reads_what_we_write(environment, flags, tmp_path):
    assert run("make", environment, "-o", tmp_path / "p.json").returncode == 0
    convert(tmp_path / "p.json", tmp_path / "p.umb", *flags)
    magic = (tmp_path / "p.umb").read_bytes()[:2]
    assert (magic == b"\x1f\x8b") == (flags == [])  # gzip
    problem = json.loads((tmp_path / "p.json").read_text())
    umb = umbi.umb.read(tmp_path / "p.umb", strict=True)  # strict: no file that it does not know

    system = umb.index.transition_system
    assert system.num_states == (problem["states"] if isinstance(problem["states"], int) else len(problem["states"]))
    found, rewards = {}, umb.annotations["rewards"]
    for state in range(system.num_states):
        for choice in range(umb.state_to_choices[state], umb.state_to_choices[state + 1]):
            for branch in range(umb.choice_to_branches[choice], umb.choice_to_branches[choice + 1]):
                reward = rewards["reward"].get("branches", [0] * system.num_branches)[branch]
                key = (state, umb.choice_to_choice_action[choice], umb.branch_to_target[branch])
                found.setdefault(key, []).append([umb.branch_to_probability[branch], reward])
    assert sum(map(len, found.values())) == len(problem["transitions"])
    if isinstance(problem["states"], int) and isinstance(problem["actions"], int):
        for t in problem["transitions"]:
            key, p = (tuple(t[:3]), t[3]) if isinstance(t, list) else ((t["state"], t["action"], t["next"]), t["p"])
            assert any(entry[0] == p for entry in found[key])
    aliases = {a.alias for a in umb.index.annotations["rewards"].values()}
    assert aliases == {"reward", *problem["signals"]}
    umbi.ats.read(tmp_path / "p.umb")  # and its own validation holds


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_there_and_back_keeps_every_character(environment, tmp_path):
    run("make", environment, "-o", tmp_path / "p.json")
    names = ["p.json", "a.umb", "b.json", "c.umb", "d.json"]
    if environment != "inventory":  # its rewards depend on the outcome, and CSV has only their totals
        names[2] = "b.csv"
    for source, target in zip(names, names[1:]):
        convert(tmp_path / source, tmp_path / target)
    assert (tmp_path / "d.json").read_text() == (tmp_path / "p.json").read_text()


def test_other_kinds_of_model_are_refused(tmp_path):
    ats = random_ats(1)
    ats.num_players = 2
    ats.player_to_name = ["a", "b"]
    ats.state_to_player = [0] * ats.num_states
    umbi.ats.write(ats, tmp_path / "game.umb")
    assert refused("convert", tmp_path / "game.umb", tmp_path / "p.json", "--horizon", 5) == (
        f"{tmp_path}/game.umb: index.json: transition-system.#players = 2, must be a whole number in 0..1")


def test_only_umb_can_be_uncompressed(tmp_path):
    assert refused("make", "fork", "-o", tmp_path / "p.json", "--uncompressed") == (
        f"{tmp_path}/p.json: only a .umb file is packed, must be one to be written uncompressed")
    assert "--output" in refused("make", "fork", "--uncompressed")
