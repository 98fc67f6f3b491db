"""Constraints without uncertainty, against Storm's multi-objective engine: the same models and
properties, one thread, both to 1e-4 (Storm's own default). Storm's value must lie in our bracket.

Prints the ratio of processor seconds, ours by theirs, of one model (its name is the argument). Building
the model and reading it counts for neither.
"""

import json
import sys
import time
from pathlib import Path

import stormpy
import stormpy.examples.files as files

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import redoubt as rd

# A device that serves a queue and can sleep; waking up takes time and power.
POWER = """mdp
const int N = 100;
module device
  mode : [0..2] init 0;
  [sleep] mode=2 -> (mode'=0);
  [wake] mode=0 -> (mode'=1);
  [go] mode=1 -> 0.4 : (mode'=2) + 0.6 : (mode'=1);
  [go] mode!=1 -> true;
endmodule
module queue
  q : [0..N] init 0;
  n : bool init false;
  [sleep] true -> 0.35 : (q'=min(N,q+1)) + 0.65 : true;
  [wake] true -> 0.35 : (q'=min(N,q+1)) + 0.65 : true;
  [go] mode!=2 | q=0 -> 0.35 : (q'=min(N,q+1)) + 0.65 : true;
  [go] mode=2 & q>0 -> 0.2 : (n'=!n) + 0.3 : (q'=q) + 0.5 : (q'=q-1);
endmodule
rewards "power" mode=0 : 0.1; mode=1 : 2; mode=2 : 1; [wake] true : 3; endrewards
rewards "waiting" true : q; endrewards
"""

# Two lines of jobs share one machine; changing over takes a step. Jobs that find a full line are lost.
SCHEDULER = """mdp
const int N = 60;
module machine
  at : [0..1] init 0;
  a : [0..N] init 0;
  b : [0..N] init 0;
  [serve] at=0 -> 0.3 : (a'=max(0,a-1)) & (b'=min(N,b+1)) + 0.4 : (a'=max(0,a-1)) + 0.3 : (a'=min(N,a+1));
  [serve] at=1 -> 0.3 : (b'=max(0,b-1)) & (a'=min(N,a+1)) + 0.4 : (b'=max(0,b-1)) + 0.3 : (b'=min(N,b+1));
  [change] true -> 0.3 : (at'=1-at) & (a'=min(N,a+1)) + 0.3 : (at'=1-at) & (b'=min(N,b+1)) + 0.4 : (at'=1-at);
endmodule
rewards "a" true : a; endrewards
rewards "b" true : 2*b; endrewards
rewards "changes" [change] true : 1; endrewards
"""

# On a board, gold and a gem are far apart; near them an enemy may take what one carries.
GATHERING = """mdp
const int L = 7;
module robot
  x : [0..L-1] init 0;
  y : [0..L-1] init 0;
  gold : bool init false;
  gem : bool init false;
  got : [0..8] init 0;
  gems : [0..8] init 0;
  [left] x>0 -> (x'=x-1);
  [right] x<L-1 & !(x=L-2 & y=L-1) -> (x'=x+1);
  [right] x=L-2 & y=L-1 -> 0.9 : (x'=x+1) & (gem'=true) + 0.1 : (x'=0) & (y'=0) & (gold'=false) & (gem'=false);
  [up] y<L-1 & !(x=1 & y=L-2) -> (y'=y+1);
  [up] x=1 & y=L-2 -> 0.7 : (y'=y+1) & (gold'=true) + 0.3 : (x'=0) & (y'=0) & (gold'=false) & (gem'=false);
  [down] y>0 -> (y'=y-1);
  [home] x=0 & y=0 -> (got'=min(8,got+(gold?1:0))) & (gems'=min(8,gems+(gem?1:0))) & (gold'=false) & (gem'=false);
endmodule
rewards "gold" [home] gold : 1; endrewards
rewards "gems" [home] gem : 1; endrewards
label "rich" = got>=3;
"""

CASES = {
    "consensus": (
        Path(files.prism_mdp_coin_2_2).read_text(),
        'multi(Pmax=? [F<=200 "finished" & "all_coins_equal_1"],'
        ' P>=0.5 [F<=200 "finished" & "all_coins_equal_0"])',
    ),
    "power": (POWER, 'multi(R{"waiting"}min=? [C<=100], R{"power"}<=70 [C<=100])'),
    "scheduler": (
        SCHEDULER,
        'multi(R{"a"}min=? [C<=60], R{"b"}<=350 [C<=60], R{"changes"}<=4 [C<=60])',
    ),
    "gathering": (GATHERING, 'multi(R{"gold"}max=? [C<=100], R{"gems"}>=1.5 [C<=100])'),
}


def storm(program, text):
    parsed = stormpy.parse_prism_program(str(program))
    asked = stormpy.parse_properties(text, parsed)
    model = stormpy.build_model(parsed, asked)

    def solve():
        result = stormpy.model_checking(model, asked[0], only_initial_states=True)
        return result.get_value(model.initial_states[0])

    return model.nr_states, solve


def least_seconds(work, runs=3):
    taken = []
    for _ in range(runs):
        start = time.process_time()
        found = work()
        taken.append(time.process_time() - start)
    return min(taken), found


def compare(name, folder):
    text, question = CASES[name]
    program = folder / f"{name}.prism"
    program.write_text(text)
    states, solve = storm(program, question)
    theirs, value = least_seconds(solve)
    problem = rd.load(program, property=question, uncertainty=rd.Nominal())
    ours, solution = least_seconds(lambda: rd.solve(problem, tolerance=1e-4, threads=1))
    assert solution.status == "certified", solution.status
    sign = -1 if "min=?" in question else 1
    slack = 2e-4 * max(1.0, abs(value))
    assert solution.reward.worst - slack <= sign * value <= solution.reward.bound + slack, value
    return {"ratio": ours / theirs, "ours": ours, "storm": theirs, "states": states, "value": value}


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(compare(sys.argv[1], Path(folder))))
