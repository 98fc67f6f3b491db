"""Aggregation: the bracket of the small problem holds the answer of the large one, and the lifted policy keeps the guarantee."""

import itertools

import numpy as np
import pytest
import redoubt as rd
from program import run, run_json

SETS = [None, rd.KL(0.05), rd.Chi2(0.1), rd.TV(0.1, reach="support")]
STATES, ACTIONS = 8, 2


def draw(seed, copies=1, **terms):
    """A random problem; with copies, each state is there several times, and its copies share what leads to it."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(STATES) * 0.4, size=(STATES, ACTIONS)).round(3)
    P /= P.sum(axis=-1, keepdims=True)
    reward, cost = rng.random((STATES, ACTIONS)), rng.random((STATES, ACTIONS))
    share = rng.dirichlet(np.ones(copies), size=STATES).ravel() if copies > 1 else np.ones(STATES)
    P = np.repeat(np.repeat(P, copies, axis=0), copies, axis=2) * share
    signals = {"cost": np.repeat(cost, copies, axis=0)}
    return rd.Problem(P, np.repeat(reward, copies, axis=0), signals=signals, order="sas", **({"horizon": 5} | terms))


@pytest.mark.parametrize("uncertainty", SETS)
def test_a_cell_for_each_state_is_exact(uncertainty):
    problem = draw(0, uncertainty=uncertainty, discount=0.9)
    exact = rd.solve(problem, "robust")
    answer = rd.aggregate(problem, np.arange(STATES)).solve()
    assert answer.lower == pytest.approx(exact.reward.worst, abs=1e-9)
    assert answer.upper == pytest.approx(exact.reward.worst, abs=1e-9)
    assert rd.evaluate(problem, answer.policy).reward.worst == pytest.approx(exact.reward.worst, abs=1e-9)


@pytest.mark.parametrize("uncertainty", SETS)
@pytest.mark.parametrize("horizon", [5, None])
def test_the_bracket_holds_the_exact_answer_and_narrows_with_the_cells(uncertainty, horizon):
    for seed in range(3):
        problem = draw(seed, uncertainty=uncertainty, horizon=horizon, discount=0.8)
        exact = rd.solve(problem, "robust").reward.worst
        coarse, fine = (rd.aggregate(problem, np.arange(STATES) // size).solve() for size in (4, 2))
        for answer in (coarse, fine):
            assert answer.lower - 1e-7 <= exact <= answer.upper + 1e-7
            lifted = rd.evaluate(problem, answer.policy).reward.worst
            assert answer.lower - 1e-7 <= lifted <= exact + 1e-7
        assert coarse.lower <= fine.lower + 1e-7 and fine.upper <= coarse.upper + 1e-7


def test_nature_or_the_policy_picks_the_state_of_a_cell():
    """Backward induction over cells that takes the worst, or the best, row of their states."""
    problem = draw(4, horizon=4)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    dense = problem.transition_matrix().toarray().reshape(STATES, ACTIONS, STATES)
    reward = np.asarray(problem.reward).reshape(STATES, ACTIONS)
    answer = rd.aggregate(problem, labels).solve()
    for pick, found in ((np.min, answer.lower), (np.max, answer.upper)):
        values = np.zeros(3)
        for _ in range(4):
            q = reward + dense @ values[labels]
            values = np.array([max(pick(q[labels == c, a]) for a in range(ACTIONS)) for c in range(3)])
        assert found == pytest.approx(values[0], abs=1e-9)


@pytest.mark.parametrize("uncertainty", SETS)
def test_copies_of_a_state_lose_nothing(uncertainty):
    problem, small = (draw(2, copies, uncertainty=uncertainty) for copies in (3, 1))
    aggregation = rd.aggregate(problem, np.arange(3 * STATES) // 3)
    answer, exact = aggregation.solve(), rd.solve(small, "robust").reward.worst
    assert aggregation.cells == STATES
    assert answer.lower == pytest.approx(exact, abs=1e-9) and answer.upper == pytest.approx(exact, abs=1e-9)


def test_radii_of_rows_go_with_them():
    problem = draw(1)
    radii = np.linspace(0.01, 0.2, problem.rows)
    problem = problem.replace(uncertainty=rd.KL(radii))
    exact = rd.solve(problem, "robust").reward.worst
    assert rd.aggregate(problem, np.arange(STATES)).solve().lower == pytest.approx(exact, abs=1e-9)


def test_what_outcomes_earn_goes_with_them():
    rows = [(s, a, int(n), p) for s, a in itertools.product(range(4), range(2)) for n, p in ((s ^ 1, 0.3), ((s + a) % 4, 0.7))]
    problem = rd.Problem(rows, states=4, signals={"visit": {3}}, reward="visit", horizon=6, discount=0.9)
    exact = rd.solve(problem, "robust").reward.worst
    fine, coarse = (rd.aggregate(problem, labels).solve() for labels in (range(4), [0, 0, 1, 1]))
    assert fine.lower == pytest.approx(exact, abs=1e-9)
    assert coarse.lower - 1e-9 <= exact <= coarse.upper + 1e-9


def test_constraints_are_kept_by_the_guarantee():
    problem = draw(3, horizon=3)
    bound = -rd.solve(problem.replace(minimise="cost"), "robust").reward.worst + 0.5
    problem = problem.replace(constraints=[rd.at_most("cost", bound)])
    exact = rd.solve(problem, tolerance=1e-3)
    answer = rd.aggregate(problem, np.arange(STATES) // 2).solve(tolerance=1e-2)
    assert answer.below.status == "certified" and answer.below.constraints[0].worst <= bound + 1e-9
    assert answer.lower <= exact.reward.bound + 1e-9 and exact.reward.worst - 1e-9 <= answer.upper
    with pytest.raises(rd.Error, match="a policy with 2 memory states, must have one to be lifted"):
        _ = answer.policy


def test_states_with_other_actions_are_never_in_one_cell():
    problem = rd.Problem([(0, 0, 1, 1.0), (1, 0, 2, 1.0), (1, 1, 2, 1.0)], 1.0, states=3, horizon=2)
    assert rd.aggregate(problem, [0, 0, 0]).cells == 3


def test_bad_input():
    problem = draw(0)
    with pytest.raises(rd.Error, match=r"labels of shape \(7,\), must be one for each of 8 states"):
        rd.aggregate(problem, np.zeros(7))
    with pytest.raises(rd.Error, match="must be Nominal, KL, Chi2 or TV with reach='support' to be aggregated"):
        rd.aggregate(problem.replace(uncertainty=rd.TV(0.1)), np.zeros(8))
    with pytest.raises(rd.Error, match="a problem with 1 groups, must have none"):
        rd.aggregate(rd.Problem([(0, 0, (1, 2), 1.0)], 0.0, states=3, horizon=1), np.zeros(5))
    with pytest.raises(rd.Error, match="rows that differ between 2 stages"):
        rd.aggregate(rd.Problem(np.ones((2, 1, 1, 1)), 0.0, horizon=2), [0])


def test_cells_of_a_grid_over_coordinates():
    problem = rd.make("grid(size=6)", constraints=[])
    row, column = np.divmod(np.arange(36), 6)
    by_labels = rd.aggregate(problem, row // 2 * 3 + column // 3)
    by_points = rd.aggregate(problem, coordinates=np.stack([row, column], axis=1), cells=[3, 2])
    assert (by_points.cell == rd.aggregate(problem, row // 2 * 2 + column // 3).cell).all()
    assert by_labels.cells >= by_points.cells
    along = rd.aggregate(problem, coordinates=row, cells=6)
    assert (along.cell == rd.aggregate(problem, row).cell).all()


@pytest.mark.parametrize("uncertainty", [None, rd.KL(0.05)])
def test_refinement_splits_cells_until_the_gap_is_small(uncertainty):
    problem = rd.make("grid(size=10)", constraints=[]).replace(uncertainty=uncertainty)
    exact = rd.solve(problem, "robust").reward.worst
    start = rd.aggregate(problem)
    assert start.cells < 25
    gaps = []
    for most in (start.cells, 50, 100):
        answer = start.refine(tolerance=1e-3, most_cells=most)
        assert answer.aggregation.cells <= most
        assert answer.lower <= exact + 1e-7 <= answer.upper + 2e-7
        assert rd.evaluate(problem, answer.policy).reward.worst >= answer.lower - 1e-7
        gaps.append(answer.gap)
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] <= 1e-3 * answer.upper
    assert start.refine(tolerance=0.5).aggregation.cells < 100


@pytest.mark.parametrize("uncertainty", [None, rd.KL(0.05)])
def test_refinement_of_a_large_board_needs_a_third_of_its_states(uncertainty):
    problem = rd.make("grid(size=60)", constraints=[]).replace(uncertainty=uncertainty)
    exact = rd.solve(problem, "robust").reward.worst
    answer = rd.aggregate(problem).refine(tolerance=0.02, most_cells=1200)
    assert answer.gap <= 0.02 * answer.upper and answer.aggregation.cells <= 1200
    assert answer.lower <= exact + 1e-6 and exact - 1e-6 <= answer.upper


def test_signals_that_nobody_asks_for_tell_no_states_apart():
    """Hazards cost, but without a constraint on the cost a hazard is a state like those around it."""
    free = rd.make("grid(size=8,hazards=0.5)", constraints=[])
    none = rd.make("grid(size=8,hazards=0)", constraints=[])
    cells = {len(rd.aggregate(problem, np.zeros(64))._distinct.row) for problem in (free, none)}
    assert len(cells) == 1
    asked = rd.make("grid(size=8,hazards=0.5)")
    assert len(rd.aggregate(asked, np.zeros(64))._distinct.row) > cells.pop()
    assert rd.aggregate(asked, np.zeros(64)).problem.signals.keys() == {"hazard"}


def test_refinement_ends_where_nothing_is_left_to_split():
    problem = rd.make("river_swim(horizon=10,start=3)", constraints=[])
    answer = rd.aggregate(problem, np.zeros(6)).refine(tolerance=1e-9)
    assert answer.lower == pytest.approx(rd.solve(problem, "robust").reward.worst, abs=1e-6)


BAD_CELLS = [
    ({"labels": [0] * 36, "coordinates": [0] * 36, "cells": 2}, "labels and coordinates, must be one of them"),
    ({"coordinates": [0] * 36}, "coordinates with cells"),
    ({"cells": 3}, "cells alone, must be coordinates with cells"),
    ({"coordinates": [0] * 35, "cells": 2}, r"coordinates of shape \(35,\), must be a finite point for each of 36 states"),
    ({"coordinates": np.arange(36), "cells": 0}, "0 cells along a coordinate, must be at least 1"),
    ({"labels": [0] * 35}, r"labels of shape \(35,\), must be one for each of 36 states"),
]


@pytest.mark.parametrize(("given", "message"), BAD_CELLS)
def test_bad_cells(given, message):
    with pytest.raises(rd.Error, match=message):
        rd.aggregate(rd.make("grid(size=6)", constraints=[]), **given)


def test_refinement_knows_no_constraints():
    with pytest.raises(rd.Error, match="1 constraints, must be none to refine cells"):
        rd.aggregate(rd.make("grid(size=4)")).refine()
    with pytest.raises(rd.Error, match="tolerance = 0"):
        rd.aggregate(rd.make("grid(size=4)", constraints=[])).refine(tolerance=0)


def test_the_program_aggregates(tmp_path):
    problem = rd.make("grid(size=8)", constraints=[])
    rd.save(problem, tmp_path / "grid.json")
    row, column = np.divmod(np.arange(64), 8)
    labels = row // 2 * 4 + column // 2
    (tmp_path / "labels.txt").write_text("\n".join(map(str, labels)))
    said = run_json("aggregate", tmp_path / "grid.json", "--labels", tmp_path / "labels.txt")
    answer = rd.aggregate(problem, labels).solve()
    assert said == {"states": 64, "cells": answer.aggregation.cells, "lower": answer.lower, "upper": answer.upper,
                    "gap": answer.gap}  # fmt: skip
    finer = run("aggregate", tmp_path / "grid.json", "--tolerance", "0.1", "-o", tmp_path / "policy.json")
    assert finer.returncode == 0 and "cells of 64 states" in finer.stdout and (tmp_path / "policy.json").exists()
    few = run_json("aggregate", tmp_path / "grid.json", "--most-cells", "30")
    assert few["cells"] <= 30


def test_the_program_says_what_is_wrong_with_cells(tmp_path):
    (tmp_path / "labels.txt").write_text("a b c")
    wrong = {"labels of shape (3,), must be one for each of 16 states": ["--labels", tmp_path / "labels.txt"],
             "No such file or directory, must be a file with one word": ["--labels", tmp_path / "none.txt"],
             "1 constraints, must be none to refine cells": ["--tolerance", "0.1"],
             "'x', must be a number": ["--most-cells", "x"]}  # fmt: skip
    for said, words in wrong.items():
        done = run("aggregate", "grid(size=4)", *words)
        assert done.returncode == 2 and said in done.stderr and done.stdout == ""
