"""A robot on 40,000 cells with 10 actions: its abstraction, against numpy building the interval of every transition probability.

Prints both times, that of numpy for the bounds along each axis alone, and that of a sweep over all our rows (processor seconds). An
interval is the product over both axes of the least and the largest probability of the cell's slab: at an end of the image, or where
the slab is in the middle of the law. Numpy writes out all intervals, we keep the laws along each axis.
"""

import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy.special import ndtr

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import redoubt as rd

CELLS, STD, HORIZON = 200, 0.15, 10
ACTIONS = list(itertools.product((-0.2, 0.2), np.linspace(-1, 1, 5)))
LINES = np.linspace(-10, 10, CELLS + 1)
REACH = int(np.ceil(4.4 * STD / 0.1)) + 1  # cells to either side of the image that it may come to: least_piece of 1e-5


def move(x, u):
    return [x[0] + 2 * u[0] * np.cos(u[1]), x[1] + 2 * u[0] * np.sin(u[1])]


def abstraction():
    return rd.abstract(move, noise=rd.Gaussian([STD, STD]), domain=[(-10, 10)] * 2, cells=CELLS, start=[-5.55, -5.55],
                       actions=ACTIONS, goal=[[(5, 8)] * 2], horizon=HORIZON)  # fmt: skip


def slabs(low, high):
    """Of every cell's image along an axis: the first slab that it may come to, and the bounds of its probability of each."""
    first = np.searchsorted(LINES, low) - REACH
    edges = LINES[0] + 0.1 * (first[:, np.newaxis] + np.arange(2 * REACH + 2))
    at_low, at_high = (np.diff(ndtr((edges - end[:, np.newaxis]) / STD)) for end in (low, high))
    middle = np.clip((edges[:, 1:] + edges[:, :-1]) / 2, low[:, np.newaxis], high[:, np.newaxis])
    largest = ndtr((edges[:, 1:] - middle) / STD) - ndtr((edges[:, :-1] - middle) / STD)
    return first, np.minimum(at_low, at_high), largest


def axes():
    x, y = (LINES[place] for place in np.divmod(np.arange(CELLS**2), CELLS))
    for u in ACTIONS:
        dx, dy = (float(part) for part in move([0.0, 0.0], u))
        yield slabs(x + dx, x + dx + 0.1), slabs(y + dy, y + dy + 0.1)


def intervals():
    made = []
    for (first_x, least_x, most_x), (first_y, least_y, most_y) in axes():
        lower = least_x[:, :, np.newaxis] * least_y[:, np.newaxis, :]
        upper = most_x[:, :, np.newaxis] * most_y[:, np.newaxis, :]
        columns = (first_x[:, np.newaxis] + np.arange(2 * REACH + 1))[:, :, np.newaxis] * CELLS
        columns = (columns + (first_y[:, np.newaxis] + np.arange(2 * REACH + 1))[:, np.newaxis, :]).astype(np.int32)
        made.append((lower, upper, columns))
    return made


def seconds(work):
    start = time.process_time()
    made = work()
    taken = time.process_time() - start
    del made
    return taken


by_numpy, by_axes = (min(seconds(work) for _ in range(2)) for work in (intervals, lambda: list(axes())))
ours = min(seconds(abstraction) for _ in range(5))
system = abstraction()
sweep = min(seconds(lambda: system.products.expectations(np.ones(system.cells + 3), False)) for _ in range(5))
assert abs(system.products.expectations(np.ones(system.cells + 3), False) - 1).max() < 1e-9
print(json.dumps({"numpy": by_numpy, "axes": by_axes, "abstraction": ours, "sweep": sweep}))
