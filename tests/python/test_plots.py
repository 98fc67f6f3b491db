"""Figures: each returns its axes and shows what it says."""

import gymnasium
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


def cells_of(ax):
    return ax.images[0].get_array()


def legend_of(ax):
    """The colour of each name."""
    legend = ax.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    return {name: patch.get_facecolor()[:3] for name, patch in zip(names, legend.get_patches(), strict=True)}


def off_the_axes(ax):
    ax.figure.canvas.draw()
    return not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())


def test_the_policy_map_has_one_colour_for_each_action_with_its_name():
    solution = rd.solve(RIVER, "frontier", tolerance=1e-2)
    ax = solution.plot_policy()
    colours = legend_of(ax)
    assert list(colours) == ["left", "right"] and len(ax.figure.axes) == 1  # no bar of colours
    for state, memory in ((0, 0), (2, 5), (4, 9)):
        weights = solution.policy.action_weights(state, 0, memory)
        pale = 1 - weights.max() * (1 - np.array(colours[RIVER.action_names[weights.argmax()]]))
        np.testing.assert_allclose(cells_of(ax)[state, memory], pale)
    assert off_the_axes(ax)


def test_the_policy_map_of_budgets_says_what_is_left(solution):
    ax = solution.plot_policy(stage=2)
    assert cells_of(ax).shape == (6, solution.policy.memories(0, stage=2), 3)
    assert ax.get_xlabel() == "cost that is left"
    one = cells_of(solution.plot_policy(stage=2, action=1))
    assert one[3, 1] == solution.policy.action_weights(3, 2, 1)[1]
    with pytest.raises(rd.Error, match=r"action 2, must be in 0\.\.1"):
        solution.plot_policy(action=2)


def test_a_policy_without_memory_is_shown_over_stages():
    policy = rd.solve(RIVER, "robust").policy
    ax = plots.policy(policy)
    assert cells_of(ax).shape == (6, 10, 3) and ax.get_xlabel() == "stage"
    assert all(tick == round(tick) for tick in ax.get_xticks())
    assert cells_of(plots.policy(policy, stage=3)).shape == (6, 1, 3)


def board(rows, columns, names):
    """Nothing ever moves; the last state is terminal."""
    transitions = [(s, a, s, 1.0) for s in range(rows * columns - 1) for a in range(2)]
    return rd.Problem(transitions, reward=[[s % 2, 1 - s % 2] for s in range(rows * columns)], horizon=2, states=names,
                      actions=["a", "b"])  # fmt: skip


def test_states_with_coordinates_are_a_board():
    problem = board(2, 3, [f"({row}, {column})" for row in range(2) for column in range(3)])
    ax = rd.solve(problem, "robust").plot_policy()
    colours = legend_of(ax)
    assert cells_of(ax).shape == (2, 3, 3) and list(colours) == ["a", "b", "no decision"]
    expected = [[colours[name] for name in row] for row in (["b", "a", "b"], ["a", "b", "no decision"])]
    np.testing.assert_allclose(cells_of(ax), expected)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column", "row")


def test_coordinates_may_be_given():
    policy = rd.solve(board(2, 3, [f"s{state}" for state in range(6)]), "robust").policy
    assert cells_of(plots.policy(policy)).shape == (6, 2, 3)  # states against stages
    places = [[state // 3, state % 3] for state in range(6)]
    assert cells_of(plots.policy(policy, coordinates=places)).shape == (2, 3, 3)
    with pytest.raises(rd.Error, match=r"coordinates have shape \(2,\), must be \(S, 2\) = \(6, 2\)"):
        plots.policy(policy, coordinates=[1, 2])


@pytest.mark.parametrize("names", [["1", "2", "3", "4"], ["(0,0)", "(0,0)", "(0,1)", "(1,1)"], ["(0,1)", "a", "b", "c"],
                                   ["(0,0)", "(0,1)", "(0,2)", "(0,3)"]])  # fmt: skip
def test_names_that_are_no_coordinates_are_no_board(names):
    policy = rd.solve(board(2, 2, [f"{name}{'' if names.count(name) == 1 else i}" for i, name in enumerate(names)]),
                      "robust").policy  # fmt: skip
    assert plots.policy(policy).get_ylabel() == "state"


def test_a_board_shows_the_memory_in_which_episodes_begin():
    env = gymnasium.make("FrozenLake-v1")
    lake = rd.from_gymnasium(env, signals={"hole": {5, 7, 11, 12}}, horizon=10, uncertainty=rd.KL(0.01),
                             constraints=[rd.at_most("hole", 0.3)])  # fmt: skip
    solution = rd.solve(lake, "frontier", tolerance=1e-2)
    ax = solution.plot_policy()
    assert cells_of(ax).shape == (4, 4, 3) and "no decision" in legend_of(ax)
    controller = solution.policy.start()
    controller.act(0)
    assert ax.get_title() == f"stage 0, memory {controller.memory} of {solution.policy.memory_states}"
    solution.plot_policy(memory=1)


def test_traces_have_a_line_for_each_quantity_and_its_bound(solution):
    ax = solution.plot_trace(x="row_evaluations")
    assert [line.get_label() for line in ax.lines] == ["reward", "cost", "asked of cost: ≤ 4"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), solution.trace["cost"])
    assert list(ax.lines[2].get_ydata()) == [4.0, 4.0]
    assert off_the_axes(ax)
    with pytest.raises(rd.Error, match="x = 'time', must be one of"):
        solution.plot_trace(x="time")


@pytest.mark.parametrize("tolerance", [0.5, 1e-2])
def test_traces_show_the_bound_at_whole_iterations(tolerance):
    solution = rd.solve(RIVER, "frontier", tolerance=tolerance)
    ax = solution.plot_trace()
    assert [line.get_label() for line in ax.lines] == ["reward", "no policy beats"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), solution.trace["bound"])
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert ticks and all(tick == round(tick) for tick in ticks)


def test_totals_mark_mean_and_bound(solution):
    simulation = rd.simulate(RIVER, solution, episodes=500)
    ax = plots.totals(simulation, solution, "cost")
    marks = [line.get_xdata()[0] for line in ax.lines]
    assert marks == [simulation.constraints[0].mean, 4.0]
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)
    assert off_the_axes(ax)
    with pytest.raises(rd.Error, match="name = 'energy', must be one of reward, cost"):
        plots.totals(simulation, solution, "energy")


@pytest.mark.parametrize("horizon, bins", [(5, 40), (100, 15)])
def test_whole_totals_have_bars_around_whole_numbers(horizon, bins):
    chain = rd.Problem(np.full((2, 1, 2), 0.5), reward=[0.0, 1.0], horizon=horizon, order="sas")
    solution = rd.solve(chain, "robust")
    episodes = rd.simulate(chain, solution, episodes=2000)
    ax = plots.totals(episodes, solution, bins=bins)
    width = int(np.ceil((np.ptp(episodes.reward.totals) + 1) / bins))
    assert (width > 1) == (horizon == 100)
    assert {bar.get_width() for bar in ax.patches} == {width}
    edges = np.array([bar.get_x() for bar in ax.patches])
    np.testing.assert_array_equal(edges % 1, 0.5)
    counts = [np.mean((edge < episodes.reward.totals) & (episodes.reward.totals < edge + width)) for edge in edges]
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], counts)


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


def test_the_curve_is_a_certified_band_with_the_chosen_point():
    solution = rd.solve(RIVER, "frontier", tolerance=1e-2)
    ax = solution.plot_curve()
    reached, beyond, asked, chosen = ax.lines
    at, low, high = reached.get_xdata(), reached.get_ydata(), beyond.get_ydata()
    assert set(solution.curve["cost"]) <= set(at) and (low <= high).all()
    np.testing.assert_allclose(np.interp(solution.curve["cost"], at, low), solution.curve["reward"], atol=1e-9)
    assert asked.get_xdata()[0] == 4.0
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (solution.constraints[0].worst, solution.reward.worst)
    assert off_the_axes(ax)


def test_no_policy_is_above_the_band_and_all_of_it_below_is_reached():
    """Finer solves of the same problem at other bounds lie within the band of this one's curve."""
    solution = rd.solve(RIVER, "frontier", tolerance=5e-2, whole_curve=True)
    reached, beyond, *_ = solution.plot_curve().lines
    for bound in (2.0, 3.0, 3.5, 4.5):
        finer = rd.solve(RIVER.replace(constraints=[rd.at_most("cost", bound)]), "frontier", tolerance=1e-4)
        low, high = (np.interp(bound, line.get_xdata(), line.get_ydata()) for line in (reached, beyond))
        assert low <= finer.reward.bound + 1e-9 and finer.reward.worst <= high + 1e-9
        found = solution.reward_at(bound)
        assert (found.bound is None) == (bound > 4.0) and (found.bound or np.inf) >= finer.reward.worst
        assert rd.evaluate(RIVER, solution.policy_at(bound)).reward.worst == pytest.approx(found.worst, abs=1e-9)
    with pytest.raises(rd.Error, match="the curve misses the bound"):
        solution.reward_at(0.0)
    with pytest.raises(rd.Error, match="2 bounds, must be one for each of the 1 constraints"):
        solution.reward_at(1.0, 2.0)


def test_the_band_holds_for_several_constraints_and_for_chances():
    machine = rd.make("machine_replacement(horizon=6)")
    signal = machine.model.signal_names[0]
    span = rd.achievable_range(machine.replace(constraints=[rd.at_most(signal, 1.0)]))
    middle = 0.5 * (span.best + span.worst)
    two = [rd.at_most(signal, middle), rd.chance(signal, at_most=span.worst, probability=0.5)]
    for constraints in (two[:1], two[1:], two):
        problem = machine.replace(constraints=constraints)
        solution = rd.solve(problem, "frontier", tolerance=1e-2)
        asked = [one.bound if one.probability is None else one.probability for one in constraints]
        found = solution.reward_at(*asked)
        assert found.worst == pytest.approx(solution.reward.worst, abs=1e-6)
        assert solution.reward.worst <= found.bound + 1e-9 and found.bound == pytest.approx(solution.reward.bound)
        for i in range(len(constraints)):
            ax = solution.plot_curve(i)
            assert (ax.lines[0].get_ydata() <= ax.lines[1].get_ydata() + 1e-9).all()


def test_only_what_is_proved_is_shaded_as_out_of_reach():
    """Bounds stricter than the best total of any policy; not those that the curve just does not reach."""
    strict = rd.solve(RIVER.replace(constraints=[rd.at_most("cost", 0.5)]), "frontier")
    assert strict.status == "infeasible"
    (shaded,) = strict.plot_curve().patches
    best = strict.constraints[0].best_achievable
    assert (shaded.get_x(), shaded.get_x() + shaded.get_width()) == pytest.approx((best, 0.5))
    within = rd.solve(RIVER, "frontier")
    assert within.constraints[0].best_achievable < 4.0
    assert all(patch.get_x() + patch.get_width() <= within.constraints[0].best_achievable + 1e-9
               for patch in within.plot_curve().patches)  # fmt: skip
