"""A robot in the plane: reach a square around an obstacle, with wind that the controller cannot see coming."""

import sys

import numpy as np
import redoubt as rd


def move(x, u):
    speed, heading = u
    return [x[0] + 2 * speed * np.cos(heading), x[1] + 2 * speed * np.sin(heading)]


system = rd.abstract(
    move,
    noise=rd.Gaussian([0.75**0.5, 0.75**0.5]),
    domain=[(-10, 10), (-10, 10)],  # leaving it is a hazard
    cells=20,
    actions=[(speed, heading) for speed in (-1.0, 1.0) for heading in (-1.0, -0.5, 0.0, 0.5, 1.0)],
    start=[-5.5, -5.5],
    goal=[[(5, 8), (5, 8)]],
    hazards=[[(-1.5, 1.5), (-1.5, 1.5)]],
    horizon=20,
    least_piece=1e-4,  # of the wind, which ends up in one outcome at either end
)
answer = system.solve()
print(f"{system.cells} cells: reached with probability {answer.lower:.3f} at least; no controller exceeds {answer.upper:.3f}")

episodes = answer.simulate(episodes=500, seed=1)
mean, error = episodes.mean("reached")
print(f"episodes of the continuous system: {mean:.3f}, give or take {error:.3f}")

if len(sys.argv) > 1:  # a picture of the guarantee in each cell, with episodes
    rd.plots.cells(answer, "lower", episodes=episodes).figure.savefig(sys.argv[1], dpi=100)
