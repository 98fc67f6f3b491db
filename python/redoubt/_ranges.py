"""Ranges: intervals of real numbers, whole arrays of them at once, so that one function serves points and boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _show
from ._core import Error

_TWO_PI = 2 * np.pi
_Arrays = tuple[NDArray[np.float64], NDArray[np.float64]]


class Range:
    """An interval of numbers, or an array of them: what a function may be, given what its arguments may be.

    Sums, differences, products, quotients, whole powers, and numpy's functions of one argument that control engineers
    need (`np.sin`, `np.cos`, `np.tan`, `np.exp`, `np.log`, `np.sqrt`, `np.abs`, `np.tanh`, `np.arctan`, `np.square`), `np.minimum`,
    `np.maximum` and `np.clip` hold every value that their arguments allow; ends are rounded outwards. A range that occurs twice in an expression counts as two:
    write `x * (1 - x)` as `0.25 - (x - 0.5) ** 2` where that matters.

    >>> x = rd.Range(0.0, 1.0)
    >>> 2 * x - 1
    Range(-1, 1)
    >>> np.cos(x)
    Range(0.540302, 1)
    """

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = (np.asarray(end, dtype=np.float64) for end in np.broadcast_arrays(low, high))
        if not (self.low <= self.high).all():
            raise Error("a range whose lower end is above its upper end, or is no number")

    def __repr__(self) -> str:
        if self.low.ndim == 0:
            return f"Range({float(self.low):.6g}, {float(self.high):.6g})"
        return f"<{self.low.size} ranges>"

    def _repr_html_(self) -> str:
        return _show.as_code(self)

    def __add__(self, other: Any) -> Range:
        low, high = _ends(other)
        return _rounded(self.low + low, self.high + high)

    def __sub__(self, other: Any) -> Range:
        low, high = _ends(other)
        return _rounded(self.low - high, self.high - low)

    def __mul__(self, other: Any) -> Range:
        low, high = _ends(other)
        products = [self.low * low, self.low * high, self.high * low, self.high * high]
        return _rounded(np.minimum.reduce(products), np.maximum.reduce(products))

    def __truediv__(self, other: Any) -> Range:
        low, high = _ends(other)
        if ((low <= 0) & (high >= 0)).any():
            raise Error("a quotient by a range that holds 0, must be by one that does not")
        return self * _rounded(1 / high, 1 / low)

    def __pow__(self, power: Any) -> Range:
        if not isinstance(power, (int, np.integer)) or power < 0:
            raise Error(f"a range to the power {power!r}, must be a whole number from 0 on")
        if power == 0:
            return Range(np.ones_like(self.low), np.ones_like(self.low))
        low, high = self.low**power, self.high**power
        if power % 2 == 1:
            return _rounded(low, high, int(power))
        inside = (self.low <= 0) & (self.high >= 0)
        return _rounded(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high), int(power), least=0.0)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __pos__(self) -> Range:
        return self

    def __abs__(self) -> Range:
        inside = (self.low <= 0) & (self.high >= 0)
        low, high = np.abs(self.low), np.abs(self.high)
        return Range(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Range:
        return (-self).__add__(other)

    def __rtruediv__(self, other: Any) -> Range:
        return Range(*_ends(other)) / self

    def clip(self, low: Any, high: Any, **options: Any) -> Range:
        """What `np.clip` calls."""
        return Range(np.clip(self.low, low, high), np.clip(self.high, low, high))

    def _refuse(self, other: Any) -> Any:
        raise Error("a range is compared, which is neither true nor false: use np.minimum, np.maximum or np.clip")

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse

    def __bool__(self) -> bool:
        raise Error("a range is asked whether it is true, which is neither true nor false")

    def __array_ufunc__(self, function: Any, method: str, *values: Any, **options: Any) -> Any:
        name = function.__name__
        if method != "__call__" or options or name not in _FUNCTIONS:
            raise Error(f"np.{name} of a range, must be one of {', '.join(sorted(_FUNCTIONS))}")
        return _FUNCTIONS[name](*values)


def _ends(value: Any) -> _Arrays:
    if isinstance(value, Range):
        return value.low, value.high
    number = np.asarray(value, dtype=np.float64)
    return number, number


def _rounded(low: Any, high: Any, steps: int = 1, least: float = -np.inf, most: float = np.inf) -> Range:
    """The ends moved outwards by that many of the smallest steps that numbers of their size can make."""
    low, high = np.asarray(low), np.asarray(high)
    return Range(np.maximum(low - steps * np.spacing(np.abs(low)), least),
                 np.minimum(high + steps * np.spacing(np.abs(high)), most))  # fmt: skip


_LIBRARY = 4  # steps by which functions of the mathematical library may be off, and some to spare


def _increasing(function: Any, least: float = -np.inf, most: float = np.inf) -> Any:
    def of(x: Range) -> Range:
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = function(x.low), function(x.high)
        if not (np.isfinite(low) & np.isfinite(high)).all():
            raise Error(f"np.{function.__name__} of a range in which it is not finite everywhere")
        return _rounded(low, high, _LIBRARY, least, most)

    return of


def _wave(function: Any, top: float) -> Any:
    """A function that is 1 at `top` and whole turns away from it, and -1 half a turn later."""

    def of(x: Range) -> Range:
        def holds(point: float) -> Any:  # or so close to it that it may
            return np.ceil((x.low - point) / _TWO_PI - 1e-9) * _TWO_PI + point <= x.high + 1e-9

        low, high = function(x.low), function(x.high)
        least = np.where(holds(top + np.pi), -1.0, np.minimum(low, high))
        most = np.where(holds(top), 1.0, np.maximum(low, high))
        return _rounded(least, most, _LIBRARY, -1.0, 1.0)

    return of


def _tan(x: Range) -> Range:
    if (np.floor(x.low / np.pi - 0.5) != np.floor(x.high / np.pi - 0.5)).any():
        raise Error("np.tan of a range in which it is not finite everywhere")
    found: Range = _increasing(np.tan)(x)
    return found


def _pairwise(function: Any) -> Any:
    def of(x: Any, y: Any) -> Range:
        (low, high), (other_low, other_high) = _ends(x), _ends(y)
        return Range(function(low, other_low), function(high, other_high))

    return of


_FUNCTIONS: dict[str, Any] = {
    "add": lambda x, y: y + x, "subtract": lambda x, y: -y + x, "multiply": lambda x, y: y * x,
    "divide": lambda x, y: Range(*_ends(x)) / y, "true_divide": lambda x, y: Range(*_ends(x)) / y,
    "negative": lambda x: -x, "positive": lambda x: x, "absolute": abs, "square": lambda x: x**2,
    "power": lambda x, n: x**n, "sin": _wave(np.sin, np.pi / 2), "cos": _wave(np.cos, 0.0), "tan": _tan, "exp": _increasing(np.exp, 0.0),
    "log": _increasing(np.log), "sqrt": _increasing(np.sqrt, 0.0), "tanh": _increasing(np.tanh, -1.0, 1.0),
    "arctan": _increasing(np.arctan), "minimum": _pairwise(np.minimum), "maximum": _pairwise(np.maximum),
}  # fmt: skip
