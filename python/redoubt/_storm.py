"""Models and properties of Storm: PRISM and JANI programs, and models that stormpy has built."""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._build import Labels, rebuilt
from ._core import Error

INFINITE = float("inf")
PROGRAMS = {".prism", ".nm", ".pm", ".jani"}


def stormpy() -> Any:
    try:
        return importlib.import_module("stormpy")
    except ImportError:
        raise Error(
            "PRISM and JANI models need the package stormpy, must be installed: pip install 'redoubt-mdp[storm]'"
        ) from None


def draft_of_program(path: str, constants: Mapping[str, Any] | None, properties: str | None) -> _core.Draft:
    """What a PRISM or JANI file says; `properties` is one property, in Storm's language."""
    if not os.path.exists(path):
        raise Error(f"{path}: No such file or directory")
    storm = stormpy()
    try:
        program = _program(storm, path)
        asked = storm.parse_properties(properties, program) if properties else []
        program, asked = storm.instantiate_constants(program, dict(constants or {}), asked)
        interval = _has_intervals(path)
        options = storm.BuilderOptions(asked, build_full=True) if asked else storm.BuilderOptions(build_full=True)
        build = storm.build_model[storm.Interval] if interval else storm.build_model
        model = build(program, options=options)
    except (RuntimeError, ValueError, storm.exceptions.StormError) as error:
        raise Error(f"{path}: {_first_line(error)}") from None
    if len(asked) > 1:
        raise Error(f"{path}: {len(asked)} properties, must be one; multi(...) has several parts")
    return draft_of_model(model, asked[0] if asked else None)


def draft_of_model(model: Any, asked: Any = None) -> _core.Draft:
    """What a model that stormpy has built says, and what the property asks of it."""
    storm = stormpy()
    kind = str(model.model_type).rsplit(".", 1)[-1]
    if kind not in ("MDP", "DTMC", "IMDP", "IDTMC"):
        raise Error(f"a Storm model of type {kind}, must be an MDP or a DTMC, with probabilities or intervals")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.umb"
        storm.io.export_to_umb(model, path)
        draft, _ = _core.load_draft(path)
    if names := _state_names(model):
        named = rebuilt(draft.model, draft.model.labels, state_names=names)
        draft = _core.Draft(named, draft.terms, draft.rewarded)
    if asked is None:
        return draft
    formula = asked.get_raw_formula() if hasattr(asked, "get_raw_formula") else asked
    return _Question(storm, model, draft).ask(formula)


def model_of_draft(draft: _core.Draft) -> Any:
    """The model of a draft, as stormpy builds it from a file."""
    storm = stormpy()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.drn"
        _core.save(draft, path, False)
        return (storm.build_model_from_drn[storm.Interval] if len(draft.model.lower) else storm.build_model_from_drn)(str(path))


def _program(storm: Any, path: str) -> Any:
    if Path(path).suffix == ".jani":
        return storm.parse_jani_model(path)[0]
    return storm.parse_prism_program(path)


def _has_intervals(path: str) -> bool:
    """Whether a program has interval probabilities, written as [0.1,0.2] : (update)."""
    if Path(path).suffix == ".jani":
        return False
    text = re.sub(r"//.*", "", Path(path).read_text(encoding="utf-8", errors="replace"))
    return re.search(r"(?:->|\+)\s*\[[^\]]*,[^\]]*\]\s*:", text) is not None


def _state_names(model: Any) -> list[str]:
    """The variables of each state, as in "s=1, d=0"; none where two states have the same or the model has none."""
    if not model.has_state_valuations():
        return []
    valuations = model.state_valuations
    variables = [variable.name for variable in valuations.get_all_variables()]
    names = []
    for state in range(model.nr_states):
        values = valuations.to_string(state, pretty=False).strip("[]").split("\t")
        names.append(", ".join(f"{name}={value}" for name, value in zip(variables, values, strict=True)))
    return names if len(set(names)) == len(names) else []


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


class _Question:
    """Reads a property of Storm as an objective, constraints and a horizon."""

    def __init__(self, storm: Any, model: Any, draft: _core.Draft) -> None:
        self.storm, self.model, self.draft = storm, model, draft
        self.labels: Labels = list(draft.model.labels)
        self.horizon: float | None = None  # of all parts; infinite: without a bound on the steps
        self.objective: _core.Objective | None = None
        self.constraints: list[_core.Constraint] = []
        self.reward_as: str | None = None  # the name of the unnamed reward, where the property speaks of it

    def ask(self, formula: Any) -> _core.Draft:
        for part in formula.subformulas if formula.is_multi_objective_formula else [formula]:
            self._read(part)
        model = rebuilt(self.draft.model, self.labels, reward_as=self.reward_as)
        terms = _core.Terms(self.draft.terms)
        steps = self.horizon
        terms.horizon = None if steps is None or steps == INFINITE else int(steps)
        terms.constraints = self.constraints
        if self.objective is not None:
            terms.objective = self.objective
        return _core.Draft(model, terms, self.draft.rewarded or self.objective is not None)

    def _read(self, part: Any) -> None:
        if not (part.is_probability_operator_formula or part.is_reward_operator_formula):
            raise Error(f"property {part}, must be of the form P [...], R [...] or multi(...)")
        quantity = self._reward(part) if part.is_reward_operator_formula else self._probability(part)
        if part.has_bound:
            self.constraints.append(self._bound(part, quantity))
            return
        if self.objective is not None:
            raise Error(f"property {part} is a second objective, must be one with =? and bounds for the others")
        if not part.has_optimality_type and self.model.nr_choices > self.model.nr_states:
            raise Error(f"property {part}, must say max=? or min=?")
        minimise = part.has_optimality_type and "MIN" in str(part.optimality_type).upper()
        self.objective = _core.Objective(quantity, minimise)

    def _bound(self, part: Any, quantity: str) -> _core.Constraint:
        kind = str(part.comparison_type).rsplit(".", 1)[-1]
        if kind not in ("GEQ", "LEQ"):
            raise Error(f"property {part}, the bound must be <= or >=")
        make = _core.at_least if kind == "GEQ" else _core.at_most
        return make(quantity, float(part.threshold))

    def _reward(self, part: Any) -> str:
        path, found = part.subformula, re.fullmatch(r"C<=(\d+)", str(part.subformula))
        until = path.is_eventually_formula
        if found is None and not until and str(path) != "C":
            raise Error(f"property {part}, {path} must be C, C<=100 for a bound on the steps, or F for a goal")
        self._end_after(part, int(found[1]) if found else INFINITE)
        signal = self._signal(part)
        return _core.total_until(signal, self._label(path.subformula)) if until else signal

    def _signal(self, part: Any) -> str:
        name = part.reward_name if part.has_reward_model_name() else ""
        known = self.draft.model.signal_names
        if name in known:
            return str(name)
        if name in ("", "default", "reward") and self.draft.rewarded:
            self.reward_as = "default"
            return "default"
        raise Error(f"property {part} speaks of reward {name!r}, the model has {', '.join(known) or 'none'}")

    def _probability(self, part: Any) -> str:
        path = part.subformula
        if path.is_eventually_formula:
            self._end_after(part, INFINITE)
            return _core.reach(self._label(path.subformula))
        if type(path).__name__ == "GloballyFormula":
            self._end_after(part, INFINITE)
            return _core.avoid(self._label_of_others(path.subformula))
        bound = re.search(r" U<=(\d+) ", str(path)) if path.is_bounded_until_formula else None
        if bound is None and not path.is_until_formula:
            raise Error(f"property {part}, {path} must be until or eventually, with or without a number of steps, or globally")
        self._end_after(part, int(bound[1]) if bound else INFINITE)
        goal = self._label(path.right_subformula)
        if str(path.left_subformula) == "true":
            return _core.reach(goal)
        return _core.until(self._label(path.left_subformula), goal)

    def _end_after(self, part: Any, steps: float) -> None:
        if self.horizon not in (None, steps):
            raise Error(f"property {part} ends after {steps} steps and another part after {self.horizon}, must agree")
        self.horizon = steps

    def _label_of_others(self, formula: Any) -> str:
        """The states in which a state formula does not hold."""
        label = self._label(formula)
        inside = set(dict(self.labels)[label])
        name = label[2:-1] if re.fullmatch(r'!"[^"]*"', label) else f"!({label})"
        if name not in dict(self.labels):
            self.labels.append((name, [s for s in range(self.model.nr_states) if s not in inside]))
        return name

    def _label(self, formula: Any) -> str:
        """The states in which a state formula holds, as Storm says, under a label with its text."""
        name = str(formula)
        plain = name[1:-1] if re.fullmatch(r'"[^"]*"', name) else None
        if plain is not None and plain in dict(self.labels):
            return plain
        if plain == "init":
            states = list(self.model.initial_states)
        else:
            try:
                states = list(self.storm.model_checking(self.model, formula).get_truth_values_vector())
            except (RuntimeError, AttributeError, self.storm.exceptions.StormError):
                raise Error(f"property part {formula}, must say of each state whether it holds there") from None
        name = plain if plain is not None else name
        if name not in dict(self.labels):
            self.labels.append((name, np.asarray(states, dtype=np.int32).tolist()))
        return name
