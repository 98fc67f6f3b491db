"""Rows of a continuous system as a problem: from below, where nature picks the members of groups, or from above."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._build import built
from ._noise_samples import SampledRows
from ._problem import Problem
from ._terms import terms_of
from ._transitions import Layout

if TYPE_CHECKING:
    from ._abstract import Question


class OneCell:
    """The rows of a single cell from which every action leads to goal, hazard and outside."""

    groups = 0

    def __init__(self, actions: int) -> None:
        self.state_rows = np.array([0, *[actions] * 4], dtype=np.int64)
        self.action = np.arange(actions, dtype=np.int32)
        self.row_outcomes = 3 * np.arange(actions + 1, dtype=np.int64)
        self.next = np.tile(np.arange(1, 4, dtype=np.int32), actions)
        self.probability = np.full(3 * actions, 1 / 3)


def problem_of(
    question: Question, rows: Any, count: int, start: int, ranges: Mapping[str, NDArray[np.float64]], helpful: bool
) -> Problem:
    layout = Layout(
        states=count + 3 + rows.groups, stages=1, actions=0, row_outcomes=rows.row_outcomes, next=rows.next,
        probability=rows.probability, some_rows=(rows.state_rows, rows.action), groups=rows.groups,
    )  # fmt: skip
    none = np.empty(0)
    values = {name: ends[int((name in question.small) != helpful)] for name, ends in ranges.items()}
    spread = {name: (np.append(row.ravel(), np.zeros(rows.groups)), none, none) for name, row in values.items()}
    rewarded = "reward" in spread
    labels = [("hazard", [count + 1, count + 2]), ("outside", [count + 2])] + ([("goal", [count])] if question.goal else [])
    model = built(layout, spread, {}, None, ([], []), labels, getattr(rows, "intervals", ((), ())))
    sampled = isinstance(rows, SampledRows)
    # A helpful nature knows no constraints; a bound without them is one with them.
    left_out = {"constraints": ()} if sampled and helpful else {}
    asked = terms_of(_core.Terms(), model, **{**question.terms, "start": start, **left_out})
    asked.helpful_groups = helpful
    # What samples leave open of the law is not nature's to choose: the bound must hold for the law that there is.
    asked.helpful_nature = helpful and sampled
    return Problem._adopt(_core.pose(_core.Draft(model, asked, rewarded), question.objective))
