"""Continuous systems of docs/continuous.md: the guarantee, the bound, and 10,000 episodes of the system itself.

    .venv/bin/python experiments/continuous.py [NAME ...]

Prints a line of the table for each system: cells, parts, guarantee, bound, what the episodes had, seconds of processor time; and
for each system of which IMPaCT prints guarantees a line of the other table.
"""

import itertools
import sys
import time

import numpy as np
import redoubt as rd

EPISODES = 10_000


def robot(parts=1):
    """IMPaCT, ex_2Drobot-RA-U: its cells and its 441 inputs."""

    def move(x, u):
        return [x[0] + 2 * u[0] * np.cos(u[1]), x[1] + 2 * u[0] * np.sin(u[1])]

    return rd.abstract(move, noise=rd.Gaussian([0.75**0.5] * 2), domain=[(-10, 10)] * 2, cells=40, start=[-5.5, -5.5],
                       actions=list(itertools.product(np.linspace(-1, 1, 21), repeat=2)), goal=[[(5, 8)] * 2],
                       hazards=[[(-1.5, 1.5)] * 2], horizon=20, parts=parts)  # fmt: skip


def rooms(parts=2):
    """IMPaCT, ex_3Droom-S: its cells and its 36 inputs."""
    eta, beta, gamma, heater, outside = 0.20, 0.022, 0.05, 50.0, -1.0
    keeps = 1 - 2 * eta - beta

    def warm(x, u):
        first = (keeps - gamma * u[0]) * x[0] + eta * (x[1] + x[2]) + gamma * heater * u[0] + beta * outside
        second = keeps * x[1] + eta * (x[0] + x[2]) + beta * outside
        third = (keeps - gamma * u[1]) * x[2] + eta * (x[0] + x[1]) + gamma * heater * u[1] + beta * outside
        return [first, second, third]

    return rd.abstract(warm, noise=rd.Gaussian([0.02**0.5] * 3), domain=[(19, 21)] * 3, cells=20, start=[20.05] * 3,
                       actions=list(itertools.product(np.linspace(0, 1, 6), repeat=2)), horizon=10, parts=parts)  # fmt: skip


def heated(domain, cells, horizon, parts):
    A = [[0.6682, 0, 0.02632, 0], [0, 0.683, 0, 0.02096], [1.0005, 0, -0.000499, 0], [0, 0.8004, 0, 0.1996]]
    step = rd.affine(A, [[0.1320], [0.1402], [0], [0]], [3.4378, 2.9272, 13.0207, 10.4166])
    noise = rd.Gaussian([12.9199**-0.5, 12.9199**-0.5, 2.5826**-0.5, 3.2276**-0.5])
    return rd.abstract(step, noise=noise, domain=domain, cells=cells, actions=[[u] for u in (17.0, 18.0, 19.0, 20.0)],
                       start=[20.1, 20.1, 33.1, 33.1], horizon=horizon, parts=parts)  # fmt: skip


def building(parts=2):
    """IntervalMDPAbstractions.jl, bas_4d.jl: the same cells and inputs."""
    return heated([(19, 21), (19, 21), (30, 36), (30, 36)], [4, 4, 6, 6], 10, parts)


def chain(cells, half, inputs, parts, **asked):
    return rd.abstract(rd.affine([[1, 0.1], [0, 1]], [[0.005], [0.1]]), noise=rd.Gaussian([0.1, 0.1]),
                       domain=[(-half, half)] * 2, cells=cells, actions=[[u] for u in np.linspace(-1, 1, inputs)],
                       start=[-8.5, 4.0], horizon=5, parts=parts, **asked)  # fmt: skip


def integrator(parts=1):
    """IntervalMDPAbstractions.jl, integrator_chain.jl in two dimensions: its cells and inputs; reach within five steps."""
    return chain(50, 10, 11, parts, goal=[[(-8, 8)] * 2])


def pendulum():
    """Our own: stay up for six steps of a tenth of a second, with at most 3 of energy."""

    def swing(x, u):
        return [x[0] + 0.1 * x[1], x[1] + 0.1 * (9.81 * np.sin(x[0]) + u)]

    return rd.abstract(swing, noise=rd.Gaussian([0.005, 0.05]), domain=[(-0.3, 0.3), (-0.9, 0.9)], cells=15,
                       actions=[-3.0, 0.0, 3.0], start=[0.0, 0.0], signals={"energy": lambda x, u: 0.1 * u * u},
                       constraints=[rd.at_most("energy", 3.0)], horizon=6, least_piece=1e-3)  # fmt: skip


SYSTEMS = {"robot": robot, "rooms": rooms, "building": building, "integrator": integrator, "pendulum": pendulum}
# Guarantees that IMPaCT prints (benchmarks/crosstool/arch/run/arch_compare.tsv): least, mean and largest over all cells. Its cells
# have their middle on the points of a grid: they reach half a cell beyond it.
PRINTED = {
    "BA": (lambda parts: heated([(18.75, 21.25)] * 2 + [(29.5, 36.5)] * 2, [5, 5, 7, 7], 6, parts), 1225, 0.126562, 0.470945, 0.667349),
    "IC_safe": (lambda parts: chain(41, 10.25, 5, parts), 1681, 0.0, 0.760679, 1.0),
    "IC_reach": (lambda parts: chain(41, 10.25, 5, parts, goal=[[(-8.25, 8.25)] * 2]), 592, 0.0, 0.071935, 0.999994),
}  # fmt: skip


def measure(name):
    begun = time.process_time()
    system = SYSTEMS[name]()
    built = time.process_time()
    answer = system.solve(**({"tolerance": 0.03} if name == "pendulum" else {}))
    solved = time.process_time()
    episodes = answer.simulate(EPISODES, seed=1)
    mean, error = episodes.mean("reached")
    if not episodes.reached.any():
        mean, error = 1 - episodes.mean("hit")[0], episodes.mean("hit")[1]
    kept = answer.below.constraints if system.products is None else []
    text = "".join(f", {key} {episodes.mean(key)[0]:.3f} (at most {c.bound:g}, guaranteed {c.worst:.3f})"
                   for key, c in zip(episodes.totals, kept, strict=True))  # fmt: skip
    print(f"| {name} | {system.cells:,} | {system.question.parts} | {answer.lower:.4f} | {answer.upper:.4f} | {mean:.4f} ± "
          f"{error:.4f}{text} | {built - begun:.1f} | {solved - built:.1f} |", flush=True)  # fmt: skip
    assert answer.lower - 4 * error <= mean <= answer.upper + 4 * error


def compare(name):
    make, cells, *printed = PRINTED[name]
    line = f"| {name} | {cells:,} | " + " / ".join(f"{value:.4f}" for value in printed)
    for parts in (1, 2):
        begun = time.process_time()
        system = make(parts)
        lower = system.solve().values()[0]
        assert system.cells == cells
        line += f" | {lower.min():.4f} / {lower.mean():.4f} / {lower.max():.4f} ({time.process_time() - begun:.1f} s)"
    print(line + " |", flush=True)


for name in sys.argv[1:] or [*SYSTEMS, *PRINTED]:
    (measure if name in SYSTEMS else compare)(name)
