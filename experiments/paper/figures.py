"""The paper's two panels, worst-case reward and worst-case cost, against three measures of progress."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from cases import Line, Result, thinned
from program import write_whole

mpl.use("Agg")
mpl.rcParams.update({"svg.fonttype": "none", "font.size": 8, "axes.grid": True, "grid.alpha": 0.25,
                     "svg.hashsalt": "redoubt"})  # fmt: skip

AXES = (("iteration", "iteration"), ("row_evaluations", "robust row evaluations"), ("seconds", "seconds, one core"))
COLOURS = {"rcvi": "#c0392b", "rcvi, fallback utility": "#e39c2b", "rnpg": "#2471a3", "crpo": "#1e8449"}
STYLES = {0.001: ":", 0.01: "--", 0.1: "-"}


def draw(result: Result, folder: Path) -> None:
    figure, panels = plt.subplots(2, 3, figsize=(10.5, 5.6), sharey="row", constrained_layout=True)
    for column, (key, label) in enumerate(AXES):
        for line in result.lines:
            if line.trace and line.method in COLOURS:
                _draw_line(panels[0][column], panels[1][column], line, key)
        _draw_levels(panels[0][column], panels[1][column], result)
        panels[1][column].set_xlabel(label)
        for panel in (panels[0][column], panels[1][column]):
            panel.set_xscale("log")
    panels[0][0].set_ylabel("worst-case reward")
    panels[1][0].set_ylabel("worst-case cost")
    handles, labels = panels[0][0].get_legend_handles_labels()
    handles.append(panels[1][0].lines[-1])
    labels.append("budget")
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    figure.suptitle(result.case.title)
    write_whole(folder / f"{result.case.name}.png", lambda path: figure.savefig(path, dpi=80))
    write_whole(folder / f"{result.case.name}.svg", lambda path: figure.savefig(path, metadata={"Date": None}))
    plt.close(figure)


def _draw_line(above, below, line: Line, key: str) -> None:
    # An update count starts at zero, which a logarithmic axis has no place for.
    trace = thinned(line.trace)
    x = [max(value, 1) for value in trace[key]] if key == "iteration" else trace[key]
    style = {"color": COLOURS[line.method], "linestyle": STYLES.get(line.step, "-"), "linewidth": 1.1}
    above.plot(x, trace["reward"], label=line.name, **style)
    below.plot(x, trace["cost"], **style)


def _draw_levels(above, below, result: Result) -> None:
    exact = result.line("frontier")
    above.axhline(exact.last_reward, color="black", linewidth=1, label="frontier (exact)")
    above.axhline(result.bound, color="black", linewidth=1, linestyle=(0, (1, 1)), label="certified bound")
    below.axhline(result.budget, color="gray", linewidth=1.2, linestyle=(0, (4, 2)))
