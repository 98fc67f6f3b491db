"""What one can ask of a policy: episodes, the controller, what nature does, the independent check."""

import numpy as np
import pytest
import redoubt as rd

RIVER = rd.make("river_swim(horizon=10,start=3)")


@pytest.fixture(scope="module")
def solution():
    return rd.solve(RIVER, "rcvi")


def test_verify_agrees_with_evaluate(solution):
    slow, fast = rd.verify(RIVER, solution), rd.evaluate(RIVER, solution)
    assert slow.reward.worst == pytest.approx(fast.reward.worst, abs=1e-9)
    assert slow.constraints[0].worst == pytest.approx(fast.constraints[0].worst, abs=1e-9)


def test_the_controller_runs_episodes_like_simulate(solution):
    """An episode loop in numpy, on nominal outcomes, has the mean that evaluation without uncertainty says."""
    nominal = rd.evaluate(RIVER.replace(uncertainty=rd.Nominal()), solution)
    matrix = RIVER.transition_matrix().toarray()
    random = np.random.default_rng(1)
    controller = solution.policy.start(seed=3)
    totals = []
    for _ in range(4000):
        controller.start()
        state, reward = 3, 0.0
        while not controller.ended:
            row = 2 * state + controller.act(state)
            state = random.choice(6, p=matrix[row])
            controller.observe(state)
            reward += RIVER.reward[row]
        totals.append(reward)
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - nominal.reward.worst) < 4 * error


def test_simulation_tends_to_the_evaluation_and_does_not_depend_on_threads(solution):
    worst = rd.evaluate(RIVER, solution)
    runs = [rd.simulate(RIVER, solution, episodes=20_000, nature="worst-cost", threads=t) for t in (1, 2)]
    cost = runs[0].constraints[0]
    assert abs(cost.mean - worst.constraints[0].worst) < 4 * cost.standard_error
    np.testing.assert_array_equal(runs[0].reward.totals, runs[1].reward.totals)
    assert len(cost.totals) == 20_000
    other = rd.simulate(RIVER, solution, episodes=10, seed=1)
    assert not np.array_equal(other.reward.totals, runs[0].reward.totals[:10])


def test_the_worst_kernel_is_in_the_set_and_attains_the_value():
    """Against a Markov policy: one step of the Bellman equation by hand, with the kernel that nature returns."""
    problem = rd.make("river_swim(horizon=2,start=3)", uncertainty=rd.KL(0.1))
    policy = rd.Policy.markov(problem, np.tile([0.0, 1.0], (6, 1)))
    kernel = rd.worst_kernel(problem, policy, "reward")
    choice = kernel.at(state=3, action=1)
    nominal = problem.probability[problem.row_outcomes[7] : problem.row_outcomes[8]]
    assert choice.probability.sum() == pytest.approx(1)
    assert (choice.probability * np.log(choice.probability / nominal)).sum() <= 0.1 + 1e-9
    after = [problem.reward[2 * s + 1] for s in problem.next[problem.row_outcomes[7] : problem.row_outcomes[8]]]
    assert choice.value == pytest.approx(problem.reward[7] + choice.probability @ after, abs=1e-9)
    assert choice.value == pytest.approx(rd.evaluate(problem, policy).reward.worst, abs=1e-9)
    np.testing.assert_allclose(
        kernel.rows().probability[0][problem.row_outcomes[7] : problem.row_outcomes[8]], choice.probability
    )


def test_bad_questions_are_errors(solution):
    with pytest.raises(rd.Error, match="nature"):
        rd.simulate(RIVER, solution, nature="worst-weather")
    with pytest.raises(rd.Error, match="unknown option 'episode' of simulate .did you mean 'episodes'"):
        rd.simulate(RIVER, solution, episode=3)
    with pytest.raises(rd.Error, match="action 7 of state 3, must be one of 0, 1"):
        rd.worst_kernel(RIVER, solution).at(state=3, action=7)
    with pytest.raises(rd.Error, match="state"):
        solution.policy.start().act(99)
