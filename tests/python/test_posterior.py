"""CSV files with several distributions for each row (idoutcome), as scenarios."""

import itertools

import numpy as np
import pytest
import redoubt as rd
from program import refused, run_json

STATES, ACTIONS = 4, 2


def write_samples(path, seed):
    """Returns the samples of each row and what its outcomes earn."""
    rng = np.random.default_rng(seed)
    rows, lines = {}, ["idstatefrom,idaction,idoutcome,idstateto,probability,reward,wear"]
    for s, a in itertools.product(range(STATES), range(ACTIONS)):
        samples = rng.dirichlet(np.ones(STATES), size=rng.integers(1, 4))
        reward, wear = rng.random(STATES).round(3), rng.integers(0, 3, STATES)
        rows[s, a] = samples, reward, wear
        lines += [f"{s},{a},{i},{t},{float(p)!r},{reward[t]},{wear[t]}" for i, sample in enumerate(samples) for t, p in enumerate(sample)]
    path.write_text("\n".join(lines) + "\n")
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_nature_picks_one_of_the_samples_whenever_a_row_is_taken(seed, tmp_path):
    rows = write_samples(tmp_path / "m.csv", seed)
    problem = rd.load(tmp_path / "m.csv", posterior="scenarios", horizon=5, discount=0.9, start=0)
    v = np.zeros(STATES)
    for _ in range(5):
        v = np.array([max(min(p @ (rows[s, a][1] + 0.9 * v) for p in rows[s, a][0]) for a in range(ACTIONS)) for s in range(STATES)])
    solution = rd.solve(problem, method="robust")
    assert solution.reward.worst == pytest.approx(v[0], abs=1e-12)
    assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(v[0], abs=1e-12)
    # The mean with a radius that holds all samples lets nature do more.
    assert rd.solve(rd.load(tmp_path / "m.csv", horizon=5, discount=0.9, start=0), method="robust").reward.worst <= v[0] + 1e-12
    for ending in ("json", "umb", "npz"):
        rd.save(problem, tmp_path / f"kept.{ending}")
        assert rd.load(tmp_path / f"kept.{ending}") == problem


def test_constraints_and_the_program(tmp_path):
    write_samples(tmp_path / "m.csv", 3)
    terms = ["--posterior", "scenarios", "--horizon", "5", "--start", "0"]
    problem = rd.load(tmp_path / "m.csv", posterior="scenarios", horizon=5, start=0, constraints=[rd.at_most("wear", 6)])
    solution = rd.solve(problem)
    assert solution.status in ("certified", "feasible") and solution.constraints[0].worst <= 6 + 1e-9
    assert rd.verify(problem, solution.policy).reward.worst == pytest.approx(solution.reward.worst, abs=1e-10)
    answer = run_json("solve", tmp_path / "m.csv", *terms, "--bound", "wear<=6")
    assert answer["reward"]["worst"] == solution.reward.worst
    assert refused("solve", "river_swim", "--posterior", "scenarios") == "--posterior scenarios of 'river_swim', must be a CSV file"


def test_what_cannot_be_scenarios_says_so(tmp_path):
    with pytest.raises(rd.Error, match="posterior = 'worst', must be 'mean' or 'scenarios'"):
        rd.load(tmp_path / "m.csv", posterior="worst")
    with pytest.raises(rd.Error, match="posterior = 'scenarios', must be 'mean': the file is no CSV file"):
        rd.load(tmp_path / "m.json", posterior="scenarios")
    (tmp_path / "m.csv").write_text("idstatefrom,idaction,idstateto,probability,reward\n0,0,0,1,1\n")
    with pytest.raises(rd.Error, match="posterior scenarios without a column 'idoutcome', must have one"):
        rd.load(tmp_path / "m.csv", posterior="scenarios")
