"""FrozenLake 8x8, slippery, 100 steps, KL 0.05: certified, and what is certified holds in Gymnasium itself."""

import gymnasium
import numpy as np
import redoubt as rd

BOUND = 0.8  # falls of an episode in the worst case; the best policy without a bound has 0.93
EPISODES = 10_000


def test_ten_thousand_episodes_keep_the_certified_bound():
    env = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True, disable_env_checker=True)
    holes = {i for i, tile in enumerate(env.unwrapped.desc.ravel()) if tile == b"H"}
    problem = rd.from_gymnasium(env, signals={"hazard": holes}, constraints=[rd.at_most("hazard", BOUND)],
                                uncertainty=rd.KL(0.05), horizon=100)  # fmt: skip
    assert rd.solve(problem, "robust").constraints[0].worst > BOUND  # the bound binds
    solution = rd.solve(problem, method="frontier", tolerance=1e-3, threads=2)
    assert solution.status == "certified"
    assert solution.constraints[0].worst <= BOUND * (1 + 1e-12)  # which is met exactly, up to rounding
    assert solution.gap <= 1e-3 * solution.reward.bound

    controller = rd.GymController(solution, seed=1)
    reached, fell = np.zeros(EPISODES), np.zeros(EPISODES)
    for episode in range(EPISODES):
        observation, _ = env.reset(seed=7 if episode == 0 else None)
        controller.reset()
        done = False
        while not done:
            observation, reward, terminated, truncated, _ = env.step(controller(observation))
            done = terminated or truncated
        reached[episode], fell[episode] = reward, observation in holes
    assert fell.mean() <= BOUND
    # What the library says of this policy under the nominal model is what the environment shows.
    nominal = rd.evaluate(problem.replace(uncertainty=rd.Nominal()), solution.policy)
    for seen, said in ((reached, nominal.reward.worst), (fell, nominal.constraints[0].worst)):
        assert abs(seen.mean() - said) <= 4 * seen.std() / np.sqrt(EPISODES)
