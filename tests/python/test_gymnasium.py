"""Gymnasium environments in, controllers and environments out."""

import gymnasium
import numpy as np
import pytest
import redoubt as rd
from gymnasium.utils.env_checker import check_env


def lake(**options):
    return gymnasium.make("FrozenLake-v1", map_name="4x4", **options)


HOLES = {5, 7, 11, 12}


def test_frozen_lake_is_read_as_it_is():
    problem = rd.from_gymnasium(lake(), signals={"hazard": HOLES}, horizon=100)
    assert (problem.states, problem.actions) == (16, 4)
    has_actions = np.diff(problem.state_rows) > 0
    assert set(np.flatnonzero(~has_actions)) == HOLES | {15}
    np.testing.assert_array_equal(problem.start, np.eye(16)[0])
    # In the corner, left: one third down, two thirds stay (two of the three duplicates are merged).
    np.testing.assert_array_equal(problem.next[: problem.row_outcomes[1]], [0, 4])
    np.testing.assert_allclose(problem.probability[: problem.row_outcomes[1]], [2 / 3, 1 / 3])
    np.testing.assert_array_equal(problem.outcome_signals["hazard"] > 0, np.isin(problem.next, list(HOLES)))


def value_iteration(env, steps):
    table, values = env.unwrapped.P, np.zeros(env.observation_space.n)
    for _ in range(steps):
        total = lambda outcomes, v=values: sum(p * (r + (0 if ends else v[n])) for p, n, r, ends in outcomes)
        values = np.array([max(map(total, actions.values())) for _, actions in sorted(table.items())])
    return values


@pytest.mark.parametrize(
    ("name", "states", "ends"), [("FrozenLake-v1", 16, 0), ("CliffWalking-v1", 48, 0), ("Taxi-v4", 500, 1)]
)
def test_nominal_values_are_those_of_the_table(name, states, ends):
    env = gymnasium.make(name)
    problem = rd.from_gymnasium(env, horizon=20)
    assert problem.states == states + ends
    start = np.asarray(env.unwrapped.initial_state_distrib)
    assert rd.solve(problem, "nominal").reward.worst == pytest.approx(start @ value_iteration(env, 20), abs=1e-9)


def test_signals_as_functions_sets_and_arrays_agree():
    env = gymnasium.make("Taxi-v4")
    cells = {state for state in range(500) if state % 7 == 0}
    entered = rd.from_gymnasium(env, signals={"visits": cells}, horizon=5)
    called = rd.from_gymnasium(env, signals={"visits": lambda s, a, n: n % 7 == 0}, horizon=5)
    assert entered == called
    pushes = np.arange(500.0)[:, None] * np.ones(6)
    tabled = rd.from_gymnasium(env, signals={"pushes": pushes}, horizon=5)
    np.testing.assert_array_equal(tabled.signals["pushes"], pushes[:500].ravel())


def test_a_reward_that_all_outcomes_share_belongs_to_the_row():
    problem = rd.from_gymnasium(gymnasium.make("CliffWalking-v1", is_slippery=False), horizon=5)
    assert set(problem.reward) == {-1.0, -100.0}
    assert not problem.outcome_reward.any()


def test_environments_without_a_table_are_refused():
    with pytest.raises(rd.Error, match="BlackjackEnv has no table P"):
        rd.from_gymnasium(gymnasium.make("Blackjack-v1"), horizon=5)


def test_the_controller_acts_in_a_gymnasium_loop():
    env = lake()
    problem = rd.from_gymnasium(env, signals={"hazard": HOLES}, horizon=100,
                                constraints=[rd.at_most("hazard", 0.4)])  # fmt: skip
    solution = rd.solve(problem, "rcvi", budget_cells=20)
    episodes = rd.GymController(solution, seed=1).run(env, episodes=400, seed=5)
    expected = solution.reward.worst
    error = episodes["reward"].std() / 20
    assert abs(episodes["reward"].mean() - expected) < 4 * error + 1e-3


def test_a_problem_is_an_environment_whose_info_has_the_signals():
    problem = rd.make("river_swim(horizon=10,start=3)", uncertainty=rd.Nominal())
    env = rd.as_gymnasium(problem)
    check_env(env, skip_render_check=True)
    solution = rd.solve(problem, "rcvi")
    episodes = rd.GymController(solution).run(env, episodes=2000, seed=1)
    assert set(episodes["steps"]) == {10}
    error = episodes["cost"].std() / np.sqrt(2000)
    assert abs(episodes["cost"].mean() - solution.constraints[0].worst) < 4 * error


def test_there_and_back():
    problem = rd.from_gymnasium(lake(), horizon=7)
    again = rd.from_gymnasium(rd.as_gymnasium(problem), horizon=7)
    assert again == problem
    env = rd.as_gymnasium(problem)
    env.reset(seed=0)
    with pytest.raises(rd.Error, match="action 9 of state 0, must be one of 0, 1, 2, 3"):
        env.step(9)


def hidden_world(states=12, actions=3, seed=4):
    """A model with rare outcomes, and what a log of few transitions shows of it."""
    random = np.random.default_rng(seed)
    P = random.dirichlet(np.full(states, 0.15), (states, actions))
    seen = np.stack([[random.multinomial(25, row) for row in of_state] for of_state in P])
    values = {"reward": random.random((states, actions)), "signals": {"cost": random.random((states, actions))}}
    terms = dict(horizon=8, constraints=[rd.at_most("cost", 3.5)], order="sas", **values)
    return rd.Problem(P, **terms), rd.Problem(seen / 25, **terms, uncertainty=rd.KL(0.05))


def died(solution, env, episodes=150):
    count = 0
    controller = rd.GymController(solution, unmodelled="error")
    for episode in range(episodes):
        try:
            controller.run(env, 1, seed=episode)
        except rd.Error as error:
            assert "never leads there" in str(error)
            count += 1
    return count / episodes


@pytest.mark.parametrize("method", ["robust", "rcvi", "frontier"])
def test_controllers_survive_a_world_that_is_not_the_model(method):
    world, learnt = hidden_world()
    env, solution = rd.as_gymnasium(world), rd.solve(learnt, method=method)
    assert died(solution, env) > 0.1
    controller = rd.GymController(solution)
    episodes = controller.run(env, 150, seed=0)
    assert set(episodes["steps"]) == {8}
    assert controller.unmodelled > 10
    # Foreseen or not, decisions keep the promise on the whole: far from what caring for reward alone costs.
    careless = rd.GymController(rd.solve(learnt, method="robust")).run(env, 150, seed=0)
    if method != "robust":
        assert episodes["cost"].mean() < careless["cost"].mean()


@pytest.mark.parametrize("method", ["rcvi", "frontier"])
def test_random_costs_are_told_apart_by_info(method):
    transitions = [
        {"state": s, "action": a, "next": n, "p": p, "reward": float(a), "signals": {"cost": cost}}
        for s in range(2) for a in range(2) for n, p, cost in [(0, 0.3, a), (0, 0.3, 2.0 * a), (1, 0.4, 0.0)]
    ]  # fmt: skip
    problem = rd.Problem(transitions, horizon=6, constraints=[rd.at_most("cost", 2.5)])
    env, solution = rd.as_gymnasium(problem), rd.solve(problem, method=method)
    controller = rd.GymController(solution, unmodelled="error")
    episodes = controller.run(env, 2000, seed=3)
    assert controller.unmodelled == 0
    error = episodes["cost"].std() / np.sqrt(2000)
    assert abs(episodes["cost"].mean() - solution.constraints[0].worst) < 4 * error + 1e-3
    with pytest.raises(rd.Error, match="unmodelled = 'ignore', must be 'error' or 'continue'"):
        rd.GymController(solution, unmodelled="ignore")
