"""Ordinary cost minimisation, where doing nothing costs nothing: the best unconstrained reward is 0. And other problems of
users that once had a poor answer. Optima are those of linear programs."""

import numpy as np
import pytest
import redoubt as rd
from scipy.optimize import linprog
from scipy.sparse import coo_matrix


def occupancy(problem: rd.Problem) -> float:
    """The optimum of the nominal model by one linear program over the probabilities x[stage, row]; rewards and signals
    of rows, one start state, constraints on expectations."""
    H, S = problem.horizon, problem.states
    rows, begin, state_rows = problem.rows, problem.row_outcomes, problem.state_rows
    state_of = np.repeat(np.arange(S), np.diff(state_rows))
    row_of = np.repeat(np.arange(rows), np.diff(begin))
    equations, variables, entries = [], [], []
    for h in range(H):
        equations += [h * S + state_of]
        variables += [h * rows + np.arange(rows)]
        entries += [np.ones(rows)]
        if h + 1 < H:
            equations += [(h + 1) * S + problem.next]
            variables += [h * rows + row_of]
            entries += [-problem.discount * problem.probability]
    flow = coo_matrix((np.concatenate(entries), (np.concatenate(equations), np.concatenate(variables))))
    entering = np.concatenate([problem.start, np.zeros((H - 1) * S)])
    at_most, bounds = [], []
    for c in problem.constraints:
        sign = 1 if c.sense == "at_most" else -1
        at_most.append(sign * np.tile(problem.signals[c.signal], H))
        bounds.append(sign * c.bound)
    found = linprog(-np.tile(problem.reward, H), A_ub=np.array(at_most), b_ub=bounds, A_eq=flow.tocsr(), b_eq=entering)
    assert found.status == 0, found.message
    return -found.fun


def energy_day(unserved: float = 1.0, **terms) -> rd.Problem:
    """A day of energy purchases: a battery of 33 levels, a demand of 0 to 8 units in each of 24 hours, prices by the
    hour. Energy that is not there is unserved; buying nothing costs nothing."""
    levels, hours, buys = 33, 24, 9
    price = 3 + 2 * np.sin(np.arange(hours) / 4)
    demand = np.array([np.exp(-0.5 * ((d - 4 - 2 * np.sin(np.arange(hours) / 3)) / 1.5) ** 2) for d in range(9)]).T
    demand /= demand.sum(axis=1, keepdims=True)
    P = np.zeros((hours, levels, buys, levels))
    reward, short = np.zeros((hours, levels, buys)), np.zeros((hours, levels, buys))
    for h in range(hours):
        for level in range(levels):
            for buy in range(buys):
                stored = min(level + buy, levels - 1)
                reward[h, level, buy] = -price[h] * buy
                for d, p in enumerate(demand[h]):
                    P[h, level, buy, max(stored - d, 0)] += p
                    short[h, level, buy] += p * max(d - stored, 0)
    terms = {"constraints": [rd.at_most("unserved", unserved)], "uncertainty": rd.Nominal()} | terms
    return rd.Problem(P, reward, signals={"unserved": short}, horizon=hours, start=4, **terms)


def staged_occupancy(problem: rd.Problem) -> float:
    """The same linear program for rows that depend on the stage."""
    H, S, rows = problem.horizon, problem.states, problem.rows
    stage_state = np.repeat(np.arange(H * S), np.diff(problem.state_rows))
    row_of = np.repeat(np.arange(rows), np.diff(problem.row_outcomes))
    arrives = (stage_state[row_of] // S + 1) * S + problem.next
    inside = arrives < H * S
    flow = coo_matrix(
        (
            np.concatenate([np.ones(rows), -problem.probability[inside]]),
            (np.concatenate([stage_state, arrives[inside]]), np.concatenate([np.arange(rows), row_of[inside]])),
        ),
        shape=(H * S, rows),
    )
    entering = np.concatenate([problem.start, np.zeros((H - 1) * S)])
    (c,) = problem.constraints
    found = linprog(-problem.reward, A_ub=problem.signals[c.signal][None], b_ub=[c.bound], A_eq=flow.tocsr(), b_eq=entering)
    assert found.status == 0, found.message
    return -found.fun


def test_an_energy_day_is_its_linear_program():
    problem = energy_day()
    exact = staged_occupancy(problem)
    assert exact < 0
    for tolerance in (1e-3, 1e-6):
        solution = rd.solve(problem, method="frontier", tolerance=tolerance)
        assert solution.status == "certified"
        assert solution.reward.worst <= exact + 1e-6 * abs(exact)
        assert solution.reward.bound >= exact - 1e-6 * abs(exact)
        assert solution.gap <= tolerance * abs(exact) * 1.01
        assert solution.reward.static_bound == solution.reward.bound


def test_an_energy_day_with_uncertainty_is_certified():
    nominal = rd.solve(energy_day(), method="frontier").reward.worst
    for set in (rd.KL(0.01), rd.TV(0.02, reach="support")):
        problem = energy_day(uncertainty=set)
        solution = rd.solve(problem, method="frontier", tolerance=1e-2)
        assert solution.status == "certified", solution
        assert solution.reward.bound <= solution.reward.static_bound
        assert solution.reward.worst < nominal
        assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(solution.reward.worst, rel=1e-9)


@pytest.mark.parametrize("set", [rd.Nominal(), rd.KL(0.1), rd.TV(0.1), rd.Chi2(0.1)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_wait_or_buy(set, scale):
    """One state, one step: `wait` costs nothing and leaves one short, `buy` costs 1000. Half of the time is enough."""
    problem = rd.Problem(
        np.ones((1, 2, 1)),
        [[0.0, -1000.0 * scale]],
        signals={"short": [[1.0, 0.0]]},
        constraints=[rd.at_most("short", 0.5)],
        uncertainty=set,
        horizon=1,
    )
    solution = rd.solve(problem, method="frontier")
    assert solution.status == "certified"
    assert solution.reward.worst == pytest.approx(-500 * scale, rel=1e-3)
    assert solution.reward.bound == pytest.approx(-500 * scale, rel=1e-3)


@pytest.mark.parametrize("horizon", [1, 20, 160])
@pytest.mark.parametrize("set", [rd.Nominal(), rd.KL(1e-3)])
def test_win_once_or_wait(horizon, set):
    """`win` pays 1, counts 1 and ends the matter; `wait` does nothing. At most .1 may be won in expectation."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 1] = P[0, 1, 0] = P[1, :, 1] = 1
    problem = rd.Problem(
        P,
        [[1.0, 0.0], [0.0, 0.0]],
        signals={"c": [[1.0, 0.0], [0.0, 0.0]]},
        constraints=[rd.at_most("c", 0.1)],
        uncertainty=set,
        horizon=horizon,
        order="sas",
    )
    for tolerance in (1e-3, 1e-6):
        solution = rd.solve(problem, method="frontier", tolerance=tolerance)
        assert solution.status == "certified"
        assert solution.reward.worst == pytest.approx(0.1, rel=2 * tolerance)


def random_costs(seed: int, scale: float, set) -> rd.Problem:
    random = np.random.default_rng(seed)
    states, actions = 3 + seed % 6, 2 + seed % 3
    P = random.dirichlet(np.full(states, 0.3), (states, actions))
    reward = random.random((states, actions))
    reward -= reward.max(axis=1, keepdims=True)
    problem = rd.Problem(P, scale * reward, signals={"u": random.random((states, actions))}, uncertainty=set,
                         constraints=[rd.at_least("u", 0.0)], horizon=6, order="sas" if states == actions else None)  # fmt: skip
    reach = rd.achievable_range(problem)
    return problem.replace(constraints=[rd.at_least("u", 0.7 * reach.best + 0.3 * reach.worst)])


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_random_costs_are_certified(scale):
    for seed in range(12):
        for set in (rd.TV(0.1), rd.KL(0.05)):
            problem = random_costs(seed, scale, set)
            nominal = problem.replace(uncertainty=rd.Nominal())
            solution, exact = rd.solve(nominal, method="frontier"), occupancy(nominal)
            assert solution.status == "certified", (seed, solution)
            assert solution.reward.worst <= exact + 1e-7 * scale
            assert solution.reward.bound >= exact - 1e-7 * scale
            solution = rd.solve(problem, method="frontier")
            assert solution.status == "certified", (seed, set, solution)
            assert solution.reward.worst <= exact + 1e-7 * scale


def test_constraints_that_do_not_bind_cost_no_search():
    problem = rd.make("garnet(states=60,actions=3,successors=4,horizon=20)").replace(constraints=[rd.at_most("cost", 1e6)])
    solution = rd.solve(problem, method="frontier")
    assert solution.status == "certified"
    assert solution.iterations == 1
    assert solution.reward.worst == pytest.approx(rd.solve(problem, method="robust").reward.worst, rel=1e-12)


def explored_optimum(initial, actions, step, discount=1.0, asked=None) -> float:
    """The most reward of a model that is code, by one linear program over how often each (state, action) is taken. `asked` is
    a signal and the least that is asked of its total."""
    number, queue, columns = {initial: 0}, [initial], []
    while queue:
        state = queue.pop()
        for action in actions(state):
            flow, reward, signal = {number[state]: 1.0}, 0.0, 0.0
            for p, after, values in step(state, action):
                if after not in number:
                    number[after] = len(number)
                    queue.append(after)
                flow[number[after]] = flow.get(number[after], 0.0) - discount * p
                reward += p * values.get("reward", 0.0)
                signal += p * values.get(asked[0], 0.0)
            columns.append((flow, reward, signal))
    entries = [(state, column, share) for column, (flow, _, _) in enumerate(columns) for state, share in flow.items()]
    rows, places, shares = zip(*entries)
    flow = coo_matrix((shares, (rows, places)), shape=(len(number), len(columns))).tocsr()
    acting = sorted({row for row, _, share in entries if share > 0})  # states that are not terminal
    entering = np.zeros(len(number))
    entering[0] = 1.0
    found = linprog([-reward for _, reward, _ in columns], A_ub=[[-signal for _, _, signal in columns]], b_ub=[-asked[1]],
                    A_eq=flow[acting], b_eq=entering[acting])  # fmt: skip
    assert found.status == 0, found.message
    return -found.fun


def test_an_energy_day_with_a_chance_constraint_is_its_linear_program():
    """At most 3 units of a day are unserved, in four days of five."""
    hours, levels, buys, most, often = 12, 12, 5, 3, 0.8
    price = 3 + 2 * np.sin(np.arange(hours) / 2)
    demand = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.3, 4: 0.1}

    def step(state, buy):
        hour, level = state
        stored = min(level + buy, levels - 1)
        for d, p in demand.items():
            yield p, (hour + 1, max(stored - d, 0)), {"reward": -price[hour] * buy, "unserved": max(d - stored, 0)}

    actions = lambda state: range(buys) if state[0] < hours else ()  # noqa: E731
    problem = rd.explore(initial=(0, 4), actions=actions, step=step, horizon=hours,
                         constraints=[rd.chance("unserved", at_most=most, probability=often)])  # fmt: skip

    def counted(node, buy):  # remembers what was unserved so far
        hour, level, unserved = node
        for p, (after, rest), values in step((hour, level), buy):
            total = min(unserved + values["unserved"], most + 1)
            kept = after == hours and total <= most
            yield p, (after, rest, total), {"reward": values["reward"], "kept": float(kept)}

    exact = explored_optimum((0, 4, 0), actions, counted, asked=("kept", often))
    assert exact < 0
    solution = rd.solve(problem, method="frontier")
    assert solution.status == "certified"
    assert solution.reward.worst <= exact + 1e-7 * abs(exact) and solution.reward.bound >= exact - 1e-7 * abs(exact)
    assert solution.reward.worst == pytest.approx(exact, rel=1e-3)
    uncertain = rd.solve(problem.replace(uncertainty=rd.KL(0.01)), method="frontier", tolerance=1e-2)
    assert uncertain.status == "certified" and uncertain.reward.worst < exact


def test_a_shared_coin_is_its_linear_program():
    """Two processes agree on a coin by a random walk (Aspnes and Herlihy 1990). Whoever decides which of them moves wants them
    to disagree, and may not keep them from deciding."""
    barrier, discount = 6, 0.995

    def step(state, mover):
        walk, *processes = state
        stand, coin = processes[mover]

        def after(stand, coin, walk=walk):
            return (walk, *(process if i != mover else (stand, coin) for i, process in enumerate(processes)))

        if stand == "flip":
            return [(0.5, after("write", side), {}) for side in (0, 1)]
        if stand == "write":
            return [(1.0, after("look", 0, walk + 2 * coin - 1), {})]
        if abs(walk) < barrier:
            return [(1.0, after("flip", 0), {})]
        moved = after("done", int(walk > 0))
        decided = [process for process in moved[1:] if process[0] == "done"]
        agree = {"decided": 0.5, "reward": float(len(decided) == 2 and decided[0] != decided[1])}
        return [(1.0, moved, agree)]

    actions = lambda state: [i for i in (0, 1) if state[1 + i][0] != "done"]  # noqa: E731
    initial = (0, ("flip", 0), ("flip", 0))
    problem = rd.explore(initial=initial, actions=actions, step=step, horizon=None, discount=discount,
                         constraints=[rd.at_least("decided", 0.0)])  # fmt: skip
    assert problem.states == 400
    free = rd.solve(problem, method="robust")
    asked = 0.2 * free.constraints[0].worst + 0.8 * rd.achievable_range(problem).best
    problem = problem.replace(constraints=[rd.at_least("decided", asked)])
    exact = explored_optimum(initial, actions, step, discount, ("decided", asked))
    assert 0.01 < exact < 0.98 * free.reward.worst
    for tolerance in (1e-3, 1e-6):
        solution = rd.solve(problem, method="frontier", tolerance=tolerance)
        assert solution.status == "certified"
        assert solution.reward.worst <= exact + 1e-8 and solution.reward.bound >= exact - 1e-8
        assert solution.reward.worst == pytest.approx(exact, rel=tolerance)
