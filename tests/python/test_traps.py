"""Models in which an episode may go on for ever, each worked out by hand."""

import numpy as np
import pytest
import redoubt as rd
from endless import small


def test_a_loop_that_pays_nothing():
    # Values from above, all one, satisfy every equation of the loop; the answer is what the way out is worth.
    loop = {"s": {"wait": ({"s": 1.0}, {}), "go": ({"goal": 0.5, "fail": 0.5}, {})}}
    for uncertainty, expected in ((None, 0.5), (rd.TV(0.2, reach="support"), 0.3)):
        solution = rd.solve(small(loop, uncertainty, reward=rd.reach("goal")))
        assert solution.status == "certified" and solution.reward.worst == pytest.approx(expected, abs=1e-12)
        assert solution.reward.bound == pytest.approx(expected, abs=1e-9)
    # Of two states that lead to each other, the better way out counts; whoever wants to stay may.
    pair = {"s": {"over": ({"t": 1.0}, {}), "go": ({"goal": 0.3, "fail": 0.7}, {})},
            "t": {"back": ({"s": 0.5, "t": 0.5}, {}), "go": ({"goal": 0.6, "fail": 0.4}, {})}}  # fmt: skip
    problem = small(pair, reward=rd.reach("goal"))
    assert "s or t" in problem.state_names and "go from t" in problem.action_names
    assert rd.solve(problem).reward.worst == pytest.approx(0.6, abs=1e-12)
    least = rd.solve(small(pair, minimise=rd.reach("goal")))
    assert least.reward.worst == 0 and least.reward.bound == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("enough", "too_much", "steps"),
    [
        (rd.TV(0.05, reach="support"), rd.TV(0.1, reach="support"), 20.0),
        (rd.KL(0.1), rd.KL(0.11), None),  # drops a tenth at -log(.9) = .10536
        (rd.Chi2(0.1), rd.Chi2(0.12), None),  # at .1 / .9 = .1111
    ],
    ids=["tv", "kl", "chi2"],
)
def test_a_set_that_may_drop_the_only_way_out(enough, too_much, steps):
    rows = {"s": {"try": ({"s": 0.9, "goal": 0.1}, {})}}
    reached = rd.solve(small(rows, enough, reward=rd.reach("goal")))
    assert reached.status == "certified" and reached.reward.worst == pytest.approx(1, abs=1e-9)
    taken = -rd.solve(small(rows, enough, minimise=rd.steps_to("goal"))).reward.worst
    exit_ = -rd.worst_case(enough, np.array([0.9, 0.1]), np.array([0.0, -1.0]))
    least = rd.worst_case(enough, np.array([0.9, 0.1]), np.array([0.0, 1.0]))
    assert taken == pytest.approx(1 / least, rel=1e-8) and exit_ > 0.1
    if steps is not None:
        assert taken == pytest.approx(steps, rel=1e-9)
    trapped = rd.solve(small(rows, too_much, reward=rd.reach("goal")))  # for ever, if nature wants to
    assert trapped.status == "certified" and trapped.reward.worst == trapped.reward.bound == 0
    with pytest.raises(rd.Error, match="from s no policy comes to the goal with certainty"):
        small(rows, too_much, minimise=rd.steps_to("goal"))
    # Another action that nature cannot undo is worth what it is; what can be undone adds nothing to it.
    rows["s"]["jump"] = ({"goal": 0.5, "fail": 0.5}, {})
    problem = small(rows, too_much, reward=rd.reach("goal"))
    solution = rd.solve(problem)
    jump = rd.worst_case(too_much, np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    assert solution.status == "certified" and solution.reward.worst == pytest.approx(jump, abs=1e-12)
    assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(jump, abs=1e-12)
    controller = solution.policy.start()
    assert problem.given.model.action_names[controller.act(0)] == "jump"


# Two states lead to each other, or to the goal, which nature can leave out: who only goes round is kept there. The way out of t is the better
# one, so that s goes over to t; what that is worth depends on the values, and no row is worse than another beforehand.
ROUND = {"s": {"over": ({"t": 0.9, "goal": 0.1}, {}), "jump": ({"goal": 0.3, "fail": 0.7}, {})},
         "t": {"back": ({"s": 0.9, "goal": 0.1}, {}), "jump": ({"goal": 0.6, "fail": 0.4}, {})}}  # fmt: skip


@pytest.mark.parametrize("uncertainty", [rd.TV(0.1, reach="support"), rd.KL(0.11), rd.Chi2(0.12)], ids=repr)
def test_a_trap_of_several_states(uncertainty):
    problem = small(ROUND, uncertainty, reward=rd.reach("goal"))
    solution = rd.solve(problem)
    best = rd.worst_case(uncertainty, np.array([0.6, 0.4]), np.array([1.0, 0.0]))
    assert problem.improper and solution.status == "certified"
    assert solution.reward.worst == pytest.approx(best, abs=1e-12) == solution.reward.bound
    assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(best, abs=1e-12)
    for nature, expected in (("worst-reward", best), ("nominal", 0.1 + 0.9 * 0.6)):
        found = rd.simulate(problem, solution.policy, episodes=4000, nature=nature, seed=2).reward
        assert found.mean == pytest.approx(expected, abs=5 * found.standard_error)
    controller = solution.policy.start()
    assert problem.given.model.action_names[controller.act(0)] == "over"
    for horizon in (50, 200):  # the limit of finite horizons, from below
        reached = rd.solve(problem.replace(horizon=horizon), method="robust").reward.worst
        assert reached <= best + 1e-12
    assert reached == pytest.approx(best, abs=1e-9)


def test_a_board_whose_slips_nature_can_leave_out():
    # To the right or back, and up or down, with slips of .05 that a radius of .05 leaves out: every pair of opposite moves is a trap.
    size = 6

    def step(state, action):
        x, y = state
        dx, dy = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}[action]
        to = (min(max(x + dx, 0), size - 1), min(max(y + dy, 0), size - 1))
        yield 0.9, to
        yield 0.05, (to[1], to[0])
        yield 0.05, (size - 1, 0)  # which is where episodes fail

    def board(**terms):
        return rd.explore(initial=(0, 0), actions=lambda s: ["left", "right", "up", "down"] if s not in {(size - 1, 0), (size - 1, size - 1)} else [],
                          step=step, labels=lambda s: {"goal"} if s == (size - 1, size - 1) else set(), reward=rd.reach("goal"), **terms)  # fmt: skip

    for uncertainty in (rd.TV(0.05, reach="support"), rd.KL(0.06), rd.TV(0.05)):
        problem = board(horizon=None, uncertainty=uncertainty)
        solution = rd.solve(problem)
        assert problem.improper and solution.status == "certified"
        long = rd.solve(board(horizon=400, uncertainty=uncertainty), method="robust").reward.worst
        assert long <= solution.reward.bound + 1e-12 and long == pytest.approx(solution.reward.worst, abs=1e-8)
        assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
        again = rd.solve(problem, threads=2).reward
        assert (again.worst, again.bound) == (solution.reward.worst, solution.reward.bound)
    with pytest.raises(rd.Error, match="the method must be frontier"):
        rd.solve(problem, method="crpo")


def test_a_policy_that_nature_traps_is_worth_nothing():
    problem = small(ROUND, rd.TV(0.1, reach="support"), reward=rd.reach("goal"))
    careless = rd.solve(problem, method="nominal")  # going round reaches the goal with certainty, if nature is not against it
    assert careless.reward.worst == 0 == rd.verify(problem, careless.policy).reward.worst
    assert rd.simulate(problem, careless.policy, episodes=50, nature="worst-reward").reward.mean == 0
    assert rd.simulate(problem, careless.policy, episodes=50, nature="nominal").reward.mean == pytest.approx(1)
    mixed = rd.solve(problem).policy
    assert rd.evaluate(problem.replace(uncertainty=rd.TV(0.05, reach="support")), mixed).reward.worst > 0.5


def test_an_interval_with_lower_bound_zero():
    P = np.array([[[0.9, 0.1]], [[0.0, 1.0]]])

    def problem(low, **asked):
        lo, hi = np.array([[[0.5, low]], [[0.0, 1.0]]]), np.array([[[1.0, 0.5]], [[0.0, 1.0]]])
        return rd.Problem(P, labels={"goal": {1}}, uncertainty=rd.Interval(lo, hi), order="sas", horizon=None, **asked)

    assert rd.solve(problem(0.25, reward=rd.reach("goal"))).reward.worst == pytest.approx(1, abs=1e-9)
    assert -rd.solve(problem(0.25, minimise=rd.steps_to("goal"))).reward.worst == pytest.approx(4, rel=1e-9)
    assert rd.solve(problem(0.0, reward=rd.reach("goal"))).reward.bound == 0
    with pytest.raises(rd.Error, match="from 0 no policy comes to the goal with certainty"):
        problem(0.0, minimise=rd.steps_to("goal"))


def test_totals_that_grow_for_ever_name_the_states():
    rows = {"s": {"on": ({"t": 1.0}, {"reward": 1.0}), "out": ({"goal": 1.0}, {})}, "t": {"back": ({"s": 1.0}, {})}}
    with pytest.raises(rd.Error, match="in states s; t for ever, where 'reward' grows without end.*discount below 1"):
        small(rows)
    rows["s"]["on"] = ({"t": 1.0}, {"reward": -1.0})  # nobody stays where it costs
    solution = rd.solve(small(rows))
    assert solution.status == "certified" and solution.reward.worst == 0 == pytest.approx(solution.reward.bound, abs=1e-9)
    rows["s"]["on"] = ({"t": 1.0}, {"wear": 1.0})
    assert rd.solve(small(rows, reward=None, constraints=[rd.at_most("wear", 3)])).constraints[0].worst == 0
    with pytest.raises(rd.Error, match="where 'wear' grows without end, every policy"):
        small(rows, reward=None, constraints=[rd.at_least("wear", 3)])


def test_a_helpful_nature_where_a_policy_may_stay_names_the_states():
    rows = {"s": {"wait": ({"s": 1.0}, {"reward": -1.0}), "go": ({"goal": 0.5, "s": 0.5}, {"reward": -1.0})}}
    with pytest.raises(rd.Error, match="nature helpful where an episode can be kept in states s for ever"):
        small(rows, rd.TV(0.1, reach="support")).replace(nature="helpful")
    rows["s"]["fall"] = ({"pit": 1.0}, {"reward": 0.0})
    rows["pit"] = {"stay": ({"pit": 1.0}, {"reward": -1.0})}
    with pytest.raises(rd.Error, match="nature helpful where no policy comes from pit to an end with certainty"):
        small(rows, rd.TV(0.1, reach="support")).replace(nature="helpful")


def test_traps_and_constraints_case_by_case():
    """Each is solved or refused by an error that names the states of one component."""
    wait = {"s": {"wait": ({"s": 1.0}, {}), "go": ({"goal": 0.5, "fail": 0.5}, {"wear": 1.0})}}
    # Staying is the policy's own choice and pays nothing: collapsed, also with constraints and several of them.
    problem = small(wait, rd.TV(0.1, reach="support"), reward=rd.reach("goal"), constraints=[rd.at_most("wear", 0.5)])
    solution = rd.solve(problem, tolerance=1e-6)
    assert solution.status == "certified" and solution.reward.worst == pytest.approx(0.2, abs=1e-6)  # .4, half of the time
    assert solution.constraints[0].worst <= 0.5 + 1e-9
    # Nature's choice, with an interval whose lower bound is 0: one growing total is exact, anything else is refused.
    back = {"s": {"try": ({"s": 0.9, "goal": 0.1}, {"wear": 1.0})}}
    dropped = rd.TV(0.1, reach="support")
    assert rd.solve(small(back, dropped, reward=rd.reach("goal"))).reward.bound == 0
    with pytest.raises(rd.Error, match="in states s for ever, where 'wear' grows without end|keep an episode in states s for ever"):
        small(back, dropped, reward=rd.reach("goal"), constraints=[rd.at_least("wear", 0.5)])
    # A cost that nature can let grow: no policy keeps it finite.
    with pytest.raises(rd.Error, match="from s no policy comes to an end with certainty"):
        small(back, dropped, reward=rd.reach("goal"), constraints=[rd.at_most("wear", 20)])
    # Below the radius at which the way out can be dropped every policy ends, and all of them are solved.
    safe = rd.TV(0.05, reach="support")
    problem = small(back, safe, reward=rd.reach("goal"), constraints=[rd.at_most("wear", 20 + 1e-6)])
    solution = rd.solve(problem)
    assert solution.status == "certified" and solution.constraints[0].worst == pytest.approx(20, rel=1e-9)
