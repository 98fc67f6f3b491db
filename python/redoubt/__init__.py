"""Robust constrained Markov decision processes, solved with certificates."""

from . import plots
from ._abstract import Abstraction, AbstractSolution, abstract
from ._abstract_gym import GymnasiumAbstraction, abstract_gymnasium
from ._aggregate import Aggregation, AggregateSolution, aggregate
from ._build import Composed, Interval
from ._core import (
    KL,
    TV,
    AchievableRange,
    BudgetAxis,
    Chi2,
    ComparisonLine,
    Constraint,
    ConstraintResult,
    Controller,
    EnvironmentInfo,
    Error,
    Evaluation,
    MarkovKernel,
    MemoryPlan,
    Nominal,
    ParameterInfo,
    Query,
    RcviPlan,
    RewardResult,
    RowDistribution,
    SampledTotal,
    SampleSize,
    Simulation,
    Tilt,
    at_least,
    at_most,
    avoid,
    reach,
    steps_to,
    total_until,
    until,
)
from ._core import version as __version__
from ._explore import explore
from ._gym import GymController, as_gymnasium, from_gymnasium
from ._learn import LearnedSolution, learn
from ._name import refuse_the_other_redoubt
from ._noise_samples import SampledNoise
from ._partial import PartialSolution, solve_partially
from ._policy import Policy
from ._problem import Problem, chance
from ._ranges import Range
from ._sampling import EstimatedProblem, Queries, estimate, recorded, samples_buy, samples_needed
from ._shield import Shield, ShieldedEnv
from ._solution import Solution, load_solution, save_solution
from ._solve import (
    Comparison,
    achievable_range,
    certify,
    compare,
    methods,
    plan_frontier,
    plan_rcvi,
    plan_robust,
    solve,
)
from ._sources import environments, from_storm, load, make, save, save_induced, to_storm
from ._steer import ContinuousController, Episodes
from ._systems import Gaussian, Uniform, affine, lipschitz
from ._tools import WorstKernel, evaluate, simulate, verify, worst_kernel
from ._values import on_arrival
from ._worst_case import worst_case

refuse_the_other_redoubt(__path__[0])

__all__ = [
    "KL",
    "TV",
    "AbstractSolution",
    "Abstraction",
    "AchievableRange",
    "AggregateSolution",
    "Aggregation",
    "BudgetAxis",
    "Chi2",
    "Comparison",
    "ComparisonLine",
    "Composed",
    "Constraint",
    "ConstraintResult",
    "ContinuousController",
    "Controller",
    "EnvironmentInfo",
    "Episodes",
    "Error",
    "EstimatedProblem",
    "Evaluation",
    "Gaussian",
    "GymController",
    "GymnasiumAbstraction",
    "Interval",
    "LearnedSolution",
    "MarkovKernel",
    "MemoryPlan",
    "Nominal",
    "ParameterInfo",
    "PartialSolution",
    "Policy",
    "Problem",
    "Queries",
    "Query",
    "Range",
    "RcviPlan",
    "RewardResult",
    "RowDistribution",
    "SampleSize",
    "SampledTotal",
    "SampledNoise",
    "Shield",
    "ShieldedEnv",
    "Simulation",
    "Solution",
    "Tilt",
    "Uniform",
    "WorstKernel",
    "__version__",
    "abstract",
    "abstract_gymnasium",
    "achievable_range",
    "affine",
    "aggregate",
    "as_gymnasium",
    "at_least",
    "at_most",
    "avoid",
    "certify",
    "chance",
    "compare",
    "environments",
    "estimate",
    "evaluate",
    "explore",
    "from_gymnasium",
    "from_storm",
    "learn",
    "lipschitz",
    "load",
    "load_solution",
    "make",
    "methods",
    "on_arrival",
    "plan_frontier",
    "plan_rcvi",
    "plan_robust",
    "plots",
    "reach",
    "recorded",
    "samples_buy",
    "samples_needed",
    "save",
    "save_induced",
    "save_solution",
    "simulate",
    "solve",
    "solve_partially",
    "steps_to",
    "to_storm",
    "total_until",
    "until",
    "verify",
    "worst_case",
    "worst_kernel",
]
