"""Policies from simulators, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Error
from ._factors import around_factors
from ._features import features_of
from ._options import AnyPath, Progress, execution, named_options
from ._problem import Problem
from ._sampling import Queries, open_simulator
from ._solution import Solution
from ._solve import contestant, reporter
from ._terms import ABSENT, AnySet, Constraints, Discount, Horizon, terms_of


class LearnedSolution(Solution):
    """A solution whose numbers hold on the true model with probability `confidence`, all at once; made by `learn`.

    Attributes:
        confidence: 1 - delta.
        samples: of each row.
        rounds: columns "samples", "worst", "bound" and "feasible", one entry for each round.
        queries: what the simulator was asked in this call.
        reused: samples that were in the store already.

    Its `problem` is what the samples say: the shares as nominal probabilities, an interval for each, and the set around
    every row within them (`Composed`).

    >>> learned = rd.learn(rd.make("river_swim(horizon=5,start=2,bound=2)"), epsilon=0.5)
    >>> learned.confidence, bool(learned.samples.sum() == learned.rounds["samples"][-1])
    (0.95, True)
    """

    def __init__(
        self, solution: _core.Solution, problem: Problem, samples: Any, rounds: dict[str, Any], confidence: float,
        queries: int, reused: int,
    ) -> None:  # fmt: skip
        super().__init__(solution, problem)
        self.samples: NDArray[np.int64] = np.asarray(samples, dtype=np.int64)
        self.rounds: dict[str, NDArray[Any]] = rounds
        self.confidence, self.queries, self.reused = confidence, queries, reused

    def __reduce__(self) -> tuple[Any, ...]:
        own = (self.samples, self.rounds, self.confidence, self.queries, self.reused)
        return LearnedSolution, (self._solution, self.problem, *own)


@named_options
def learn(
    simulator: Callable[[_core.Query], object] | Callable[[Queries], object] | str | Problem,
    *,
    epsilon: float = 0.1,
    delta: float = 0.05,
    strict: bool = False,
    uniform: bool = False,
    first_samples: int = 32,
    most_samples: int = 0,
    seed: int = 0,
    method: str | Mapping[str, Any] = "frontier",
    store: AnyPath | None = None,
    threads: int = 1,
    time_limit: float = math.inf,
    progress: Progress = False,
    round: Callable[[_core.LearnRound], object] | None = None,
    states: int | None = None,
    actions: int | None = None,
    signals: Sequence[str] = (),
    stages: int = 1,
    terminal: Sequence[int] = (),
    outcomes: Any = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    shared_values: bool = False,
    timeout: float = 60.0,
    window: int = 256,
    batch: int | None = None,
    features: Any = None,
    by_factor: bool = False,
    constraints: Constraints = ABSENT,
    uncertainty: AnySet = ABSENT,
    horizon: Horizon = ABSENT,
    discount: Discount = ABSENT,
    start: Any = ABSENT,
) -> LearnedSolution:
    """A policy from samples, drawn where they matter until what is claimed of it holds with probability 1 - delta.

    With that probability, on the true model and all at once: the policy's worst-case reward is at least `reward.worst`,
    its constraints hold within epsilon, and no policy that keeps them exceeds `reward.bound`. The status is
    "certified" when these two are within epsilon, "feasible" when samples ended before that, "infeasible" when no
    policy keeps the constraints, and "stopped" when samples ended before a policy was known that does.

    Args:
        simulator: as for `estimate`.
        epsilon: the gap that ends the run, and by how much a constraint may be exceeded.
        delta: the probability that something of it is false.
        strict: keep every constraint within its bound itself.
        uniform: draw all rows equally often, for comparison.
        first_samples: of each row in the first round.
        most_samples: of all rows together; 0 is no limit.
        seed: of the samples.
        method: of `solve`, or a dict of one and its options such as {"method": "crpo", "step": 0.05}: finds the policy on
            what is known when the samples are enough. Rounds and bound are those of frontier; the status is of the policy.
        store: a file in which samples are kept as they arrive, and from which a later call goes on, to the same bits.
        threads: for a Problem, and for the solves.
        time_limit: seconds.
        progress: True for a bar, or a function of the share done.
        round: called after each round with its `samples`, `worst`, `bound` and `feasible`; False ends the run.
        states: for a function, as for `estimate`; so are actions, signals, stages and terminal.
        actions: see states.
        signals: see states.
        stages: see states.
        terminal: see states.
        outcomes: for a function: outcomes[state][action] lists the states that may follow. Any may unless given.
        ranges: for a function: the least and the most of "reward" and of signals. Needed where values vary within an
            outcome, or where an outcome was never seen.
        shared_values: for a function: what all samples of a row share, outcomes that were never seen earn, too.
        timeout: seconds without an answer of a command that count as a hang.
        window: queries that may wait for the answers of a command at a time.
        batch: the most queries in one call of a function that takes many.
        features: where rows are mixtures of factors, as for `estimate`: a factor is asked for by rows that take it alone, and
            each must have some. For a function a Problem with factors, which says what rows earn.
        by_factor: a function is asked for factors themselves: for state `states` + k, action 0, stands factor k.
        constraints: as for `Problem`; like the other terms, in place of what the simulator says.
        uncertainty: as for `Problem`: `TV`, `Chi2`, `KL` or `Nominal`.
        horizon: as for `Problem`.
        discount: as for `Problem`.
        start: as for `Problem`.

    >>> problem = rd.make("river_swim(horizon=5,start=2,bound=2)")
    >>> learned = rd.learn(problem, epsilon=0.5)
    >>> learned.status, learned.gap <= 0.5
    ('certified', True)
    >>> rd.evaluate(problem, learned.policy).reward.worst >= learned.reward.worst  # the true model is known here
    True
    """
    options = _core.LearnOptions()
    options.epsilon, options.delta, options.strict, options.uniform = epsilon, delta, strict, uniform
    options.first_samples, options.most_samples, options.seed = first_samples, most_samples, seed
    own = dict(method) if isinstance(method, Mapping) else {"method": method}
    if own != {"method": "frontier"}:
        options.solve_by(contestant("learn", own))
    if store is not None:
        options.store = Path(store)
    model, base = None, None
    if features is not None:
        model, base = features_of(features, simulator.given.model if isinstance(simulator, Problem) else None)
        states, actions = model.ordinary, model.actions
    elif by_factor:
        raise Error("by_factor without features, must come with them")
    opened = open_simulator(simulator, states=states, actions=actions, signals=signals, stages=stages,
                            terminal=terminal, timeout=timeout, window=window, batch=batch, outcomes=outcomes,
                            ranges=ranges, shared_values=shared_values, features=model if by_factor else None)  # fmt: skip
    if model is not None:
        opened = _core.factor_simulator(opened, model)
        uncertainty = around_factors(uncertainty, model)
    terms = terms_of(opened.terms if base is None else base, opened if model is None else model, constraints=constraints,
                     uncertainty=uncertainty, horizon=horizon, discount=discount, start=start)  # fmt: skip
    with reporter(progress, "learn") as report:
        found = _core.learn(opened, terms, options, execution(threads, time_limit), report, round)
    rounds = {name: np.array([getattr(one, name) for one in found.rounds]) for name in ("samples", "worst", "bound", "feasible")}
    return LearnedSolution(found.solution, Problem._adopt(found.problem), found.samples, rounds, 1 - delta,
                           found.queries, found.reused)  # fmt: skip
