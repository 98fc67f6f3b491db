"""How fast models come in: a UMB file of 1,000,000 states beside Storm, and a model of as many states that is Python code.

doors.py plain|gzip prints the ratio of our processor time for the file to Storm's, and both; doors.py explore the seconds for the code.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import redoubt as rd

STATES = 1_000_000


def seconds(work, clock=time.perf_counter):
    start = clock()
    made = work()
    taken = clock() - start
    del made
    return taken


def beside_storm(packing):
    import stormpy

    random = np.random.default_rng(1)
    rows, each = 2 * STATES, 3
    near = np.arange(rows)[:, np.newaxis] // 2 + np.cumsum(random.integers(1, 50, size=(rows, each)), axis=1)
    p = random.random((rows, each))
    P = scipy.sparse.csr_matrix(
        ((p / p.sum(axis=1, keepdims=True)).ravel(), np.sort(near % STATES, axis=1).ravel(), np.arange(rows + 1) * each),
        shape=(rows, STATES),
    )
    problem = rd.Problem(P, reward=random.random((STATES, 2)), horizon=10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.umb"
        rd.save(problem, path, uncompressed=packing == "plain")
        assert stormpy.build_model_from_umb(path).nr_states == rd.load(path).states == STATES
        clock = time.process_time
        times = [(seconds(lambda: rd.load(path), clock), seconds(lambda: stormpy.build_model_from_umb(path), clock)) for _ in range(5)]
    ours, storms = np.min(times, axis=0)
    return {"ratio": ours / storms, "ours": ours, "storm": storms}


def explored():
    side = 1000

    def step(state, action):
        x, y = state
        yield 0.5, (max(x - 1, 0), y) if action == "first" else (x, max(y - 1, 0)), 1.0
        yield 0.3, (min(x + 1, side - 1), y), 0.0
        yield 0.2, (x, min(y + 1, side - 1)), 0.0

    found = []
    taken = seconds(lambda: found.append(
        rd.explore(initial=(0, 0), actions=lambda state: ("first", "second"), step=step, horizon=10)))  # fmt: skip
    assert found[0].states == STATES
    return {"seconds": taken}


print(json.dumps(explored() if sys.argv[1] == "explore" else beside_storm(sys.argv[1])))
