"""Groups of states among transitions: an outcome may lead to any of several states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._core import Error

if TYPE_CHECKING:
    from ._transitions import Layout


def group_or_state(after: Any, states: dict[Any, Any], groups: list[Any]) -> Any:
    """The number of a state, or for a group of them one below zero: -1 is the first of the groups, which are collected."""
    if not isinstance(after, (tuple, list, set, frozenset)):
        return states.get(after, after)
    members: list[Any] = sorted({states[state] if state in states else state for state in after})
    if not members:
        raise Error("a transition to a group without members, must have at least one")
    if members not in groups:
        groups.append(members)
    return -1 - groups.index(members)


def add_groups(columns: dict[str, list[Any]], total: int) -> int:
    """The groups as states behind the others, each with a row that lists its members; returns how many there are."""
    groups = columns["groups"]
    for member in (member for members in groups for member in members):
        if member not in range(total):
            raise Error(f"state {member!r} of a group, must be in 0..{total - 1}")
    columns["next"] = [total - 1 - after if after < 0 else after for after in columns["next"]]
    for stage in range(1 + max(columns["stage"])):
        for number, members in enumerate(groups):
            for member in members:
                row = {"stage": stage, "state": total + number, "action": 0, "next": member, "p": 1 / len(members)}
                for key, value in row.items():
                    columns[key].append(value)
    return len(groups)


def group_names(layout: Layout, names: Sequence[str]) -> list[str]:
    """What groups and factors are called where the states have names."""
    if names and layout.factors:
        return [f"factor {k}" for k in range(layout.factors)]
    if not names or layout.groups == 0:
        return []
    rows = layout.state_rows[layout.ordinary : layout.states]
    members = (layout.next[layout.row_outcomes[row] : layout.row_outcomes[row + 1]] for row in rows)
    return ["one of " + ", ".join(names[member] for member in group) for group in members]
