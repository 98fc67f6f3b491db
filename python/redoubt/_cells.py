"""The picture of a continuous system: what is guaranteed, or done, in each cell of two coordinates, and episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._abstract import AbstractSolution
    from ._steer import Episodes

_SHOWN = {"lower": "guaranteed", "upper": "no controller exceeds", "gap": "between the two", "action": "action"}


def cells(
    answer: AbstractSolution, what: str = "lower", *, episodes: Episodes | None = None, paths: int = 20,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """The cells of a system of two coordinates at its first decision: the guarantee ("lower"), the bound ("upper"), the
    difference ("gap") or the number of the "action"; goals are green, hazards red, and episodes are drawn into it.

    >>> system = rd.abstract(rd.affine([[1.0, 0.0], [0.0, 1.0]], [[1.0], [0.0]]), noise=rd.Uniform([0.5, 0.2]),
    ...                      domain=[(0, 6), (0, 3)], cells=[12, 6], actions=[[-1.0], [1.0]], start=[1.0, 1.5],
    ...                      goal=[[(5, 6), None]], horizon=6)
    >>> rd.plots.cells(system.solve()).get_title()
    'guaranteed'
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    system = answer.system
    if len(system.grid.lines) != 2:
        raise Error(f"a picture of {len(system.grid.lines)} coordinates, must be of 2")
    if what not in _SHOWN:
        raise Error(f"what = {what!r}, must be one of {', '.join(_SHOWN)}")
    axes: Any = plt.subplots()[1] if ax is None else ax
    shape = [len(line) - 1 for line in system.grid.lines]
    image = np.full(int(np.prod(shape)), np.nan)
    image[system.open_cells] = _values(answer, what)
    x, y = system.grid.lines
    mesh = axes.pcolormesh(x, y, image.reshape(shape).T, cmap="viridis")
    axes.figure.colorbar(mesh, ax=axes)
    ends = system.state_of_cell - system.cells
    for end, colour in ((0, "#2a9d5c"), (1, "#c0392b")):
        here = np.where(ends == end, 1.0, np.nan).reshape(shape).T
        if not np.isnan(here).all():
            axes.pcolormesh(x, y, here, cmap=ListedColormap([colour]))
    for path in [] if episodes is None else episodes.paths[:paths]:
        axes.plot(path[:, 0], path[:, 1], color="white", linewidth=0.8, marker=".", markersize=2, alpha=0.8)
    axes.plot(*system.start, "o", color="black", markersize=5)
    axes.set(title=_SHOWN[what], xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), xlabel="first coordinate", ylabel="second coordinate")
    found: Axes = axes
    return found


def _values(answer: AbstractSolution, what: str) -> Any:
    if what != "action":
        lower, upper = answer.values()
        return {"lower": lower, "upper": upper, "gap": upper - lower}[what]
    return answer.first_actions()
