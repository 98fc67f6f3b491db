"""Constraints where the rows of a state share a radius, against programs over the whole tree of promises.

At every node of the tree stand the weights of the actions and, for each action and place, a node of its own whose variables are in units of that
weight. Nature's minimum at a node is written by its dual, which is linear in them, so the optimum over all policies is one convex program. Nothing here
is shared with the library."""

import cvxpy as cp
import numpy as np
import pytest
import redoubt as rd
import scipy.optimize
import scipy.sparse


class TreeOfTV:
    """A linear program. `landings(state, action)` are the states that nature may move mass to, and what is promised there must be kept by all of them;
    `end` is what each state is worth when the horizon is over, in each channel."""

    def __init__(self, rows, channels, horizon, discount, radius, landings, start=0, end=None):
        self.rows, self.channels, self.discount, self.radius, self.landings = rows, channels, discount, radius, landings
        self.end = np.zeros((len(channels), len(rows))) if end is None else end
        self.lower, self.entries, self.limits, self.equal = [], [], [], []
        self.root = self.node(start, horizon, None)

    def variables(self, count, lower=-np.inf):
        self.lower += [lower] * count
        return list(range(len(self.lower) - count, len(self.lower)))

    def rule(self, terms, limit=0.0, equal=False):
        """The sum of coefficient * variable is at most the limit, or equal to it."""
        for variable, coefficient in terms:
            self.entries.append((len(self.limits), variable, coefficient))
        self.limits.append(limit)
        self.equal.append(equal)

    def node(self, state, left, weight):
        """Variables of what a policy guarantees from here in each channel, times the weight of the node; none at the end."""
        if left == 0:
            return None
        rows, channels = self.rows[state], self.channels
        share = self.variables(len(rows), 0.0)
        self.rule([(v, 1.0) for v in share] + ([(weight, -1.0)] if weight is not None else []), 1.0 if weight is None else 0.0, True)
        listed = [np.flatnonzero(row) for row in rows]
        to = [sorted({*listed[a], *self.landings(state, a)}) for a in range(len(rows))]
        after = [{i: self.node(i, left - 1, share[a]) for i in to[a]} for a in range(len(rows))]
        totals = self.variables(len(channels))
        for j, pay in enumerate(channels):
            (price,) = self.variables(1, 0.0)
            terms = [(totals[j], 1.0), (price, self.radius)] + [(share[a], -pay[state, a]) for a in range(len(rows))]
            for a, row in enumerate(rows):
                (low,) = self.variables(1)
                value = {i: [(share[a], self.discount * self.end[j, i])] if left == 1 else [(after[a][i][j], self.discount)] for i in to[a]}
                for i in to[a]:
                    self.rule([(low, 1.0)] + [(v, -c) for v, c in value[i]])
                for i in listed[a]:
                    (excess,) = self.variables(1, 0.0)
                    self.rule([*value[i], (low, -1.0), (price, -1.0), (excess, -1.0)])
                    terms += [(v, -row[i] * c) for v, c in value[i]] + [(excess, row[i])]
            self.rule(terms)
        return totals

    def best(self, *bounds):
        """None when they cannot be kept."""
        for variable, bound in zip(self.root[1:], bounds, strict=True):
            self.lower[variable] = bound
        row, column, value = zip(*self.entries, strict=True)
        matrix = scipy.sparse.csr_matrix((value, (row, column)), shape=(len(self.limits), len(self.lower)))
        equal, limits = np.array(self.equal), np.array(self.limits)
        objective = np.zeros(len(self.lower))
        objective[self.root[0]] = -1
        found = scipy.optimize.linprog(objective, matrix[~equal], limits[~equal], matrix[equal], limits[equal],
                                       [(low if np.isfinite(low) else None, None) for low in self.lower], method="highs")  # fmt: skip
        assert found.status in (0, 2)
        return -found.fun if found.status == 0 else None


def landings_of(reach, states):
    return lambda state, action: range(states) if reach == "anywhere" else []


class TreeOfBalls:
    """kl and chi2: a conic program."""

    def __init__(self, rows, channels, horizon, discount, set_):
        self.rows, self.channels, self.discount, self.set, self.rules = rows, channels, discount, set_, []
        self.root = self.node(0, horizon, cp.Constant(1.0))

    def node(self, state, left, weight):
        if left == 0:
            return [cp.Constant(0.0)] * len(self.channels)
        actions = self.rows.shape[1]
        share = cp.Variable(actions, nonneg=True)
        self.rules.append(cp.sum(share) == weight)
        after = [[self.node(i, left - 1, share[a]) for i in np.flatnonzero(self.rows[state, a])] for a in range(actions)]
        totals = []
        for j, pay in enumerate(self.channels):
            if left == 1:
                totals.append(pay[state] @ share)
                continue
            values = [self.discount * cp.hstack([outcome[j] for outcome in after[a]]) for a in range(actions)]
            kept = [self.rows[state, a][self.rows[state, a] > 0] for a in range(actions)]
            totals.append(pay[state] @ share + self.worst(kept, values))
        return totals

    def worst(self, rows, values):
        dual = cp.Variable(nonneg=True)
        total = -self.set.radius * dual
        for p, v in zip(rows, values, strict=True):
            if isinstance(self.set, rd.KL):
                log, mass = cp.Variable(), cp.Variable(len(p))
                self.rules += [cp.ExpCone(-v - log, cp.hstack([dual] * len(p)), mass), p @ mass <= dual]
                total -= log
            else:
                level, gap = cp.Variable(), cp.Variable(len(p), nonneg=True)
                self.rules.append(gap >= 2 * dual - (v - level))
                total += level + dual - sum(p[i] * cp.quad_over_lin(gap[i], 4 * dual) for i in range(len(p)))
        return total

    def best(self, bound):
        problem = cp.Problem(cp.Maximize(self.root[0]), [*self.rules, self.root[1] >= bound])
        problem.solve(solver=cp.CLARABEL)
        assert problem.status in ("optimal", "optimal_inaccurate")
        return problem.value


def random_problem(seed, set_, states, actions, successors, horizon):
    """A bound that binds: between what the best policy for the reward keeps and what can be kept at all."""
    random = np.random.default_rng(seed)
    rows = np.zeros((states, actions, states))
    for s in range(states):
        for a in range(actions):
            to = random.choice(states, size=min(successors, states), replace=False)
            rows[s, a, to] = random.dirichlet(np.ones(len(to)))
    reward, utility = random.random((states, actions)), random.random((states, actions))
    discount = 1.0 if seed % 2 else 0.9
    model = rd.Problem(rows, reward, signals={"u": utility}, order="sas", horizon=horizon, discount=discount, uncertainty=set_,
                       constraints=[rd.at_least("u", 0)])  # fmt: skip
    greedy = rd.solve(model, "robust").constraints[0].worst
    bound = greedy + random.uniform(0.1, 0.95) * (rd.achievable_range(model, 0).best - greedy)
    return model.replace(constraints=[rd.at_least("u", bound)]), rows, [reward, utility], bound


def check_bracket(problem, exact, row_set):
    solution = rd.solve(problem)
    width = 1e-3 * max(abs(solution.reward.worst), solution.reward.bound) + 1e-9
    assert solution.status == "certified"
    assert solution.gap <= width
    assert solution.reward.worst - 1e-7 <= exact <= solution.reward.bound + 1e-7
    assert rd.verify(problem, solution.policy).satisfied
    row = rd.solve(problem.replace(uncertainty=row_set))
    if row.status in ("certified", "feasible"):
        assert solution.reward.bound >= row.reward.worst - 1e-9
        assert solution.reward.worst >= row.reward.worst - width
    return solution


# states, actions, successors, horizon: trees of some tens to some hundreds of nodes
SHAPES = [(3, 2, 2, 2), (4, 3, 3, 2), (5, 4, 4, 2), (3, 2, 2, 3), (3, 3, 2, 3), (4, 2, 3, 3), (5, 3, 3, 2), (3, 2, 2, 4), (4, 4, 2, 2), (5, 2, 2, 3)]


@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.parametrize("reach", ["support", "anywhere"])
def test_tv_against_linear_programs(reach, shape):
    states, actions, successors, horizon = SHAPES[shape]
    for seed in range(10):
        radius = [0.05, 0.1, 0.2, 0.4][seed % 4]
        set_ = rd.TV(radius, reach=reach, scope="state")
        problem, rows, channels, bound = random_problem(100 * shape + seed, set_, states, actions, successors, horizon)
        exact = TreeOfTV(rows, channels, horizon, problem.discount, radius, landings_of(reach, states)).best(bound)
        check_bracket(problem, exact, rd.TV(radius, reach=reach))


@pytest.mark.parametrize("shape", [(3, 2, 2, 2), (3, 3, 3, 2), (4, 2, 3, 2), (3, 2, 2, 3)], ids=str)
@pytest.mark.parametrize("kind", [rd.KL, rd.Chi2])
def test_kl_and_chi2_against_conic_programs(kind, shape):
    states, actions, successors, horizon = shape
    for seed in range(15):
        radius = [0.02, 0.1, 0.3][seed % 3]
        set_ = kind(radius, scope="state")
        problem, rows, channels, bound = random_problem(1000 + seed, set_, states, actions, successors, horizon)
        exact = TreeOfBalls(rows, channels, horizon, problem.discount, set_).best(bound)
        solution = check_bracket(problem, exact, kind(radius))
        assert solution.reward.worst - 1e-6 <= exact <= solution.reward.bound + 1e-6


@pytest.mark.parametrize("reach", ["support", "anywhere"])
def test_two_constraints_against_linear_programs(reach):
    together = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        set_ = rd.TV(0.1, reach=reach, scope="state")
        problem, rows, channels, _ = random_problem(2000 + seed, set_, 3, 3, 2, 2)
        second = random.random((3, 3))
        problem = rd.Problem(rows, channels[0], signals={"u": channels[1], "v": second}, order="sas", horizon=2, discount=problem.discount,
                             uncertainty=set_, constraints=[rd.at_least("u", 0), rd.at_least("v", 0)])  # fmt: skip
        greedy = rd.solve(problem, "robust").constraints
        bounds = [g.worst + 0.4 * (rd.achievable_range(problem, c).best - g.worst) for c, g in enumerate(greedy)]
        exact = TreeOfTV(rows, [*channels, second], 2, problem.discount, 0.1, landings_of(reach, 3)).best(*bounds)
        solution = rd.solve(problem.replace(constraints=[rd.at_least("u", bounds[0]), rd.at_least("v", bounds[1])]), tolerance=1e-2)
        if exact is None:
            assert solution.status not in ("certified", "feasible"), seed
            continue
        together += 1
        assert solution.status == "certified", seed
        assert solution.reward.worst - 1e-7 <= exact <= solution.reward.bound + 1e-7, seed
    assert together >= 6


@pytest.mark.parametrize("reach", ["support", "anywhere"])
def test_chance_constraints_against_linear_programs(reach):
    """The total of a signal that is 0 or 1 for each action, on states (state, what is still missing)."""
    bound, horizon, states, actions = 2, 3, 3, 2
    for seed in range(10):
        random = np.random.default_rng(3000 + seed)
        rows = random.dirichlet(np.ones(states), size=(states, actions)) * (random.random((states, actions, states)) < 0.8)
        rows[rows.sum(axis=2) == 0] = 1 / states
        rows /= rows.sum(axis=2, keepdims=True)
        reward, earned = random.random((states, actions)), random.integers(0, 2, size=(states, actions))
        earned[:, 0] = 1  # so that it can be done
        reward[:, 0] *= 0.3  # and costs something
        free = rd.Problem(rows, reward, signals={"goals": earned.astype(float)}, order="sas", horizon=horizon, start=0,
                          uncertainty=rd.TV(0.1, reach=reach, scope="state"))  # fmt: skip
        problem = free.replace(constraints=[rd.chance("goals", at_least=bound, probability=0.6)])
        left = lambda missing, s, a, e=earned: max(0, missing - int(e[s, a]))
        number = lambda s, missing: s * (bound + 1) + missing
        size = states * (bound + 1)
        wide, pay = np.zeros((size, actions, size)), np.zeros((2, size, actions))
        for s in range(states):
            for missing in range(bound + 1):
                for a in range(actions):
                    pay[0, number(s, missing), a] = reward[s, a]
                    for to in range(states):
                        wide[number(s, missing), a, number(to, left(missing, s, a))] = rows[s, a, to]
        end = np.array([np.zeros(size), [float(n % (bound + 1) == 0) for n in range(size)]])

        def landings(state, action, left=left):
            s, missing = divmod(state, bound + 1)
            return [number(to, left(missing, s, action)) for to in range(states)] if reach == "anywhere" else []

        exact = TreeOfTV(wide, pay, horizon, 1.0, 0.1, landings, number(0, bound), end).best(0.6)
        solution = rd.solve(problem)
        assert exact is not None
        assert solution.status == "certified", seed
        assert solution.reward.worst - 1e-7 <= exact <= solution.reward.bound + 1e-7, seed


@pytest.mark.parametrize("set_", [rd.TV(0.1, scope="state"), rd.TV(0.1, reach="support", scope="state"), rd.Chi2(0.2, scope="state"),
                                  rd.KL(0.1, scope="state")], ids=str)  # fmt: skip
def test_an_infinite_horizon_is_the_limit_of_long_ones(set_):
    """With discount .7 what comes after 50 decisions is worth less than 1e-7."""
    for seed in range(4):
        problem, *_ = random_problem(4000 + seed, set_, 4, 3, 3, 50)
        problem = problem.replace(discount=0.7)
        greedy = rd.solve(problem, "robust").constraints[0].worst
        bound = greedy + 0.6 * (rd.achievable_range(problem, 0).best - greedy)
        problem = problem.replace(constraints=[rd.at_least("u", bound)])
        long, infinite = rd.solve(problem), rd.solve(problem.replace(horizon=None))
        assert infinite.status == long.status == "certified", seed
        assert infinite.reward.worst <= long.reward.bound + 1e-6, seed
        assert long.reward.worst <= infinite.reward.bound + 1e-6, seed
