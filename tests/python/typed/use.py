"""What users write, for type checkers: test_types.py asks mypy and pyright. Lines marked `wrong` must be refused."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import redoubt as rd

P = np.array([[[0.8, 0.2], [1.0, 0.0]], [[0.1, 0.9], [0.7, 0.3]]])
problem = rd.Problem(P, reward=[[1.0, 0.0], [3.0, 0.0]], signals={"wear": [0.0, 1.0]}, order="sas",
                     constraints=[rd.at_most("wear", 3.0)], uncertainty=rd.KL(0.05), horizon=10)  # fmt: skip
river: rd.Problem = rd.make("river_swim(horizon=10)")
wider: rd.Problem = problem.replace(uncertainty=rd.TV(0.1, reach="support"), start=1)

solution: rd.Solution = rd.solve(problem, method="frontier", tolerance=1e-3, threads=2, time_limit=math.inf)
by_default = rd.solve(problem, whole_curve=True)
by_rcvi = rd.solve(problem, "rcvi", fallback="utility", rounding="mixed", budget_step=0.5, progress=print)
by_gradient = rd.solve(problem, "crpo", step=0.1, iterations=10, first_policy="random", seed=1)
plain = rd.solve(problem, "robust", checkpoint=Path("work.h5"), checkpoint_interval=1.0)


def solve_with(method: str, **options: Any) -> rd.Solution:
    """A method that is known only when it runs."""
    return rd.solve(problem, method, **options)


worst: float | None = solution.reward.worst
bound: float | None = solution.reward.bound
names: list[str] = [constraint.name for constraint in solution.constraints]
said: dict[str, object] = solution.to_dict()
stricter: rd.Policy = solution.policy_at(2.5)
weights: np.ndarray = stricter.action_weights(state=0, stage=1)
controller: rd.Controller = stricter.start(seed=3)
action: int = controller.act(0)
evaluation: rd.Evaluation = rd.evaluate(wider, solution, threads=2)
episodes: rd.Simulation = rd.simulate(problem, stricter, episodes=100, nature="worst-wear")
mean: float = episodes.reward.mean
kernel: rd.RowDistribution = rd.worst_kernel(problem, solution, "wear").at(0, 1)
span: rd.AchievableRange = rd.achievable_range(problem)
plan: rd.RcviPlan = rd.plan_rcvi(problem, budget_cells=100)
value, nature = rd.worst_case(rd.Chi2(0.1), [0.5, 0.5], [0.0, 1.0], return_distribution=True)
label: str = rd.plots.curve(solution).get_xlabel()

rd.solve(problem, "frontier", tolerence=1e-3)  # wrong
rd.solve(problem, "frontier", slack=0.1)  # wrong
rd.solve(problem, "rcvi", fallback="rewrad")  # wrong
rd.solve(problem, "rcvi", budget_cells="many")  # wrong
rd.simulate(problem, solution, episode=10)  # wrong
rd.evaluate(problem, "policy")  # wrong
rd.certify(solution, threads="all")  # wrong
rd.TV(0.1, reach="anywere")  # wrong
solution.rewrad  # wrong
