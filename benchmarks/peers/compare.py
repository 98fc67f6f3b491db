"""The base case beside its peers: one model, the same question to each, answers that agree, seconds in turn.

Prints one JSON object {line: {"ratio": ours / theirs, ...}}. Peers that are not installed are left out and named on
standard error; benchmarks/peers/run installs them from the Python registry.
"""

import argparse
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


def found(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"{name} is not installed: its lines are left out", file=sys.stderr)
        return None


stormpy, mdpsolver = found("stormpy"), found("mdpsolver")


def garnet(states, discount=None, horizon=None, uncertainty=None):
    random = np.random.default_rng(states)
    rows = states * ACTIONS
    p = random.dirichlet(np.ones(SUCCESSORS), size=rows)
    columns = np.sort(random.integers(0, states, size=(rows, SUCCESSORS)), axis=1).astype(np.int32)
    begin = np.arange(0, rows * SUCCESSORS + 1, SUCCESSORS)
    P = scipy.sparse.csr_matrix((p.ravel(), columns.ravel(), begin), shape=(rows, states))
    P.sum_duplicates()
    reward = random.random((states, ACTIONS))
    terms = {"discount": discount} if horizon is None else {"horizon": horizon}
    return rd.Problem(P, reward=reward, start=0, **terms, **({"uncertainty": uncertainty} if uncertainty else {}))


def seconds(*bodies, rounds=5):
    """The least time of each, taken in turn so that all see the same machine."""
    times = [[] for _ in bodies]
    for _ in range(rounds):
        for body, taken in zip(bodies, times, strict=True):
            begin = time.perf_counter()
            body()
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in times]


def agree(ours, theirs):
    assert abs(ours - theirs) <= AGREE * max(1, abs(theirs)), f"{ours} here, {theirs} there"


class Storm:
    """The same model in Storm, through a file that both read."""

    def __init__(self, problem):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.umb"
            rd.save(problem, path)
            self.model = stormpy.build_model_from_umb(str(path))
        self.name = next(iter(self.model.reward_models))

    def ask(self, query):
        formula = stormpy.parse_properties(f'R{{"{self.name}"}}max=? [{query}]')[0]
        return stormpy.model_checking(self.model, formula).get_value(0)


def step_bounded(states):
    """Seconds of a sweep: of a hundred more of them."""
    short, long = garnet(states, horizon=20), garnet(states, horizon=120)
    storm = Storm(long)
    ours = {h: rd.solve(p, method="nominal", threads=1).reward.worst for h, p in ((20, short), (120, long))}
    for horizon, value in ours.items():
        agree(value, storm.ask(f"C<={horizon}"))
    times = seconds(lambda: rd.solve(short, method="nominal", threads=1),
                    lambda: rd.solve(long, method="nominal", threads=1),
                    lambda: storm.ask("C<=20"), lambda: storm.ask("C<=120"))  # fmt: skip
    return {"ratio": (times[1] - times[0]) / (times[3] - times[2]), "query_ratio": times[1] / times[3],
            "ours": (times[1] - times[0]) / 100, "theirs": (times[3] - times[2]) / 100}  # fmt: skip


def discounted_storm(states, discount):
    problem = garnet(states, discount=discount)
    storm = Storm(problem)
    agree(rd.solve(problem, method="nominal", threads=1).reward.worst, storm.ask(f"Cdiscount={discount}"))
    ours, theirs = seconds(lambda: rd.solve(problem, method="nominal", threads=1),
                           lambda: storm.ask(f"Cdiscount={discount}"), rounds=3)  # fmt: skip
    return {"ratio": ours / theirs, "ours": ours, "theirs": theirs}


def discounted_mdpsolver(states, discount):
    problem = garnet(states, discount=discount)
    begin, p, to = problem.row_outcomes, problem.probability, problem.next
    row = [slice(begin[r], begin[r + 1]) for r in range(problem.rows)]
    by_state = [range(s * ACTIONS, (s + 1) * ACTIONS) for s in range(states)]
    model = mdpsolver.model()
    model.mdp(discount=discount, rewards=problem.reward.reshape(states, ACTIONS).tolist(),
              tranMatProbs=[[p[row[r]].tolist() for r in rows] for rows in by_state],
              tranMatColumns=[[to[row[r]].tolist() for r in rows] for rows in by_state])  # fmt: skip
    value = rd.solve(problem, method="nominal", threads=1).reward.worst
    best = None
    for algorithm in ("mpi", "vi", "pi"):
        if algorithm == "pi" and states > 2000:
            continue
        model.solve(algorithm=algorithm, tolerance=AGREE / 10, parallel=False, verbose=False)
        agree(value, model.getValue(0))
        best = min(best or np.inf, model.getRuntime() / 1000)
    ours = seconds(lambda: rd.solve(problem, method="nominal", threads=1))[0]
    return {"ratio": ours / best, "ours": ours, "theirs": best}


def lines(sizes):
    for states in sizes:
        if stormpy:
            yield f"nominal sweep by Storm, {states} states", lambda n=states: step_bounded(n)
        for discount in (0.95, 0.999):
            if stormpy and states <= 100_000:
                yield (f"nominal, discount {discount}, by Storm, {states} states",
                       lambda n=states, d=discount: discounted_storm(n, d))  # fmt: skip
            if mdpsolver and states <= 10_000:
                yield (f"nominal, discount {discount}, by mdpsolver, {states} states",
                       lambda n=states, d=discount: discounted_mdpsolver(n, d))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, nargs="+", default=[10_000, 100_000])
    table = {}
    for line, measure in lines(parser.parse_args().states):
        table[line] = measure()
        print(f"{table[line]['ratio']:8.3f}  {line}", file=sys.stderr, flush=True)
    print(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
