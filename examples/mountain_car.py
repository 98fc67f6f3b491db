"""A car that is too weak for the mountain: a Gymnasium environment on a grid, and its controller run in the environment.

    python examples/mountain_car.py

Where cells lead is estimated from samples of the environment, so the answer is estimated, too, not proved.
"""

import redoubt as rd

system = rd.abstract_gymnasium("MountainCarContinuous-v0", cells=[60, 50], start=[-0.5, 0.0], repeat=10, horizon=20, samples=0,
                               actions=[[-1.0], [1.0]], goal=[[(0.45, 0.7), None]])  # fmt: skip
print(system)
answer = system.solve()
print(f"The goal is reached within 200 steps with probability {answer.lower:.3f} to {answer.upper:.3f}, by this estimate.")
found = system.run(answer, episodes=10)
print(f"In Gymnasium: reached in {found['reached']:.0%} of 10 episodes, mean reward {found['reward']:.1f}.")
