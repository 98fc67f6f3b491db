"""The worst case of a row for every set, against cvxpy and scipy, which share nothing with the library."""

import cvxpy as cp
import numpy as np
import pytest
import redoubt as rd
import reference
import scipy.sparse
from scipy.optimize import linprog


def rows(count, outcomes, seed):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(outcomes), size=count)
    return p, random.normal(size=(count, outcomes)) * 10 ** random.uniform(-1, 2, size=(count, 1))


def tv(P, p, radius):
    return [cp.norm1(P - p) <= 2 * radius]


def chi2(P, p, radius):
    return [cp.sum(cp.multiply(1 / p, cp.square(P - p))) <= radius]


def kl(P, p, radius):
    return [cp.sum(cp.kl_div(P, p)) <= radius]  # sums of P and p are equal


SETS = {
    "tv anywhere": (lambda r: rd.TV(r), tv),
    "tv support": (lambda r: rd.TV(r, reach="support"), tv),
    "chi2": (rd.Chi2, chi2),
    "kl": (rd.KL, kl),
}


@pytest.mark.parametrize("radius", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("name", SETS)
def test_balls_against_cvxpy(name, radius):
    make, ball = SETS[name]
    for p, v in zip(*rows(4, 6, seed=1), strict=True):
        P = cp.Variable(6, nonneg=True)
        scale = np.ptp(v)
        program = cp.Problem(cp.Minimize((P @ (v - v.min())) / scale), [cp.sum(P) == 1, *ball(P, p, radius)])
        program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
        expected = v.min() + scale * program.value
        value, chosen = rd.worst_case(make(radius), p, v, return_distribution=True)
        assert value == pytest.approx(expected, abs=2e-6 * scale)
        assert chosen @ v == pytest.approx(value, abs=1e-9 * scale)
        assert chosen.sum() == pytest.approx(1) and chosen.min() >= -1e-15


def test_intervals_against_a_linear_program():
    for p, v in zip(*rows(10, 5, seed=2), strict=True):
        low, high = 0.5 * p, np.minimum(1, p + 0.15)
        program = linprog(v, A_eq=np.ones((1, 5)), b_eq=[1], bounds=list(zip(low, high, strict=True)))
        value, chosen = rd.worst_case(rd.Interval(low, high), p, v, return_distribution=True)
        assert value == pytest.approx(program.fun, abs=1e-9 * np.ptp(v))
        assert (low - 1e-12 <= chosen).all() and (chosen <= high + 1e-12).all()


def test_kl_and_tv_against_plain_implementations():
    for p, v in zip(*rows(10, 7, seed=3), strict=True):
        for radius in (0.003, 0.1, 0.7):
            assert rd.worst_case(rd.KL(radius), p, v) == pytest.approx(
                reference.worst_kl(p, v, radius), abs=1e-7 * np.ptp(v)
            )
            assert rd.worst_case(rd.TV(radius), p, v) == pytest.approx(
                reference.worst_tv(p, v, radius), abs=1e-12 * np.ptp(v)
            )


def test_tilt_and_nominal_in_closed_form():
    p, v = np.array([0.2, 0.5, 0.3]), np.array([1.0, 0.0, 2.0])
    weights = p * np.exp(-v / 0.7)
    assert rd.worst_case(rd.Tilt(0.7), p, v) == pytest.approx(weights @ v / weights.sum(), abs=1e-14)
    assert rd.worst_case(rd.Nominal(), p, v) == pytest.approx(p @ v, abs=1e-15)


def test_mass_outside_of_the_support():
    p, v = np.array([0.5, 0.5, 0.0]), np.array([1.0, 2.0, 0.0])
    assert rd.worst_case(rd.TV(0.2), p, v) == pytest.approx(1.1)
    assert rd.worst_case(rd.TV(0.2, reach="support"), p, v) == pytest.approx(1.3)
    assert rd.worst_case(rd.KL(9.0), p, v) == pytest.approx(1.0)


def close(found, expected):
    """Up to the order of adding."""
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


def test_batches_are_rows_one_by_one():
    p, v = rows(5, 4, seed=4)
    radius = np.linspace(0, 0.4, 5)
    together, chosen = rd.worst_case(rd.KL(radius), p, v, return_distribution=True)
    close(together, [rd.worst_case(rd.KL(r), *row) for r, row in zip(radius, zip(p, v, strict=True), strict=True)])
    assert chosen.shape == v.shape
    close((chosen * v).sum(axis=1), together)
    np.testing.assert_array_equal(
        rd.worst_case(rd.KL(0.1), p[0], v), [rd.worst_case(rd.KL(0.1), p[0], values) for values in v]
    )
    close(rd.worst_case(rd.TV(0.1), p, v[0]), [rd.worst_case(rd.TV(0.1), row, v[0]) for row in p])
    bounds = rd.Interval(0.5 * p, np.minimum(1, p + 0.2))
    assert rd.worst_case(bounds, p, v).shape == (5,)


SETS_OF_ROWS = {**{name: make for name, (make, _) in SETS.items()}, "nominal": lambda r: rd.Nominal(), "tilt": rd.Tilt}


@pytest.mark.parametrize("name", SETS_OF_ROWS)
def test_sparse_rows_are_rows_one_by_one(name):
    uncertainty = SETS_OF_ROWS[name](0.3)
    random = np.random.default_rng(5)
    p = np.where(random.random((300, 12)) < 0.4, random.random((300, 12)), 0)  # of all lengths, some with one outcome
    p[:, 0] = np.where(p.sum(axis=1) == 0, 1, p[:, 0])
    p /= p.sum(axis=1, keepdims=True)
    v = random.normal(size=12)
    expected = [rd.worst_case(uncertainty, row, v, return_distribution=True) for row in p]
    for form in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.csr_array):
        value, chosen = rd.worst_case(uncertainty, form(p), v, return_distribution=True)
        close(value, [value for value, _ in expected])
        np.testing.assert_allclose(chosen.toarray(), [chosen for _, chosen in expected], atol=1e-9)
        close(rd.worst_case(uncertainty, form(p), v), value)
    value, chosen = rd.worst_case(uncertainty, p, v, return_distribution=True)  # zeros among the entries
    close(value, [value for value, _ in expected])
    np.testing.assert_allclose(chosen, [chosen for _, chosen in expected], atol=1e-9)


def test_sparse_intervals_are_rows_one_by_one():
    p, v = rows(20, 6, seed=6)
    low, high = np.where(p > 0.1, 0.6 * p, 0), np.minimum(1, p + 0.1)
    expected = [rd.worst_case(rd.Interval(a, b), q, v[0]) for a, b, q in zip(low, high, p, strict=True)]
    sparse = [scipy.sparse.csr_matrix(x) for x in (low, high, p)]
    close(rd.worst_case(rd.Interval(*sparse[:2]), sparse[2], v[0]), expected)
    close(rd.worst_case(rd.Interval(0, 0.5), sparse[2], v[0]), [rd.worst_case(rd.Interval(0, 0.5), q, v[0]) for q in p])


def test_duplicates_add_up_and_nothing_is_changed():
    p = scipy.sparse.csr_matrix(([0.25, 0.25, 0.5], [1, 1, 0], [0, 3]), shape=(1, 2))
    assert rd.worst_case(rd.Nominal(), p, [0.0, 1.0]) == pytest.approx([0.5])
    assert p.nnz == 3
    none = scipy.sparse.csr_matrix((0, 3))
    assert rd.worst_case(rd.KL(0.1), none, np.zeros(3)).shape == (0,)


def test_bad_rows_are_errors():
    with pytest.raises(rd.Error, match="sum"):
        rd.worst_case(rd.KL(0.1), [0.5, 0.4], [1.0, 2.0])
    with pytest.raises(rd.Error, match=r"p has shape \(2,\) and v \(3,\)"):
        rd.worst_case(rd.KL(0.1), [0.5, 0.5], [1.0, 2.0, 3.0])
    with pytest.raises(rd.Error, match="3 radii for 2 rows"):
        rd.worst_case(rd.KL([0.1] * 3), [[0.5, 0.5]] * 2, [1.0, 2.0])
    with pytest.raises(rd.Error, match="radius"):
        rd.worst_case(rd.KL(-0.1), [0.5, 0.5], [1.0, 2.0])
    with pytest.raises(rd.Error, match="must have lo and hi"):
        rd.worst_case(rd.Interval(), [0.5, 0.5], [1.0, 2.0])
    sparse = scipy.sparse.csr_matrix([[0.5, 0.5], [0.5, 0.4]])
    with pytest.raises(rd.Error, match=r"row 1: probabilities sum to 0\.9"):
        rd.worst_case(rd.KL(0.1), sparse, [1.0, 2.0])
    with pytest.raises(rd.Error, match=r"p is sparse with shape \(2, 2\) and v has shape \(3,\)"):
        rd.worst_case(rd.KL(0.1), sparse, [1.0, 2.0, 3.0])
    with pytest.raises(rd.Error, match=r"lo of list, must be a number or a sparse matrix"):
        rd.worst_case(rd.Interval([0, 0], [1, 1]), sparse, [1.0, 2.0])


@pytest.mark.parametrize("uncertainty", [rd.KL(0.05), rd.TV(0.1, reach="support")])
def test_values_near_the_smallest_numbers(uncertainty):
    """Values of states that are far from everything: a range that has no inverse once made the distribution not a number."""
    rng = np.random.default_rng(0)
    for scale in (-324, -318, -310, -300, -285):
        for n in (2, 3, 4):
            p = rng.dirichlet(np.ones(n), size=64)
            v = 10.0 ** rng.uniform(-324, scale, size=p.shape) * (rng.random(p.shape) < 0.8)
            worst, distribution = rd.worst_case(uncertainty, p, v, return_distribution=True)
            assert np.isfinite(distribution).all() and (distribution >= 0).all()
            assert np.allclose(distribution.sum(axis=1), 1.0)
            assert (worst >= v.min(axis=1)).all() and (worst <= (p * v).sum(axis=1) + 1e-290).all()
            assert np.allclose((distribution * v).sum(axis=1), worst, rtol=1e-6, atol=1e-290)
