"""Outcomes that lead to a group of states: nature picks the member for each signal, or the policy does.

The references know nothing of stages between decisions: a group is worth the least (or the largest) of its members.
"""

import itertools
import pickle

import numpy as np
import pytest
import redoubt as rd
from program import refused, run_json
from scipy.optimize import linprog

STATES, ACTIONS = 4, 2
GROUPS = [(1, 2), (0, 2, 3), (3,)]


def draw(seed):
    """Rows with single states and groups among their outcomes, and what they earn."""
    rng = np.random.default_rng(seed)
    rows = []
    for state, action in itertools.product(range(STATES), range(ACTIONS)):
        targets = [int(rng.integers(STATES)), GROUPS[rng.integers(3)], GROUPS[rng.integers(3)]]
        merged = {}
        for target, p in zip(targets, rng.dirichlet(np.ones(3)), strict=True):
            merged[target] = merged.get(target, 0.0) + float(p)
        rows += [(state, action, target, p) for target, p in merged.items()]
    reward, cost = rng.random((STATES, ACTIONS)).round(2), rng.random((STATES, ACTIONS)).round(2)
    return rows, reward, cost


def problem_of(seed, horizon=4, **terms):
    rows, reward, cost = draw(seed)
    return rd.Problem(rows, reward, signals={"cost": cost}, states=STATES, horizon=horizon, **terms)


def backward(rows, reward, horizon, discount=1.0, uncertainty=None, pick=min, best=max, decide=None):
    """Values by stage: the best action (or the one that is decided) against the set, the members picked one by one."""
    values = np.zeros(STATES)
    for stage in reversed(range(horizon)):
        q = np.zeros((STATES, ACTIONS))
        for state, action in itertools.product(range(STATES), range(ACTIONS)):
            out = [(p, target) for s, a, target, p in rows if (s, a) == (state, action)]
            p = np.array([p for p, _ in out])
            v = np.array([values[t] if np.isscalar(t) else pick(values[m] for m in t) for _, t in out])
            if isinstance(uncertainty, rd.TV) and uncertainty.reach == "anywhere":
                p, v = np.append(p, 0.0), np.append(v, values.min())
                q[state, action] = anywhere(p, v, uncertainty.radius)
            else:
                q[state, action] = p @ v if uncertainty is None else rd.worst_case(uncertainty, p, v)
        q = reward + discount * q
        values = np.array([q[s, decide[stage][s]] for s in range(STATES)]) if decide else best(q)
    return values


def anywhere(p, v, radius):
    """The least expectation over total variation, by a linear program."""
    n = len(p)
    cost = np.concatenate([v, np.zeros(n)])
    bounds = [(0, 1)] * n + [(0, 1)] * n
    eye = np.eye(n)
    ub = np.vstack([np.hstack([eye, -eye]), np.hstack([-eye, -eye]), np.concatenate([np.zeros(n), np.ones(n)])])
    found = linprog(cost, ub, np.concatenate([p, -p, [2 * radius]]), np.concatenate([np.ones(n), np.zeros(n)])[None], [1.0],
                    bounds=bounds)  # fmt: skip
    return found.fun


def largest(q):
    return q.max(axis=1)


SETS = {"none": None, "kl": rd.KL(0.1), "chi2": rd.Chi2(0.2), "tv": rd.TV(0.15, reach="support"), "anywhere": rd.TV(0.1)}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_best_worst_case_is_that_of_backward_induction(kind, discount):
    for seed in range(3):
        rows, reward, _ = draw(seed)
        problem = problem_of(seed, discount=discount, uncertainty=SETS[kind])
        expected = backward(rows, reward, 4, discount, SETS[kind], best=largest)
        for start in range(STATES):
            asked = problem.replace(start=start)
            solution = rd.solve(asked, "robust")
            assert solution.reward.worst == pytest.approx(expected[start], abs=1e-8)
            assert rd.verify(asked, solution.policy).reward.worst == pytest.approx(expected[start], abs=1e-8)


@pytest.mark.parametrize("kind", ["none", "kl", "chi2", "tv"])
def test_a_policy_that_picks_gets_the_best_member(kind):
    for seed in range(3):
        rows, reward, _ = draw(seed)
        expected = backward(rows, reward, 4, 1.0, SETS[kind], pick=max, best=largest)
        solution = rd.solve(problem_of(seed, uncertainty=SETS[kind]).replace(groups="helpful"), "robust")
        assert solution.reward.worst == pytest.approx(expected[0], abs=1e-8)


def test_interval_rows_beside_groups():
    rows = [{"state": 0, "action": 0, "next": 1, "p": 0.5}, {"state": 0, "action": 0, "next": (1, 2), "p": 0.5}]
    problem = rd.Problem(rows, states=3, signals={"hit": {2}}, reward="hit", horizon=1)
    assert rd.solve(problem).reward.worst == 0.0
    assert rd.solve(problem.replace(groups="helpful")).reward.worst == 0.5
    assert rd.solve(problem.replace(nature="helpful"), "robust").reward.worst == 0.5


def test_every_choice_of_nature_against_one_policy():
    """Two stages, so few that each combination of members can be tried; reward and cost have natures of their own."""
    rows, reward, cost = draw(7)
    decide = [[0, 1, 1, 0], [1, 0, 1, 1]]
    places = [(stage, i) for stage in range(2) for i, row in enumerate(rows) if not np.isscalar(row[2])
              and row[1] == decide[stage][row[0]]]  # fmt: skip
    worst = {"reward": np.inf, "cost": -np.inf}
    for choice in itertools.product(*(rows[i][2] for _, i in places)):
        picked = dict(zip(places, choice, strict=True))
        values = {"reward": np.zeros(STATES), "cost": np.zeros(STATES)}
        for stage in (1, 0):
            for name, earned in (("reward", reward), ("cost", cost)):
                new = np.array([earned[s, decide[stage][s]] for s in range(STATES)])
                for i, (s, a, target, p) in enumerate(rows):
                    if a == decide[stage][s]:
                        new[s] += p * values[name][picked.get((stage, i), target)]
                values[name] = new
        worst["reward"] = min(worst["reward"], values["reward"][0])
        worst["cost"] = max(worst["cost"], values["cost"][0])
    problem = rd.Problem(rows, reward, signals={"cost": cost}, states=STATES, horizon=2, constraints=[rd.at_most("cost", 9)])
    weights = np.zeros((4, problem.states, ACTIONS))
    for stage, state in itertools.product(range(4), range(problem.states)):
        weights[stage, state, decide[stage // 2][state] if state < STATES else 0] = 1.0
    result = rd.evaluate(problem, rd.Policy.markov(problem, weights))
    assert result.reward.worst == pytest.approx(worst["reward"], abs=1e-12)
    assert result.constraints[0].worst == pytest.approx(worst["cost"], abs=1e-12)


class Promises:
    """The optimum with a constraint, as one linear program over the tree of promises: for a decision of weight w there are
    weights of the actions, what each outcome is promised, and the same for every member. With a radius of total variation
    around rows, by the dual of the worst case: the largest of eta - sum of p (eta - u)+ - radius (eta - m), m <= u, m <= eta."""

    def __init__(self, rows, earned, horizon, helpful=False, radius=0.0):
        self.rows, self.earned, self.horizon, self.helpful, self.radius = rows, earned, horizon, helpful, radius
        self.count, self.ub, self.eq = 0, [], []
        root = self.node(0, 0)
        self.eq.append(({root[0]: 1.0}, 1.0))
        self.root = root

    def new(self, count=1):
        self.count += count
        return range(self.count - count, self.count)

    def node(self, stage, state):
        """Variables: the weight, and what is promised of the reward and of minus the cost."""
        weight, *promise = self.new(3)
        if stage == self.horizon:
            self.ub += [({v: 1.0}, 0.0) for v in promise]
            return weight, promise
        shares = self.new(ACTIONS)
        self.eq.append(({weight: 1.0} | dict.fromkeys(shares, -1.0), 0.0))
        total = [{v: 1.0} for v in promise]
        for action, share in enumerate(shares):
            for j in range(2):
                total[j][share] = -self.earned[j][state, action]
            duals = [self.new(2) for _ in range(2)]  # eta and m, of each signal
            for j, (eta, least) in enumerate(duals):
                total[j] |= {eta: self.radius - 1.0, least: -self.radius}
                self.ub.append(({least: 1.0, eta: -1.0}, 0.0))
            for s, a, target, p in self.rows:
                if (s, a) == (state, action):
                    for j, u in enumerate(self.outcome(stage, share, target)):
                        (eta, least), (above,) = duals[j], self.new()
                        total[j][above] = p
                        self.ub += [({eta: 1.0, u: -1.0, above: -1.0}, 0.0), ({above: -1.0}, 0.0), ({least: 1.0, u: -1.0}, 0.0)]
        self.ub += [(t, 0.0) for t in total]
        return weight, promise

    def outcome(self, stage, share, target):
        members = (target,) if np.isscalar(target) else target
        nodes = [self.node(stage + 1, member) for member in members]
        promise = list(self.new(2))
        if self.helpful:  # the weight is divided among the members
            self.eq.append(({share: 1.0} | {weight: -1.0 for weight, _ in nodes}, 0.0))
            self.ub += [({promise[j]: 1.0} | {v[j]: -1.0 for _, v in nodes}, 0.0) for j in range(2)]
        else:
            self.eq += [({share: 1.0, weight: -1.0}, 0.0) for weight, _ in nodes]
            self.ub += [({promise[j]: 1.0, v[j]: -1.0}, 0.0) for _, v in nodes for j in range(2)]
        return promise

    def best(self, bound):
        from scipy.sparse import lil_array

        def matrix(lines):
            sparse = lil_array((len(lines), self.count))
            for i, (line, _) in enumerate(lines):
                for variable, factor in line.items():
                    sparse[i, variable] = factor
            return sparse.tocsr(), [b for _, b in lines]

        weight, (reward, cost) = self.root
        ub, b_ub = matrix([*self.ub, ({cost: -1.0}, bound)])
        eq, b_eq = matrix(self.eq)
        objective = np.zeros(self.count)
        objective[reward] = -1.0
        bounds = [(None, None)] * self.count
        for line, _ in self.eq:
            for variable in line:
                bounds[variable] = (0, None)
        found = linprog(objective, ub, b_ub, eq, b_eq, bounds=bounds)
        return -found.fun if found.status == 0 else None


@pytest.mark.parametrize("radius", [0.0, 0.15])
@pytest.mark.parametrize("helpful", [False, True])
def test_frontier_keeps_every_promise_to_a_group(helpful, radius):
    uncertainty = rd.TV(radius, reach="support") if radius else None
    for seed in range(3):
        rows, reward, cost = draw(seed)
        horizon = 2
        asked = problem_of(seed, horizon, uncertainty=uncertainty)
        free = rd.solve(asked.replace(groups="helpful" if helpful else "adversarial"), "robust")
        lowest = rd.solve(asked.replace(minimise="cost"), "robust").reward.worst
        for bound in (-lowest + 0.05, -lowest + 0.2):
            expected = Promises(rows, [reward, -cost], horizon, helpful, radius).best(bound)
            problem = asked.replace(constraints=[rd.at_most("cost", bound)])
            solution = rd.solve(problem.replace(groups="helpful") if helpful else problem, tolerance=1e-4)
            assert solution.status == "certified"
            assert solution.constraints[0].worst <= bound + 1e-9
            assert solution.reward.worst <= expected + 1e-7
            assert solution.reward.bound >= expected - 1e-7
            assert solution.reward.worst >= expected - 1e-3
            assert expected <= free.reward.worst + 1e-9


def test_nature_picks_for_each_signal_separately():
    """One member earns, the other is free of cost: whichever the policy promises, each total has its own worst member."""
    rows = [(0, 0, (1, 2), 1.0), (1, 0, 3, 1.0), (2, 0, 3, 1.0)]
    problem = rd.Problem(rows, [[0.0], [1.0], [0.0], [0.0]], signals={"cost": [[0.0], [1.0], [0.0], [0.0]]}, states=4,
                         horizon=2, constraints=[rd.at_most("cost", 1.0)])  # fmt: skip
    solution = rd.solve(problem)
    assert (solution.reward.worst, solution.constraints[0].worst) == (0.0, 1.0)
    helped = rd.solve(problem.replace(groups="helpful", constraints=[rd.at_most("cost", 0.25)]))
    assert helped.reward.worst == pytest.approx(0.25, abs=1e-3)  # one pick for both totals


METHODS = ("rcvi", "nominal", "crpo", "rnpg", "epirc", "rppg", "primal-dual", "rrpo")


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_return_policies_that_are_evaluated_alike(method):
    options = {} if method in ("rcvi", "nominal") else {"iterations": 20}
    problem = problem_of(1, constraints=[rd.at_most("cost", 2.5)], uncertainty=rd.KL(0.05))
    solution = rd.solve(problem, method, **options)
    again, slow = rd.evaluate(problem, solution.policy), rd.verify(problem, solution.policy)
    assert again.reward.worst == pytest.approx(slow.reward.worst, abs=1e-9)
    assert again.constraints[0].worst == pytest.approx(slow.constraints[0].worst, abs=1e-9)
    assert solution.reward.worst <= rd.solve(problem.replace(constraints=[]), "robust").reward.worst + 1e-9


def test_simulation_against_the_worst_kernel_comes_to_the_worst_case():
    problem = problem_of(3, horizon=3)
    solution = rd.solve(problem, "robust")
    totals = rd.simulate(problem, solution.policy, episodes=4000, nature="worst-reward", seed=1).reward.totals
    assert np.mean(totals) == pytest.approx(solution.reward.worst, abs=5 * np.std(totals) / np.sqrt(4000))


def test_the_worst_kernel_takes_the_worst_member():
    problem = problem_of(3, horizon=2, uncertainty=rd.KL(0.1))
    solution = rd.solve(problem, "robust")
    kernel = rd.worst_kernel(problem, solution.policy, "reward")
    last = solution.problem.replace(horizon=1)  # what the members are worth with one decision to go
    worth = [rd.solve(last.replace(start=s), "robust").reward.worst for s in range(STATES)]
    for group, members in enumerate(problem.groups):
        chosen = kernel.at(state=STATES + group, action=0, stage=1).probability
        assert chosen @ np.array([worth[m] for m in members]) == pytest.approx(min(worth[m] for m in members), abs=1e-9)


def test_the_program_lets_the_policy_pick(tmp_path):
    problem = problem_of(1, constraints=[rd.at_most("cost", 2.5)])
    rd.save(problem, tmp_path / "problem.json")
    nature = run_json("solve", tmp_path / "problem.json")
    policy = run_json("solve", tmp_path / "problem.json", "--groups", "helpful")
    assert nature["status"] == policy["status"] == "certified"
    assert policy["reward"]["worst"] > nature["reward"]["bound"]
    helped = rd.solve(problem.replace(groups="helpful"))
    assert policy["reward"]["worst"] == helped.reward.worst
    assert "must be" in refused("solve", tmp_path / "problem.json", "--groups", "kind")


def test_an_infinite_horizon():
    rows, reward, _ = draw(2)
    expected = backward(rows, reward, 400, 0.9, best=largest)[0]
    assert rd.solve(problem_of(2, None, discount=0.9), "robust").reward.worst == pytest.approx(expected, abs=1e-6)


def test_goals_are_decided_by_states_not_by_groups():
    rows = [(0, 0, (0, 1), 0.5), (0, 0, 2, 0.5), (1, 0, 2, 1.0)]
    labels = {"goal": {2}, "way": {0, 1}, "far": {1}}
    problem = rd.Problem(rows, rd.reach("goal"), states=3, labels=labels, horizon=2)
    assert rd.solve(problem, "robust").reward.worst == 0.75  # nature stays in 0
    assert rd.solve(problem.replace(reward=rd.until("way", "goal")), "robust").reward.worst == 0.75
    assert rd.solve(problem.replace(reward=rd.reach("far")).replace(groups="helpful"), "robust").reward.worst == 0.5
    assert rd.solve(problem.replace(minimise=rd.steps_to("goal")), "robust").reward.worst == -1.5


def test_groups_of_one_change_nothing():
    rows, reward, cost = draw(4)
    alone = [(s, a, (t,) if np.isscalar(t) else (t[0],), p) for s, a, t, p in rows]
    plain = [(s, a, t if np.isscalar(t) else t[0], p) for s, a, t, p in rows]
    terms = {"signals": {"cost": cost}, "states": STATES, "horizon": 3, "constraints": [rd.at_most("cost", 1.5)]}
    with_groups = rd.solve(rd.Problem(alone, reward, uncertainty=rd.KL(0.05), **terms))
    without = rd.solve(rd.Problem(plain, reward, uncertainty=rd.KL(0.05), **terms))
    assert with_groups.reward.worst == pytest.approx(without.reward.worst, abs=2e-3)
    assert with_groups.reward.bound >= without.reward.worst - 1e-9
    assert without.reward.bound >= with_groups.reward.worst - 1e-9


def test_a_horizon_of_none_and_no_decision():
    assert rd.solve(problem_of(0, 0), "robust").reward.worst == 0.0


def test_rows_that_depend_on_the_stage():
    rows, reward, _ = draw(5)
    staged = [{"stage": h, "state": s, "action": a, "next": t, "p": p} for h in range(3) for s, a, t, p in rows]
    problem = rd.Problem(staged, reward, states=STATES, horizon=3)
    assert rd.solve(problem, "robust").reward.worst == pytest.approx(backward(rows, reward, 3, best=largest)[0], abs=1e-12)


@pytest.mark.parametrize("ending", ["json", "umb", "npz"])
def test_files_keep_groups(tmp_path, ending):
    problem = problem_of(1, constraints=[rd.at_most("cost", 2)], uncertainty=rd.KL(0.1)).replace(groups="helpful")
    rd.save(problem, tmp_path / f"problem.{ending}")
    again = rd.load(tmp_path / f"problem.{ending}")
    assert again == problem
    assert again.given.model == problem.given.model
    assert again.given.terms.helpful_groups
    assert [list(group) for group in again.groups] == [list(group) for group in problem.groups]
    assert pickle.loads(pickle.dumps(problem)) == problem


@pytest.mark.parametrize("ending", ["csv", "drn", "tra"])
def test_formats_without_a_place_for_groups_refuse_them(tmp_path, ending):
    with pytest.raises(rd.Error, match=r"groups of states, which a \w+ file cannot keep: write JSON or UMB"):
        rd.save(problem_of(1), tmp_path / f"problem.{ending}")
    assert not list(tmp_path.iterdir())


def test_what_a_prompt_shows_is_what_was_given():
    text = repr(problem_of(0, 7, discount=0.9, uncertainty=rd.KL(0.1)))
    assert "horizon:     7\n" in text and "discount:    0.9\n" in text and "KL(0.1)" in text
    assert ", nature picks\n" in text


def test_reports_and_dicts_speak_of_what_was_given(tmp_path):
    problem = problem_of(1, constraints=[rd.at_most("cost", 2.2)], uncertainty=rd.KL(0.05))
    solution = rd.solve(problem)
    said = solution.to_dict()
    assert (said["horizon"], said["discount"], said["set"], said["radius"], said["groups"]) == (4, 1.0, "kl", 0.05, 3)
    solution.report(tmp_path / "report.html", time_limit=0.5)
    assert "certified" in (tmp_path / "report.html").read_text()


def test_arrivals_are_earned_by_the_member_that_is_picked():
    rows = [(0, 0, (1, 2), 1.0), (1, 0, 1, 1.0), (2, 0, 2, 1.0)]
    problem = rd.Problem(rows, states=3, signals={"fall": rd.on_arrival({2: 1.0})}, minimise="fall", horizon=1, discount=0.8)
    assert rd.solve(problem, "robust").reward.worst == pytest.approx(-1.0, abs=1e-12)
    assert rd.solve(problem.replace(groups="helpful"), "robust").reward.worst == 0.0


def test_bad_groups():
    rows = [(0, 0, (1, 2), 1.0)]
    with pytest.raises(rd.Error, match="a group without members"):
        rd.Problem([(0, 0, (), 1.0)], 0.0, states=3, horizon=1)
    with pytest.raises(rd.Error, match=r"state 7 of a group, must be in 0\.\.2"):
        rd.Problem([(0, 0, (1, 7), 1.0)], 0.0, states=3, horizon=1)
    with pytest.raises(rd.Error, match="set tilt on a model with 1 groups, must be none, tv, chi2, kl or interval"):
        rd.Problem(rows, 0.0, states=3, horizon=1, uncertainty=rd.Tilt(1.0))
    with pytest.raises(rd.Error, match="start state 3 is a group, must be an ordinary state"):
        rd.Problem(rows, 0.0, states=3, horizon=1, start=3)
    with pytest.raises(rd.Error, match="groups = 'maybe', must be 'adversarial' or 'helpful'"):
        rd.Problem(rows, 0.0, states=3, horizon=1).replace(groups="maybe")
    with pytest.raises(rd.Error, match="reward has shape"):
        rd.Problem(rows, np.zeros((3, 1, 3)), states=3, horizon=1)
