"""The shield from Python: permissions, the Gymnasium wrapper, and larger problems against a worst nature."""

import numpy as np
import pytest
import redoubt as rd

gymnasium = pytest.importorskip("gymnasium")
RIVER = "river_swim(horizon=10,start=3)"


@pytest.fixture(scope="module")
def river():
    problem = rd.make(RIVER)
    return problem, rd.solve(problem)


def test_permissions_follow_the_promise(river):
    problem, solution = river
    shield = rd.Shield(solution, seed=3)
    best = rd.achievable_range(problem).best
    seen = set()
    for _ in range(30):
        shield.start()
        assert shield.promise == []
        state = 3
        while not shield.ended:
            allowed = shield.allowed(state)
            assert allowed and all(0 < largest <= 1 for largest in allowed.values())
            seen |= {largest < 1 for largest in allowed.values()}
            if shield.stage == 0:
                assert best <= shield.promise[0] <= 4 + 1e-9
            taken = shield.take(1)  # upstream, where the danger is
            assert taken == 1 or allowed.get(1, 0) < 1
            row = problem.row_of(state, taken)
            state = int(problem.next[problem.row_outcomes[row + 1] - 1])  # the current never wins
            shield.observe(state)
    assert seen == {True, False}
    assert 0 < shield.corrected < shield.steps
    assert "steps corrected" in repr(shield)


def against(problem, solution, wants, nature, episodes, seed=0):
    """Totals of the cost when a foreign policy acts behind the shield and nature draws from given rows."""
    shield, rng = rd.Shield(solution, seed), np.random.default_rng(seed)
    cost, offsets, after = problem.signals["cost"], problem.row_outcomes, problem.next
    totals = np.zeros(episodes)
    start = np.flatnonzero(problem.start)
    for episode in range(episodes):
        shield.start()
        state = int(rng.choice(start))
        for stage in range(problem.horizon):
            shield.allowed(state)
            action = shield.take(wants(stage, state, rng))
            row = problem.row_of(state, action)
            outcomes = slice(offsets[row], offsets[row + 1])
            weights = np.asarray(nature[stage][outcomes])
            drawn = int(rng.choice(len(weights), p=weights / weights.sum()))
            totals[episode] += cost[row] + problem.outcome_signals["cost"][offsets[row] + drawn]
            state = int(after[offsets[row] + drawn])
            shield.observe(state)
    return totals, 1 - shield.corrected / shield.steps


def test_a_worst_nature_on_a_larger_problem():
    problem = rd.make("garnet(states=60,actions=4,successors=4,horizon=15,seed=1)")
    span = rd.achievable_range(problem)
    bound = span.best + 0.25 * (span.worst - span.best)
    problem = problem.replace(constraints=[rd.at_most("cost", bound)])
    solution = rd.solve(problem, tolerance=1e-2)
    greedy = rd.solve(problem, "robust").policy
    nature = rd.worst_kernel(problem, greedy, "cost").rows().probability
    best = {(h, s): int(np.argmax(greedy.action_weights(s, h))) for h in range(15) for s in range(60)}
    foreign = {
        "random": lambda stage, state, rng: int(rng.integers(4)),
        "harm": lambda stage, state, rng: int(np.argmax(problem.signals["cost"][problem.state_rows[state]:][:4])),
        "greedy": lambda stage, state, rng: best[stage, state],
    }  # fmt: skip
    passed = {}
    for name, wants in foreign.items():
        totals, passed[name] = against(problem, solution, wants, nature, 80)
        assert totals.mean() <= bound + 4 * totals.std() / np.sqrt(len(totals)), name
    assert passed["greedy"] > 0.3  # most of what a greedy policy wants goes through


def test_the_wrapper_says_what_it_did(river):
    problem, solution = river
    env = rd.ShieldedEnv(rd.as_gymnasium(problem), solution, seed=1)
    corrected = 0
    for episode in range(40):
        observation, info = env.reset(seed=episode)
        done = False
        while not done:
            assert info["action_mask"].tolist() == [int(info["allowed"].get(a, 0) >= 1) for a in range(2)]
            wanted = 1
            observation, reward, terminated, truncated, info = env.step(wanted)
            assert info["corrected"] == (info["action"] != wanted)
            corrected += info["corrected"]
            done = terminated or truncated
    shield = env.get_wrapper_attr("shield")
    assert shield.steps == 400 and shield.corrected == corrected > 0


def test_several_constraints():
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.ones(4), size=(4, 3))
    problem = rd.Problem(P, reward=rng.random((4, 3)), signals={"a": rng.random((4, 3)), "b": rng.random((4, 3))},
                         order="sas", horizon=4, uncertainty=rd.KL(0.05),
                         constraints=[rd.at_most("a", 2.0), rd.at_least("b", 1.6)])  # fmt: skip
    solution = rd.solve(problem)
    shield = rd.Shield(solution)
    assert len(shield.promise) == 0
    shield.allowed(0)
    a, b = shield.promise
    assert a <= 2 + 1e-9 and b >= 1.6 - 1e-9


def test_what_it_refuses(river):
    problem, solution = river
    with pytest.raises(rd.Error, match="stands on a policy that keeps the constraints"):
        rd.Shield(rd.solve(problem, "robust"))
    chance = problem.replace(constraints=[rd.chance("cost", at_most=4, probability=0.5)])
    with pytest.raises(rd.Error, match="chance constraint"):
        rd.Shield(rd.Policy(solution.policy._policy, chance))
    with pytest.raises(rd.Error, match="must be a Policy or a Solution"):
        rd.Shield(problem)
    shield = rd.Shield(solution)
    with pytest.raises(rd.Error, match="no episode begins there"):
        shield.allowed(0)
    shield.allowed(3)
    shield.take(0)
    with pytest.raises(rd.Error, match="never leads there"):
        shield.observe(5)
    shield.observe(2)  # nothing was changed by the error
    assert shield.stage == 1
