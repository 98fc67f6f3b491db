"""Terms: what is asked of a model. Keywords that are not given leave what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._build import Uncertainty
from ._core import Error
from ._transitions import as_int32


class Absent:
    """Stands for an argument that was not given, where None means something."""

    def __repr__(self) -> str:
        return "(not given)"


ABSENT = Absent()

# The types of keywords that may be left out.
Horizon = int | None | Absent
Discount = float | Absent
Constraints = Sequence[_core.Constraint] | Absent
AnySet = Uncertainty | None | Absent
_TERMS = {
    "horizon": "a whole number, or None",
    "discount": "a number",
    "start": "a state, or a distribution over states",
    "constraints": "a list of constraints, made by at_least, at_most or chance",
    "uncertainty": "one of TV, Chi2, KL, Tilt, Interval, Composed and Nominal, as in KL(0.05)",
}


def objective_of(reward: Any, minimise: str | None) -> _core.Objective:
    """What `reward` and `minimise` choose: a signal by its name, or None or "none", which is no reward at all."""
    if minimise is not None:
        if reward is not ABSENT:
            raise Error(f"reward and minimise = {minimise!r}, must be one of them")
        return _core.Objective(str(minimise), True)
    if reward is None or (isinstance(reward, str) and reward == "none"):
        return _core.Objective(none=True)
    return _core.Objective(reward) if isinstance(reward, str) else _core.Objective()


def is_helpful(what: str, word: str) -> bool:
    if word not in ("adversarial", "helpful"):
        raise Error(f"{what} = {word!r}, must be 'adversarial' or 'helpful'")
    return word == "helpful"


def terms_of(base: _core.Terms, model: _core.Model | _core.Simulator, **given: Any) -> _core.Terms:
    """The terms with those that are given in place of its own."""
    terms = _core.Terms(base)
    for name, value in given.items():
        if value is ABSENT:
            continue
        try:
            setattr(terms, name, _read(name, value, model))
        except TypeError:
            raise Error(f"{name} = {value!r} of type {type(value).__name__}, must be {_TERMS[name]}") from None
    return terms


def _read(name: str, value: Any, model: _core.Model | _core.Simulator) -> Any:
    if name == "start":
        return _start(value, model)
    if name == "uncertainty" and value is None:
        return _core.Nominal()
    return list(value) if name == "constraints" else value


def _start(start: Any, model: _core.Model | _core.Simulator) -> _core.Start:
    if isinstance(start, _core.Start):
        return start
    names: dict[Any, int] = {name: number for number, name in enumerate(model.state_names)}
    if isinstance(start, Mapping):
        chosen = as_int32([names.get(state, state) for state in start], "start")
        return _core.Start(chosen.tolist(), [float(p) for p in start.values()])
    if isinstance(start, str):
        if start not in names:
            raise Error(f"start = {start!r}, the model has no state of that name")
        return _core.Start(names[start])
    array = np.asarray(start)
    if array.ndim == 0:
        return _core.Start(as_int32(array, "start").item())
    if array.shape not in ((model.states,), (model.ordinary,)):
        raise Error(f"start has shape {array.shape}, must be a state or one probability for each of {model.states}")
    states = np.flatnonzero(array)
    return _core.Start(states.tolist(), array[states].astype(np.float64).tolist())
