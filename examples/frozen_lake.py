"""FrozenLake with a hazard budget: reach the goal, and fall into a hole at most 35 times in 100, at worst."""

import gymnasium
import numpy as np
import redoubt as rd

env = gymnasium.make("FrozenLake-v1", map_name="4x4")
holes = {i for i, tile in enumerate(env.unwrapped.desc.ravel()) if tile == b"H"}
problem = rd.from_gymnasium(
    env,
    signals={"hazard": holes},  # counts arrivals in a hole
    constraints=[rd.at_most("hazard", 0.35)],
    uncertainty=rd.KL(0.01),
    horizon=100,
)
solution = rd.solve(problem, method="frontier")
print(solution)

# The controller in an ordinary Gymnasium loop, where nothing is against it.
controller = rd.GymController(solution, seed=1)
falls = []
for episode in range(1000):
    observation, _ = env.reset(seed=episode)
    controller.reset()
    done = False
    while not done:
        observation, reward, terminated, truncated, _ = env.step(controller(observation))
        done = terminated or truncated
    falls.append(observation in holes)
print(f"falls in {np.mean(falls):.1%} of 1000 episodes; the guarantee is {solution.constraints[0].worst:.1%}")
