"""FrozenLake 8x8 behind a shield: a Q-learner that falls in 15 of 100 episodes at worst, while it learns.

python examples/shielded_learner.py [EPISODES]
"""

import sys

import gymnasium
import numpy as np
import redoubt as rd

BOUND = 0.15


def learn(env, episodes, seed=0):
    """Tabular Q-learning, the plain one; what it earned and whether it fell, for each episode."""
    rng, values = np.random.default_rng(seed), np.zeros((64, 4))
    earned, fell = np.zeros(episodes), np.zeros(episodes, dtype=bool)
    for episode in range(episodes):
        state, info = env.reset(seed=seed if episode == 0 else None)
        explore = max(0.05, 1 - episode / (0.5 * episodes))
        done = False
        while not done:
            best = np.flatnonzero(values[state] == values[state].max())
            wanted = int(rng.integers(4)) if rng.random() < explore else int(rng.choice(best))
            after, reward, terminated, truncated, info = env.step(wanted)
            action = info.get("action", wanted)  # it learns from what was done
            target = reward + (0.0 if terminated else 0.99 * values[after].max())
            values[state, action] += 0.1 * (target - values[state, action])
            earned[episode] += reward
            state, done = after, terminated or truncated
        fell[episode] = terminated and reward == 0
    return earned, fell


def main(episodes=100):
    env = gymnasium.make("FrozenLake-v1", map_name="8x8", max_episode_steps=100)
    holes = {i for i, tile in enumerate(env.unwrapped.desc.ravel()) if tile == b"H"}
    problem = rd.from_gymnasium(env, signals={"hazard": holes}, horizon=100, uncertainty=rd.KL(0.01),
                                constraints=[rd.at_most("hazard", BOUND)])  # fmt: skip
    solution = rd.solve(problem, tolerance=1e-2)
    print(
        f"certified, worst case:          goal {solution.reward.worst:.1%}, holes {solution.constraints[0].worst:.1%}"
    )
    simulated = rd.simulate(problem, solution, episodes=10_000)
    print(
        f"certified policy, nominal:      goal {simulated.reward.mean:.1%}, holes {simulated.constraints[0].mean:.1%}"
    )

    shielded = rd.ShieldedEnv(env, solution)
    last = episodes // 5
    for name, world in (("behind the shield", shielded), ("without", env)):
        earned, fell = learn(world, episodes)
        print(f"{name + ', while it learns:':<31} goal {earned.mean():.1%}, holes {fell.mean():.1%}; "
              f"last fifth: goal {earned[-last:].mean():.1%}, holes {fell[-last:].mean():.1%}")  # fmt: skip
        if world is shielded:
            assert fell.mean() <= BOUND + 4 * np.sqrt(BOUND * (1 - BOUND) / episodes)
    shield = shielded.get_wrapper_attr("shield")
    print(
        f"the shield let {1 - shield.corrected / shield.steps:.1%} of {shield.steps:,} steps pass as they were wanted"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
