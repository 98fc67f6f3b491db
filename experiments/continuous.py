"""Continuous systems of docs/continuous.md: the guarantee, the bound, and 10,000 episodes of the system itself.

    .venv/bin/python experiments/continuous.py [NAME ...]

Prints a line of the table for each system: cells, groups, guarantee, bound, what the episodes had, seconds of processor time.
"""

import itertools
import sys
import time

import numpy as np
import redoubt as rd

EPISODES = 10_000


def robot():
    """IMPaCT, ex_2Drobot-RA-U: its cells, and ten of its 441 inputs."""

    def move(x, u):
        return [x[0] + 2 * u[0] * np.cos(u[1]), x[1] + 2 * u[0] * np.sin(u[1])]

    return rd.abstract(move, noise=rd.Gaussian([0.75**0.5] * 2), domain=[(-10, 10)] * 2, cells=40, start=[-5.5, -5.5],
                       actions=list(itertools.product((-1.0, 1.0), np.linspace(-1, 1, 5))), goal=[[(5, 8)] * 2],
                       hazards=[[(-1.5, 1.5)] * 2], horizon=20, least_piece=1e-3)  # fmt: skip


def rooms():
    """IMPaCT, ex_3Droom-S: eight cells along each axis instead of 20, and every third of its 36 inputs."""
    eta, beta, gamma, heater, outside = 0.20, 0.022, 0.05, 50.0, -1.0
    keeps = 1 - 2 * eta - beta

    def warm(x, u):
        first = (keeps - gamma * u[0]) * x[0] + eta * (x[1] + x[2]) + gamma * heater * u[0] + beta * outside
        second = keeps * x[1] + eta * (x[0] + x[2]) + beta * outside
        third = (keeps - gamma * u[1]) * x[2] + eta * (x[0] + x[1]) + gamma * heater * u[1] + beta * outside
        return [first, second, third]

    inputs = list(itertools.product(np.linspace(0, 1, 6), repeat=2))[::3]
    return rd.abstract(warm, noise=rd.Gaussian([0.02**0.5] * 3), domain=[(19, 21)] * 3, cells=8, actions=inputs,
                       start=[20.1] * 3, horizon=10, least_piece=1e-3)  # fmt: skip


def building():
    """IntervalMDPAbstractions.jl, bas_4d.jl: the same cells and inputs."""
    A = [[0.6682, 0, 0.02632, 0], [0, 0.683, 0, 0.02096], [1.0005, 0, -0.000499, 0], [0, 0.8004, 0, 0.1996]]
    step = rd.affine(A, [[0.1320], [0.1402], [0], [0]], [3.4378, 2.9272, 13.0207, 10.4166])
    noise = rd.Gaussian([12.9199**-0.5, 12.9199**-0.5, 2.5826**-0.5, 3.2276**-0.5])
    return rd.abstract(step, noise=noise, domain=[(19, 21), (19, 21), (30, 36), (30, 36)], cells=[4, 4, 6, 6],
                       actions=[[u] for u in np.linspace(17, 20, 4)], start=[20.1, 20.1, 33.1, 33.1], horizon=10,
                       least_piece=1e-2)  # fmt: skip


def integrator():
    """IntervalMDPAbstractions.jl, integrator_chain.jl in two dimensions: reach within five steps, finer cells (.2, not .4)."""
    return rd.abstract(rd.affine([[1, 0.1], [0, 1]], [[0.005], [0.1]]), noise=rd.Gaussian([0.1, 0.1]),
                       domain=[(-10, 10)] * 2, cells=100, actions=[[u] for u in np.linspace(-1, 1, 11)],
                       start=[-8.5, 4.0], goal=[[(-8, 8)] * 2], horizon=5, least_piece=1e-4)  # fmt: skip


def pendulum():
    """Our own: stay up for six steps of a tenth of a second, with at most 3 of energy."""

    def swing(x, u):
        return [x[0] + 0.1 * x[1], x[1] + 0.1 * (9.81 * np.sin(x[0]) + u)]

    return rd.abstract(swing, noise=rd.Gaussian([0.005, 0.05]), domain=[(-0.3, 0.3), (-0.9, 0.9)], cells=15,
                       actions=[-3.0, 0.0, 3.0], start=[0.0, 0.0], signals={"energy": lambda x, u: 0.1 * u * u},
                       constraints=[rd.at_most("energy", 3.0)], horizon=6, least_piece=1e-3)  # fmt: skip


SYSTEMS = {"robot": robot, "rooms": rooms, "building": building, "integrator": integrator, "pendulum": pendulum}

for name in sys.argv[1:] or SYSTEMS:
    begun = time.process_time()
    system = SYSTEMS[name]()
    built = time.process_time()
    answer = system.solve(**({"tolerance": 0.03} if name == "pendulum" else {}))
    solved = time.process_time()
    episodes = answer.simulate(EPISODES, seed=1)
    mean, error = episodes.mean("reached")
    if not episodes.reached.any():
        mean, error = 1 - episodes.mean("hit")[0], episodes.mean("hit")[1]
    text = "".join(f", {key} {episodes.mean(key)[0]:.3f} (at most {c.bound:g}, guaranteed {c.worst:.3f})"
                   for key, c in zip(episodes.totals, answer.below.constraints, strict=True))  # fmt: skip
    print(f"| {name} | {system.cells:,} | {system.rows.groups:,} | {answer.lower:.4f} | {answer.upper:.4f} | {mean:.4f} ± "
          f"{error:.4f}{text} | {built - begun:.1f} | {solved - built:.1f} |", flush=True)  # fmt: skip
    assert answer.lower - 4 * error <= mean <= answer.upper + 4 * error
