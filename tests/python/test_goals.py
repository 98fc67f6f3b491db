"""Goals: what is asked of labels, against dynamic programs and linear programs that know nothing of the library."""

import itertools
import json

import numpy as np
import pytest
import redoubt as rd
import scipy.optimize
from program import refused, run

STATES, ACTIONS = 5, 2


def random_model(seed):
    """Transition rows with few outcomes, a reward, a cost, and the labels goal, crash and safe."""
    draw = np.random.default_rng(seed)
    P = np.zeros((STATES, ACTIONS, STATES))
    for s, a in itertools.product(range(STATES), range(ACTIONS)):
        P[s, a, draw.choice(STATES, 3, replace=False)] = draw.dirichlet(np.ones(3))
    labels = {name: set(draw.choice(STATES, size, replace=False).tolist())
              for name, size in (("goal", 1), ("crash", 1), ("safe", 3))}  # fmt: skip
    return P, draw.random((STATES, ACTIONS)), draw.random((STATES, ACTIONS)), labels, int(draw.integers(STATES))


def worst_tv(radius, p, v):
    """Mass moves from the best outcomes to the worst of all states."""
    p, worst = p.copy(), int(np.argmin(v))
    left = radius
    for best in np.argsort(-v):
        moved = min(left, p[best]) if best != worst else 0.0
        p[best] -= moved
        p[worst] += moved
        left -= moved
    return float(p @ v)


def worst_in(uncertainty, p, v):
    listed = p > 0
    if isinstance(uncertainty, rd.TV):
        anywhere = uncertainty.reach == "anywhere"
        return worst_tv(uncertainty.radius, *((p, v) if anywhere else (p[listed], v[listed])))
    return float(rd.worst_case(uncertainty, p[listed], v[listed]))


def decided(goal, labels, state):
    """Whether a state decides the goal, and what the goal is then worth."""
    kind, *names = goal
    hit = state in labels[names[-1]]
    if kind == "until" and not hit:
        return state not in labels[names[0]], 0.0
    return hit, float(hit and kind in ("reach", "until"))


def best_value(P, cost, labels, goal, horizon, start, uncertainty, sign):
    """The best worst case of the goal: by states that are decided or not, backwards from the horizon.

    `sign` is 1 for a goal that is maximised and -1 for one that is minimised; nature does the opposite.
    """
    value = np.zeros(STATES)
    for _ in range(horizon):
        after = np.array([decided(goal, labels, s)[1] if decided(goal, labels, s)[0] else value[s]
                          for s in range(STATES)])  # fmt: skip
        q = np.empty((STATES, ACTIONS))
        for s, a in itertools.product(range(STATES), range(ACTIONS)):
            own = {"steps": 1.0, "total": cost[s, a]}.get(goal[0], 0.0)
            q[s, a] = sign * own + worst_in(uncertainty, P[s, a], sign * after)
        value = sign * q.max(axis=1)
    done, worth = decided(goal, labels, start)
    return worth if done else float(value[start])


SETS = [rd.Nominal(), rd.TV(0.2), rd.TV(0.2, reach="support"), rd.KL(0.1), rd.Chi2(0.2)]
GOALS = {
    ("reach", "goal"): rd.reach("goal"),
    ("until", "safe", "goal"): rd.until("safe", "goal"),
    ("steps", "goal"): rd.steps_to("goal"),
    ("total", "goal"): rd.total_until("cost", "goal"),
}


@pytest.mark.parametrize("uncertainty", SETS, ids=["none", "anywhere", "support", "kl", "chi2"])
@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal[0])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_every_goal(seed, goal, uncertainty):
    P, _, cost, labels, start = random_model(seed)
    start = {start: 0.5, seed % STATES: 0.5} if start != seed % STATES else start
    for horizon, maximise, slack in itertools.product((1, 2, 5), (True, False), (True, False)):
        objective = {"reward": GOALS[goal]} if maximise else {"minimise": GOALS[goal]}
        # A constraint on a signal, which goes on after the goal, makes a product of what ends at it otherwise.
        problem = rd.Problem(P, signals={"cost": cost}, order="sas", horizon=horizon, start=start, labels=labels,
                             constraints=[rd.at_most("cost", 100)] if slack else [], uncertainty=uncertainty,
                             **objective)  # fmt: skip
        sign = 1 if maximise else -1
        starts = start if isinstance(start, dict) else {start: 1.0}
        expected = sum(p * best_value(P, cost, labels, goal, horizon, s, uncertainty, sign) for s, p in starts.items())
        solution = rd.solve(problem, method="robust")
        assert sign * solution.reward.worst == pytest.approx(expected, abs=1e-7)
        assert sign * rd.verify(problem, solution.policy).reward.worst == pytest.approx(expected, abs=1e-7)


def test_to_avoid_is_not_to_reach():
    for seed, uncertainty in itertools.product(range(6), SETS):
        P, _, cost, labels, start = random_model(seed)
        terms = dict(order="sas", horizon=4, start=start, labels=labels, uncertainty=uncertainty, signals={"cost": cost})
        avoided = rd.solve(rd.Problem(P, rd.avoid("crash"), **terms), method="robust").reward.worst
        expected = 1 - best_value(P, cost, labels, ("reach", "crash"), 4, start, uncertainty, -1)
        assert avoided == pytest.approx(expected, abs=1e-7)


def best_by_lp(P, reward, labels, goals, horizon, start):
    """The most reward under bounds on goals: flows through (stage, state, which goals are decided), by HiGHS.

    `goals` has (goal, sense, bound); what an undecided goal earns is paid on arrival or for each decision.
    """
    first = tuple(decided(goal, labels, start)[0] for goal, _, _ in goals)
    constant = [decided(goal, labels, start)[1] for goal, _, _ in goals]
    nodes, flows, gains, paid, balance = {(0, start, first): 0}, [], [], [[] for _ in goals], []
    queue = [(0, start, first)]
    while queue:
        stage, s, done = queue.pop()
        if stage == horizon:
            continue
        for a in range(ACTIONS):
            column, earned = len(flows), np.zeros(len(goals))
            flows.append(nodes[stage, s, done])
            gains.append(reward[s, a])
            for t in np.flatnonzero(P[s, a]):
                now = tuple(was or decided(goal, labels, t)[0] for was, (goal, _, _) in zip(done, goals))
                for g, (goal, _, _) in enumerate(goals):
                    earned[g] += 0.0 if done[g] else P[s, a, t] * decided(goal, labels, t)[1]
                if (stage + 1, t, now) not in nodes:
                    nodes[stage + 1, t, now] = len(nodes)
                    queue.append((stage + 1, t, now))
                balance.append((nodes[stage + 1, t, now], column, P[s, a, t]))
            for g, (goal, _, _) in enumerate(goals):
                paid[g].append(earned[g] + (goal[0] == "steps" and not done[g]))
    last = {number for (stage, _, _), number in nodes.items() if stage == horizon}
    A = np.zeros((len(nodes), len(flows)))
    for column, node in enumerate(flows):
        A[node, column] += 1
    for node, column, p in balance:
        A[node, column] -= p
    keep = [n for n in range(len(nodes)) if n not in last]
    b = np.zeros(len(nodes))
    b[0] = 1
    signs = [1 if sense == "at_most" else -1 for _, sense, _ in goals]
    bounds = [sign * (bound - constant[g]) for g, (sign, (_, _, bound)) in enumerate(zip(signs, goals))]
    found = scipy.optimize.linprog(-np.array(gains), A_eq=A[keep], b_eq=b[keep], method="highs",
                                   A_ub=[sign * np.array(row) for sign, row in zip(signs, paid)], b_ub=bounds)  # fmt: skip
    return -found.fun if found.status == 0 else None


@pytest.mark.parametrize("seed", range(12))
def test_rewards_under_several_goals_against_a_linear_program(seed):
    P, reward, cost, labels, start = random_model(seed)
    horizon = 4
    chosen = [("reach", "goal"), ("reach", "crash"), ("until", "safe", "goal")][: 1 + seed % 3]
    ranges, goals = {}, []
    for goal in chosen:
        ends = [best_value(P, cost, labels, goal, horizon, start, rd.Nominal(), sign) for sign in (-1, 1)]
        sense = "at_most" if goal[-1] == "crash" else "at_least"
        goals.append((goal, sense, 0.5 * sum(ends)))
        ranges[goal] = ends
    words = {("reach", "crash"): rd.reach("crash"), **GOALS}
    problem = rd.Problem(P, reward, order="sas", horizon=horizon, start=start, labels=labels,
                         constraints=[getattr(rd, sense)(words[goal], bound) for goal, sense, bound in goals])  # fmt: skip
    expected = best_by_lp(P, reward, labels, goals, horizon, start)
    solution = rd.solve(problem, method="frontier", tolerance=1e-7)
    if expected is None:
        assert solution.status == "infeasible"
        return
    assert solution.status == "certified"
    assert solution.reward.worst == pytest.approx(expected, abs=1e-5)
    assert solution.reward.bound >= expected - 1e-9
    assert [c.name for c in solution.constraints] == [words[goal] for goal, _, _ in goals]
    for c, (goal, _, _) in enumerate(goals):  # what can be achieved is the range of the reference
        found = rd.achievable_range(problem, c)
        assert sorted((found.best, found.worst)) == pytest.approx(ranges[goal], abs=1e-7)


@pytest.mark.parametrize("method", ["rcvi", "frontier", "rnpg", "crpo", "epirc", "rppg", "primal-dual", "rrpo"])
def test_every_method_takes_goals(method):
    problem = rd.make("grid(size=3,hazards=0.5,seed=1,horizon=8)", reward=rd.reach("goal"), uncertainty=rd.KL(0.01),
                      constraints=[rd.at_most(rd.reach("hazard"), 0.95)])  # fmt: skip
    solution = rd.solve(problem, method=method)
    checked = rd.verify(problem, solution.policy)
    assert checked.reward.worst == pytest.approx(solution.reward.worst, abs=1e-7)
    assert checked.constraints[0].worst == pytest.approx(solution.constraints[0].worst, abs=1e-7)
    assert 0 <= solution.reward.worst <= 1 and 0 <= solution.constraints[0].worst <= 1


def test_simulation_counts_episodes_that_reach_the_goal():
    problem = rd.make("river_swim(horizon=12,start=0)", constraints=[rd.at_least(rd.reach("goal"), 0)],
                      uncertainty=rd.Nominal())  # fmt: skip
    solution = rd.solve(problem)
    expected = rd.evaluate(problem, solution.policy).constraints[0].worst
    sampled = rd.simulate(problem, solution.policy, episodes=20_000, seed=1)
    assert sampled.constraints[0].mean == pytest.approx(expected, abs=0.02)


def test_a_start_that_decides():
    P, reward, cost, labels, _ = random_model(3)
    (goal,) = labels["goal"]
    terms = dict(order="sas", labels=labels, start=goal, signals={"cost": cost})
    for horizon in (1, 3):
        sure = rd.Problem(P, rd.reach("goal"), horizon=horizon, **terms)
        assert rd.solve(sure).reward.worst == pytest.approx(1, abs=1e-12)
        assert rd.solve(sure.replace(minimise=rd.steps_to("goal"))).reward.worst == 0
        never = rd.Problem(P, rd.avoid("goal"), horizon=horizon, **terms)
        assert rd.solve(never).reward.worst == 0
    with pytest.raises(rd.Error, match="'reach goal' with horizon 0, must be at least 1: the start . decides it"):
        rd.Problem(P, rd.reach("goal"), horizon=0, **terms)
    terms["start"] = min(set(range(STATES)) - {goal})
    assert rd.solve(rd.Problem(P, rd.reach("goal"), horizon=0, **terms)).reward.worst == 0


def test_a_start_that_decides_and_is_terminal():
    terms = dict(order="sas", horizon=4, states=["a", "end"], labels={"goal": ["end"]})
    P = {0: {0: {0: 0.5, 1: 0.5}}}
    for start, expected in (("end", 1.0), ({"a": 0.5, "end": 0.5}, 0.5 + 0.5 * (1 - 0.5**4))):
        problem = rd.Problem(P, rd.reach("goal"), start=start, **terms)
        assert rd.solve(problem).reward.worst == pytest.approx(expected, abs=1e-12)


def test_states_stay_the_same_where_nothing_must_be_remembered():
    grid = rd.make("grid(size=4,horizon=10)")  # its goal is terminal
    assert grid.replace(constraints=[rd.at_least(rd.reach("goal"), 0.5)]).states == grid.states
    only = grid.replace(reward=rd.reach("hazard"), constraints=[rd.at_most(rd.steps_to("hazard"), 5)])
    assert only.states == grid.states  # nothing that is asked for follows a hazard
    assert only.state_rows[only.labels["hazard"]].tolist() == only.state_rows[only.labels["hazard"] + 1].tolist()
    both = grid.replace(constraints=[rd.at_most(rd.reach("hazard"), 0.5)])
    assert both.states > grid.states  # the reward does
    after = [name for name in both.state_names if name.endswith(" after hazard")]
    assert len(after) == both.states - len({*both.given_state} - {*grid.labels["hazard"]})


@pytest.mark.parametrize("ending", ["json", "csv", "umb"])
def test_files_keep_what_was_said_of_goals(ending, tmp_path):
    P, reward, cost, labels, start = random_model(5)
    problem = rd.Problem(P, reward, order="sas", horizon=4, start=start, labels=labels, signals={"cost": cost},
                         constraints=[rd.at_most(rd.reach("crash"), 0.9), rd.at_most("cost", 3)])  # fmt: skip
    for one in (problem, problem.replace(minimise=rd.steps_to("goal"))):
        rd.save(one, tmp_path / f"p.{ending}")
        again = rd.load(tmp_path / f"p.{ending}")
        assert again == one and again.states > STATES
        assert again.replace(constraints=[], reward="cost").states == STATES


def test_names_with_blanks_and_words_of_the_language():
    for name in ("a goal", "until", 'a "quoted" one', "to\\", "reach"):
        P, _, _, labels, _ = random_model(0)
        problem = rd.Problem(P, rd.reach(name), order="sas", horizon=2, start=0, labels={name: labels["goal"]})
        assert rd.solve(problem).reward.worst >= 0
        assert rd.Problem(P, rd.until(name, name), order="sas", horizon=2, start=0, labels={name: [1]}) is not None


def test_a_signal_of_that_name_comes_first():
    P, reward, cost, labels, start = random_model(1)
    problem = rd.Problem(P, reward, order="sas", horizon=3, start=start, labels=labels, signals={"reach goal": cost},
                         constraints=[rd.at_most("reach goal", 2)])  # fmt: skip
    assert problem.states == STATES


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        (dict(constraints=[rd.at_most(rd.reach("fire"), 1)]),
         "'reach fire' speaks of label 'fire', the model has goal, crash, safe"),
        (dict(constraints=[rd.at_most(rd.until("fire", "goal"), 1)]),
         "'fire until goal' speaks of label 'fire', the model has goal, crash, safe"),
        (dict(reward=rd.total_until("fuel", "goal")),
         "'total of fuel until goal' speaks of signal 'fuel', the model has no signal of that name"),
        (dict(reward=rd.reach("goal"), discount=0.9),
         "'reach goal' with discount 0.9, must be 1: probabilities are not discounted"),
        (dict(minimise=rd.steps_to("goal"), discount=0.9),
         "'steps to goal' with discount 0.9, must be 1: steps are not discounted"),
        (dict(constraints=[rd.at_most("reach goal crash", 1)]),
         "constraint on signal 'reach goal crash', the model has no signal of that name"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(terms, says):
    P, _, cost, labels, start = random_model(2)
    given = dict(reward=1.0) if "minimise" not in terms and "reward" not in terms else {}
    with pytest.raises(rd.Error) as error:
        rd.Problem(P, **(given | dict(order="sas", horizon=3, start=start, labels=labels, signals={"cost": cost}) | terms))
    assert str(error.value) == says


def test_a_goal_that_cannot_be_reached():
    with pytest.raises(rd.Error) as error:
        rd.Problem({0: {0: {0: 1.0}}}, rd.reach("goal"), states=2, horizon=3, labels={"goal": [1]})
    assert str(error.value) == "objective 'reach goal', no state of label 'goal' can be reached from the start"


def test_totals_until_a_goal_may_be_discounted():
    P, _, cost, labels, start = random_model(2)
    problem = rd.Problem(P, minimise=rd.total_until("cost", "goal"), order="sas", discount=0.9, start=start,
                         labels=labels, signals={"cost": cost})  # fmt: skip
    value = np.zeros(STATES)
    for _ in range(400):
        ended = np.array([s in labels["goal"] for s in range(STATES)])
        value = np.where(ended, 0.0, (cost + 0.9 * P @ value).min(axis=1))
    assert -rd.solve(problem, method="robust").reward.worst == pytest.approx(value[start], abs=1e-6)


def test_the_program_takes_goals(tmp_path):
    board = "grid(size=3,hazards=0.4,seed=3,horizon=8,set=kl,radius=0.02)"
    flags = ["--maximise", "reach goal", "--bound", "reach hazard <= 0.9", "--bound", "steps to goal <= 7.9"]
    result = run("solve", board, *flags, "-o", tmp_path / "s.h5", "--json")
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    assert [c["name"] for c in said["constraints"]] == ["reach hazard", "steps to goal"]
    for verb in ("evaluate", "verify"):
        again = json.loads(run(verb, board, tmp_path / "s.h5", *flags, "--json").stdout)
        assert again["reward"]["worst"] == pytest.approx(said["reward"]["worst"], abs=1e-9)
    for verb in ("info", "frontier"):
        assert run(verb, board, *flags).returncode == 0
    assert run("simulate", board, tmp_path / "s.h5", *flags, "--episodes", 10).returncode == 0
    assert run("make", board, *flags, "-o", tmp_path / "p.json").returncode == 0
    assert json.loads((tmp_path / "p.json").read_text())["objective"] == {"maximise": "reach goal"}
    assert json.loads(run("solve", tmp_path / "p.json", "--json").stdout)["reward"] == said["reward"]
    assert refused("solve", board, "--bound", "reach home <= 1") == (
        f"{board}: 'reach home' speaks of label 'home', the model has goal, hazard")
