"""No discount and no horizon: totals until an end, and what happens at all times."""

import numpy as np
import pytest
import redoubt as rd
from endless import (
    ACTIONS,
    CRASH,
    GOAL,
    STATES,
    brackets,
    can_avoid,
    largest,
    problem_of,
    random_model,
    smallest,
    surely_reaches,
    worst_rows,
)


def test_200_random_models_with_end_components_against_linear_programs():
    finite = infinite = 0
    for seed in range(200):
        P, cost = random_model(seed)
        to_goal, to_crash = P[:, :, GOAL].copy(), P[:, :, CRASH].copy()
        to_goal[[GOAL, CRASH]] = to_crash[[GOAL, CRASH]] = 0
        ends = (GOAL, CRASH)
        brackets(rd.solve(problem_of(P, cost, reward=rd.reach("goal"))), largest(P, to_goal, ends))
        least = smallest(P, to_crash, can_avoid(P, {CRASH}) | {GOAL, CRASH}, np.ones((STATES, ACTIONS), bool))
        brackets(rd.solve(problem_of(P, cost, minimise=rd.reach("crash"))), least, -1)
        # Everything that is paid for ever, or else an error.
        most = largest(P, cost, ends)
        try:
            brackets(rd.solve(problem_of(P, cost, reward="cost")), most)
            finite += 1
        except rd.Error as error:
            assert most is None and "for ever, where 'reward' grows without end" in str(error)
            infinite += 1
        # Infinite on paths that miss the goal.
        sure, allowed = surely_reaches(P, {GOAL})
        for words, paid in ((rd.steps_to("goal"), np.ones((STATES, ACTIONS))), (rd.total_until("cost", "goal"), cost)):
            if 0 in sure:
                brackets(rd.solve(problem_of(P, cost, minimise=words)), smallest(P, paid, {GOAL}, allowed), -1)
                finite += 1
            else:
                with pytest.raises(rd.Error, match="no policy comes to the goal with certainty"):
                    problem_of(P, cost, minimise=words)
                infinite += 1
    assert finite > 100 and infinite > 100


# ---- with uncertainty -------------------------------------------------------------------------------------------

SETS = [(rd.KL(0.05), 0), (rd.Chi2(0.1), 1), (rd.TV(0.02, reach="support"), 0), (rd.TV(0.3, reach="support"), 15), (rd.KL(0.3), 12)]


@pytest.mark.parametrize(("uncertainty", "least_trapped"), SETS, ids=lambda of: repr(of) if not isinstance(of, int) else "")
def test_robust_reachability_lies_between_a_finite_horizon_and_a_fixed_kernel(uncertainty, least_trapped):
    tight = trapped = 0
    for seed in range(40):
        P, cost = random_model(seed)
        problem = problem_of(P, cost, uncertainty, reward=rd.reach("goal"))
        trapped += problem.improper  # the set may drop the ways out of a component
        solution = rd.solve(problem)
        # Reaching the goal pays by its own value of one, which nature sees.
        v = np.zeros(STATES)
        v[GOAL] = 1
        for _ in range(800):
            value, Q = worst_rows(uncertainty, P, v)
            best = value.max(axis=1)
            best[GOAL], best[CRASH] = 1, 0
            change, v = np.abs(best - v).max(), best
            if change < 1e-13:
                break
        to_goal = Q[:, :, GOAL].copy()
        to_goal[[GOAL, CRASH]] = 0
        above = largest(Q, to_goal, (GOAL, CRASH))
        assert solution.status == "certified"
        assert v[0] <= solution.reward.bound + 1e-8
        assert solution.reward.worst <= above + 1e-8
        assert solution.reward.bound - solution.reward.worst < 1e-7
        if change < 1e-13:  # episodes that nature can delay for long have not ended by then
            assert above - v[0] < 1e-6
            tight += 1
        check = rd.verify(problem, solution.policy)
        assert check.reward.worst == pytest.approx(solution.reward.worst, abs=1e-9)
    assert trapped >= least_trapped and tight >= 15


# ---- a nature that helps ----------------------------------------------------------------------------------------


def test_a_helpful_nature_is_the_other_end_of_the_range():
    P, cost = random_model(3)
    for horizon, discount in ((None, 0.9), (6, 1.0)):
        base = rd.Problem(P, reward=cost, order="sas", horizon=horizon, discount=discount, uncertainty=rd.TV(0.1, reach="support"))
        best = base.replace(nature="helpful")
        low, high = rd.solve(base), rd.solve(best)
        assert high.status == "certified" and low.reward.bound < high.reward.worst
        v = np.zeros(STATES)
        for _ in range(horizon or 400):  # the best case of v is minus the worst case of -v
            v = (cost - discount * worst_rows(rd.TV(0.1, reach="support"), P, -v)[0]).max(axis=1)
        assert high.reward.worst == pytest.approx(v[0], rel=1e-9) == high.reward.bound
        assert rd.verify(best, high.policy).reward.worst == pytest.approx(v[0], rel=1e-9)
        assert rd.evaluate(base, high.policy).reward.worst < low.reward.bound + 1e-9
        same = base.replace(uncertainty=rd.Nominal())
        assert rd.solve(same.replace(nature="helpful")).reward.worst == pytest.approx(rd.solve(same).reward.worst)
    with pytest.raises(rd.Error, match="'adversarial' or 'helpful'"):
        base.replace(nature="kind")
    limited = rd.make("river_swim(horizon=5,start=3)").replace(nature="helpful")
    for method in ("frontier", "rcvi", "crpo"):
        with pytest.raises(rd.Error, match="nature helpful with"):
            rd.solve(limited, method=method)
    policy = rd.solve(limited.replace(nature="adversarial")).policy
    assert rd.evaluate(limited, policy).constraints[0].worst < 4  # a cost is low where nature helps
