"""Continuous systems whose rows are never written out: the same answers as by the problems that are, and tighter ones by parts
of cells, against a fine numerical solution and the intervals of other tools."""

import numpy as np
import pytest
import redoubt as rd
from test_continuous import ACTIONS, line, numerical, push
from test_continuous import intervals_of_line as intervals


def plane(**changes):
    terms = {"noise": rd.Gaussian([0.2, 0.1]), "domain": [(-1, 1), (-1, 1)], "cells": [7, 6], "actions": [[-1.0], [0.5]],
             "start": [-0.55, 0.6], "horizon": 5} | changes  # fmt: skip
    return rd.abstract(rd.affine([[1, 0.1], [-0.2, 0.9]], [[0.05], [0.1]]), **terms)


ROBOT = {"goal": [[(0.5, 1), None]], "hazards": [[(-0.2, 0.2), (-1, -0.5)]]}
SYSTEMS = {
    "reach on a line": lambda: line(20),
    "uniform noise": lambda: line(20, noise=rd.Uniform([0.3])),
    "no noise": lambda: line(20, noise=rd.Uniform([0.0])),
    "stay": lambda: line(20, goal=[]),
    "around a hazard": lambda: plane(**ROBOT),
    "avoid beside a goal": lambda: plane(**ROBOT, reward=rd.avoid("hazard")),
    "discounted": lambda: plane(reward=lambda x, u: x[0] * x[1] - 0.1 * u[0], discount=0.9),
    "one coordinate without noise": lambda: plane(**ROBOT, noise=rd.Gaussian([0.2, 0.0])),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_answers_are_those_of_the_problems(name):
    system = SYSTEMS[name]()
    answer = system.solve(threads=2)
    assert system.products is not None and "rows" not in system.__dict__ and "problem" not in system.__dict__
    written_out = system.solve("robust")
    assert answer.lower == pytest.approx(written_out.lower, abs=1e-7)
    assert answer.upper == pytest.approx(written_out.upper, abs=1e-7)
    for one, other in zip(answer.values(), written_out.values(), strict=True):
        assert one == pytest.approx(other, abs=1e-7)
    assert answer.below.reward.worst == written_out.lower and answer.above.reward.bound == written_out.upper
    assert (answer.first_actions() == written_out.first_actions()).mean() > 0.8  # but for ties


ASKED = {
    "a set": {"uncertainty": rd.KL(0.01)}, "no horizon": {"horizon": None, "discount": 0.9, "reward": 1.0},
    "a covariance": {"noise": rd.Gaussian(covariance=[[0.04, 0.01], [0.01, 0.01]])},
    "samples": {"noise": rd.SampledNoise(np.random.default_rng(0).normal(0, 0.1, (500, 2)), bins=2)},
    "a goal that is minimised": {"minimise": rd.reach("hazard")},
    "a constraint": {"signals": {"push": lambda x, u: u[0]}, "constraints": [rd.at_most("push", 5.0)]},
}  # fmt: skip


@pytest.mark.parametrize("what", ASKED)
def test_what_else_is_asked_is_asked_of_the_problems(what):
    assert plane(cells=4, **ASKED[what]).products is None


def test_terms_are_looked_at_before_there_are_rows():
    with pytest.raises(rd.Error, match="horizon"):
        line(10, horizon=-1)
    with pytest.raises(rd.Error, match="0 parts of a cell, must be at least 1"):
        line(10, parts=0)


def test_parts_of_cells_narrow_the_answers():
    truth, gaps = numerical(), []
    for parts in (1, 2, 4, 16):
        answer = line(24, parts=parts).solve()
        assert answer.lower <= truth + 1e-3 and truth - 1e-3 <= answer.upper
        gaps.append(answer.gap)
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert line(24, parts=16).solve("robust").gap == pytest.approx(gaps[0], abs=1e-7)  # problems know no parts


def test_parts_of_cells_are_tighter_than_intervals_of_probabilities():
    """An interval knows the law of each cell alone; a part of a cell has nearly one law."""
    assert line(24, parts=8).solve().lower > intervals(line(24)) > line(24).solve().lower


def test_parts_in_the_plane():
    whole, parts = (plane(**ROBOT, parts=parts).solve() for parts in (1, 3))
    assert whole.lower < parts.lower <= parts.upper < whole.upper
    mean, error = parts.simulate(2000, seed=1).mean("reached")
    assert parts.lower - 4 * error <= mean <= parts.upper + 4 * error


def test_a_controller_by_a_table():
    system = line(20)
    answer = system.solve()
    controller = answer.controller()
    assert repr(controller) == "<redoubt.ContinuousController at stage 0>"
    said = []
    while not controller.ended:
        said.append(controller.act([-0.55]))
    assert len(said) == 6 and set(said) <= set(ACTIONS) and controller.act([-0.55]) is None
    controller.start()
    assert controller.act([0.9]) in ACTIONS and controller.stage == 1  # an episode may begin anywhere
    assert controller.act([1.5]) is None  # in the goal
    mean, error = answer.simulate(1500, seed=7).mean("reached")
    assert answer.lower - 4 * error <= mean <= answer.upper + 4 * error


def test_dynamics_that_are_checked_are_checked_in_parts():
    def wrong(x, u):
        inside = push(x, u)[0]
        return [rd.Range(inside.low, inside.low) if isinstance(inside, rd.Range) else inside]

    with pytest.raises(rd.Error, match="which must be in the range"):
        rd.abstract(wrong, noise=rd.Gaussian([0.1]), domain=[(-1, 1)], cells=5, actions=[0], start=[0.5], horizon=2, parts=3)


def test_finer_cells_are_found_without_all_rows():
    system = plane(**ROBOT, cells=4)
    finer = system.refine(tolerance=1e-3, most_cells=60)
    assert "rows" not in system.__dict__ and finer.gap < system.solve().gap
    taken, rows = system.solve().first_actions(), system.rows
    one = system.rows_taking(taken)
    for cell in range(system.cells):  # a row leads to the same boxes, whatever their numbers
        begin, end = rows.row_outcomes[2 * cell + taken[cell] : 2 * cell + taken[cell] + 2]
        first, last = one.row_outcomes[cell : cell + 2]
        assert sorted(rows.probability[begin:end]) == sorted(one.probability[first:last])
