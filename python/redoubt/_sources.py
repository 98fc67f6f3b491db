"""Where problems come from and go to: built-in ones, files, and models of Storm."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._core import Error
from ._npz import load_npz, save_npz
from ._options import AnyPath, execution, named_options
from ._policy import Policy
from ._problem import Problem, as_problem
from ._solution import Solution, as_policy
from ._storm import PROGRAMS, draft_of_model, draft_of_program, model_of_draft
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
    posterior: str = "mean",
) -> Problem:  # fmt: skip
    """The problem in a file (.json, .csv, .umb, .drn, .tra, .pexp, .pomdp, .npz) or in a PRISM or JANI program (.prism, .nm, .pm, .jani).

    Terms replace or complete what the file says. Programs are read by the package stormpy, which must be installed:
    `constants` are the values of those that the program leaves open, `property` is what Storm would be asked
    ([docs](storm.md)).

    Where nothing in the file is called the reward, `reward` or `minimise` names the signal that is to be maximised or
    minimised; reward=None says that there is none.

    `posterior` says what becomes of a .csv file with several distributions for each row (`idoutcome`): their "mean", with a
    set that holds them all, or "scenarios", of which nature picks ([docs](formats.md#samples-of-a-posterior)).

    >>> rd.save(rd.make("river_swim(horizon=10)"), folder / "river.json")
    >>> rd.load(folder / "river.json", horizon=20).horizon
    20
    """
    draft = read_draft(path, constants, property, posterior)
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


@named_options
def to_storm(
    problem: Problem, policy: Policy | Solution | None = None, *, nature: str = "nominal", threads: int = 1
) -> Any:
    """The problem as a model of stormpy; with a policy, the chain that it and a nature make of the problem.

    Storm then checks what it likes: rewards and signals are reward models of their names, labels are labels. Without a
    policy it is the nominal MDP, or the interval MDP where the set is `Interval`. States of a chain are named
    "stage=0, state=3, memory=1"; the horizon is in them. Where a policy draws the memory that it begins with, or the problem its
    first state, there are several initial states, whose probabilities Storm does not keep (`save_induced` does).

    Args:
        problem: what is to be checked.
        policy: who acts; None: nobody yet.
        nature: who draws the outcomes, with a policy: "nominal", "worst-reward" or "worst-SIGNAL".
        threads: how many to work on.

    >>> import stormpy
    >>> problem = rd.make("river_swim(horizon=10,start=3)")
    >>> solution = rd.solve(problem, "robust")
    >>> chain = rd.to_storm(problem, solution, nature="worst-reward")
    >>> asked = stormpy.parse_properties('R{"reward"}=? [C<=10]')[0]
    >>> value = stormpy.model_checking(chain, asked, only_initial_states=True).get_value(chain.initial_states[0])
    >>> abs(value - solution.reward.worst) < 1e-6
    True
    """
    if policy is None and nature != "nominal":
        raise Error(f"nature = {nature!r} without a policy, must be with one: it works against what the policy does")
    draft = as_problem(problem).given if policy is None else induced(problem, policy, nature, threads)
    return model_of_draft(draft)


@named_options
def save_induced(
    problem: Problem, policy: Policy | Solution, path: AnyPath, *, nature: str = "nominal", threads: int = 1
) -> None:
    """Writes the chain that a policy and a nature make of the problem, as `to_storm` has it, to any format of `save`.

    >>> problem = rd.make("river_swim(horizon=10,start=3)")
    >>> rd.save_induced(problem, rd.solve(problem), folder / "chain.drn", nature="worst-cost")
    """
    save_draft(induced(as_problem(problem), policy, nature, threads), path)


def induced(problem: Problem, policy: Policy | Solution, nature: str, threads: int) -> _core.Draft:
    return _core.induced_model(
        problem, as_policy(policy)._policy, _core.nature_of(problem, nature), execution(threads)
    )


def read_draft(
    path: AnyPath, constants: Mapping[str, Any] | None, property: str | None, posterior: str = "mean"
) -> _core.Draft:
    """What a file says, before anything is asked of it."""
    if posterior not in ("mean", "scenarios"):
        raise Error(f"posterior = {posterior!r}, must be 'mean' or 'scenarios'")
    if posterior != "mean" and Path(path).suffix != ".csv":
        raise Error(f"{os.fspath(path)}: posterior = {posterior!r}, must be 'mean': the file is no CSV file")
    if Path(path).suffix in PROGRAMS:
        return draft_of_program(os.fspath(path), constants, property)
    for name, given in (("constants", constants), ("property", property)):
        if given is not None:
            raise Error(f"{os.fspath(path)}: {name} = {given!r}, must be left out: the file is no PRISM or JANI program")
    if Path(path).suffix == ".npz":
        return load_npz(path)
    draft, notes = _core.load_draft(path, posterior == "scenarios")
    for note in notes:
        warnings.warn(f"{os.fspath(path)}: {note}", stacklevel=3)
    return draft


@named_options
def save(problem: Problem, path: AnyPath, *, uncompressed: bool = False) -> None:
    """Writes the whole file or none of it; the ending of the path chooses the format: .json, .csv, .umb,
    .drn (also .drn.gz and .drn.xz), .tra, .pexp or .npz.

    A .umb file that is written uncompressed can be read by several ranks together, each its submodel.

    >>> problem = rd.make("river_swim(horizon=10)")
    >>> rd.save(problem, folder / "river.umb")
    >>> rd.load(folder / "river.umb") == problem
    True
    """
    save_draft(problem.given, path, uncompressed)


def save_draft(draft: _core.Draft, path: AnyPath, uncompressed: bool = False) -> None:
    if Path(path).suffix != ".npz":
        _core.save(draft, path, uncompressed)
    elif uncompressed:
        raise Error(f"{os.fspath(path)}: only a .umb file is packed, must be one to be written uncompressed")
    else:
        save_npz(draft, path)


def environments() -> list[_core.EnvironmentInfo]:
    """The built-in problems, with their parameters.

    >>> "river_swim" in [one.name for one in rd.environments()]
    True
    """
    return _core.environments()
