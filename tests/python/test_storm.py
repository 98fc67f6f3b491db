"""Storm as a live oracle: its models, its properties and its values, through the package stormpy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import redoubt as rd
from program import ROOT, run

stormpy = pytest.importorskip("stormpy", reason="no wheel for this platform")
FILES = Path(os.path.dirname(stormpy.__file__)) / "examples" / "files"

QUEUE = """mdp
const int N;
module queue
  q : [0..N] init 0;
  on : bool init false;
  [serve] q>0 & on -> 0.3 : (q'=q) + 0.7 : (q'=q-1);
  [wait] true -> 0.6 : (q'=min(N,q+1)) + 0.4 : (q'=q);
  [toggle] true -> 0.9 : (on'=!on) + 0.1 : (q'=min(N,q+1));
endmodule
rewards "power"
  on : 1;
  [toggle] true : 0.5;
endrewards
rewards "waiting"
  true : q;
endrewards
rewards
  [serve] true : 1;
endrewards
label "full" = q=N;
label "off" = !on;
"""


@pytest.fixture
def queue(tmp_path):
    path = tmp_path / "model.prism"
    path.write_text(QUEUE)
    return path


def storm_value(path, constants, text):
    """What Storm itself says of a property of a program, at the initial state."""
    program = stormpy.parse_prism_program(str(path))
    asked = stormpy.parse_properties(text, program)
    program, asked = stormpy.instantiate_constants(program, constants, asked)
    model = stormpy.build_model(program, asked)
    result = stormpy.model_checking(model, asked[0], only_initial_states=True)
    return result.get_value(model.initial_states[0])


def bracket(problem):
    """What a policy guarantees and what none can beat, of what the property asks for."""
    solution = rd.solve(problem, tolerance=1e-6)
    return solution.status, solution.reward.worst, solution.reward.bound


# Models that come with stormpy, their constants, and step-bounded properties with one objective.
PROGRAMS = [
    ("mdp/two_dice.nm", {}, ['Pmax=? [F<=8 "two"]', 'Pmin=? [F<=8 "seven"]', 'Pmax=? [F<=12 s1=7 & d1=3]',
                             'R{"coinflips"}min=? [C<=6]', 'Pmax=? [!"seven" U<=9 "done"]']),
    ("mdp/coin2-2.nm", {}, ['Pmax=? [F<=40 "finished"]', 'Pmin=? [F<=60 "finished" & "all_coins_equal_1"]',
                            'Pmax=? [F<=60 "finished" & !"agree"]']),
    ("mdp/csma2-2.nm", {}, ['Pmax=? [F<=40 "collision_max_backoff"]', 'R{"time"}min=? [C<=20]']),
    ("mdp/firewire3-0.5.nm", {}, ['Pmin=? [F<=30 "elected"]', 'R{"time"}max=? [C<=15]']),
    ("mdp/leader3.nm", {}, ['Pmin=? [F<=12 "elected"]']),
    ("mdp/multiobjective1.nm", {}, ['Pmax=? [F<=5 s=2]', 'Pmin=? [F<=5 s=2]']),
    ("mdp/slipgrid.nm", {}, ['Pmax=? [F<=10 "target"]', 'Pmin=? [F<=10 "target"]', 'Rmin=? [C<=9]',
                            'Pmax=? [!"pickup" U<=12 "goal"]']),
    ("dtmc/die.pm", {}, ['P=? [F<=7 "one"]', 'R{"coin_flips"}=? [C<=5]']),
    ("dtmc/crowds5_5.pm", {}, ['P=? [F<=15 "observe0Greater1"]', 'P=? [F<=20 "observeIGreater1"]']),
    ("dtmc/leader3_5.pm", {}, ['P=? [F<=9 "elected"]', 'R{"num_rounds"}=? [C<=20]']),
    ("dtmc/nand-5-2.pm", {}, ['P=? [F<=60 "target"]']),
    ("dtmc/brp-16-2.pm", {}, ['P=? [F<=60 "target"]', 'P=? [F<=40 s=5]']),
]  # fmt: skip
CASES = [(name, constants, text) for name, constants, texts in PROGRAMS for text in texts]


@pytest.mark.parametrize(("name", "constants", "text"), CASES, ids=[f"{c[0]} {c[2]}" for c in CASES])
def test_storms_value_is_in_our_bracket(name, constants, text):
    expected = storm_value(FILES / name, constants, text)
    problem = rd.load(FILES / name, constants=constants, property=text)
    status, least, most = bracket(problem)
    sign = -1 if "min" in text else 1
    assert status == "certified"
    slack = 1e-6 * max(1.0, abs(expected))
    assert least - slack <= sign * expected <= most + slack
    assert most - least <= 2 * slack


MULTI = [
    'multi(R{"power"}min=? [C<=20], R{"waiting"}<=40 [C<=20])',
    'multi(R{"power"}min=? [C<=20], P<=0.5 [F<=20 "full"])',
    'multi(Pmax=? [F<=20 "full"], R{"waiting"}<=30 [C<=20])',
    'multi(R{"waiting"}min=? [C<=20], R{"power"}<=12 [C<=20], P<=0.9 [F<=20 "full"])',
]


@pytest.mark.parametrize("text", MULTI)
def test_several_objectives(queue, text):
    expected = storm_value(queue, {"N": 4}, text)
    problem = rd.load(queue, constants={"N": 4}, property=text)
    status, least, most = bracket(problem)
    sign = -1 if "min=?" in text else 1
    assert status == "certified"
    assert least - 1e-4 <= sign * expected <= most + 1e-4  # Storm's precision for several objectives
    assert most - least <= 1e-4 * max(1, abs(most))


def test_what_a_program_becomes(queue):
    problem = rd.load(queue, constants={"N": 2}, minimise="power", horizon=5)
    assert problem.states == 6 and "on=false, q=0" in problem.state_names
    assert {"serve", "wait", "toggle"} <= set(problem.action_names)
    assert set(problem.model.signal_names) == {"power", "waiting"}
    full = {problem.state_names[s] for s in problem.labels["full"]}
    assert full == {"on=false, q=2", "on=true, q=2"}
    assert rd.load(queue, constants={"N": 2}, horizon=5).reward.max() == 1  # the unnamed reward is the reward


def test_a_model_that_stormpy_has_built(queue, tmp_path):
    program = stormpy.parse_prism_program(str(queue))
    program, asked = stormpy.instantiate_constants(
        program, {"N": 3}, stormpy.parse_properties('Pmax=? [F<=9 "full"]', program))  # fmt: skip
    model = stormpy.build_model(program, options=stormpy.BuilderOptions(asked, build_full=True))
    direct = rd.from_storm(model, property=asked[0])
    assert direct == rd.load(queue, constants={"N": 3}, property='Pmax=? [F<=9 "full"]')
    assert rd.from_storm(model, reward=rd.reach("full"), horizon=9) == direct
    rd.save(direct, tmp_path / "m.umb")
    assert rd.load(tmp_path / "m.umb") == direct


def test_interval_models_with_rewards(tmp_path):
    problem = rd.load(FILES / "idtmc/die-intervals.pm", property='R{"coin_flips"}=? [C<=6]')
    assert repr(problem.uncertainty) == "Interval()" and (problem.lower < problem.upper).any()
    assert rd.solve(problem).reward.worst > 0


def test_the_lines_of_the_page(queue, monkeypatch, capsys):
    (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "storm.md").read_text(), re.DOTALL)
    monkeypatch.chdir(queue.parent)
    values = {}
    exec(lines, values)
    assert values["solution"].status == "certified"
    assert "power" in repr(values["problem"]) and capsys.readouterr().out


def test_convert_writes_files_for_the_program(queue, tmp_path):
    command = [sys.executable, "-m", "redoubt", "convert", queue, tmp_path / "m.umb", "--constants", "N=4"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    info = run("info", tmp_path / "m.umb").stdout
    assert "full (2 states)" in info and "To solve it, give --horizon N" in info
    assert run("convert", tmp_path / "m.umb", tmp_path / "m.json").returncode == 0
    solved = run("solve", tmp_path / "m.umb", "--minimise", "power", "--bound", "reach full<=.5", "--horizon", 20)
    assert solved.returncode == 0, solved.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('Pmax=? [G F "full"]', 'property part F "full", must say of each state whether it holds there'),
        ('Pmax=? [F[2,5] "full"]', "must be until or eventually, with or without a number of steps, or globally"),
        ('R{"power"}min=? [I=5]', "I=5 must be C, C<=100 for a bound on the steps, or F for a goal"),
        ('R{"power"}min=? [LRA]', "must be C, C<=100 for a bound on the steps, or F for a goal"),
        ('R{"power"}max=? [C]', "for ever, where 'reward' grows without end"),
        ('R{"power"}max=? [F "full"]', "for ever, where 'reward' grows without end"),
        ('multi(Pmax=? [F "full"], R{"power"}<=3 [C<=6])', "must agree"),
        ('multi(Pmax=? [F<=5 "full"], R{"power"}<=3 [C<=6])', "must agree"),
        ('multi(Pmax=? [F<=5 "full"], R{"power"}min=? [C<=5])', "is a second objective"),
        ('Pmax=? [X "full"]', "must be until or eventually, with or without a number of steps"),
        ('P>0.5 [F<=5 "full"]', "the bound must be <= or >="),
        ('R{"fuel"}min=? [C<=5]', "fuel"),
        ("Pmax=? [F<=5", "model.prism: "),
    ],
)
def test_properties_that_have_no_meaning_here(queue, text, says):
    with pytest.raises(rd.Error) as error:
        rd.load(queue, constants={"N": 4}, property=text)
    assert says in str(error.value) and "\n" not in str(error.value)


def test_programs_that_cannot_be_read(queue, tmp_path):
    with pytest.raises(rd.Error, match="No such file"):
        rd.load(tmp_path / "missing.prism")
    with pytest.raises(rd.Error, match="undefined constants"):
        rd.load(queue, horizon=3)
    with pytest.raises(rd.Error, match="model of type CTMC, must be an MDP or a DTMC"):
        rd.from_storm(stormpy.build_model_from_drn(str(FILES / "ctmc" / "dft.drn")))
    rd.save(rd.make("river_swim(horizon=3)"), tmp_path / "p.json")
    with pytest.raises(rd.Error, match="must be left out: the file is no PRISM or JANI program"):
        rd.load(tmp_path / "p.json", constants={"N": 1})
