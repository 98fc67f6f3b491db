"""Robust constrained Markov decision processes, solved with certificates."""

from ._core import KL, TV, Chi2, Error, Nominal, Tilt, __version__, at_least, at_most
from ._policy import Policy
from ._problem import Interval, Problem, chance, environments, load, make, save
from ._solution import Solution, load_solution, save_solution
from ._solve import achievable_range, evaluate, methods, plan_rcvi, solve

__all__ = [
    "KL",
    "TV",
    "Chi2",
    "Error",
    "Interval",
    "Nominal",
    "Policy",
    "Problem",
    "Solution",
    "Tilt",
    "__version__",
    "achievable_range",
    "at_least",
    "at_most",
    "chance",
    "environments",
    "evaluate",
    "load",
    "load_solution",
    "make",
    "methods",
    "plan_rcvi",
    "save",
    "save_solution",
    "solve",
]
