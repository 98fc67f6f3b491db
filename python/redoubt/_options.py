"""Keywords into the option structs of the library, which decide names and defaults."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, TypeVar

from . import _core
from ._core import Error

# What may be given as a path, and what `progress` takes: True for a tqdm bar, or a function of the share done.
AnyPath = str | os.PathLike[str]
Progress = bool | Callable[[float], object]
Function = TypeVar("Function", bound=Callable[..., Any])


def fields(options: type) -> tuple[str, ...]:
    return tuple(name for name in vars(options) if not name.startswith("_"))


def assign(target: object, values: dict[str, Any], of: str, also: tuple[str, ...] = ()) -> None:
    """Sets the fields of an options struct; words are the names of enumerators."""
    known = fields(type(target))
    for name, value in values.items():
        if name not in known:
            raise unknown(name, of, (*known, *also))
        words = type(getattr(target, name))
        if issubclass(words, Enum) and isinstance(value, str):
            if value not in words.__members__:
                near = meant(value, words.__members__)
                raise Error(f"{name} = {value!r}{near}, must be one of {', '.join(words.__members__)}")
            value = words[value]
        try:
            setattr(target, name, value)
        except TypeError:
            raise Error(f"{name} = {value!r}, must be {words.__name__}") from None


def unknown(name: str, of: str, known: tuple[str, ...]) -> Error:
    return Error(f"unknown option {name!r} of {of}{meant(name, known)}, must be one of {', '.join(known)}")


def meant(word: str, known: Iterable[str]) -> str:
    near = _core.near_matches(word, list(known))
    return f" (did you mean {near[0]!r}?)" if near else ""


def named_options(function: Function) -> Function:
    """A misspelt keyword of the function is an Error that knows the nearest one, like a misspelt option of a method."""
    parameters = inspect.signature(function).parameters
    keywords = tuple(name for name, one in parameters.items() if one.kind is not one.POSITIONAL_ONLY)
    options = tuple(name for name in keywords if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY)

    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in keywords:
                raise unknown(name, function.__qualname__, options)
        return function(*args, **given)

    return checked  # type: ignore[return-value]  # the same signature: functools.wraps


def show_options(function: Callable[..., Any], *kinds: type) -> None:
    """Lets a prompt complete, and `help` show, the fields of these structs in place of the function's **options."""
    defaults: dict[str, list[Any]] = {}
    for kind in dict.fromkeys(kinds):
        made = kind()
        for name in fields(kind):
            defaults.setdefault(name, []).append(getattr(made, name))
    shown = inspect.signature(function)
    own = [one for one in shown.parameters.values() if one.kind is not one.VAR_KEYWORD]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_shown(values))
        for name, values in defaults.items()
    ]
    function.__signature__ = shown.replace(parameters=[*own, *options])  # type: ignore[attr-defined]


class _ByMethod:
    """Stands for a default that differs between methods."""

    def __repr__(self) -> str:
        return "<by method>"


def _shown(values: list[Any]) -> Any:
    if any(value != values[0] for value in values):
        return _ByMethod()
    return values[0].name if isinstance(values[0], Enum) else values[0]


def execution(
    threads: int,
    time_limit: float | None = None,
    checkpoint: AnyPath | None = None,
    checkpoint_interval: float | None = None,
) -> _core.Execution:
    """How work is carried out; None is what the library does by itself."""
    made = _core.Execution()
    assign(made, {"threads": threads} | ({} if time_limit is None else {"time_limit": time_limit}), "execution")
    if checkpoint is not None:
        interval = {} if checkpoint_interval is None else {"interval": checkpoint_interval}
        made.checkpoint = _core.checkpoint_file(checkpoint, **interval)
    elif checkpoint_interval is not None:
        raise Error(f"checkpoint_interval = {checkpoint_interval!r} without checkpoint, must come with one")
    return made
