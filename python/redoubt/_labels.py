"""Labels: named sets of states, in any of the forms people have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._build import Labels
from ._core import Error
from ._transitions import as_int32


def labels_of(given: Mapping[str, Any] | None, states: int, names: Sequence[str]) -> Labels:
    """The states of each label: from lists or sets of numbers or names, masks, or functions of the state."""
    numbers: dict[Any, int] = {name: number for number, name in enumerate(names)}
    return [(str(name), _states_of(name, chosen, states, numbers)) for name, chosen in (given or {}).items()]


def _states_of(name: str, chosen: Any, states: int, numbers: dict[Any, int]) -> list[int]:
    if callable(chosen):
        return [state for state in range(states) if chosen(state)]
    if isinstance(chosen, str):
        raise Error(f"label {name!r} = {chosen!r}, must be a list or a set of states, a mask, or a function")
    array = np.asarray(chosen)
    if array.dtype == bool and array.ndim == 1:
        if array.shape != (states,):
            raise Error(f"label {name!r} is a mask of {len(array)} values, must have one for each of {states} states")
        return [int(state) for state in np.flatnonzero(array)]
    listed = [numbers.get(state, state) for state in (chosen if np.iterable(chosen) else [chosen])]
    unknown = [state for state in listed if isinstance(state, str)]
    if unknown:
        raise Error(f"label {name!r} has {unknown[0]!r}, the model has no state of that name")
    found: list[int] = as_int32(listed, f"label {name!r}").tolist()
    return found
