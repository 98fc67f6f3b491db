"""The policy: decisions by stage, state and memory, what follows them, and what is promised from there on."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, _maps
from .._options import execution
from .._solution import Solution, column_names

MOST_NODES = 10_000  # that a page holds: about 2 MB


def policy_section(solution: Solution, visits: list[list[float]], given: ArrayLike | None = None) -> dict[str, Any]:
    """Decisions in which episodes come, the most visited first where there are too many for a page."""
    problem, policy = solution.problem, solution.policy
    assert policy is not None
    flat = _flat(solution)
    chosen, total = _chosen(flat, visits)
    values = _core.node_values(problem, policy._policy, execution(1))
    nodes = [_node(flat, values, visits, *where) for where in chosen]
    coordinates = _maps.coordinates_of(problem) if given is None else _maps.check_coordinates(problem, given)
    places = None
    if coordinates is not None:
        places = [None if np.isnan(row).any() else [int(row[0]), int(row[1])] for row in coordinates]
    states = sorted({node[1] for node in nodes} | {to for node in nodes for c in node[5] for to, _ in c[2]})
    return {
        "shown": len(nodes),
        "total": total,
        "horizon": problem.horizon,
        "stages": flat["stages"],
        "states": {state: problem.model.state_name(state) for state in states},
        "actions": [problem.model.action_name(a) for a in range(problem.actions)],
        "promises": ["reward", *column_names(problem)],
        "nodes": nodes,
        "start": [[s, [[m, round(w, 6)] for m, w in policy._policy.start_moves(s)]]
                  for s in np.flatnonzero(problem.start)[:200].tolist()],
        "places": places,
    }  # fmt: skip


def _flat(solution: Solution) -> dict[str, Any]:
    """The policy as the flat arrays of `policy.json`, in the states of the problem."""
    assert solution.policy is not None
    flat: dict[str, Any] = json.loads(_core.policy_json(solution.problem, solution.policy._policy))
    return flat


def _chosen(flat: dict[str, Any], visits: list[list[float]]) -> tuple[list[tuple[int, int, int, int]], int]:
    """(stage, state, memory, node) of the decisions to show, in that order, and how many there are."""
    begin, choices = np.asarray(flat["node_begin"]), np.asarray(flat["choice_begin"])
    decided = np.flatnonzero(np.diff(choices) > 0)
    place = np.searchsorted(begin, decided, side="right") - 1  # stage * states + state
    stage, state = place // flat["states"], place % flat["states"]
    first = begin[stage * flat["states"]]  # of the stage
    weight = np.zeros(len(decided))
    for h in range(flat["stages"]):
        of_stage = stage == h
        known = np.asarray(visits[h] if h < len(visits) else [])
        inside = decided[of_stage] - first[of_stage]
        weight[of_stage] = (
            np.where(inside < len(known), known[np.minimum(inside, max(len(known) - 1, 0))], 0.0) if len(known) else 0.0
        )
    keep = np.sort(np.argsort(-weight, kind="stable")[:MOST_NODES])
    memory = decided - begin[place]
    rows = zip(stage[keep].tolist(), state[keep].tolist(), memory[keep].tolist(), decided[keep].tolist(), strict=True)
    return list(rows), len(decided)


def _node(
    flat: dict[str, Any], values: list[list[list[float]]], visits: list[list[float]],
    stage: int, state: int, memory: int, node: int,
) -> list[Any]:  # fmt: skip
    """[stage, state, memory, visits, promises, [[action, weight, [[next, [[memory, weight]]]]]]]."""
    inside = node - flat["node_begin"][stage * flat["states"]]
    promised = [_short(channel[inside]) for channel in values[min(stage, len(values) - 1)]]
    visited = visits[stage][inside] if stage < len(visits) and inside < len(visits[stage]) else 0.0
    choices = []
    for c in range(flat["choice_begin"][node], flat["choice_begin"][node + 1]):
        after = [
            [flat["outcome_next"][o], [[flat["move_memory"][m], _short(flat["move_weight"][m])]
                                       for m in range(flat["move_begin"][o], flat["move_begin"][o + 1])]]
            for o in range(flat["outcome_begin"][c], flat["outcome_begin"][c + 1]) if flat["outcome_next"][o] >= 0
        ]  # fmt: skip
        choices.append([flat["choice_action"][c], _short(flat["choice_weight"][c]), after])
    return [stage, state, memory, _short(visited), promised, choices]


def _short(value: float) -> float:
    return float(f"{value + 0.0:.5g}")
