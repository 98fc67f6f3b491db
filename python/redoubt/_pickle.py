"""How values of the library are pickled and copied."""

from __future__ import annotations

import copyreg
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from . import _core


def to_bytes(solution: _core.Solution) -> bytes:
    """The file that `save_solution` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solution.h5"
        _core.save_solution(solution, path)
        return path.read_bytes()


def from_bytes(content: bytes) -> _core.Solution:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "solution.h5"
        path.write_bytes(content)
        return _core.load_solution(path)


def _radius(ball: Any) -> Any:
    return np.array(ball.radius) if np.ndim(ball.radius) else ball.radius


def _constraint(signal: str, sense: str, bound: float, probability: float | None) -> _core.Constraint:
    made: _core.Constraint = getattr(_core, sense)(signal, bound)
    return made if probability is None else _core.with_probability(made, probability)


copyreg.pickle(_core.Nominal, lambda nominal: (_core.Nominal, ()))
copyreg.pickle(_core.TV, lambda ball: (_core.TV, (_radius(ball), ball.reach, ball.scope)))
copyreg.pickle(_core.Chi2, lambda ball: (_core.Chi2, (_radius(ball), ball.scope)))
copyreg.pickle(_core.KL, lambda ball: (_core.KL, (_radius(ball), ball.scope)))
copyreg.pickle(_core.Tilt, lambda tilt: (_core.Tilt, (tilt.temperature,)))
copyreg.pickle(_core.Composed, lambda composed: (_core.Composed, (composed.ball,)))
copyreg.pickle(_core.Interval, lambda interval: (_core.Interval, ()))
copyreg.pickle(_core.Constraint, lambda one: (_constraint, (one.signal, one.sense, one.bound, one.probability)))
