"""Laws of answers: what must not change, or change in a known way, when the same problem is written differently.

Each law writes a small random problem in two ways and compares the two answers: same status, and brackets that agree
within both tolerances. They run over every method, set and kind of constraint, with these limits:
- `frontier` has no set tilt, and with two constraints that bind at once it may leave its bracket open, with a note: then
  the brackets must agree.
- A tilt has a temperature in units of the values: they are scaled together.
- A gradient method has a step in units of the values, which is scaled with them. It is no law for these methods that an
  action which is never better changes nothing: they begin with all actions alike. `rnpg` and `rppg` weigh the reward itself
  against what a constraint misses, and `epirc` begins with a range that holds 0: a constant changes what they do.
- RCVI rounds budgets to a grid where a discount leaves no lattice, and the grid depends on the range of the signal: there,
  an action that nobody takes changes it. With one constraint it rounds weights of actions to 16 bits, with two it does not.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import redoubt as rd

SETS = ("none", "tv", "tv anywhere", "chi2", "kl", "interval", "tilt")
GRADIENTS = ("rnpg", "crpo", "epirc", "rppg", "primal-dual", "rrpo")


@dataclass
class Case:
    """A problem as arrays: P (S, A, S); reward and signals (S, A); constraints (name, sense, bound, probability)."""

    P: np.ndarray
    reward: np.ndarray
    signals: dict[str, np.ndarray]
    constraints: list[tuple[str, str, float, float | None]]
    start: np.ndarray
    set: str
    horizon: int | None = 3
    discount: float = 1.0
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    temperature: float = 0.5

    def problem(self) -> rd.Problem:
        sets = {
            "none": rd.Nominal(),
            "tv": rd.TV(0.1, reach="support"),
            "tv anywhere": rd.TV(0.1),
            "chi2": rd.Chi2(0.1),
            "kl": rd.KL(0.05),
            "interval": None if self.low is None else rd.Interval(self.low, self.high),
            "tilt": rd.Tilt(self.temperature),
        }
        constraints = []
        for name, sense, bound, probability in self.constraints:
            if probability is None:
                constraints.append((rd.at_least if sense == "at_least" else rd.at_most)(name, bound))
            else:
                constraints.append(rd.chance(name, **{sense: bound}, probability=probability))
        return rd.Problem(
            self.P,
            self.reward,
            signals=self.signals,
            constraints=constraints,
            uncertainty=sets[self.set],
            horizon=self.horizon,
            discount=self.discount,
            start=self.start,
            order="sas",
        )


def random_case(seed: int, set: str, kind: str = "one") -> Case:
    """Constraints ask for something between what the reward-optimal policy and the safest one have."""
    random = np.random.default_rng([seed, SETS.index(set), len(kind)])
    states, actions = 4, 3
    P = np.zeros((states, actions, states))
    for row in P.reshape(-1, states):
        row[random.choice(states, 2, replace=False)] = random.dirichlet(np.ones(2)) + 0.1
    P /= P.sum(axis=-1, keepdims=True)
    reward = random.uniform(-1, 1, (states, actions))
    # On a lattice, where RCVI rounds nothing.
    signals = {name: random.integers(0, 5, (states, actions)) / 4 for name in ("cost", "gain")}
    low, high = P * 0.8, np.minimum(1, P * 1.2 + (P > 0) * 0.02)
    case = Case(P, reward, signals, [], np.eye(states)[seed % states], set, low=low, high=high)
    if kind == "discounted":
        case.horizon, case.discount = None, 0.7
    if kind == "two":
        case.horizon = 2  # `frontier` is slow where two constraints bind at once
    wanted = {
        "one": [("cost", "at_most", None)],
        "discounted": [("cost", "at_most", None)],
        "two": [("cost", "at_most", None), ("gain", "at_least", None)],
        "chance": [("cost", "at_most", 0.5)],
        "no": [],
    }[kind]
    for name, sense, probability in wanted:
        bound = 1.5 if probability else middling(case, name, sense)
        case.constraints = [*case.constraints, (name, sense, bound, probability)]
    return case


def middling(case: Case, name: str, sense: str) -> float:
    worst_of = replace(case, constraints=[(name, sense, 0.0, None)]).problem()
    reach = rd.achievable_range(worst_of)
    return np.round(4 * (0.6 * reach.best + 0.4 * reach.worst)) / 4


def solve(case: Case, method: str, **options):
    if method == "frontier":
        options |= {"tolerance": tolerance(case)}
    if method in GRADIENTS:
        options = {"iterations": 20, "step": 0.1} | options
    return rd.solve(case.problem(), method=method, threads=1, **options)


def tolerance(case: Case) -> float:
    return 1e-3 if len(case.constraints) < 2 else 1e-2  # the default; two constraints are slow


def methods(case: Case) -> list[str]:
    return ["rcvi", "robust", "nominal", *(["frontier"] if case.set != "tilt" else [])]


def spread(case: Case) -> float:
    best = solve(case, "robust").reward.worst
    worst = -solve(replace(case, set="none", reward=-case.reward), "robust").reward.worst
    return abs(best) + abs(worst) + abs(best - worst)


def expect_same(before, after, case: Case, scale=1.0, shift=0.0):
    """`after` = scale * before + shift, up to what both brackets leave open."""
    for solution in (before, after):
        assert solution.gap is None or solution.gap >= 0
        shown = (solution.reward.worst, *(c.worst for c in solution.constraints))
        assert not any(value == 0 and np.signbit(value) for value in shown), solution
    if len(before.constraints) > 1 and {before.status, after.status} == {"certified", "feasible"}:
        feasible = before if before.status == "feasible" else after
        assert any(not note.startswith("nature may move") for note in feasible.notes), feasible
    else:
        assert after.status == before.status, (before, after)
    allowed = 1e-7 * scale * spread(case)
    worst = scale * before.reward.worst + shift
    if before.reward.bound is None or before.status == "infeasible":
        assert after.reward.worst == pytest.approx(worst, abs=allowed)
    else:
        bound = scale * before.reward.bound + shift
        assert worst <= after.reward.bound + allowed
        assert after.reward.worst <= bound + allowed
        if before.status == after.status == "certified":
            width = tolerance(case) * max(abs(worst), abs(bound), abs(shift), scale * spread(case))
            assert after.reward.worst == pytest.approx(worst, abs=2 * width)
            assert after.reward.bound == pytest.approx(bound, abs=2 * width)
    for c, d in zip(before.constraints, after.constraints):
        assert d.satisfied == c.satisfied


def law(*kinds: str, sets: tuple[str, ...] = SETS, seeds: int = 1):
    """Parameters of a law: one random problem for each kind of constraint, set and seed."""
    cases = [(seed, set, kind) for kind in kinds for set in sets for seed in range(seeds)]
    return pytest.mark.parametrize("seed, set, kind", cases)


@law("one", "two", "chance", "no", seeds=2)
def test_a_constant_in_every_reward_shifts_the_answer(seed, set, kind):
    case = random_case(seed, set, kind)
    for constant in (1000.0, -7.0):
        moved = replace(case, reward=case.reward + constant)
        for method in methods(case):
            expect_same(solve(case, method), solve(moved, method), case, shift=constant * case.horizon)


@law("one", "two", "discounted", "chance", "no", sets=SETS[:-1])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaled_rewards_scale_the_answer(seed, set, kind, scale):
    case = random_case(seed, set, kind)
    for method in methods(case):
        scaled = replace(case, reward=scale * case.reward)
        expect_same(solve(case, method), solve(scaled, method), case, scale=scale)


def scaled_signals(case: Case, scales: dict[str, float]) -> Case:
    signals = {name: scales.get(name, 1.0) * values for name, values in case.signals.items()}
    constraints = [(name, sense, scales.get(name, 1.0) * bound, p) for name, sense, bound, p in case.constraints]
    return replace(case, signals=signals, constraints=constraints)


@law("one", "two", "discounted", "chance", sets=SETS[:-1])
@pytest.mark.parametrize("scales", [{"cost": 1e-6, "gain": 1e-6}, {"cost": 1e6, "gain": 1e6}, {"gain": 1e6}])
def test_scaled_signals_and_bounds_change_nothing(seed, set, kind, scales):
    case = random_case(seed, set, kind)
    for method in methods(case) if kind == "two" or "cost" in scales else ():
        expect_same(solve(case, method), solve(scaled_signals(case, scales), method), case)


@law("one", "two", "discounted", sets=SETS[:-1])
def test_a_bound_of_zero_has_no_scale_of_its_own(seed, set, kind):
    """It is judged by the largest value of the signal."""
    case = random_case(seed, set, kind)
    stages = case.horizon or 1 / (1 - case.discount)
    asked = {name: bound / stages for name, _, bound, _ in case.constraints}
    zero = replace(
        case,
        signals={name: values - asked.get(name, 0.0) for name, values in case.signals.items()},
        constraints=[(name, sense, 0.0, p) for name, sense, _, p in case.constraints],
    )
    for scales in ({"cost": 1e-6, "gain": 1e-6}, {"cost": 1e6, "gain": 1e6}, {"cost": 1e-12}):
        for method in methods(case):
            expect_same(solve(zero, method), solve(scaled_signals(zero, scales), method), case)


@law("one", "two", "discounted", sets=("tilt",))
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_tilt_is_scaled_with_its_values(seed, set, kind, scale):
    case = random_case(seed, set, kind)
    scaled = scaled_signals(replace(case, reward=scale * case.reward), {"cost": scale, "gain": scale})
    for method in methods(case):
        after = solve(replace(scaled, temperature=scale * case.temperature), method)
        expect_same(solve(case, method), after, case, scale=scale)


def reordered(case: Case, seed: int) -> Case:
    random = np.random.default_rng(seed)
    s, a = random.permutation(len(case.P)), random.permutation(case.P.shape[1])
    by_row = lambda values: values[s][:, a]  # noqa: E731
    by_outcome = lambda values: by_row(values)[:, :, s]  # noqa: E731
    return replace(
        case,
        P=by_outcome(case.P),
        reward=by_row(case.reward),
        signals={name: by_row(values) for name, values in case.signals.items()},
        start=case.start[s],
        low=by_outcome(case.low),
        high=by_outcome(case.high),
    )


@law("one", "two", "discounted", "chance", "no")
def test_order_of_states_and_actions_changes_nothing(seed, set, kind):
    case = random_case(seed, set, kind)
    for method in methods(case):
        expect_same(solve(case, method), solve(reordered(case, seed), method), case)


@law("one", "two", "discounted", "chance", "no", sets=SETS[:-1])
def test_an_action_that_is_never_better_changes_nothing(seed, set, kind):
    case = random_case(seed, set, kind)
    again = lambda values: np.concatenate([values, values[:, :1]], axis=1)  # noqa: E731
    worse = {"cost": 1.0, "gain": -1.0}
    signals = {name: again(values) for name, values in case.signals.items()}
    for name, values in signals.items():
        values[:, -1] += worse[name]
    reward = again(case.reward)
    reward[:, -1] -= 3
    other = replace(case, P=again(case.P), reward=reward, signals=signals, low=again(case.low), high=again(case.high))
    for method in methods(case):
        if kind != "discounted" or method != "rcvi":
            expect_same(solve(case, method), solve(other, method), case)


@law("one", "two", "discounted", "no")
def test_a_constraint_that_every_policy_keeps_changes_nothing(seed, set, kind):
    case = random_case(seed, set, kind)
    for slack in ([("gain", "at_least", -50.0, None)], [("gain", "at_least", -50.0, None), ("gain", "at_most", 90.0, None)]):
        other = replace(case, constraints=case.constraints + slack)
        for method in methods(case):
            before, after = solve(case, method), solve(other, method)
            if method == "rcvi":
                assert after.reward.worst == pytest.approx(before.reward.worst, abs=1e-4 * spread(case))
            else:
                expect_same(before, after, case)


@law("one", "two", "discounted", "chance")
def test_at_least_of_a_signal_is_at_most_of_its_negative(seed, set, kind):
    case = random_case(seed, set, kind)
    turned = {"at_least": "at_most", "at_most": "at_least"}
    other = replace(
        case,
        signals={name: -values for name, values in case.signals.items()},
        constraints=[(name, turned[sense], -bound, p) for name, sense, bound, p in case.constraints],
    )
    for method in methods(case):
        expect_same(solve(case, method), solve(other, method), case)


# The bounds of an interval are for the whole of an outcome: its halves have other ones.
@law("one", "two", "no", sets=tuple(set for set in SETS if set != "interval"))
def test_an_outcome_in_two_equal_halves_is_one(seed, set, kind):
    case = random_case(seed, set, kind)
    whole = case.problem()
    state, action = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    row = np.repeat(np.arange(whole.rows), np.diff(whole.row_outcomes))
    halves = [
        (int(state[r]), int(action[r]), int(t), p / 2) for r, t, p in zip(row, whole.next, whole.probability) for _ in "ab"
    ]
    split = rd.Problem(
        halves,
        whole.reward.reshape(4, 3),
        signals={name: values.reshape(4, 3) for name, values in whole.signals.items()},
        constraints=whole.constraints,
        uncertainty=whole.uncertainty,
        horizon=whole.horizon,
        start=whole.start,
    )
    for method in (*methods(case), *GRADIENTS):
        options = {"iterations": 20} if method in GRADIENTS else {"tolerance": tolerance(case)} if method == "frontier" else {}
        before, after = (rd.solve(problem, method=method, threads=1, **options) for problem in (whole, split))
        assert after.status == before.status
        assert after.reward.worst == pytest.approx(before.reward.worst, rel=1e-12)


@law("one", "discounted")
@pytest.mark.parametrize("method", GRADIENTS)
def test_gradient_methods_keep_the_laws_of_signs_order_constants_and_scales(seed, set, kind, method):
    case = random_case(seed, set, kind)
    before = solve(case, method)

    def expect(other, within, scale=1.0, shift=0.0, **options):
        after = solve(other, method, **options)
        assert after.status == before.status
        assert after.reward.worst == pytest.approx(scale * before.reward.worst + shift, abs=within * scale * spread(case))

    turned = {"at_least": "at_most", "at_most": "at_least"}
    expect(replace(
        case,
        signals={name: -values for name, values in case.signals.items()},
        constraints=[(name, turned[sense], -bound, p) for name, sense, bound, p in case.constraints],
    ), 1e-8)  # fmt: skip
    expect(reordered(case, 1), 1e-8)
    stages = case.horizon or 1 / (1 - case.discount)
    if method in ("crpo", "primal-dual", "rrpo"):
        expect(replace(case, reward=case.reward + 4.0), 1e-8, shift=4.0 * stages)
    for scale in (1e-6, 1e6):
        scaled = scaled_signals(replace(case, reward=scale * case.reward), {"cost": scale, "gain": scale})
        # Where two directions are equally good, rounding decides.
        expect(replace(scaled, temperature=scale * case.temperature), 1e-3, scale, step=0.1 / scale)


@pytest.mark.parametrize("set", SETS[:-1])
@pytest.mark.parametrize("what", ["negative", "zero", "best is zero"])
def test_frontier_certifies_whatever_the_sign_of_rewards(set, what):
    for seed in range(3):
        for kind in ("one", "discounted", "chance"):
            case = random_case(seed, set, kind)
            if what == "negative":
                case.reward = case.reward - 5
            elif what == "zero":
                case.reward = np.zeros_like(case.reward)
            else:
                case.reward = case.reward - case.reward.max(axis=1, keepdims=True)
            for scale in (1e-4, 1.0, 1e3):
                solution = solve(replace(case, reward=scale * case.reward), "frontier")
                assert solution.status in ("certified", "infeasible"), (seed, kind, scale, solution)
