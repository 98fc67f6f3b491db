"""Files of other programs: what Storm writes is read as the same model, and Storm reads what is written here."""

import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
import redoubt as rd
from program import refused, run

stormpy = pytest.importorskip("stormpy", reason="scripts/requirements.txt installs it; not on every machine")
FILES = Path(os.path.dirname(stormpy.__file__)) / "examples" / "files"
PROGRAMS = ["mdp/coin2-2.nm", "mdp/slipgrid.nm", "dtmc/die.pm"]


def storm_model(name):
    program = stormpy.parse_prism_program(str(FILES / name))
    return stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))


def rows_of(p):
    """(state, name of the action) -> next states, probabilities and values of each row."""
    out = {}
    for state in range(p.states):
        for row in range(p.state_rows[state], p.state_rows[state + 1]):
            action = p.action_names[p.action[row]] if any(p.action_names) else int(p.action[row])
            outcomes = slice(p.row_outcomes[row], p.row_outcomes[row + 1])
            values = {name: signal[row] for name, signal in p.signals.items()}
            out[state, action] = (list(p.next[outcomes]), p.probability[outcomes], values, p.reward[row])
    return out


def same_model(p, q):
    """The same, but for the order of actions, and for probabilities, of which Storm writes ten digits."""
    ours, theirs = rows_of(p), rows_of(q)
    assert ours.keys() == theirs.keys()
    for key, (following, probability, values, reward) in ours.items():
        assert (following, values, reward) == (theirs[key][0], theirs[key][2], theirs[key][3])
        np.testing.assert_allclose(probability, theirs[key][1], rtol=0, atol=1e-9)
    assert p.state_names == q.state_names
    assert {k: list(v) for k, v in p.labels.items() if len(v)} == {k: list(v) for k, v in q.labels.items() if len(v)}
    np.testing.assert_array_equal(p.start, q.start)


@pytest.mark.parametrize("name", PROGRAMS)
def test_drn_that_storm_writes_is_the_model_that_storm_built(name, tmp_path):
    model = storm_model(name)
    stormpy.io.export_to_drn(model, str(tmp_path / "m.drn"))
    built = rd.from_storm(model, horizon=10, reward=None)
    same_model(rd.load(tmp_path / "m.drn", horizon=10, reward=None), built)
    text = (tmp_path / "m.drn").read_bytes()
    (tmp_path / "z.drn.gz").write_bytes(gzip.compress(text))
    (tmp_path / "z.drn.xz").write_bytes(lzma.compress(text))
    for packed in ("z.drn.gz", "z.drn.xz"):
        same_model(rd.load(tmp_path / packed, horizon=10, reward=None), built)


def test_storm_reads_the_drn_that_is_written(tmp_path):
    problem = rd.make("river_swim(horizon=12,start=3)", constraints=[])
    rd.save(problem, tmp_path / "river.drn")
    model = stormpy.build_model_from_drn(str(tmp_path / "river.drn"))
    asked = stormpy.parse_properties('R{"reward"}max=? [C<=12]')[0]
    value = stormpy.model_checking(model, asked, only_initial_states=True).get_value(model.initial_states[0])
    assert value == pytest.approx(rd.solve(problem.replace(uncertainty=rd.Nominal())).reward.worst, abs=1e-5)
    for ending, opened in ((".gz", gzip.decompress), (".xz", lzma.decompress)):
        rd.save(problem, tmp_path / f"packed.drn{ending}")
        packed = (tmp_path / f"packed.drn{ending}").read_bytes()
        assert opened(packed) == (tmp_path / "river.drn").read_bytes()
        assert rd.load(tmp_path / f"packed.drn{ending}") == problem


def test_intervals_and_terminal_states_go_to_storm_and_back(tmp_path):
    P = [[[0.5, 0.25, 0.25], [0, 0.5, 0.5]], [[0, 0.5, 0.5], [1, 0, 0]], [[0, 0, 0], [0, 0, 0]]]
    transitions = [(s, a, t, P[s][a][t]) for s in range(2) for a in range(2) for t in range(3) if P[s][a][t]]
    low, high = np.clip(np.array(P) - 0.1, 0, 1), np.clip(np.array(P) + 0.1, 0, 1)
    problem = rd.Problem(transitions, states=3, reward=rd.reach("goal"), labels={"goal": {2}}, horizon=4,
                         uncertainty=rd.Interval(low, high), order="sas")  # fmt: skip
    rd.save(problem, tmp_path / "m.drn")
    assert rd.load(tmp_path / "m.drn") == problem
    model = stormpy.build_model_from_drn[stormpy.Interval](str(tmp_path / "m.drn"))
    assert model.nr_states == 3
    assert list(model.labeling.get_states("goal")) == [2]


def test_storms_own_text_of_two_dice(tmp_path):
    for ending in ("tra", "lab"):
        (tmp_path / f"dice.{ending}").write_text((FILES / "mdp" / f"two_dice.{ending}").read_text())
    problem = rd.load(tmp_path / "dice.tra", horizon=100, reward=rd.reach("seven"))
    model = stormpy.build_model_from_explicit(str(tmp_path / "dice.tra"), str(tmp_path / "dice.lab"))
    asked = stormpy.parse_properties('Pmax=? [F<=100 "seven"]')[0]
    value = stormpy.model_checking(model, asked, only_initial_states=True).get_value(model.initial_states[0])
    assert rd.solve(problem).reward.worst == pytest.approx(value, abs=1e-9)


def test_convert_goes_everywhere_and_back(tmp_path):
    problem = rd.make("river_swim(horizon=5)")
    rd.save(problem, tmp_path / "p.json")
    source = tmp_path / "p.json"
    for ending in ("drn", "pexp", "tra", "umb", "csv", "drn.xz", "json"):
        target = tmp_path / f"q.{ending}"
        assert run("convert", source, target).returncode == 0
        assert rd.load(target) == problem
        source = target
    assert run("info", tmp_path / "q.pexp").returncode == 0


def test_a_reward_file_of_another_model_is_not_taken_along(tmp_path):
    problem = rd.make("river_swim(horizon=5)")
    rd.save(problem, tmp_path / "p.tra")
    (tmp_path / "p3.trew").write_text("6 12 0\n")
    rd.save(problem, tmp_path / "p.json")
    assert "p3.trew: is of another model" in refused("convert", tmp_path / "p.json", tmp_path / "p.tra")


def test_bombs_are_refused(tmp_path):
    (tmp_path / "bomb.drn.gz").write_bytes(gzip.compress(b"\n" * 100_000_000))
    assert "unpacks to more than" in refused("info", tmp_path / "bomb.drn.gz")
    (tmp_path / "half.drn.xz").write_bytes(lzma.compress(b"@type: MDP\n" * 10_000)[:-40])
    assert "half.drn.xz: cannot be unpacked" in refused("info", tmp_path / "half.drn.xz")


def storm_total(model, text):
    asked = stormpy.parse_properties(text)[0]
    result = stormpy.model_checking(model, asked, only_initial_states=True)
    return sum(result.get_value(state) for state in model.initial_states) / len(model.initial_states)


@pytest.mark.parametrize("method", ["frontier", "rcvi", "robust"])
def test_storm_checks_what_a_policy_is_worth(method):
    problem = rd.make("river_swim(horizon=6,start=3)", uncertainty=rd.KL(0.05))
    solution = rd.solve(problem, method)
    evaluation = rd.evaluate(problem, solution)
    for nature, name, worst in (("worst-reward", "reward", evaluation.reward.worst),
                                ("worst-cost", "cost", evaluation.constraints[0].worst)):  # fmt: skip
        chain = rd.to_storm(problem, solution, nature=nature)
        assert chain.nr_states == chain.nr_choices  # nobody has a choice any more
        assert storm_total(chain, f'R{{"{name}"}}=? [C<=6]') == pytest.approx(worst, abs=1e-6)


def test_goals_landings_and_files_of_chains(tmp_path):
    lake = rd.make("grid(size=3)", horizon=8, discount=1.0, uncertainty=rd.TV(0.05), reward=rd.reach("goal"), constraints=[])
    solution = rd.solve(lake)
    rd.save_induced(lake, solution, tmp_path / "chain.drn", nature="worst-reward")
    chain = rd.load(tmp_path / "chain.drn")
    assert chain.state_names[0].startswith("stage=0, state=")
    assert rd.solve(chain, "nominal").reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
    model = stormpy.build_model_from_drn(str(tmp_path / "chain.drn"))
    assert storm_total(model, 'P=? [F<=8 "goal"]') == pytest.approx(solution.reward.worst, abs=1e-6)


def test_a_problem_goes_to_storm_without_a_policy():
    problem = rd.make("river_swim(horizon=6,start=3)", constraints=[])
    value = storm_total(rd.to_storm(problem), 'R{"reward"}max=? [C<=6]')
    assert value == pytest.approx(rd.solve(problem.replace(uncertainty=rd.Nominal())).reward.worst, abs=1e-6)
    with pytest.raises(rd.Error, match="nature = 'worst-reward' without a policy, must be with one"):
        rd.to_storm(problem, nature="worst-reward")


def test_a_pomdp_is_read_with_a_note(tmp_path):
    path = tmp_path / "tiger.pomdp"
    path.write_text("discount: 0.95\nvalues: reward\nstates: left right\nactions: listen open\nobservations: 2\n"
                    "T: listen identity\nT: open uniform\nO: * uniform\nR: listen : * : * : * -1\n"
                    "R: open : left : * : * 10\nR: open : right : * : * -100\n")  # fmt: skip
    with pytest.warns(UserWarning, match="2 observations are ignored"):
        problem = rd.load(path)
    assert problem.discount == 0.95 and problem.state_names == ["left", "right"]
    said = run("info", path)
    assert said.returncode == 0 and "Note:" in said.stderr and "observations are ignored" in said.stderr
    rd.save(problem, tmp_path / "tiger.json")
    assert "only read" in refused("convert", tmp_path / "tiger.json", tmp_path / "other.pomdp")


def test_variables_in_a_umb_file_are_names_of_states(tmp_path):
    model = storm_model("mdp/coin2-2.nm")
    stormpy.io.export_to_umb(model, tmp_path / "coin.umb")
    loaded = rd.load(tmp_path / "coin.umb", horizon=3, reward=None)
    assert loaded.state_names == rd.from_storm(model, horizon=3, reward=None).state_names
    assert loaded.state_names[0] == "counter=6, pc1=0, coin1=0, pc2=0, coin2=0"
