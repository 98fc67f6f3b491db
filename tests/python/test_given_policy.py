"""Policies speak of the states that the user has, also where the problem has others: pairs of a state and of what is decided,
and states that have become one."""

import json

import numpy as np
import pytest
import redoubt as rd
from endless import CRASH, GOAL, problem_of, random_model, small

SETS = [rd.Nominal(), rd.KL(0.02), rd.TV(0.02, reach="support"), rd.TV(0.02)]


def exported(solution, folder):
    solution.policy.export(folder / "policy.json")
    return json.loads((folder / "policy.json").read_text())


def part(policy, name, i):
    return range(policy[f"{name}_begin"][i], policy[f"{name}_begin"][i + 1])


def chance_to_reach(policy, P, start, label, steps):
    """By the arrays of the file, as docs/deploy.md describes them, and P[state][action] = {next: probability}."""
    index = policy["start_state"].index(start)
    now = {(start, policy["start_memory"][m]): policy["start_weight"][m] for m in part(policy, "start", index)}
    reached = 0.0
    for stage in range(steps):
        after = {}
        for (state, memory), weight in now.items():
            at = min(stage, policy["stages"] - 1) * policy["states"] + state
            for c in part(policy, "choice", policy["node_begin"][at] + memory):
                places = {policy["outcome_next"][o]: o for o in part(policy, "outcome", c)}
                for to, p in P[state][policy["choice_action"][c]].items():
                    mass = weight * policy["choice_weight"][c] * p
                    if to in label:
                        reached += mass
                        continue
                    for m in part(policy, "move", places[to]):
                        key = to, policy["move_memory"][m]
                        after[key] = after.get(key, 0.0) + mass * policy["move_weight"][m]
        now = {key: mass for key, mass in after.items() if mass > 1e-15}
    return reached


def table_of(problem):
    P = {s: {} for s in range(problem.states)}
    for s, actions in P.items():
        for row in range(problem.state_rows[s], problem.state_rows[s + 1]):
            outcomes = slice(problem.row_outcomes[row], problem.row_outcomes[row + 1])
            actions[int(problem.action[row])] = {
                to: p for to, p in zip(problem.next[outcomes].tolist(), problem.probability[outcomes].tolist(), strict=True) if p > 0
            }
    return P


@pytest.mark.parametrize("uncertainty", SETS, ids=repr)
@pytest.mark.parametrize("method", ["frontier", "rcvi"])
def test_goals_that_must_be_remembered(uncertainty, method, tmp_path):
    grid = rd.make("grid(size=3,hazards=0.4,horizon=8)", uncertainty=uncertainty)
    hazards = set(grid.labels["hazard"].tolist())
    problem = grid.replace(reward=rd.reach("goal"), constraints=[rd.at_most(rd.reach("hazard"), 0.6)])
    assert problem.states > grid.states
    solution = rd.solve(problem, method=method, **({"tolerance": 0.01} if method == "frontier" else {}))
    policy = exported(solution, tmp_path)
    assert policy["states"] == grid.states and policy["start_state"] == [int(np.argmax(grid.start))]
    chance = chance_to_reach(policy, table_of(grid), int(np.argmax(grid.start)), hazards, 8)
    assert chance <= solution.constraints[0].worst + 1e-9
    if not (isinstance(uncertainty, rd.TV) and uncertainty.reach == "anywhere"):  # whose pairs list more outcomes
        nominal = rd.evaluate(problem.replace(uncertainty=rd.Nominal()), solution.policy)
        assert chance == pytest.approx(nominal.constraints[0].worst, abs=1e-12)
    # A controller takes the same states, whatever nature does.
    controller, random = solution.policy.start(seed=1), np.random.default_rng(1)
    P = table_of(grid)
    for _ in range(20):
        controller.start()
        state = int(np.argmax(grid.start))
        while not controller.ended and P[state]:
            action = controller.act(state)
            state = int(random.choice(list(P[state][action])))
            controller.observe(state)
    with pytest.raises(rd.Error, match=f"state {grid.states}, must be in 0..{grid.states - 1}"):
        rd.Policy.start(solution.policy).act(grid.states)


def test_states_that_have_become_one(tmp_path):
    lifted = 0
    for seed in range(40):
        P, cost = random_model(seed)
        for asked, sign, label in ((dict(reward=rd.reach("goal")), 1, GOAL), (dict(minimise=rd.reach("crash")), -1, CRASH)):
            problem = problem_of(P, cost, **asked)
            solution = rd.solve(problem)
            table = {s: {a: {t: P[s, a, t] for t in np.flatnonzero(P[s, a]).tolist()} for a in range(2)} for s in range(7)}
            chance = chance_to_reach(exported(solution, tmp_path), table, 0, {label}, 3000)
            assert sign * chance == pytest.approx(solution.reward.worst, abs=1e-8)
            lifted += "or" in " ".join(problem.state_names).split()
    assert lifted > 20


def test_the_way_to_the_best_exit():
    # Three states in a ring: 0 leads to 1, that to 2, in the end, and that to 0. The best way out is at the last of them.
    P = [(0, 0, 1, 1.0), (0, 1, 3, 0.1), (0, 1, 4, 0.9), (1, 0, 2, 0.5), (1, 0, 1, 0.5), (2, 0, 0, 1.0), (2, 1, 3, 0.7), (2, 1, 4, 0.3)]
    problem = rd.Problem(P, rd.reach("goal"), labels={"goal": {3}}, states=5, start={0: 0.5, 1: 0.5}, horizon=None)
    solution = rd.solve(problem)
    assert problem.state_names[0] == "0 or 1 or 2" and solution.reward.worst == pytest.approx(0.7, abs=1e-12)
    controller = solution.policy.start()
    taken = []
    for state in (1, 1, 2):
        taken.append(controller.act(state))
        if state == 2:
            break
        controller.observe(1 if len(taken) == 1 else 2)
    assert taken == [0, 0, 1]
    with pytest.raises(rd.Error, match="states of the model have become one"):
        rd.Shield(solution)


def test_a_policy_that_depends_on_the_stage_where_states_have_become_one(tmp_path):
    # As above; going round takes decisions that the problem does not count, so that its stage must be remembered.
    P = [(0, 0, 1, 1.0), (0, 1, 3, 0.1), (0, 1, 4, 0.9), (1, 0, 2, 0.5), (1, 0, 1, 0.5), (2, 0, 0, 1.0), (2, 1, 5, 0.7), (2, 1, 4, 0.3),
         (5, 0, 3, 0.5), (5, 0, 0, 0.5), (5, 1, 3, 0.6), (5, 1, 4, 0.4)]  # fmt: skip
    table = {s: {} for s in range(6)}
    for s, a, to, p in P:
        table[s].setdefault(a, {})[to] = p
    for bound in (0.35, 0.5):
        problem = rd.Problem(P, rd.reach("goal"), labels={"goal": {3}, "bad": {4}}, states=6, horizon=None,
                             constraints=[rd.at_most(rd.reach("bad"), bound)])  # fmt: skip
        solution = rd.solve(problem, method="rcvi")
        assert " or " in problem.state_names[0] and solution.policy.stages > 1
        policy = exported(solution, tmp_path)
        assert policy["stages"] == 1 and policy["states"] == 6
        assert chance_to_reach(policy, table, 0, {3}, 3000) == pytest.approx(solution.reward.worst, abs=1e-8)
        assert chance_to_reach(policy, table, 0, {4}, 3000) == pytest.approx(solution.constraints[0].worst, abs=1e-8)


def test_a_shield_speaks_of_them_too():
    grid = rd.make("grid(size=3,hazards=0.4,horizon=8)", uncertainty=rd.KL(0.02))
    problem = grid.replace(reward=rd.reach("goal"), constraints=[rd.at_most(rd.reach("hazard"), 0.6)])
    shield, P = rd.Shield(rd.solve(problem, tolerance=0.01), seed=0), table_of(grid)
    random = np.random.default_rng(0)
    for _ in range(30):
        shield.start()
        state = int(np.argmax(grid.start))
        while not shield.ended and P[state]:
            allowed = shield.allowed(state)
            action = shield.take(int(random.choice(list(allowed))))
            state = int(random.choice(list(P[state][action])))
            shield.observe(state)
    with pytest.raises(rd.Error, match="no episode begins there"):
        rd.Shield(rd.solve(problem, tolerance=0.01)).allowed(int(np.argmin(grid.start)))


def test_gymnasium_speaks_of_them_too():
    pytest.importorskip("gymnasium")
    grid = rd.make("grid(size=3,hazards=0.4,horizon=8)", uncertainty=rd.KL(0.02))
    problem = grid.replace(reward=rd.reach("goal"), constraints=[rd.at_most(rd.reach("hazard"), 0.6)])
    solution, env = rd.solve(problem, tolerance=0.01), rd.as_gymnasium(problem)
    assert env.observation_space.n == grid.states
    totals = rd.GymController(solution, unmodelled="error").run(env, episodes=400, seed=3)
    nominal = rd.evaluate(problem.replace(uncertainty=rd.Nominal()), solution.policy)
    assert totals["reward"].mean() == pytest.approx(nominal.reward.worst, abs=0.1)  # five standard errors
    assert totals["reach hazard"].mean() == pytest.approx(nominal.constraints[0].worst, abs=0.13)
