"""Problems from samples: simulators, recorded data, and how many samples a guarantee needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core, _show
from ._core import Error
from ._factors import around_factors
from ._features import earned_by, features_of
from ._options import AnyPath, Progress, execution, named_options
from ._problem import Problem
from ._solve import reporter
from ._terms import ABSENT, Absent, AnySet, Constraints, Discount, Horizon, is_helpful, objective_of, terms_of
from ._transitions import as_int32


@dataclass(frozen=True)
class Queries:
    """Many questions to a simulator at once: an array for each field.

    >>> def simulator(queries):  # every action leads to the state of its number
    ...     return queries.action, np.ones(len(queries))
    >>> rd.estimate(simulator, samples=5, batch=100, states=2, actions=2, horizon=3).transition_matrix().toarray()
    array([[1., 0.], [0., 1.], [1., 0.], [0., 1.]])
    """

    stage: NDArray[np.int32]
    state: NDArray[np.int32]
    action: NDArray[np.int32]
    seed: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.state)

    def __repr__(self) -> str:
        return f"<redoubt.Queries: {len(self):,}>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)


class EstimatedProblem(Problem):
    """A problem whose model was estimated from samples; made by `estimate` and `recorded`.

    Attributes:
        visits: the number of samples of each row; of a factor, those of the rows that take it alone.
        unvisited: rows without samples: here nature may do anything.
        queries: what the simulator was asked in this call.
        reused: samples that were in the store already.

    >>> found = rd.estimate(rd.make("river_swim(horizon=5)"), samples=10)
    >>> found.visits.tolist() == [10] * 12, found.queries, found.unvisited
    (True, 120, [])
    """

    visits: NDArray[np.int64]
    unvisited: list[int]
    queries: int
    reused: int

    @classmethod
    def _from(
        cls, found: _core.Estimate, delta: float | None, confidence: float | None = None, features: Any = None,
        nature: str | None = None, **given: Any,
    ) -> EstimatedProblem:  # fmt: skip
        if confidence is not None and delta is not None:
            raise Error("delta and confidence, must be one of them")
        rows, model, base = found, found.model, found.terms
        if features is not None and model.factors == 0:
            model, own = features_of(features, None if isinstance(features, Problem) else earned_by(found))
            base = base if own is None else own
            found = found if confidence is not None else _core.estimate_factors(found, model)
        if "uncertainty" in given:
            given["uncertainty"] = around_factors(given["uncertainty"], model)
        terms = terms_of(base, model, **given)
        if nature is not None:
            terms.helpful_nature = is_helpful("nature", nature)
        if confidence is not None:
            problem = _core.composed_problem(found, terms, confidence) if model is found.model else _core.composed_factors(
                rows, model, terms, confidence)  # fmt: skip
        else:
            problem = (
                _core.estimated_problem(found, terms) if delta is None else _core.confident_problem(found, terms, delta)
            )
        made = cls._adopt(problem)
        made.__dict__.update(visits=np.array(found.visits), unvisited=found.unvisited, queries=found.queries,
                             reused=found.reused)  # fmt: skip
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (*super().__reduce__(), self.__dict__)


def _restored(make: Callable[..., Problem], arguments: tuple[Any, ...], found: dict[str, Any]) -> EstimatedProblem:
    made = EstimatedProblem._adopt(make(*arguments))
    made.__dict__.update(found)
    return made


def open_simulator(
    simulator: Any, *, states: int | None, actions: int | None, signals: Sequence[str], stages: int,
    terminal: Sequence[int], timeout: float, window: int, batch: int | None, outcomes: Any = None,
    ranges: Mapping[str, tuple[float, float]] | None = None, shared_values: bool = False,
    features: _core.Model | None = None,
) -> _core.Simulator:  # fmt: skip
    """What `estimate` and `learn` take as a simulator: a Problem, a command or a function. With features, a function is
    asked for factors."""
    if isinstance(simulator, _core.Problem):
        return _core.problem_simulator(simulator)
    if isinstance(simulator, str):
        external = _core.ExternalOptions()
        external.timeout, external.window = timeout, window
        return _core.external_simulator(simulator, external)
    if states is None or actions is None:
        raise Error("simulator is a function, must say how many states and actions there are")
    declared = _core.Declared()
    declared.states, declared.actions, declared.signals = states, actions, list(signals)
    declared.stages, declared.terminal, declared.shared_values = stages, list(terminal), shared_values
    declared.features = features
    if outcomes is not None:
        acting = [state for state in range(states) if state not in set(terminal)]
        declared.outcomes = [[int(to) for to in outcomes[s][a]] for _ in range(stages) for s in acting for a in range(actions)]
    if ranges is not None:
        if not set(ranges) <= {"reward", *signals}:
            raise Error(f"ranges of {sorted(set(ranges) - {'reward', *signals})}, must be of reward or a signal")
        declared.ranges = [ranges.get(name) for name in ("reward", *signals)]
    if batch is None:
        return _core.function_simulator(_answer(simulator, list(signals)), declared)
    return _core.batch_simulator(_answers(simulator, list(signals)), batch, declared)


@named_options
def estimate(
    simulator: Callable[[_core.Query], object] | Callable[[Queries], object] | str | Problem,
    samples: int = 1000,
    *,
    seed: int = 0,
    threads: int = 1,
    store: AnyPath | None = None,
    delta: float | None = None,
    progress: Progress = False,
    states: int | None = None,
    actions: int | None = None,
    signals: Sequence[str] = (),
    stages: int = 1,
    terminal: Sequence[int] = (),
    timeout: float = 60.0,
    window: int = 256,
    batch: int | None = None,
    features: Any = None,
    constraints: Constraints = ABSENT,
    uncertainty: AnySet = ABSENT,
    horizon: Horizon = ABSENT,
    discount: Discount = ABSENT,
    start: Any = ABSENT,
) -> EstimatedProblem:
    """A problem estimated from this many samples of each row.

    Args:
        simulator: a Problem, whose nominal model is sampled; a command, a program that answers lines of JSON; or a
            function of a query (with `stage`, `state`, `action` and `seed`) that returns the next state, or (next
            state, reward), or (next state, reward, {signal: value}). One that takes its randomness from the query's
            seed gives the same estimate every time. With `batch` it takes many queries at once, as arrays, and
            returns arrays. Its exceptions pass through, with a note that names the query.
        samples: of each row.
        seed: of the samples; the estimate depends on it and the simulator, not on threads.
        threads: for a Problem; functions and commands are asked from one thread.
        store: a file in which samples are kept as they arrive, and from which a later call goes on.
        delta: radii from the data: with probability 1 - delta the sets hold all true rows at once.
        progress: True for a bar, or a function of the share done.
        states: how many there are, for a function.
        actions: how many there are in each state, for a function.
        signals: names of what a function answers beside the reward.
        stages: for a function whose answers depend on the stage: how many there are.
        terminal: states in which episodes end, for a function.
        timeout: seconds without an answer of a command that count as a hang.
        window: queries that may wait for the answers of a command at a time.
        batch: the most queries in one call of a function that takes many.
        features: where rows are mixtures of factors: their weights, (S, A, K) as for `Problem`, or a Problem with factors,
            of which the weights, what is earned and the terms count. All samples then tell of the factors, the likeliest
            ones.
        constraints: as for `Problem`; like the other terms, in place of what the simulator says.
        uncertainty: as for `Problem`.
        horizon: as for `Problem`.
        discount: as for `Problem`.
        start: as for `Problem`.

    >>> def coin(query):  # a state for each side
    ...     return int(np.random.default_rng(query.seed).random() < 0.5), float(query.state)
    >>> found = rd.estimate(coin, samples=1000, states=2, actions=1, horizon=3)
    >>> bool(abs(found.probability - 0.5).max() < 0.1)
    True
    """
    options = _core.EstimateOptions()
    options.samples, options.seed = samples, seed
    if isinstance(features, Problem):
        states, actions = features.given.model.ordinary, features.given.model.actions
    if store is not None:
        options.store = Path(store)
    opened = open_simulator(simulator, states=states, actions=actions, signals=signals, stages=stages,
                            terminal=terminal, timeout=timeout, window=window, batch=batch)  # fmt: skip
    with reporter(progress, "estimate") as report:
        found = _core.estimate(opened, options, execution(threads), report)
    return EstimatedProblem._from(found, delta, features=features, constraints=constraints, uncertainty=uncertainty,
                                  horizon=horizon, discount=discount, start=start)  # fmt: skip


@named_options
def recorded(
    path: AnyPath,
    *,
    states: int | None = None,
    actions: int | None = None,
    terminal: Sequence[int] = (),
    unvisited: Literal["error", "simplex"] = "error",
    delta: float | None = None,
    confidence: float | None = None,
    nature: Literal["adversarial", "helpful"] | None = None,
    reward: str | Absent | None = ABSENT,
    minimise: str | None = None,
    features: Any = None,
    constraints: Constraints = ABSENT,
    uncertainty: AnySet = ABSENT,
    horizon: Horizon = ABSENT,
    discount: Discount = ABSENT,
    start: Any = ABSENT,
) -> EstimatedProblem:
    """A problem estimated from recorded transitions: CSV of state,action,next,reward[,stage] and signals.

    Without a column called reward, `reward` or `minimise` names the one that is to be maximised or minimised;
    reward=None says that there is none. Rows without samples are an Error that lists them or, with
    unvisited="simplex", rows in which nature may do anything. With `delta` the radius comes from the data. With
    `confidence`, such as 0.95, each probability has an interval of its own, rows without samples may be anything, and
    the set is around every row within the intervals (`Composed`); with nature="helpful" too, `solve` then bounds what any
    policy of such a model has. With `features`, as for `estimate`, samples tell of the factors, and the set is around every
    factor within its intervals; rows without samples are no matter.

    >>> lines = ["state,action,next,reward", "0,0,1,1", "0,0,0,1", "1,0,0,0"]
    >>> _ = (folder / "log.csv").write_text("\\n".join(lines))
    >>> rd.recorded(folder / "log.csv", horizon=3, uncertainty=rd.TV(0.1)).probability
    array([0.5, 0.5, 1. ])
    """
    if unvisited not in ("error", "simplex"):
        raise Error(f"unvisited = {unvisited!r}, must be 'error' or 'simplex'")
    text = Path(path).read_text()
    anything = unvisited == "simplex" or confidence is not None
    objective = objective_of(reward, minimise)
    if isinstance(features, Problem):
        states, actions = features.given.model.ordinary, features.given.model.actions
        objective = objective if objective.chosen else _core.Objective(none=True)  # it says what is earned
    found = _core.read_recorded(text, str(path), states, actions, list(terminal), anything, features is not None, objective)
    return EstimatedProblem._from(found, delta, confidence, features, nature, constraints=constraints, uncertainty=uncertainty,
                                  horizon=horizon, discount=discount, start=start)  # fmt: skip


@named_options
def samples_needed(problem: Problem, *, epsilon: float, delta: float = 0.05) -> _core.SampleSize:
    """The least number of samples of each row that guarantees this error with probability 1 - delta.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> fewer, more = (rd.samples_needed(problem, epsilon=epsilon).per_row for epsilon in (0.5, 0.25))
    >>> fewer < more
    True
    """
    return _core.samples_needed(problem, epsilon, delta)


@named_options
def samples_buy(problem: Problem, per_row: int, *, delta: float = 0.05) -> _core.SampleSize:
    """What this many samples of each row guarantee with probability 1 - delta.

    >>> problem = rd.make("river_swim(horizon=5,start=3)")
    >>> needed = rd.samples_needed(problem, epsilon=0.5).per_row
    >>> rd.samples_buy(problem, needed).epsilon <= 0.5
    True
    """
    return _core.samples_buy(problem, per_row, delta)


def _answer(function: Any, signals: list[str]) -> Callable[[_core.Query], _core.Sample]:
    def answer(query: _core.Query) -> _core.Sample:
        with _noted(f"state {query.state}, action {query.action}, stage {query.stage}, draw {query.draw}"):
            given = function(query)
        given = given if isinstance(given, tuple) else (given,)
        following, reward, values = given + (0.0, {})[len(given) - 1 :]
        if isinstance(values, Mapping):
            if set(values) != set(signals):
                raise Error(f"signals {sorted(values)} of an answer, must be {sorted(signals)}")
            values = [values[name] for name in signals]
        return _core.Sample(int(following), float(reward), [float(value) for value in values])

    return answer


def _answers(function: Any, signals: list[str]) -> Callable[..., tuple[NDArray[np.int32], NDArray[np.float64]]]:
    def answers(*columns: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        queries = Queries(*columns)
        with _noted(f"{len(queries)} queries, the first one state {queries.state[0]}, action {queries.action[0]}"):
            following, reward, *rest = function(queries)
        values = [np.asarray(v, dtype=np.float64) for v in (reward, *(rest[0][name] for name in signals))]
        after = as_int32(following, "next")
        for shape in (after.shape, *(column.shape for column in values)):
            if shape != (len(queries),):
                raise Error(f"an answer of shape {shape} to {len(queries)} queries, must have one for each")
        return after, np.ascontiguousarray(np.stack(values, axis=1))

    return answers


@contextmanager
def _noted(query: str) -> Iterator[None]:
    """Adds the query to an exception; Python 3.10 keeps such notes without showing them."""
    try:
        yield
    except Exception as error:
        error.__notes__ = [*getattr(error, "__notes__", []), f"in the simulator, for {query}"]
        raise
