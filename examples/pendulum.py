"""An inverted pendulum that must stay up, with a budget of control energy as the constraint."""

import numpy as np
import redoubt as rd

STEP = 0.1  # seconds


def swing(x, u):
    angle, speed = x
    return [angle + STEP * speed, speed + STEP * (9.81 * np.sin(angle) + u)]


system = rd.abstract(
    swing,
    noise=rd.Gaussian([0.005, 0.05]),
    domain=[(-0.3, 0.3), (-0.9, 0.9)],  # it has fallen where it leaves this
    cells=[15, 15],
    actions=[-3.0, 0.0, 3.0],
    start=[0.0, 0.0],
    signals={"energy": lambda x, u: STEP * u * u},
    constraints=[rd.at_most("energy", 3.0)],
    horizon=6,
    least_piece=1e-3,
)
answer = system.solve(tolerance=0.03)
print(f"up with probability {answer.lower:.3f} at least; no controller exceeds {answer.upper:.3f}")
print(f"energy {answer.below.constraints[0].worst:.3f} at most, in expectation and in the worst case")

episodes = answer.simulate(episodes=300, seed=1)
print(f"episodes: up {1 - episodes.hit.mean():.3f}, energy {episodes.mean('energy')[0]:.3f}")
