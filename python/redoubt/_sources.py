"""Where problems come from and go to: built-in ones, files, and models of Storm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._core import Error
from ._options import AnyPath, named_options
from ._problem import Problem
from ._storm import PROGRAMS, draft_of_model, draft_of_program
from ._terms import ABSENT, Absent, AnySet, Constraints, Discount, Horizon, objective_of, terms_of


@named_options
def make(
    id: str, *, constraints: Constraints = ABSENT, uncertainty: AnySet = ABSENT, horizon: Horizon = ABSENT,
    discount: Discount = ABSENT, start: Any = ABSENT, reward: str | Absent | None = ABSENT,
    minimise: str | None = None, order: str | None = None,
) -> Problem:  # fmt: skip
    """A built-in problem by its id, such as "river_swim(horizon=10,start=2)"; other terms as for `Problem.replace`.

    >>> rd.make("river_swim(horizon=10)", uncertainty=rd.KL(0.1), start=3).uncertainty
    KL(0.1)
    """
    made = Problem._adopt(_core.make(id))
    return made.replace(constraints=constraints, uncertainty=uncertainty, horizon=horizon, discount=discount,
                        start=start, reward=reward, minimise=minimise, order=order)  # fmt: skip


@named_options
def load(
    path: AnyPath, *, constraints: Constraints = ABSENT, uncertainty: AnySet = ABSENT, horizon: Horizon = ABSENT,
    discount: Discount = ABSENT, start: Any = ABSENT, reward: str | Absent | None = ABSENT,
    minimise: str | None = None, constants: Mapping[str, Any] | None = None, property: str | None = None,
) -> Problem:  # fmt: skip
    """The problem in a file (.json, .csv, .umb, .drn, .tra, .pexp) or in a PRISM or JANI program (.prism, .nm, .pm, .jani).

    Terms replace or complete what the file says. Programs are read by the package stormpy, which must be installed:
    `constants` are the values of those that the program leaves open, `property` is what Storm would be asked
    ([docs](storm.md)).

    Where nothing in the file is called the reward, `reward` or `minimise` names the signal that is to be maximised or
    minimised; reward=None says that there is none.

    >>> rd.save(rd.make("river_swim(horizon=10)"), folder / "river.json")
    >>> rd.load(folder / "river.json", horizon=20).horizon
    20
    """
    draft = read_draft(path, constants, property)
    try:
        terms = terms_of(draft.terms, draft.model, constraints=constraints, uncertainty=uncertainty, horizon=horizon,
                         discount=discount, start=start)  # fmt: skip
        complete = _core.Draft(draft.model, terms, draft.rewarded)
        return Problem._adopt(_core.pose(complete, objective_of(reward, minimise)))
    except Error as error:
        raise Error(f"{os.fspath(path)}: {error}") from None


@named_options
def from_storm(
    model: Any, *, property: Any = None, constraints: Constraints = ABSENT, uncertainty: AnySet = ABSENT,
    horizon: Horizon = ABSENT, discount: Discount = ABSENT, start: Any = ABSENT, reward: str | Absent | None = ABSENT,
    minimise: str | None = None,
) -> Problem:  # fmt: skip
    """The problem of a model that stormpy has built, an MDP or a DTMC, with probabilities or intervals.

    Reward models are signals, labels are labels, and the variables of states are their names where the model was built with
    them (`stormpy.BuilderOptions(build_full=True)`). `property` is a property of stormpy that is asked of it; terms as
    for `load` ([docs](storm.md)).

    >>> import stormpy, stormpy.examples.files as files
    >>> program = stormpy.parse_prism_program(files.prism_mdp_slipgrid)
    >>> model = stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))
    >>> problem = rd.from_storm(model, reward=rd.reach("target"), uncertainty=rd.KL(0.01), horizon=10)
    >>> problem.states, problem.state_names[0]
    (16, 'x=1, y=1')
    """
    draft = draft_of_model(model, property)
    terms = terms_of(draft.terms, draft.model, constraints=constraints, uncertainty=uncertainty, horizon=horizon,
                     discount=discount, start=start)  # fmt: skip
    complete = _core.Draft(draft.model, terms, draft.rewarded)
    return Problem._adopt(_core.pose(complete, objective_of(reward, minimise)))


def read_draft(path: AnyPath, constants: Mapping[str, Any] | None, property: str | None) -> _core.Draft:
    """What a file says, before anything is asked of it."""
    if Path(path).suffix in PROGRAMS:
        return draft_of_program(os.fspath(path), constants, property)
    for name, given in (("constants", constants), ("property", property)):
        if given is not None:
            raise Error(f"{os.fspath(path)}: {name} = {given!r}, must be left out: the file is no PRISM or JANI program")
    return _core.load_draft(path)


@named_options
def save(problem: Problem, path: AnyPath, *, uncompressed: bool = False) -> None:
    """Writes the whole file or none of it; the ending of the path chooses the format: .json, .csv, .umb,
    .drn (also .drn.gz and .drn.xz), .tra or .pexp.

    A .umb file that is written uncompressed can be read by several ranks together, each its submodel.

    >>> problem = rd.make("river_swim(horizon=10)")
    >>> rd.save(problem, folder / "river.umb")
    >>> rd.load(folder / "river.umb") == problem
    True
    """
    _core.save(problem, path, uncompressed)


def environments() -> list[_core.EnvironmentInfo]:
    """The built-in problems, with their parameters.

    >>> "river_swim" in [one.name for one in rd.environments()]
    True
    """
    return _core.environments()
