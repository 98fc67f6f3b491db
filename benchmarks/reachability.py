"""Reachability and expected totals without a horizon, beside Storm: the same models and properties, one thread.

Prints the ratio of processor seconds, ours by theirs, of one model (its name is the argument). Building the model and reading it
counts for neither. Storm runs its default, which stops when values change by less than 1e-6; ours are brackets of 1e-8.
"""

import json
import sys
from pathlib import Path

import stormpy
import stormpy.examples.files as files
from multi_objective import least_seconds, rd

CONSENSUS = Path(files.prism_mdp_coin_2_2).read_text().replace("const int K=2;", "const int K=8;")  # walks 4 times as far

# A robot on a board of N x N cells with wind; the far corner is home, a diagonal of cells is dangerous.
BOARD = """mdp
const int N = 150;
module robot
  x : [0..N-1] init 0;
  y : [0..N-1] init 0;
  [right] x<N-1 -> 0.8 : (x'=x+1) + 0.1 : (y'=min(N-1,y+1)) + 0.1 : true;
  [up] y<N-1 -> 0.8 : (y'=y+1) + 0.1 : (x'=min(N-1,x+1)) + 0.1 : true;
  [wait] true -> true;
endmodule
label "home" = x=N-1 & y=N-1;
label "danger" = x+y=N & mod(x,3)=0;
rewards "steps" true : 1; endrewards
"""

# The same with wind from ahead, which makes one strongly connected component of the board; and with probabilities in intervals.
BACK = BOARD.replace("0.1 : true", "0.1 : (x'=max(0,x-1))", 1).replace("0.1 : true", "0.1 : (y'=max(0,y-1))", 1)
INTERVALS = BACK.replace("0.8 :", "[0.7,0.9] :").replace("0.1 :", "[0.05,0.2] :").replace("true -> true", "true -> 1 : true")

CASES = {
    "consensus": (CONSENSUS, 'Pmin=? [F "finished" & "all_coins_equal_1"]'),
    "consensus_steps": (CONSENSUS, 'R{"steps"}max=? [F "finished"]'),
    "board_reached": (BOARD, 'Pmax=? [!"danger" U "home"]'),
    "board_steps": (BOARD, 'R{"steps"}min=? [F "home"]'),
    "back_reached": (BACK, 'Pmax=? [!"danger" U "home"]'),
    "back_steps": (BACK, 'R{"steps"}min=? [F "home"]'),
    "intervals": (INTERVALS, 'R{"steps"}min=? [F "home"]'),
}


def compare(name, folder):
    text, question = CASES[name]
    program = folder / "model.prism"
    program.write_text(text)
    parsed = stormpy.parse_prism_program(str(program))
    asked = stormpy.parse_properties(question, parsed)
    uncertain = name == "intervals"
    model = (stormpy.build_model[stormpy.Interval] if uncertain else stormpy.build_model)(parsed, asked)
    mode = {"uncertainty_resolution_mode": stormpy.UncertaintyResolutionMode.ROBUST} if uncertain else {}
    theirs, value = least_seconds(
        lambda: stormpy.model_checking(model, asked[0], only_initial_states=True, **mode).get_value(model.initial_states[0])
    )
    problem = rd.load(program, property=question, **({} if uncertain else {"uncertainty": rd.Nominal()}))
    ours, solution = least_seconds(lambda: rd.solve(problem, threads=1))
    assert solution.status == "certified", solution
    sign = -1 if "min=?" in question else 1
    slack = 1e-3 * max(1.0, abs(value))  # of Storm, which stops when values hardly change
    assert solution.reward.worst - slack <= sign * value <= solution.reward.bound + slack, (value, solution)
    width = solution.reward.bound - solution.reward.worst
    return {"ratio": ours / theirs, "ours": ours, "storm": theirs, "states": model.nr_states, "value": value, "width": width,
            "off by": sign * value - solution.reward.worst}  # fmt: skip


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(compare(sys.argv[1], Path(folder))))
