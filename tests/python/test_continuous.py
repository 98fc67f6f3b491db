"""Continuous systems: answers from below and from above hold for the system itself, which a fine numerical solution, the
intervals of other tools and episodes of the system are compared with."""

import re

import numpy as np
import pytest
import redoubt as rd
from scipy.stats import norm

ACTIONS = [-0.3, 0.0, 0.3]


def push(x, u):
    return [0.95 * x[0] + 0.2 * np.sin(x[0]) + u]


def line(cells=30, **changes):
    """A point on a line that drifts away from 0; the goal is to its right, and to its left the domain ends."""
    terms = {"noise": rd.Gaussian([0.2]), "domain": [(-2.0, 2.0)], "cells": cells, "actions": ACTIONS, "start": [-0.55],
             "goal": [[(1.2, 2.0)]], "horizon": 6} | changes  # fmt: skip
    return rd.abstract(push, **terms)


def numerical(horizon=6, points=601, std=0.2):
    """The best probability to reach the goal, by backward induction on a grid of points that is fine enough to be exact."""
    x = np.linspace(-2.0, 2.0, points)
    values = (x >= 1.2).astype(float)
    goal = values.copy()
    for _ in range(horizon):
        q = []
        for u in ACTIONS:
            y = push([x], u)[0]
            edges = np.concatenate([[-2.0], (x[1:] + x[:-1]) / 2, [2.0]])
            mass = norm.cdf((edges[1:, None] - y) / std) - norm.cdf((edges[:-1, None] - y) / std)
            q.append(values @ mass)
        values = np.where(goal > 0, 1.0, np.max(q, axis=0))
    return float(np.interp(-0.55, x, values))


def test_the_bracket_holds_the_truth_and_shrinks():
    truth = numerical()
    gaps = []
    for cells in (10, 20, 40, 80):
        answer = line(cells).solve()
        assert answer.lower <= truth + 1e-3 and truth - 1e-3 <= answer.upper
        gaps.append(answer.gap)
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] < gaps[0] / 2


def intervals_of_line(system):
    """The guarantee of the same cells by the least and the largest probability of each cell, as tools of the field build them."""
    lines = np.asarray(system.grid.lines[0])
    count = system.cells
    lower, upper = np.zeros((count + 2, 3, count + 2)), np.zeros((count + 2, 3, count + 2))
    corners = system.boxes()[:, :, 0]
    for a, u in enumerate(ACTIONS):
        image = push([rd.Range(corners[:, 0], corners[:, 1])], u)[0]
        y = np.linspace(image.low, image.high, 401)  # (points, cells): the extremes are at ends or in the middle
        mass = np.diff(norm.cdf((lines[:, None, None] - y) / 0.2), axis=0)  # (grid cell, point, cell)
        of_state = np.zeros((count + 2, *y.shape))
        for cell, state in enumerate(system.state_of_cell):
            of_state[min(int(state), count)] += mass[cell]
        of_state[count + 1] = 1 - mass.sum(axis=0)
        lower[:count, a] = of_state.min(axis=1).T
        upper[:count, a] = of_state.max(axis=1).T
    lower[count:, :, :], upper[count:, :, :] = np.eye(count + 2)[count:, None, :], np.eye(count + 2)[count:, None, :]
    share = (1 - lower.sum(axis=2, keepdims=True)) / np.maximum((upper - lower).sum(axis=2, keepdims=True), 1e-300)
    middle = lower + np.clip(share, 0, 1) * (upper - lower)
    intervals = rd.Problem(middle, rd.reach("goal"), labels={"goal": {count}}, horizon=6, order="sas",
                           start=system.state([-0.55]), uncertainty=rd.Interval(lower, upper))  # fmt: skip
    return rd.solve(intervals, "robust").reward.worst


def test_groups_are_about_as_tight_as_intervals_of_probabilities():
    system = line(24)
    # Neither encloses the other: an interval is tight for each cell alone, a group for all cells together.
    assert 0.97 * intervals_of_line(system) <= system.solve().lower <= numerical() + 1e-3


def test_episodes_are_on_the_right_side():
    answer = line(40).solve()
    mean, error = answer.simulate(1500, seed=3).mean("reached")
    assert mean >= answer.lower - 4 * error
    assert mean <= answer.upper + 4 * error


def test_a_set_around_the_noise_lowers_the_guarantee():
    assert line(20, uncertainty=rd.KL(0.02)).solve().lower < line(20).solve().lower


def room(x, u):
    return [(1 - 0.022 - 0.05 * u) * x[0] + 2.5 * u - 0.022]


def test_a_constraint_holds_for_the_system():
    system = rd.abstract(room, noise=rd.Gaussian([0.02**0.5]), domain=[(19, 21)], cells=16, actions=[0.2, 0.3, 0.4, 0.5],
                         start=[20.0], horizon=6, signals={"heating": lambda x, u: u},
                         constraints=[rd.at_most("heating", 1.75)])  # fmt: skip
    answer = system.solve(tolerance=0.01)
    assert answer.below.status == "certified" and answer.lower > 0.9
    assert answer.below.constraints[0].worst <= 1.75 + 1e-9
    assert rd.verify(system.problem, answer.below.policy).reward.worst == pytest.approx(answer.lower, abs=1e-8)
    episodes = answer.simulate(600, seed=1)
    (hit, hit_error), (heating, heating_error) = episodes.mean("hit"), episodes.mean("heating")
    assert 1 - hit >= answer.lower - 4 * hit_error
    assert heating <= 1.75 + 4 * heating_error
    assert len(episodes.paths) == 100 and episodes.paths[0].shape[1] == 1


def test_finer_cells_close_the_gap_around_the_truth():
    coarse = line(10)
    answer = coarse.refine(tolerance=0.1)
    assert answer.gap <= 0.1 * answer.upper < coarse.solve().gap
    assert answer.lower <= numerical() + 1e-3 and numerical() - 1e-3 <= answer.upper
    mean, error = answer.simulate(600, seed=5).mean("reached")
    assert answer.lower - 4 * error <= mean <= answer.upper + 4 * error
    assert coarse.refine(tolerance=1e-9, most_cells=50).system.cells <= 50


def test_cells_are_cut_where_episodes_come():
    """A mass that is pushed into a wide goal close by: most of the domain is never seen."""
    def chain(cells):
        return rd.abstract(rd.affine([[1, 0.1], [0, 1]], [[0.005], [0.1]]), noise=rd.Gaussian([0.1, 0.1]),
                           domain=[(-10, 10)] * 2, cells=cells, actions=[[-1.0], [1.0]], start=[-8.5, 4.0],
                           goal=[[(-8, 8)] * 2], horizon=5, least_piece=1e-4)  # fmt: skip

    fine = chain(60)
    answer = chain(20).refine(tolerance=1e-6, most_cells=fine.cells // 2)
    assert answer.lower > fine.solve().lower + 0.02


def test_finer_cells_keep_a_constraint():
    system = rd.abstract(room, noise=rd.Gaussian([0.02**0.5]), domain=[(19, 21)], cells=8, actions=[0.2, 0.3, 0.4, 0.5],
                         start=[20.0], horizon=4, signals={"heating": lambda x, u: u},
                         constraints=[rd.at_most("heating", 1.2)])  # fmt: skip
    answer = system.refine(tolerance=1e-4, most_cells=20, method="frontier")
    assert answer.system.cells > 8 and answer.lower > system.solve().lower
    assert answer.below.constraints[0].worst <= 1.2 + 1e-9


def test_refinement_says_what_is_wrong():
    with pytest.raises(rd.Error, match="tolerance = 0, must be positive"):
        line(10).refine(tolerance=0)
    with pytest.raises(rd.Error, match="most_cells = 3, must be at least the 8 cells that there are"):
        line(10).refine(most_cells=3)


def drift(noise, cells=12):
    """Two coordinates that noise alone moves; both must stay in a band for three steps."""
    return rd.abstract(lambda x, u: [x[0], x[1]], noise=noise, domain=[(-1, 1)] * 2, cells=cells, actions=[0],
                       start=[0.04, 0.04], horizon=3, least_piece=1e-4)  # fmt: skip


def test_a_covariance_that_is_diagonal_is_standard_deviations():
    spread, matrix = drift(rd.Gaussian([0.3, 0.2])), drift(rd.Gaussian(covariance=np.diag([0.09, 0.04])))
    assert matrix.solve().lower == pytest.approx(spread.solve().lower, abs=1e-12)
    assert matrix.rows.groups == spread.rows.groups


@pytest.mark.parametrize("correlation", [0.9, -0.7])
def test_noise_with_a_covariance(correlation):
    """Against episodes of the system, and between a grid and a finer one; independent noise has another answer."""
    noise = rd.Gaussian(covariance=[[0.09, correlation * 0.06], [correlation * 0.06, 0.04]])
    draws = noise.draw(np.random.default_rng(0), 200_000)
    assert np.cov(draws.T) == pytest.approx(np.asarray(noise.covariance), abs=1e-3)
    coarse, fine = drift(noise, 10).solve(), drift(noise, 30).solve()
    mean, error = fine.simulate(3000, seed=2).mean("hit")
    assert coarse.lower < fine.lower <= 1 - mean + 4 * error
    assert 1 - mean - 4 * error <= fine.upper <= coarse.upper + 1e-12
    independent = drift(rd.Gaussian([0.3, 0.2]), 30).solve()
    assert abs(independent.upper - fine.upper) > 1e-3


def test_noise_that_is_on_a_line():
    """A covariance of rank one: the second coordinate moves with the first."""
    noise = rd.Gaussian(covariance=[[0.04, 0.04], [0.04, 0.04]])
    assert noise.scales == pytest.approx([0.2, 0.0])
    answer = drift(noise, 40).solve()
    alone = rd.abstract(lambda x, u: [x[0]], noise=rd.Gaussian([0.2]), domain=[(-1, 1)], cells=40, actions=[0],
                        start=[0.04], horizon=3).solve()  # fmt: skip
    assert answer.lower <= alone.upper + 1e-12 and alone.lower <= answer.upper + 1e-12


@pytest.mark.parametrize("covariance, said", [
    ([[1.0, 0.0]], "covariance of shape (1, 2), must be square"),
    ([[1.0, 0.2], [0.1, 1.0]], "must be finite and symmetric"),
    ([[1.0, 2.0], [2.0, 1.0]], "must be positive semidefinite"),
    ([[-1.0, 0.0], [0.0, 1.0]], "must be positive semidefinite"),
    ([[0.0, 0.1], [0.1, 1.0]], "must be positive semidefinite"),
])  # fmt: skip
def test_bad_covariances(covariance, said):
    with pytest.raises(rd.Error, match=re.escape(said)):
        rd.Gaussian(covariance=covariance)
    with pytest.raises(rd.Error, match="must have one of them"):
        rd.Gaussian()


def test_noise_that_is_known_by_samples():
    """The law of the samples is known here, so what is claimed of it can be checked; more samples say more."""
    truth, gaps = numerical(), []
    for count in (1000, 10_000, 100_000):
        draws = np.random.default_rng(count).normal(0, 0.2, (count, 1))
        answer = line(40, noise=rd.SampledNoise(draws, bins=16)).solve()
        assert answer.lower <= truth + 1e-3 and truth - 1e-3 <= answer.upper
        gaps.append(answer.gap)
    assert gaps[0] > gaps[1] > gaps[2]
    known = line(40).solve()  # samples cannot say more than the law
    assert answer.lower < known.lower and known.upper < answer.upper
    mean, error = answer.simulate(400, seed=4).mean("reached")
    assert answer.lower - 4 * error <= mean <= answer.upper + 4 * error


def test_bounds_of_bins_hold_as_often_as_they_say():
    """Bins of a law that is known: in 200 logs, those in which a bound of any bin is wrong."""
    wrong = 0
    for seed in range(200):
        noise = rd.SampledNoise(np.random.default_rng(seed).normal(0, 1, (500, 1)), confidence=0.9, bins=5)
        (borders,) = noise.borders()
        share, lower, upper = noise.bounds([borders])
        truth = np.diff(norm.cdf(borders))
        assert share.sum() == pytest.approx(1) and (lower <= share).all() and (share <= upper).all()
        wrong += ((truth < lower) | (upper < truth)).any()
    assert wrong <= 30  # 20 are expected at most; 31 or more have a probability of less than 1 %


def test_samples_of_two_coordinates_with_a_constraint():
    draws = np.random.default_rng(0).normal(0, 0.1, (4000, 2))
    draws[:, 1] = 0.0  # a coordinate without noise
    system = rd.abstract(lambda x, u: [0.9 * x[0] + u, 0.5 * x[1]], noise=rd.SampledNoise(draws, bins=[8, 1], most=[0.6, 0.0]),
                         domain=[(-1, 1), (-1, 1)], cells=[10, 4], actions=[-0.1, 0.1], start=[0.3, 0.3], horizon=3,
                         signals={"push": lambda x, u: u}, constraints=[rd.at_most("push", 0.1)])  # fmt: skip
    answer = system.solve(tolerance=0.05)
    assert answer.below.status == "certified" and answer.below.constraints[0].worst <= 0.1 + 1e-9
    assert 0.9 < answer.lower <= answer.upper <= 1 + 1e-9
    hit, error = answer.simulate(300, seed=1).mean("hit")
    assert 1 - hit >= answer.lower - 4 * error


@pytest.mark.parametrize("changes, said", [
    ({"points": np.zeros((5, 1))}, "samples of shape (5, 1), must be at least 10 finite points"),
    ({"points": np.full((20, 1), np.nan)}, "must be at least 10 finite points"),
    ({"confidence": 1.0}, "confidence = 1.0, must be in (0, 1)"),
    ({"bins": 0}, "bins = 0, must be at least 1"),
    ({"points": np.ones((20, 1)), "most": [0.5]}, "sample 0 has 1.0 in coordinate 0, must be at most 0.5"),
])  # fmt: skip
def test_bad_samples(changes, said):
    with pytest.raises(rd.Error, match=re.escape(said)):
        rd.SampledNoise(**({"points": np.zeros((20, 1))} | changes))
    with pytest.raises(rd.Error, match="beside samples of the noise, must be one of them"):
        line(10, noise=rd.SampledNoise(np.zeros((20, 1))), uncertainty=rd.KL(0.1))


def test_ends_of_ranges_go_to_the_side_that_is_asked_for():
    """The reward is the coordinate itself: at least its lower end is guaranteed, at most its upper end possible."""
    terms = {"domain": [(0.0, 1.0)], "cells": 4, "actions": [0], "start": [0.3], "horizon": 1, "noise": rd.Uniform([0.0])}
    system = rd.abstract(lambda x, u: [x[0]], reward=lambda x, u: x[0], **terms)
    answer = system.solve()
    assert answer.lower == pytest.approx(0.25, abs=1e-12) and answer.upper == pytest.approx(0.5, abs=1e-12)


def test_dynamics_in_the_plane_and_their_picture():
    system = rd.abstract(rd.affine([[1, 0.1], [0, 1]], [[0.005], [0.1]]), noise=rd.Gaussian([0.05, 0.0]),
                         domain=[(-1, 1), (-1, 1)], cells=[10, 8], actions=[[-1.0], [1.0]], start=[-0.55, 0.6],
                         goal=[[(0.5, 1), None]], hazards=[[(-0.2, 0.2), (-1, -0.5)]], horizon=25)  # fmt: skip
    answer = system.solve()
    episodes = answer.simulate(50)
    assert 0 <= answer.lower <= answer.upper <= 1 + 1e-9
    assert not (episodes.reached & episodes.hit).any()
    lower, upper = answer.values()
    assert lower.shape == (system.cells,) and (lower <= upper + 1e-12).all()
    assert lower[system.state([-0.55, 0.6])] == pytest.approx(answer.lower, abs=1e-12)
    for what in ("lower", "upper", "gap", "action"):
        assert rd.plots.cells(answer, what, episodes=episodes).get_xlim() == (-1.0, 1.0)
    with pytest.raises(rd.Error, match="what = 'colour', must be one of lower, upper, gap, action"):
        rd.plots.cells(answer, "colour")


def test_a_controller_ends_with_the_episode():
    controller = line(20).solve("robust").controller()
    assert controller.act([-0.55]) in ACTIONS
    assert controller.act([1.5]) is None  # in the goal
    controller.start()
    with pytest.raises(rd.Error, match="an episode begins in cell"):
        controller.act([0.9])


@pytest.mark.parametrize("changes, said", [
    ({"domain": [(1.0, 1.0)]}, r"domain \[1.0, 1.0\] of coordinate 0, must have a volume"),
    ({"noise": rd.Gaussian([-0.1])}, "must not be negative"),
    ({"noise": rd.Gaussian([0.1, 0.1])}, "noise of 2 and start of 1 coordinates, must be of 1"),
    ({"start": [5.0]}, "must be inside of the domain"),
    ({"start": [1.5]}, "must be inside of the domain, and not in a goal"),
    ({"cells": 0}, "0 cells of coordinate 0, must be at least 1"),
    ({"actions": []}, "no actions, must be at least one"),
    ({"goal": [[(1.0, 0.5)]]}, r"box with \[1.0, 0.5\] for coordinate 0, must have a volume"),
    ({"reward": lambda x, u: float("nan")}, "the reward returns nan, must be finite"),
    ({"least_piece": 0.7}, r"least_piece = 0.7, must be in \[0, 0.5\)"),
])  # fmt: skip
def test_bad_systems(changes, said):
    with pytest.raises(rd.Error, match=said):
        line(**changes)


def test_a_function_that_returns_less_than_it_can_be_is_found_out():
    def wrong(x, u):
        return [rd.Range(x[0].low, x[0].low) if isinstance(x[0], rd.Range) else x[0]]

    with pytest.raises(rd.Error, match="which must be in the range"):
        rd.abstract(wrong, noise=rd.Gaussian([0.1]), domain=[(0, 1)], cells=5, actions=[0], start=[0.5], horizon=2)


def test_a_function_that_returns_no_number_is_an_error():
    with pytest.raises(rd.Error, match="a range whose lower end is above its upper end, or is no number"):
        rd.abstract(lambda x, u: [x[0] * float("nan")], noise=rd.Gaussian([0.1]), domain=[(0, 1)], cells=5, actions=[0],
                    start=[0.5], horizon=2)  # fmt: skip


FUNCTIONS = [np.sin, np.cos, np.exp, np.tanh, np.arctan, np.square, abs, lambda x: x**3, lambda x: x**4,
             lambda x: x * (1 - x), lambda x: 2 / (3 + x**2), lambda x: np.clip(x, -0.5, 0.3), lambda x: np.sqrt(x**2 + 1),
             lambda x: np.maximum(x, 0.2) - np.minimum(0.1, x), lambda x: np.float64(2.0) * x - np.array(3.0)]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_ranges_hold_every_value(function):
    rng = np.random.default_rng(0)
    for scale in (0.01, 1.0, 5.0):
        low, high = np.sort(rng.normal(size=(2, 100)) * scale, axis=0)
        found = function(rd.Range(low, high))
        for share in np.linspace(0, 1, 21):
            value = function(np.clip(low + share * (high - low), low, high))
            assert (found.low <= value).all() and (value <= found.high).all()


def test_ranges_refuse_what_has_no_answer():
    x = rd.Range(-1.0, 1.0)
    for act in (lambda: x < 0, lambda: 1 / x, lambda: np.log(x), lambda: np.arcsin(x), lambda: x**0.5, lambda: bool(x),
                lambda: np.tan(rd.Range(1.0, 2.0)), lambda: rd.Range(2.0, 1.0)):  # fmt: skip
        with pytest.raises(rd.Error):
            act()
