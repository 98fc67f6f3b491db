"""Problems from samples: simulators, recorded data, and how many samples a guarantee needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import _core
from ._core import Error
from ._problem import ABSENT, Problem, objective_of, terms_of
from ._solve import reporter
from ._transitions import as_int32


@dataclass(frozen=True)
class Queries:
    """Many questions to a simulator at once: an array for each field."""

    stage: np.ndarray
    state: np.ndarray
    action: np.ndarray
    seed: np.ndarray

    def __len__(self) -> int:
        return len(self.state)


class EstimatedProblem(Problem):
    """A problem whose model was estimated from samples."""

    @classmethod
    def _from(cls, found: _core.Estimate, delta: float | None, terms: dict) -> EstimatedProblem:
        asked = terms_of(found.terms, found.model, **terms)
        problem = (
            _core.estimated_problem(found, asked) if delta is None else _core.confident_problem(found, asked, delta)
        )
        estimated = cls._adopt(problem)
        estimated._found = found
        return estimated

    @property
    def visits(self) -> np.ndarray:
        """The number of samples of each row."""
        return np.array(self._found.visits)

    @property
    def unvisited(self) -> list[int]:
        """Rows without samples: here nature may do anything."""
        return self._found.unvisited

    @property
    def queries(self) -> int:
        """What the simulator was asked in this call."""
        return self._found.queries

    @property
    def reused(self) -> int:
        """Samples that were in the store already."""
        return self._found.reused


def estimate(
    simulator: Callable[[_core.Query], object] | str | Problem,
    samples: int = 1000,
    *,
    seed: int = 0,
    threads: int = 1,
    store: str | os.PathLike | None = None,
    delta: float | None = None,
    progress: bool | Callable[[float], object] = False,
    states: int | None = None,
    actions: int | None = None,
    signals: Sequence[str] = (),
    stages: int = 1,
    terminal: Sequence[int] = (),
    timeout: float = 60.0,
    window: int = 256,
    batch: int | None = None,
    **terms,
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
        states, actions, signals, stages, terminal: what a function can be asked.
        timeout: seconds without an answer of a command that count as a hang.
        window: queries that may wait for the answers of a command at a time.
        batch: the most queries in one call of a function that takes many.
        terms: horizon, discount, start, constraints, uncertainty; they replace what the simulator says.
    """
    options = _core.EstimateOptions()
    options.samples, options.seed = samples, seed
    if store is not None:
        options.store = Path(store)
    execution = _core.Execution()
    execution.threads = threads
    with reporter(progress, "estimate") as report:
        if isinstance(simulator, _core.Problem):
            found = _core.estimate_problem(simulator, options, execution, report)
        elif isinstance(simulator, str):
            external = _core.ExternalOptions()
            external.timeout, external.window = timeout, window
            found = _core.estimate_command(simulator, external, options, execution, report)
        else:
            if states is None or actions is None:
                raise Error("estimate of a function, must say how many states and actions there are")
            asked = (states, actions, list(signals), stages, list(terminal))
            if batch is None:
                answer = _answer(simulator, list(signals))
                found = _core.estimate_function(answer, *asked, options, execution, report)
            else:
                answers = _answers(simulator, list(signals))
                found = _core.estimate_batches(answers, batch, *asked, options, execution, report)
    return EstimatedProblem._from(found, delta, terms)


def recorded(
    path: str | os.PathLike,
    *,
    states: int | None = None,
    actions: int | None = None,
    terminal: Sequence[int] = (),
    unvisited: str = "error",
    delta: float | None = None,
    reward: str | None = ABSENT,
    minimise: str | None = None,
    **terms,
) -> EstimatedProblem:
    """A problem estimated from recorded transitions: CSV of state,action,next,reward[,stage] and signals.

    Without a column called reward, `reward` or `minimise` names the one that is to be maximised or minimised;
    reward=None says that there is none. Rows without samples are an Error that lists them or, with
    unvisited="simplex", rows in which nature may do anything.
    """
    if unvisited not in ("error", "simplex"):
        raise Error(f"unvisited = {unvisited!r}, must be 'error' or 'simplex'")
    text = Path(path).read_text()
    found = _core.read_recorded(text, str(path), states, actions, list(terminal), unvisited == "simplex",
                                objective_of(reward, minimise))  # fmt: skip
    return EstimatedProblem._from(found, delta, terms)


def samples_needed(problem: Problem, *, epsilon: float, delta: float = 0.05) -> _core.SampleSize:
    """The least number of samples of each row that guarantees this error with probability 1 - delta."""
    return _core.samples_needed(problem, epsilon, delta)


def samples_buy(problem: Problem, per_row: int, *, delta: float = 0.05) -> _core.SampleSize:
    """What this many samples of each row guarantee with probability 1 - delta."""
    return _core.samples_buy(problem, per_row, delta)


def _answer(function: Callable, signals: list[str]) -> Callable[[_core.Query], _core.Sample]:
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


def _answers(function: Callable, signals: list[str]) -> Callable:
    def answers(*columns) -> tuple[np.ndarray, np.ndarray]:
        queries = Queries(*columns)
        with _noted(f"{len(queries)} queries, the first one state {queries.state[0]}, action {queries.action[0]}"):
            following, reward, *rest = function(queries)
        values = [np.asarray(v, dtype=np.float64) for v in (reward, *(rest[0][name] for name in signals))]
        following = as_int32(following, "next")
        for column in (following, *values):
            if column.shape != (len(queries),):
                raise Error(f"an answer of shape {column.shape} to {len(queries)} queries, must have one for each")
        return following, np.ascontiguousarray(np.stack(values, axis=1))

    return answers


@contextmanager
def _noted(query: str):
    """Adds the query to an exception; Python 3.10 keeps such notes without showing them."""
    try:
        yield
    except Exception as error:
        error.__notes__ = [*getattr(error, "__notes__", []), f"in the simulator, for {query}"]
        raise
