"""Figures: each returns its axes and shows what it says."""

import matplotlib as mpl
import numpy as np
import pytest
import redoubt as rd
from redoubt import plots

mpl.use("Agg")

RIVER = rd.make("river_swim(horizon=10,start=3)")


@pytest.fixture(scope="module")
def solution():
    return rd.solve(RIVER, "rcvi", budget_step=0.05)


@pytest.fixture(autouse=True)
def close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_the_policy_map_shows_the_most_likely_action_of_each_state_and_budget(solution):
    ax = solution.plot_policy(stage=2)
    shown = ax.images[0].get_array()
    assert shown.shape == (6, solution.policy.memories(0, stage=2))
    for state, memory in ((0, 0), (3, 1)):
        assert shown[state, memory] == solution.policy.action_weights(state, 2, memory).argmax()
    assert ax.get_xlabel() == "cost that is left"
    one = solution.plot_policy(stage=2, action=1).images[0].get_array()
    assert one[3, 1] == solution.policy.action_weights(3, 2, 1)[1]


def test_traces_have_a_line_for_each_quantity_and_its_bound(solution):
    ax = solution.plot_trace(x="row_evaluations")
    assert [line.get_label() for line in ax.lines[:2]] == ["reward", "cost"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), solution.trace["cost"])
    assert list(ax.lines[2].get_ydata()) == [4.0, 4.0]
    with pytest.raises(rd.Error, match="x = 'time', must be one of"):
        solution.plot_trace(x="time")


def test_totals_mark_mean_and_bound(solution):
    simulation = rd.simulate(RIVER, solution, episodes=500)
    ax = plots.totals(simulation, solution, "cost")
    marks = [line.get_xdata()[0] for line in ax.lines]
    assert marks == [simulation.constraints[0].mean, 4.0]
    with pytest.raises(rd.Error, match="name = 'energy', must be one of reward, cost"):
        plots.totals(simulation, solution, "energy")


def test_the_kernel_stands_beside_the_nominal_row(solution):
    kernel = rd.worst_kernel(RIVER, solution, "cost")
    memory = solution.policy.memories(3) // 2
    ax = plots.kernel(kernel, state=3, action=1, memory=memory)
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights[:3], [0.1, 0.6, 0.3])
    np.testing.assert_allclose(heights[3:], kernel.at(3, 1, memory=memory).probability)
    given = plots.kernel(kernel, state=3, action=0, memory=memory, ax=ax)
    assert given is ax


def test_a_method_without_a_curve_says_so(solution):
    with pytest.raises(rd.Error, match="a solution by rcvi has no curve, must come from the method that has one: fron"):
        solution.plot_curve()


def test_a_problem_without_constraints_has_nothing_to_trade():
    free = rd.solve(RIVER.replace(constraints=[]), method="frontier")
    with pytest.raises(rd.Error, match="a problem without constraints has no curve"):
        free.plot_curve()


def test_the_curve_has_the_bound_and_the_chosen_point():
    solution = rd.solve(RIVER, method="frontier", tolerance=1e-2)
    ax = solution.plot_curve()
    points, bound, chosen = ax.lines
    np.testing.assert_array_equal(np.sort(points.get_xdata()), np.sort(solution.curve["cost"]))
    assert bound.get_xdata()[0] == 4.0
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (solution.constraints[0].worst, solution.reward.worst)
