"""What an editor completes is what the library takes: keywords, types and defaults against the option structs."""

import inspect
import math
import sys
import typing
from enum import Enum

import pytest
import redoubt as rd
from redoubt import _core
from redoubt._options import fields

EXECUTION = {"threads": 1, "time_limit": math.inf, "checkpoint": None, "checkpoint_interval": None, "progress": False}
# Function -> the structs whose fields it takes as keywords, and what else it takes.
FUNCTIONS = {
    rd.certify: ([_core.FrontierOptions], {"threads": 1}),
    rd.compare: ([], EXECUTION),
    rd.evaluate: ([], {"threads": 1}),
    rd.plan_frontier: ([_core.FrontierOptions], {}),
    rd.plan_rcvi: ([_core.RcviOptions], {}),
    rd.simulate: ([_core.SimulateOptions], {"threads": 1, "nature": "nominal"}),
    rd.worst_kernel: ([], {"threads": 1}),
}
KINDS = {
    ("rcvi",): _core.RcviOptions,
    ("frontier",): _core.FrontierOptions,
    ("robust", "nominal"): _core.RobustOptions,
    ("rnpg", "crpo", "epirc", "rppg", "primal-dual", "rrpo"): _core.GradientOptions,
}
needs_overloads = pytest.mark.skipif(sys.version_info < (3, 11), reason="typing.get_overloads is of Python 3.11")


def shown(value):
    """How a default of the library is written in Python: enumerators are words, no weights are None."""
    return value.name if isinstance(value, Enum) else None if isinstance(value, list) else value


def defaults(struct):
    return {name: shown(getattr(struct(), name)) for name in fields(struct)}


def keywords(function):
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def types(function):
    return {name: hint for name, hint in typing.get_type_hints(function, localns={"ArrayLike": object}).items()}


def check_types(function, struct):
    hints = types(function)
    for name in fields(struct):
        value = getattr(struct(), name)
        if isinstance(value, Enum):
            assert typing.get_args(hints[name]) == tuple(type(value).__members__), name
        elif isinstance(value, (int, float)):
            assert hints[name] is type(value), name


def overloads():
    """The overloads of solve by the methods that they are for; () for those without options of their own."""
    found = {}
    for one in typing.get_overloads(rd._solve.solve):
        hint = types(one)["method"]
        found[() if hint is str else typing.get_args(hint)] = one
    return found


@needs_overloads
def test_each_method_has_an_overload_with_its_options():
    found = overloads()
    assert set(found) == {*KINDS, ()}
    assert keywords(found[()]) == EXECUTION
    for methods, struct in KINDS.items():
        assert keywords(found[methods]) == defaults(struct) | EXECUTION, methods
        check_types(found[methods], struct)


@needs_overloads
def test_the_overloads_are_for_the_methods_there_are():
    with_options = {method for method, options in rd.methods().items() if options}
    assert with_options == {method for methods in KINDS for method in methods}
    for methods, struct in KINDS.items():
        assert all(rd.methods()[method] == fields(struct) for method in methods)


@needs_overloads
def test_one_overload_has_the_default_method():
    chosen = inspect.signature(rd.solve).parameters["method"].default
    having = [methods for methods, one in overloads().items() if "method" in _with_default(one)]
    assert having == [(chosen,)]


def _with_default(function):
    return [name for name, one in inspect.signature(function).parameters.items() if one.default is not one.empty]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_keywords_have_the_names_defaults_and_types_of_the_structs(function):
    structs, more = FUNCTIONS[function]
    expected = {name: value for struct in structs for name, value in defaults(struct).items()}
    assert keywords(function) == expected | more
    for struct in structs:
        check_types(inspect.unwrap(function), struct) if "nature" not in more else None


def test_estimate_has_the_defaults_of_its_structs():
    given = keywords(rd.estimate) | {"samples": inspect.signature(rd.estimate).parameters["samples"].default}
    for struct in (_core.EstimateOptions, _core.ExternalOptions):
        for name in set(fields(struct)) - {"store"}:
            assert given[name] == getattr(struct(), name)


def test_execution_has_these_defaults():
    made = _core.Execution()
    assert set(fields(_core.Execution)) <= set(EXECUTION)
    assert (made.threads, made.time_limit, made.checkpoint) == (1, math.inf, None)


def test_a_prompt_completes_the_options_of_all_methods():
    names = set(inspect.signature(rd.solve).parameters)
    assert names == {"problem", "method", *EXECUTION, *(name for struct in KINDS.values() for name in fields(struct))}


def test_each_option_is_explained():
    lines = [line.strip() for line in rd.solve.__doc__.splitlines()]
    for name in inspect.signature(rd.solve).parameters:
        assert any(line.startswith(f"{name}:") for line in lines), name


def test_a_misspelt_option_is_an_error_that_knows_the_nearest():
    problem = rd.make("river_swim(horizon=3,start=3)")
    solution = rd.solve(problem, "robust")
    for call in (
        lambda: rd.solve(problem, "frontier", tolerence=1e-2),
        lambda: rd.plan_frontier(problem, tolerence=1e-2),
        lambda: rd.certify(solution, tolerence=1e-2),
        lambda: rd.simulate(problem, solution, tolerence=1e-2),
    ):
        with pytest.raises(rd.Error, match=r"unknown option 'tolerence' of .* \(did you mean 'tolerance'\?\), must be"):
            call()
    with pytest.raises(rd.Error, match=r"method = 'fronteir' \(did you mean 'frontier'\?\)"):
        rd.solve(problem, "fronteir")
    with pytest.raises(rd.Error, match=r"rounding = 'mixd' \(did you mean 'mixed'\?\)"):
        rd.solve(problem, "rcvi", rounding="mixd")


def test_only_what_is_given_is_passed_on():
    problem = rd.make("river_swim(horizon=3,start=3)")
    with pytest.raises(rd.Error, match="unknown option 'start_weights' of method 'rcvi'"):
        rd.solve(problem, "rcvi", start_weights=None)
    assert rd.solve(problem, "crpo", iterations=3, start_weights=None).iterations == 3
