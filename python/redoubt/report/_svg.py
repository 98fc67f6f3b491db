"""Small drawings: lines, bands and steps as SVG, in the colours of the page, printed as vectors, without a script.

The page does not carry a plotting library: the one that Python's registry has is 4.8 MB of script, as large as a page
may be, and a phone takes seconds to read it. What is drawn here are lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 44


@dataclass
class Line:
    """Points with a name; `style` is the number of its colour and dashes. None breaks the line."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    style: int = 0
    steps: bool = False
    dots: bool = False


@dataclass
class Chart:
    """What is drawn, and where things are in it."""

    xlabel: str
    ylabel: str
    lines: list[Line]
    band: tuple[Sequence[float], Sequence[float | None], Sequence[float | None]] | None = None
    band_name: str = ""
    asked: tuple[float, str] | None = None  # a vertical line
    marker: tuple[float, float, str] | None = None
    xspan: tuple[float, float] = field(init=False)
    yspan: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        xs = [float(x) for line in self.lines for x in line.x]
        ys = [float(y) for line in self.lines for y in line.y if y is not None]
        if self.band:
            ys += [float(y) for side in self.band[1:] for y in side if y is not None]
        if self.asked:
            xs.append(self.asked[0])
        if self.marker:
            xs.append(self.marker[0])
            ys.append(self.marker[1])
        self.xspan, self.yspan = _span(xs), _span(ys, 0.06)

    def px(self, x: float) -> float:
        low, high = self.xspan
        return round(LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT), 2)

    def py(self, y: float) -> float:
        low, high = self.yspan
        return round(HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM), 2)

    def svg(self, title: str, marker_id: str = "") -> str:
        """The drawing; `title` is read to who does not see it."""
        said = escape(title)
        parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}"><title>{said}</title>']
        parts += self._axes()
        if self.band:
            parts.append(f'<path class="band" d="{self._band()}"/>')
        for line in self.lines:
            parts.append(f'<path class="line s{line.style % 6}" d="{self._path(line)}"/>')
            for x, y in zip(line.x, line.y, strict=True):
                if line.dots and y is not None:
                    parts.append(f'<circle class="dot s{line.style % 6}" cx="{self.px(x)}" cy="{self.py(y)}" r="3"/>')
        if self.asked:
            parts.append(f'<path class="asked" d="M{self.px(self.asked[0])} {TOP}V{HEIGHT - BOTTOM}"/>')
        if self.marker:
            name, (x, y, _) = f' id="{marker_id}"' if marker_id else "", self.marker
            parts.append(f'<circle{name} class="chosen" cx="{self.px(x)}" cy="{self.py(y)}" r="6"/>')
        return "".join([*parts, "</svg>", self._legend()])

    def _path(self, line: Line) -> str:
        path, pen = [], "M"
        previous: float | None = None
        for x, y in zip(line.x, line.y, strict=True):
            if y is None:
                pen, previous = "M", None
                continue
            if line.steps and previous is not None:
                path.append(f"H{self.px(x)}")
            path.append(f"{pen}{self.px(x)} {self.py(y)}")
            pen, previous = "L", y
        return "".join(path)

    def _band(self) -> str:
        assert self.band
        every = zip(*self.band, strict=True)
        known = [(x, low, high) for x, low, high in every if low is not None and high is not None]
        there = [f"{self.px(x)} {self.py(high)}" for x, _, high in known]
        back = [f"{self.px(x)} {self.py(low)}" for x, low, _ in reversed(known)]
        return "M" + "L".join(there + back) + "Z" if known else ""

    def _axes(self) -> list[str]:
        bottom, parts = HEIGHT - BOTTOM, []
        for value in ticks(*self.yspan):
            at = self.py(value)
            parts.append(f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>')
            parts.append(_text("tick", LEFT - 6, at + 4, "end", number(value)))
        for value in ticks(*self.xspan):
            at = self.px(value)
            parts.append(f'<path class="axis" d="M{at} {bottom}v4"/>')
            parts.append(_text("tick", at, bottom + 17, "middle", number(value)))
        parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>')
        parts.append(_text("label", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", self.xlabel))
        parts.append(_text("label", 14, bottom / 2, "middle", self.ylabel, f"rotate(-90 14 {bottom / 2})"))
        return parts

    def _legend(self) -> str:
        entries = [(f"line s{line.style % 6}", line.name) for line in self.lines]
        entries += [("band", self.band_name)] if self.band else []
        entries += [("asked", self.asked[1])] if self.asked else []
        entries += [("chosen", self.marker[2])] if self.marker else []
        keys = "".join(f"<span>{_key(kind)}{escape(name)}</span>" for kind, name in entries)
        return f'<p class="legend">{keys}</p>'


def _key(kind: str) -> str:
    """What a legend shows of something drawn."""
    drawn = {
        "band": '<rect class="band" width="26" height="10" y="1"/>',
        "chosen": '<circle class="chosen" cx="13" cy="6" r="5"/>',
    }.get(kind, f'<path class="{kind}" d="M0 6H26"/>')
    return f'<svg class="key" viewBox="0 0 26 12" aria-hidden="true">{drawn}</svg>'


def _text(kind: str, x: float, y: float, anchor: str, text: str, turn: str = "") -> str:
    turned = f' transform="{turn}"' if turn else ""
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}"{turned}>{escape(text)}</text>'


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two ends."""
    raw = (high - low) / count
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * nice for nice in (1, 2, 2.5, 5, 10) if size * nice >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float | None) -> str:
    """Six digits; what nobody knows is a dash."""
    return "\N{EN DASH}" if value is None or not math.isfinite(value) else f"{value + 0.0:.6g}"


def _span(values: list[float], margin: float = 0.0) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-9):
        low, high = low - max(abs(low), 1.0) * 0.5, high + max(abs(high), 1.0) * 0.5
    room = margin * (high - low)
    return low - room, high + room
