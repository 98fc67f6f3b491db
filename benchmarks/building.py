"""A problem from a scipy matrix of 10,000,000 transitions, against scipy copying that matrix.

Building copies the matrix too, and checks every transition. So many that neither stays in a cache: a machine whose caches hold the copy of
a million says by its ratio how large they are. Prints the ratio and both times.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import redoubt as rd

SUCCESSORS = int(sys.argv[1])  # of each row
FORM = sys.argv[2]  # sorted, as scipy makes matrices; shuffled: the columns of each row in any order
TRANSITIONS = 10_000_000
ACTIONS, STATES = 5, TRANSITIONS // (5 * SUCCESSORS)
WINDOWS = 50

random = np.random.default_rng(1)
rows = STATES * ACTIONS
steps = random.integers(1, STATES // SUCCESSORS, size=(rows, SUCCESSORS))
p = random.random((rows, SUCCESSORS))
columns = np.cumsum(steps, axis=1) - 1
if FORM == "shuffled":
    columns = random.permuted(columns, axis=1)
P = scipy.sparse.csr_matrix(
    (
        (p / p.sum(axis=1, keepdims=True)).ravel(),
        columns.ravel().astype(np.int32),
        np.arange(0, rows * SUCCESSORS + 1, SUCCESSORS, dtype=np.int32),
    ),
    shape=(rows, STATES),
)
reward, cost = random.random((2, STATES, ACTIONS))


def build():
    return rd.Problem(P, reward=reward, signals={"cost": cost}, constraints=[rd.at_most("cost", 4.0)],
                      uncertainty=rd.KL(0.05), horizon=10)  # fmt: skip


def seconds(work):
    start = time.perf_counter()
    made = work()
    taken = time.perf_counter() - start
    del made
    return taken


assert build().outcomes == P.nnz == TRANSITIONS
# In turn, so that both see the same machine; the least is what an undisturbed run takes.
copying, building = np.min([(seconds(P.copy), seconds(build)) for _ in range(WINDOWS)], axis=0)
print(json.dumps({"ratio": building / copying, "copy": copying, "build": building}))
