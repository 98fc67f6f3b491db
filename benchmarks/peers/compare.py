"""The base case beside its peers: one model, the same question to each, answers that agree to 1e-6, seconds in turn.

    compare.py sweep 10000              nominal, one more step of a step-bounded query, by Storm
    compare.py interval 10000           the same for an interval model against nature
    compare.py programs                 whole step-bounded queries on PRISM programs that stormpy brings along, by Storm
    compare.py discounted 0.95 10000    nominal, to the end, by Storm
    compare.py mdpsolver 0.95 10000     the same, by the best algorithm of mdpsolver
    compare.py gzip 100000              reading a packed UMB file, by Storm

Prints one JSON object {"ratio": ours / theirs, ...}, or {"not_here": why}. Times are processor time of one thread, so that
other work on the machine does not count; benchmarks/peers/run installs the peers from the Python registry.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
import redoubt as rd

ACTIONS, SUCCESSORS = 4, 5
AGREE = 1e-6

# Programs of stormpy's examples, with 1,000 to 27,000 states: constants, and what is to be reached.
PROGRAMS = {
    "mdp/coin2.nm": ("K=16", "finished"),
    "mdp/csma2-2.nm": ("", "all_delivered"),
    "mdp/firewire.nm": ("delay=12,fast=0.5", "elected"),
    "mdp/firewire3-0.5.nm": ("", "elected"),
    "mdp/leader4.nm": ("", "elected"),
    "mdp/wlan0_collide.nm": ("COL=2,TRANS_TIME_MAX=10", "twoCollisions"),
    "dtmc/brp.pm": ("N=64,MAX=5", "target"),
    "dtmc/crowds5_5.pm": ("", "observe0Greater1"),
    "dtmc/leader-3-5.pm": ("", "elected"),
    "dtmc/nand-5-2.pm": ("", "target"),
}
STEPS = 200


class NotHere(Exception):
    pass


def peer(name):
    try:
        return __import__(name)
    except ImportError:
        raise NotHere(f"{name} cannot be had") from None


def seconds(*bodies, rounds=7):
    """The least processor time of each, taken in turn so that all see the same machine."""
    times = [[] for _ in bodies]
    for _ in range(rounds):
        for body, taken in zip(bodies, times, strict=True):
            begin = time.process_time()
            body()
            taken.append(time.process_time() - begin)
    return [min(taken) for taken in times]


def agree(ours, theirs):
    assert abs(ours - theirs) <= AGREE * max(1, abs(theirs)), f"{ours} here, {theirs} there"


def garnet(states, discount=None, horizon=None, goal=None):
    """A random model. With a goal, an interval model with a label, of one state in a hundred, that may be the objective."""
    random = np.random.default_rng(states)
    rows = states * ACTIONS
    p = random.dirichlet(np.ones(SUCCESSORS), size=rows)
    columns = np.sort(random.integers(0, states, size=(rows, SUCCESSORS)), axis=1).astype(np.int32)
    begin = np.arange(0, rows * SUCCESSORS + 1, SUCCESSORS)
    P = scipy.sparse.csr_matrix((p.ravel(), columns.ravel(), begin), shape=(rows, states))
    P.sum_duplicates()
    terms = {"discount": discount} if horizon is None else {"horizon": horizon}
    if goal:
        terms["labels"] = {"goal": set(range(1, states, 100))}
        low, high = P.copy(), P.copy()
        low.data, high.data = 0.7 * P.data, np.minimum(1, 1.3 * P.data + 0.05)
        terms["uncertainty"] = rd.Interval(low, high)
    reward = rd.reach("goal") if goal == "objective" else random.random((states, ACTIONS))
    return rd.Problem(P, reward=reward, start=0, **terms)


class Storm:
    """The same model in Storm, through a file that both read."""

    def __init__(self, problem):
        self.storm = peer("stormpy")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.umb"
            rd.save(problem, path)
            self.model = self.storm.build_model_from_umb(str(path))
        self.name = next(iter(self.model.reward_models), None)

    def ask(self, query):
        return self.check(f'R{{"{self.name}"}}max=? [{query}]')

    def check(self, text, **how):
        formula = self.storm.parse_properties(text)[0]
        return self.storm.model_checking(self.model, formula, **how).get_value(0)


def solve(problem, method="nominal", **options):
    return rd.solve(problem, method=method, threads=1, **options).reward.worst


def solve_nearly(problem):
    """An infinite horizon, with a bracket as narrow as the accuracy that the peers are asked for."""
    return solve(problem, tolerance=AGREE / 10)


def steps_of(states):
    """How many steps the two queries have whose difference is that of a sweep, and how often they are asked: some seconds' worth."""
    return (20, 120, 7) if states < 100_000 else (10, 40, 5 if states < 1_000_000 else 3)


def by_sweep(states, problem, method, ask_theirs):
    """Seconds of a sweep: what more of them add to a query."""
    few, many, rounds = steps_of(states)
    shorter = problem.replace(horizon=few)
    agree(solve(shorter, method), ask_theirs(few))
    agree(solve(problem, method), ask_theirs(many))
    ours_few, ours, theirs_few, theirs = seconds(
        lambda: solve(shorter, method), lambda: solve(problem, method),
        lambda: ask_theirs(few), lambda: ask_theirs(many), rounds=rounds)  # fmt: skip
    return {"ratio": (ours - ours_few) / (theirs - theirs_few), "query_ratio": ours / theirs,
            "ours": (ours - ours_few) / (many - few), "theirs": (theirs - theirs_few) / (many - few)}  # fmt: skip


def sweep(states):
    problem = garnet(states, horizon=steps_of(states)[1])
    storm = Storm(problem)
    return by_sweep(states, problem, "nominal", lambda steps: storm.ask(f"C<={steps}"))


def discounted(discount, states):
    problem = garnet(states, discount=discount)
    storm = Storm(problem)
    agree(solve_nearly(problem), storm.ask(f"Cdiscount={discount}"))
    ours, theirs = seconds(lambda: solve_nearly(problem), lambda: storm.ask(f"Cdiscount={discount}"), rounds=3)
    return {"ratio": ours / theirs, "ours": ours, "theirs": theirs}


def by_mdpsolver(discount, states):
    """Without building the model. A model of mdpsolver that was solved begins the next time with its answer, so that every solve
    gets a new one."""
    problem = garnet(states, discount=discount)
    begin, p, to = problem.row_outcomes, problem.probability, problem.next
    row = [slice(begin[r], begin[r + 1]) for r in range(problem.rows)]
    by_state = [range(s * ACTIONS, (s + 1) * ACTIONS) for s in range(states)]
    given = {"discount": discount, "rewards": problem.reward.reshape(states, ACTIONS).tolist(),
             "tranMatProbs": [[p[row[r]].tolist() for r in rows] for rows in by_state],
             "tranMatColumns": [[to[row[r]].tolist() for r in rows] for rows in by_state]}  # fmt: skip
    ways = {"mpi": {}, "mpi, 5 steps": {"algorithm": "mpi", "parIterLim": 5}, "vi": {}} | ({"pi": {}} if states <= 2000 else {})
    value, best, ours = solve_nearly(problem), {}, []
    for _ in range(5):
        for name, options in ways.items():
            model = peer("mdpsolver").model()
            model.mdp(**given)
            how = {"algorithm": name, "tolerance": AGREE / 10, "parallel": False, "verbose": False} | options
            best[name] = min(best.get(name, np.inf), *seconds(lambda m=model, h=how: m.solve(**h), rounds=1))
            agree(value, model.getValue(0))
        ours += seconds(lambda: solve_nearly(problem), rounds=3)
    return {"ratio": min(ours) / min(best.values()), "ours": min(ours), "theirs": best}


def programs():
    """The largest ratio of all programs is the one that counts."""
    storm = peer("stormpy")
    folder = Path(storm.__file__).parent / "examples" / "files"
    found = {}
    for name, (constants, goal) in PROGRAMS.items():
        text = f'P{"max" if name.startswith("mdp") else ""}=? [F<={STEPS} "{goal}"]'
        program = storm.parse_prism_program(str(folder / name))
        asked = storm.parse_properties(text, program)
        program, asked = storm.instantiate_constants(program, constants, asked)
        model = storm.build_model(program, asked)
        problem = rd.from_storm(model, property=asked[0])
        ask = lambda m=model, f=asked[0]: storm.model_checking(m, f).get_value(m.initial_states[0])  # noqa: E731
        agree(solve(problem), ask())
        ours, theirs = seconds(lambda p=problem: solve(p), ask, rounds=15)
        found[name] = {"states": model.nr_states, "ratio": ours / theirs, "ours": ours, "theirs": theirs}
    ratios = [line["ratio"] for line in found.values()]
    return {"ratio": max(ratios), "median": float(np.median(ratios)), "programs": found}


def gzip(states):
    storm = peer("stormpy")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.umb")  # packed by gzip unless one asks for plain
        rd.save(garnet(states, horizon=10), path)
        ours, theirs = seconds(lambda: rd.load(path), lambda: storm.build_model_from_umb(path), rounds=3)
    return {"ratio": ours / theirs, "ours": ours, "theirs": theirs}


def interval(states):
    """Storm has no rewards over steps on interval models: both are asked for the probability of reaching a label."""
    problem = garnet(states, horizon=steps_of(states)[1], goal="objective")
    storm = Storm(garnet(states, horizon=20, goal="label"))
    how = {"uncertainty_resolution_mode": storm.storm.UncertaintyResolutionMode.ROBUST}
    return by_sweep(states, problem, "robust", lambda steps: storm.check(f'Pmax=? [F<={steps} "goal"]', **how))


QUESTIONS = {"sweep": sweep, "interval": interval, "programs": programs, "discounted": discounted,
             "mdpsolver": by_mdpsolver, "gzip": gzip}  # fmt: skip


def main(question, *numbers):
    try:
        answer = QUESTIONS[question](*(float(n) if "." in n else int(n) for n in numbers))
    except NotHere as reason:
        answer = {"not_here": str(reason)}
    print(json.dumps(answer))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in QUESTIONS:
        sys.exit(__doc__)
    main(*sys.argv[1:])
