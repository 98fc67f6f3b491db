"""Keywords into the option structs of the library, which alone hold names and defaults."""

from __future__ import annotations

from enum import Enum

from . import _core
from ._core import Error

EXECUTION = ("threads", "time_limit", "checkpoint", "checkpoint_interval")


def fields(options: type | None) -> tuple[str, ...]:
    return tuple(name for name in vars(options) if not name.startswith("_")) if options else ()


def assign(target, values: dict, of: str, also: tuple[str, ...] = ()) -> None:
    """Sets the fields of an options struct; words are the names of enumerators."""
    known = fields(type(target))
    for name, value in values.items():
        if name not in known:
            raise unknown(name, of, (*known, *also))
        words = type(getattr(target, name))
        if issubclass(words, Enum) and isinstance(value, str):
            if value not in words.__members__:
                raise Error(f"{name} = {value!r}, must be one of {', '.join(words.__members__)}")
            value = words[value]
        try:
            setattr(target, name, value)
        except TypeError:
            raise Error(f"{name} = {value!r}, must be {words.__name__}") from None


def unknown(name: str, of: str, known: tuple[str, ...]) -> Error:
    return Error(f"unknown option {name!r} of {of}{meant(name, known)}, must be one of {', '.join(known)}")


def meant(word: str, known) -> str:
    near = _core.near_matches(word, list(known))
    return f" (did you mean {near[0]!r}?)" if near else ""


def take_execution(options: dict, of: str) -> _core.Execution:
    """Takes the options of EXECUTION out of a dict, and makes of them how work is carried out."""
    made = _core.Execution()
    taken = {name: options.pop(name) for name in EXECUTION if name in options}
    path, interval = taken.pop("checkpoint", None), taken.pop("checkpoint_interval", None)
    if path is not None:
        made.checkpoint = _core.checkpoint_file(path, **({} if interval is None else {"interval": interval}))
    elif interval is not None:
        raise Error(f"checkpoint_interval = {interval!r} without checkpoint, must come with one")
    assign(made, taken, of)
    return made


def execution(threads: int | None) -> _core.Execution:
    made = _core.Execution()
    if threads is not None:
        assign(made, {"threads": threads}, "execution")
    return made
