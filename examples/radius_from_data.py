"""Choosing a radius from data: the more samples, the smaller the sets, and the more a policy can promise."""

import redoubt as rd

truth = rd.make("river_swim(horizon=10,start=2)", uncertainty=rd.Nominal())
best = rd.solve(truth, "nominal").reward.worst
print(f"best reward when the model is known and nothing is uncertain: {best:.4f}")
print("samples of each row   largest radius   promised   kept by the true model")
for samples in (100, 1_000, 10_000, 100_000):
    # With probability 95 % every true row is in its set, so that what is promised holds for the truth.
    problem = rd.estimate(truth, samples, seed=0, delta=0.05, uncertainty=rd.TV(0.0), constraints=[])
    solution = rd.solve(problem, "robust")
    kept = rd.evaluate(truth, rd.Policy.markov(truth, solution.policy.table())).reward.worst
    print(f"{samples:>19,}   {problem.uncertainty.radius.max():>14.4f}   {solution.reward.worst:>8.4f}   {kept:.4f}")
    assert solution.reward.worst <= kept + 1e-9
