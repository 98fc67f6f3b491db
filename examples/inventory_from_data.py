"""An inventory policy from recorded data: at most 12 % of demand unserved, for every demand the records allow."""

import tempfile
from pathlib import Path

import numpy as np
import redoubt as rd

CAPACITY, DAYS = 6, 30

# Five years of records, as a shop would have them: stock in the evening, order, stock next evening, profit, lost sales.
random = np.random.default_rng(1)
records = ["state,action,next,reward,lost"]
for _ in range(5 * 365):
    stock = int(random.integers(0, CAPACITY + 1))
    order = int(random.integers(0, 4))
    ready = min(stock + order, CAPACITY)  # what does not fit is sent back
    demand = int(min(random.poisson(2.0), 5))
    sold = min(ready, demand)
    profit = 4.0 * sold - 2.0 * (ready - stock) - 0.2 * ready
    records.append(f"{stock},{order},{ready - sold},{profit:.2f},{demand - sold}")

with tempfile.TemporaryDirectory() as folder:
    log = Path(folder) / "records.csv"
    log.write_text("\n".join(records))
    problem = rd.recorded(
        log,
        horizon=DAYS,
        start=3,
        uncertainty=rd.KL(0.02),
        constraints=[rd.at_most("lost", 0.12 * 2.0 * DAYS)],
    )
print(problem)
print("fewest records of a row:", problem.visits.min())
solution = rd.solve(problem, method="frontier")
print(solution)
