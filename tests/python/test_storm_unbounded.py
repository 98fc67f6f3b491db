"""Storm as a live oracle for properties without a bound on the steps, and for interval models.

Together with test_storm.py: more than 40 properties on more than 15 models, which test_how_many_there_are counts.
"""

import pytest
import redoubt as rd
from test_storm import CASES as BOUNDED
from test_storm import FILES, MULTI, bracket, storm_value, stormpy

# Models that come with stormpy, and properties with one objective.
PROGRAMS = [
    ("mdp/two_dice.nm", ['Pmax=? [F "two"]', 'Pmax=? [G !"seven"]', 'Pmin=? [G !("seven" | "two")]', 'Pmin=? [F "seven"]', 'R{"coinflips"}min=? [F "done"]',
                         'R{"coinflips"}max=? [F "done"]']),
    ("mdp/coin2-2.nm", ['Pmin=? [F "finished" & "all_coins_equal_1"]', 'Pmax=? [F "finished" & !"agree"]',
                        'R{"steps"}min=? [F "finished"]', 'R{"steps"}max=? [F "finished"]']),
    ("mdp/csma2-2.nm", ['Pmax=? [F "collision_max_backoff"]', 'R{"time"}min=? [F "all_delivered"]']),
    ("mdp/firewire3-0.5.nm", ['Pmin=? [F "elected"]', 'R{"time"}min=? [F "elected"]']),
    ("mdp/leader3.nm", ['Pmin=? [F "elected"]']),
    ("mdp/slipgrid.nm", ['Pmax=? [F "target"]', 'Pmin=? [F "target"]', 'Rmin=? [F "goal"]',
                         'Pmax=? [!"pickup" U "goal"]', 'Pmax=? [G !"target"]', 'Pmin=? [G !"goal"]']),
    ("mdp/maze_2.nm", ['Rmin=? [F "goal"]']),
    ("mdp/scheduler_generation.nm", ['Pmin=? [F "target"]', 'Pmax=? [F "target"]', 'Pmax=? [F s=4]']),
    ("mdp/tiny_rewards.nm", ['Rmin=? [F "target"]', 'Pmax=? [F "target"]', 'Pmin=? [F "target"]']),
    ("mdp/multiobjective1.nm", ['Pmax=? [F s=2]', 'Pmin=? [F s=2]']),
    ("dtmc/die.pm", ['P=? [F "one"]', 'P=? [G !"one"]', 'R{"coin_flips"}=? [F "done"]', 'R{"coin_flips"}=? [C]']),
    ("dtmc/crowds5_5.pm", ['P=? [F "observe0Greater1"]']),
    ("dtmc/leader3_5.pm", ['P=? [F "elected"]', 'R{"num_rounds"}=? [F "elected"]']),
    ("dtmc/brp-16-2.pm", ['P=? [F "target"]']),
]  # fmt: skip
CASES = [(name, text) for name, texts in PROGRAMS for text in texts]


@pytest.mark.parametrize(("name", "text"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_storms_value_is_in_our_bracket(name, text):
    expected = storm_value(FILES / name, {}, text)
    status, least, most = bracket(rd.load(FILES / name, property=text))
    sign = -1 if "min" in text else 1
    slack = 1e-5 * max(1.0, abs(expected))  # Storm's precision is 1e-6, relative
    assert status == "certified"
    assert least - slack <= sign * expected <= most + slack
    assert most - least <= 0.2 * slack


def test_paths_that_miss_the_goal_are_infinite(tmp_path):
    # The trap of a naive translation: the cheap way misses the goal now and then, and is worth nothing.
    path = tmp_path / "miss.prism"
    path.write_text("""mdp
module m
  s : [0..3] init 0;
  [cheap] s=0 -> 0.9 : (s'=2) + 0.1 : (s'=3);
  [dear] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=0);
  [on] s=1 -> 0.5 : (s'=1) + 0.5 : (s'=2);
  [stay] s=3 -> true;
  [done] s=2 -> true;
endmodule
rewards "cost"
  [cheap] true : 1;
  [dear] true : 10;
  [on] true : 9;
endrewards
label "goal" = s=2;
""")
    text = 'R{"cost"}min=? [F "goal"]'
    assert storm_value(path, {}, text) == pytest.approx(38, rel=1e-5)
    status, least, most = bracket(rd.load(path, property=text))
    assert status == "certified" and least == pytest.approx(-38, rel=1e-9) == most


ROBOT = """mdp
module robot
  x : [0..6] init 0;
  [fast] x<4 -> 0.8 : (x'=x+1) + 0.15 : (x'=x) + 0.05 : (x'=5);
  [slow] x<4 -> 0.5 : (x'=x+1) + 0.5 : (x'=x);
  [rest] x=0 -> true;
  [hide] x=0 -> 0.5 : (x'=6) + 0.5 : (x'=0);
  [end] x>=4 -> true;
endmodule
rewards "fuel"
  [fast] true : 2;
  [slow] true : 3;
endrewards
label "goal" = x=4;
label "crash" = x=5;
label "hidden" = x=6;
"""
SEVERAL = [
    'multi(Pmax=? [F "goal"], P<=0.1 [F "crash"])',
    'multi(Pmax=? [F "goal"], P>=0.2 [F "hidden"])',
    'multi(Pmax=? [F "goal"], P>=0.2 [F "hidden"], P<=0.05 [F "crash"])',
    'multi(R{"fuel"}min=? [C], P>=0.7 [F "goal"])',
    'multi(R{"fuel"}min=? [C], P>=0.6 [F "goal"], P<=0.06 [F "crash"])',
    'multi(Pmax=? [F "goal"], R{"fuel"}<=12 [C])',
]


@pytest.mark.parametrize("text", SEVERAL)
def test_several_objectives_without_a_bound_on_the_steps(tmp_path, text):
    path = tmp_path / "robot.prism"
    path.write_text(ROBOT)
    expected = storm_value(path, {}, text)
    status, least, most = bracket(rd.load(path, property=text))
    sign = -1 if "min=?" in text else 1
    assert status == "certified"
    assert least - 1e-4 <= sign * expected <= most + 1e-4
    assert most - least <= 1e-4 * max(1, abs(most))


# ---- intervals --------------------------------------------------------------------------------------------------

INTERVALS = """mdp
module m
  s : [0..4] init 0;
  [a] s=0 -> [0.3,0.6] : (s'=1) + [0.2,0.5] : (s'=2) + [0.05,0.2] : (s'=0);
  [b] s=0 -> [0.5,0.9] : (s'=2) + [0.1,0.5] : (s'=3);
  [a] s=1 -> [0.6,0.9] : (s'=3) + [0.1,0.4] : (s'=4);
  [b] s=1 -> [0.2,0.4] : (s'=3) + [0.6,0.8] : (s'=0);
  [a] s=2 -> [0.4,0.7] : (s'=3) + [0.3,0.6] : (s'=4);
  [end] s>=3 -> true;
endmodule
rewards "cost"
  [a] true : 2;
  [b] true : 1;
endrewards
label "goal" = s=3;
label "done" = s>=3;
"""
OF_INTERVALS = ['Pmax=? [F "goal"]', 'Pmin=? [F "goal"]', 'R{"cost"}min=? [F "done"]', 'R{"cost"}max=? [F "done"]',
                'Pmax=? [F<=4 "goal"]']  # fmt: skip
OF_CHAIN = ['P=? [F "one"]', 'P=? [F "three"]', 'R{"coin_flips"}=? [F "done"]']


def storm_interval(path, text, mode):
    program = stormpy.parse_prism_program(str(path))
    (asked,) = stormpy.parse_properties(text, program)
    options = stormpy.BuilderOptions([asked], build_full=True)
    model = stormpy.build_model[stormpy.Interval](program, options=options)
    result = stormpy.model_checking(
        model, asked, only_initial_states=True,
        uncertainty_resolution_mode=getattr(stormpy.UncertaintyResolutionMode, mode))  # fmt: skip
    return result.get_value(model.initial_states[0])


@pytest.mark.parametrize("text", OF_INTERVALS)
def test_interval_models_in_the_worst_and_the_best_case(tmp_path, text):
    path = tmp_path / "intervals.prism"
    path.write_text(INTERVALS)
    problem = rd.load(path, property=text)
    sign = -1 if "min" in text else 1
    for mode, asked in (("ROBUST", problem), ("COOPERATIVE", problem.replace(nature="helpful"))):
        expected = storm_interval(path, text, mode)
        status, least, most = bracket(asked)
        assert status == "certified"
        assert least - 1e-5 * max(1, abs(least)) <= sign * expected <= most + 1e-5 * max(1, abs(most))
        assert most - least <= 1e-6 * max(1, abs(most))


@pytest.mark.parametrize("text", OF_CHAIN)
def test_interval_chains_in_the_worst_and_the_best_case(text):
    path = FILES / "idtmc/die-intervals.pm"
    problem = rd.load(path, property=text)
    for mode, asked in (("MINIMIZE", problem), ("MAXIMIZE", problem.replace(nature="helpful"))):
        expected = storm_interval(path, text, mode)
        status, least, most = bracket(asked)
        assert status == "certified"
        assert least - 1e-5 * max(1, expected) <= expected <= most + 1e-5 * max(1, expected)


def test_how_many_there_are():
    models = {name for name, _ in CASES} | {name for name, *_ in BOUNDED} | {"robot", "queue", "intervals", "die-intervals"}
    properties = len(CASES) + len(BOUNDED) + len(SEVERAL) + len(MULTI) + len(OF_INTERVALS) + len(OF_CHAIN)
    assert len(models) >= 15 and properties >= 40
