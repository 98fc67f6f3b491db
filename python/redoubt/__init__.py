"""Robust constrained Markov decision processes, solved with certificates."""

from . import plots
from ._build import Interval
from ._core import KL, TV, Chi2, Error, Nominal, Tilt, __version__, at_least, at_most
from ._gym import GymController, as_gymnasium, from_gymnasium
from ._name import refuse_the_other_redoubt
from ._policy import Policy
from ._problem import Problem, chance, environments, load, make, save
from ._sampling import EstimatedProblem, Queries, estimate, recorded, samples_buy, samples_needed
from ._solution import Solution, load_solution, save_solution
from ._solve import Comparison, achievable_range, certify, compare, methods, plan_frontier, plan_rcvi, plan_robust, solve
from ._tools import WorstKernel, evaluate, simulate, verify, worst_kernel
from ._worst_case import worst_case

refuse_the_other_redoubt(__path__[0])

__all__ = [
    "KL",
    "TV",
    "Chi2",
    "Comparison",
    "Error",
    "EstimatedProblem",
    "GymController",
    "Interval",
    "Nominal",
    "Policy",
    "Problem",
    "Queries",
    "Solution",
    "Tilt",
    "WorstKernel",
    "__version__",
    "achievable_range",
    "as_gymnasium",
    "at_least",
    "at_most",
    "certify",
    "chance",
    "compare",
    "environments",
    "estimate",
    "evaluate",
    "from_gymnasium",
    "load",
    "load_solution",
    "make",
    "methods",
    "plan_frontier",
    "plan_rcvi",
    "plan_robust",
    "plots",
    "recorded",
    "samples_buy",
    "samples_needed",
    "save",
    "save_solution",
    "simulate",
    "solve",
    "verify",
    "worst_case",
    "worst_kernel",
]
