"""Models of the library from layouts, values and interval bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._core import Error
from ._transitions import Layout
from ._values import Values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Interval(_core.Interval):
    """Bounds lo <= P <= hi on each probability, shaped like P, or numbers for all outcomes of P.

    Outcomes that P gives nothing may have a positive `hi`. Without bounds: those that the model already has.

    >>> round(rd.worst_case(rd.Interval([0.2, 0.2], [0.8, 0.8]), [0.5, 0.5], [0.0, 1.0]), 6)
    0.2
    """

    def __init__(self, lo: ArrayLike | Any = None, hi: ArrayLike | Any = None) -> None:  # sparse like P, too
        super().__init__()
        if (lo is None) != (hi is None):
            raise Error("Interval with one of lo and hi, must have both or neither")
        self.lo, self.hi = lo, hi

    def __reduce__(self) -> tuple[Any, ...]:
        return Interval, (self.lo, self.hi)


class Composed(_core.Composed):
    """Every P within a ball, `TV`, `Chi2` or `KL`, of some row that keeps the bounds lo and hi, given as for `Interval`.

    This is what data say of a row that nature may then move: the row is known by an interval for each probability, and
    the ball is around it. Without bounds: those that the model already has.

    >>> round(rd.worst_case(rd.Composed(rd.TV(0.1), [0.4, 0.4], [0.6, 0.6]), [0.5, 0.5], [0.0, 1.0]), 6)
    0.3
    """

    def __init__(self, ball: _core.TV | _core.Chi2 | _core.KL, lo: ArrayLike | Any = None, hi: ArrayLike | Any = None) -> None:
        super().__init__(ball)
        if (lo is None) != (hi is None):
            raise Error("Composed with one of lo and hi, must have both or neither")
        self.lo, self.hi = lo, hi

    def __reduce__(self) -> tuple[Any, ...]:
        return Composed, (self.ball, self.lo, self.hi)


Uncertainty = _core.Nominal | _core.TV | _core.Chi2 | _core.KL | _core.Tilt | _core.Interval | _core.Composed
Names = tuple[list[str], list[str]]  # of states and of actions
Labels = list[tuple[str, list[int]]]  # names and states


def bounds_of(uncertainty: Uncertainty | None, order: str | None) -> dict[str, Values]:
    """The bounds that a model needs for this set: none unless it is an `Interval` or `Composed` that has some."""
    if not isinstance(uncertainty, (Interval, Composed)) or uncertainty.lo is None:
        return {}
    return {"lower": Values("lo", uncertainty.lo, order), "upper": Values("hi", uncertainty.hi, order)}


def model_of(
    layout: Layout, given: dict[str, Values], bounds: dict[str, Values], horizon: int | None, names: Names,
    labels: Labels, intervals: tuple[Any, Any] | None = None,
) -> _core.Model:  # fmt: skip
    """The model of a layout under the reward and the signals that are given; names of states and actions. Bounds may be
    given as they are to be spread, or as they are for each outcome: `intervals`."""
    every = [*given.values(), *bounds.values()]
    stages = max((values.stages(layout, horizon) for values in every), default=1)
    if stages > 1 and layout.stages == 1:
        layout = layout.at_stages(stages)
        intervals = intervals and (np.tile(intervals[0], stages), np.tile(intervals[1], stages))
    if bounds:
        layout = layout.with_outcomes(*bounds["upper"].positive(layout))
    looked_at = any(values.looks_at_reward for name, values in given.items() if name != "reward")
    reward = _reward_of_outcomes(layout, given.get("reward"), horizon) if looked_at else None
    spread = {
        name: (*values.spread(layout, horizon, None if name == "reward" else reward), values.arrival(layout))
        for name, values in given.items()
    }
    for name, values in layout.extra.items():
        row, outcome, arrival = spread.get(name, (np.empty(0),) * 3)
        spread[name] = row, values + (outcome if len(outcome) else 0.0), arrival
    return built(layout, spread, bounds, horizon, names, labels, intervals or ((), ()))


def _reward_of_outcomes(layout: Layout, given: Values | None, horizon: int | None) -> np.ndarray:
    """What each outcome earns in all, for signals that look at it."""
    total = layout.extra.get("reward", np.zeros(len(layout.next)))
    if given is None:
        return total
    row, outcome = given.spread(layout, horizon)
    return np.asarray(total + (row[layout.outcome_row] if len(row) else 0.0) + (outcome if len(outcome) else 0.0))


def parts_of(model: _core.Model) -> tuple[Layout, dict[str, tuple[Any, Any, Any]]]:
    """The layout of a model, and the values of its reward and signals for rows, outcomes and arrivals."""
    values = {"reward": (model.reward, model.outcome_reward, model.arrival_reward)}
    for i, name in enumerate(model.signal_names):
        values[name] = (model.signal(i), model.outcome_signal(i), model.arrival_signal(i))
    layout = Layout(
        states=model.states, stages=model.stages, actions=model.actions, row_outcomes=model.row_outcomes,
        next=model.next, probability=model.probability, some_rows=(model.state_rows, model.action), groups=model.groups,
        factors=model.factors,
    )  # fmt: skip
    return layout, values


def rebuilt(
    model: _core.Model, labels: Labels, state_names: list[str] | None = None, reward_as: str | None = None
) -> _core.Model:
    """The model with other labels, with other names of states, and with its reward also as a signal of a name."""
    layout, values = parts_of(model)
    if reward_as is not None:
        values[reward_as] = values["reward"]
    names = (model.state_names if state_names is None else state_names, model.action_names)
    return built(layout, values, {}, None, names, labels, (model.lower, model.upper))


def with_bounds(model: _core.Model, bounds: dict[str, Values], horizon: int | None) -> _core.Model:
    """The model with other bounds, and with the outcomes that they allow."""
    layout, values = parts_of(model)
    stages = max(of.stages(layout, horizon) for of in bounds.values())
    if stages not in (1, layout.stages):
        raise Error(f"Interval with bounds for {stages} stages, must be for {layout.stages}, as the rows of the model")
    joined = layout.with_outcomes(*bounds["upper"].positive(layout))
    dependent = [name for name, (_, outcome, _) in values.items() if len(outcome)]
    if joined is not layout and dependent:
        raise Error(
            f"Interval allows {len(joined.next) - len(layout.next)} outcomes that the problem does not have, and "
            f"{dependent[0]!r} depends on the outcome, must be given to Problem with its values there"
        )
    return built(joined, values, bounds, horizon, (model.state_names, model.action_names), model.labels)


def built(
    layout: Layout, values: dict[str, tuple[Any, Any, Any]], bounds: dict[str, Values], horizon: int | None,
    names: Names, labels: Labels, intervals: tuple[Any, Any] = ((), ()),
) -> _core.Model:  # fmt: skip
    arrays = _core.ModelArrays()
    arrays.states, arrays.stages = layout.states, layout.stages
    arrays.groups, arrays.factors = layout.groups, layout.factors
    if layout.regular:
        arrays.give_every_action(layout.actions)
    else:
        arrays.state_rows, arrays.action = layout.state_rows, layout.action
    arrays.state_names, arrays.action_names = names
    for name, states in labels:
        arrays.add_label(name, states)
    reward, arrays.outcome_reward, arrays.arrival_reward = values.pop("reward", (np.empty(0),) * 3)
    for name, (_, outcome, arrival) in values.items():
        arrays.add_signal(name, outcome, arrival)
    if len(intervals[0]):
        arrays.lower, arrays.upper = intervals
    for name, bound in bounds.items():
        row, outcome = bound.spread(layout, horizon)
        setattr(arrays, name, row[layout.outcome_row] if len(row) else outcome)
    signals = [row for row, _, _ in values.values()]
    return _core.Model(arrays, layout.row_outcomes, layout.next, layout.probability, reward, signals)
